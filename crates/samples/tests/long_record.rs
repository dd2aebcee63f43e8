//! The test that a long record is read line by line, with bounded memory per interval.
//!
//! It is the only test of its binary, because it measures the memory of the whole process.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

use std::{
    collections::BTreeMap,
    io::{BufReader, Read},
};

use samples::{
    Histogram, Host, Interval, Line, MachineUse, OperationInterval, Phase, Record, ServerStatus,
    Telemetry,
};

const OPERATIONS: u64 = 20;
const COUNTERS: u64 = 100;
/// Memory limit per interval in bytes, including its machine sample and its server reading.
const BYTES_MAX: u64 = 2_000;
/// Memory limit for everything else in bytes: a line, the totals of each operation, and 4,096 samples and readings,
/// which are merged only above that number.
const BESIDE: u64 = 80 << 20;

const HEAD: &str = r#"{"line":"run","format":1,"dbdyno_version":"0","experiment":"long","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":"unix socket"}"#;

/// Number of intervals: few in CI, a run of days with `DBDYNO_LONG_RECORD=100000`.
fn intervals() -> u64 {
    let told = std::env::var("DBDYNO_LONG_RECORD").ok();
    told.map_or(400, |told| told.parse().unwrap())
}

/// The text of a long record, generated as it is read.
struct Text {
    /// The text after the time of an interval, of a sample and of a reading.
    tails: [String; 3],
    interval: u64,
    intervals: u64,
    line: Vec<u8>,
    at: usize,
}

/// A line without its time.
fn tail(line: &Line) -> String {
    let text = serde_json::to_string(line).unwrap();
    text.split_once(r#""t_s":0.0"#).unwrap().1.to_owned()
}

impl Text {
    fn new(intervals: u64) -> Self {
        let operations = (0..OPERATIONS).map(|operation| {
            let mut histogram = Histogram::new();
            (0..50).for_each(|at| histogram.record(200_000 + operation * 9_000 + at * at * 700));
            OperationInterval {
                load: "load".to_owned(),
                operation: format!("operation_{operation}"),
                count: 50,
                errors: 1,
                sum_ns: 50_000_000,
                min_ns: 200_000,
                max_ns: histogram.quantile_ns(1.0).unwrap(),
                histogram,
                service: None,
                returned: samples::ReturnedRows::default(),
            }
        });
        let interval = Line::Interval(Interval {
            t_s: 0.0,
            length_s: 1.0,
            phase: Phase::Measurement,
            stage: None,
            slice: None,
            operations: operations.collect(),
            statements: Vec::new(),
            send_lag: None,
            client_lag: None,
            pace: None,
            carried: Vec::new(),
        });
        let sample = Line::Telemetry(Box::new(Telemetry {
            length_s: 1.0,
            host: Host::Both,
            machine: Some(MachineUse {
                user_s: 1.0,
                idle_s: 1.0,
                ..MachineUse::default()
            }),
            ..Telemetry::default()
        }));
        let counters = (0..COUNTERS).map(|at| (format!("Innodb_counter_number_{at}"), 3.0));
        let reading = Line::ServerStatus(ServerStatus {
            length_s: 1.0,
            counters: counters.collect::<BTreeMap<_, _>>(),
            ..ServerStatus::default()
        });
        Self {
            tails: [tail(&interval), tail(&sample), tail(&reading)],
            interval: 0,
            intervals,
            line: format!("{HEAD}\n").into_bytes(),
            at: 0,
        }
    }
}

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.line.len() {
            if self.interval == self.intervals {
                return Ok(0);
            }
            let kinds = ["interval", "telemetry", "server_status"].iter();
            let t_s = self.interval as f64;
            self.line.clear();
            for (kind, tail) in kinds.zip(&self.tails) {
                let text = format!("{{\"line\":\"{kind}\",\"t_s\":{t_s:?}{tail}\n");
                self.line.extend_from_slice(text.as_bytes());
            }
            self.interval += 1;
            self.at = 0;
        }
        let count = buffer.len().min(self.line.len() - self.at);
        buffer[..count].copy_from_slice(&self.line[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Peak memory of this process, bytes.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
    kilobytes.parse::<u64>().unwrap() * 1024
}

#[test]
fn an_interval_takes_a_bounded_memory_and_nothing_is_lost() {
    let intervals = intervals();
    let before = peak_bytes();
    let record = Record::read(BufReader::new(Text::new(intervals))).unwrap();
    let taken = peak_bytes() - before;
    println!(
        "{intervals} intervals of {OPERATIONS} operations: {} MB",
        taken >> 20
    );
    assert!(
        taken < BESIDE + BYTES_MAX * intervals,
        "{taken} bytes for {intervals} intervals"
    );
    assert_eq!(record.intervals.len() as u64, intervals);
    let totals = record.totals();
    assert_eq!(totals.operations.len() as u64, OPERATIONS);
    assert_eq!(
        totals.response().histogram.count(),
        50 * OPERATIONS * intervals
    );
    let all = || totals.operations.values();
    let errors: u64 = all().map(|it| it.errors).sum();
    assert_eq!(errors, OPERATIONS * intervals);
    let back: u64 = all().map(|it| it.back).sum();
    assert_eq!(
        (back, totals.measured_s),
        (50 * OPERATIONS * intervals, intervals as f64)
    );
    // The course by second, which the page draws, is included.
    let seconds = record.intervals.iter();
    assert!(seconds.clone().all(|it| it.succeeded() == 50 * OPERATIONS));
    let p95 = record.intervals[0].operations[0]
        .histogram
        .quantile_ns(0.95);
    assert_eq!(p95, totals.response().histogram.quantile_ns(0.95));
    let counters = record.measured().unwrap().counters();
    assert_eq!(
        counters.growth("Innodb_counter_number_7"),
        3.0 * intervals as f64
    );
    assert_eq!(counters.length_s(), intervals as f64);
}
