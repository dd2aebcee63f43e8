//! The record of one load while it runs, and the course of the load so far.

use std::path::Path;

use samples::{
    Ceiling, End, Histogram, Interval, Line, LoadStage, PhaseMark, RecordWriter, RunHeader,
    ServerStatus, WriteError,
};
use verdict::TimeSeries;

use crate::record::{calibration::StatementRate, steady_judge::steadiness};

/// A record that is to be begun.
pub(crate) struct NewRecord<'a> {
    pub path: &'a Path,
    /// Its first line.
    pub header: RunHeader,
    /// Lines about the load, written before the server is queried.
    pub known_before: Vec<Line>,
}

pub(super) struct LoadRecord {
    writer: RecordWriter,
    /// The name of one of several loads.
    name: Option<String>,
    connections: u32,
    /// Connections that are open, and all of them, while they are opened.
    connected: (u64, u64),
    statements: StatementRate,
    course: TimeSeries,
    loads_a_table: bool,
    /// The stage of the load, in words; empty without stages.
    stage: String,
    /// True from the second stage on, and for one that is a ramp.
    changes_by_plan: bool,
    /// The figures of the last interval, in words.
    figures: Option<String>,
}

impl LoadRecord {
    /// Begins the record with its first line.
    pub(super) fn begin(record: &NewRecord<'_>) -> Result<Self, WriteError> {
        let header = &record.header;
        let writer = RecordWriter::create(record.path)?;
        writer.append(&Line::Run(header.clone()))?;
        Ok(Self {
            writer,
            name: header.combination.get(samples::LOAD).cloned(),
            connections: header.connections,
            connected: (0, 0),
            statements: StatementRate::default(),
            course: TimeSeries::default(),
            loads_a_table: false,
            stage: String::new(),
            changes_by_plan: false,
            figures: None,
        })
    }

    /// The file, for lines that other threads write.
    pub(super) fn writer(&self) -> RecordWriter {
        self.writer.clone()
    }

    /// Virtual clients.
    pub(super) fn connections(&self) -> u32 {
        self.connections
    }

    /// Connections that are open, and all of them.
    pub(super) fn connected(&self) -> (u64, u64) {
        self.connected
    }

    /// Statements per second of the measurement.
    pub(super) fn statements_per_s(&self) -> Option<f64> {
        self.statements.per_s()
    }

    /// The course of the load and of the server's counters.
    pub(super) fn course(&self) -> &TimeSeries {
        &self.course
    }

    /// The figures of the last interval, in words, with the stage; `None` before the first one.
    pub(super) fn in_words(&self, is_one_of_several: bool) -> Option<String> {
        let name = self.name.iter().filter(|_| is_one_of_several);
        let name: String = name.map(|name| format!("{name} ")).collect();
        let figures = self.figures.as_ref()?;
        Some(format!("{name}{figures}, {}", self.stage))
    }

    pub(super) fn append(&mut self, line: &Line) -> Result<(), WriteError> {
        self.loads_a_table |= matches!(line, Line::Loaded(_));
        self.writer.append(line)
    }

    pub(super) fn connect(&mut self, open: u64, total: u64) {
        self.connected = (open, total);
    }

    /// A phase begins.
    pub(super) fn phase(&mut self, mark: PhaseMark) -> Result<(), WriteError> {
        if mark.phase == samples::Phase::WarmUp {
            // Previous measurements are a part of the warm-up.
            self.statements = StatementRate::default();
        }
        self.writer.append(&Line::Phase(mark))
    }

    /// A stage begins.
    pub(super) fn stage(&mut self, stage: LoadStage) -> Result<(), WriteError> {
        self.changes_by_plan |= stage.number > 1 || stage.is_ramp();
        self.stage = format!("stage {} ({}), ", stage.number, stage.in_words());
        self.writer.append(&Line::LoadStage(Box::new(stage)))
    }

    /// An interval is over.
    pub(super) fn interval(&mut self, interval: Interval) -> Result<(), WriteError> {
        self.figures = Some(figures(&interval));
        self.statements.add(&interval);
        self.course.add(&interval);
        self.writer.append(&Line::Interval(interval))
    }

    /// The server's counters over a time of the load.
    pub(super) fn server_status(&mut self, status: &ServerStatus) {
        self.course.add_status(status);
    }

    /// What follows at this time, seconds since the start of the load, is not judged.
    pub(super) fn end_course_at(&mut self, at_s: f64) {
        self.course.end_at(at_s);
    }

    /// Writes the last lines. The judged steadiness is among them, unless nothing was measured, the load filled a table or
    /// its level changed by plan, without a steady state.
    pub(super) fn end(&self, ceiling: Option<&Ceiling>, end: End) -> Result<(), WriteError> {
        let has_one_state = !self.loads_a_table && !self.changes_by_plan;
        if has_one_state && self.course.is_measured() {
            let judged = steadiness(&self.course);
            self.writer.append(&Line::Steadiness(judged))?;
        }
        if let Some(ceiling) = ceiling {
            self.writer.append(&Line::Ceiling(ceiling.clone()))?;
        }
        self.writer.append(&Line::End(end))
    }
}

/// Throughput and p95 of an interval: `1.2k/s, p95 3.1 ms`.
fn figures(interval: &Interval) -> String {
    let mut histogram = Histogram::new();
    for operation in &interval.operations {
        histogram.add(&operation.histogram);
    }
    let per_s = interval.succeeded() as f64 / interval.length_s;
    let p95 = histogram.quantile_ns(0.95);
    let p95 = p95.map_or("–".to_owned(), |ns| units::duration(ns as f64));
    format!("{}, p95 {p95}", units::per_s(per_s))
}
