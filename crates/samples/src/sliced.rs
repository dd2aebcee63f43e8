//! Runs side by side, with a record for each batch of their slices: what is compared, averaged and judged.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error_count::ErrorCount,
    line::{Interval, Phase, PhaseMark},
    offered::OfferedLoad,
    reader::Record,
    server_activity::ServerStatus,
    side_by_side::SideBySide,
    telemetry::Telemetry,
    totals::add_by_batch,
};

/// Runs, with a record for each batch of slices of those that ran side by side.
///
/// Neighbouring slices are alike, so that a batch of them is the unit of comparison. The batches of one number in one session
/// make a pair: they have a block number of their own. A batch is complete if its run is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batches {
    /// The batches of the runs as records of their own, in the order of the runs and of time; a run without slices is
    /// there as a whole. A batch of which the record lacks a slice is left out. Empty if no run has batches.
    pub records: Vec<Record>,
    /// For each of them the index of its run.
    pub runs: Vec<usize>,
}

impl Batches {
    /// The batches of these runs.
    pub fn of(runs: &[Record]) -> Self {
        let mut batches = Self::default();
        if runs.iter().all(|run| turns_of(run).is_none()) {
            return batches;
        }
        for (index, run) in runs.iter().enumerate() {
            match turns_of(run) {
                Some(turns) => batches.records.extend(of_run(run, turns)),
                None => batches.records.push(run.clone()),
            }
            batches.runs.resize(batches.records.len(), index);
        }
        batches
    }

    /// What is compared of these runs, whose batches this holds: the batches, or the runs if none has any.
    pub fn compared<'r>(&'r self, runs: &'r [Record]) -> &'r [Record] {
        if self.is_empty() { runs } else { &self.records }
    }

    /// True if no run has batches.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

impl Record {
    /// The session of a batch, from 1; `None` for the record of a whole run.
    pub fn session(&self) -> Option<u32> {
        let in_session = self.side_by_side.as_ref()?.batches_at_most().max(1);
        let earlier = self.header.block.saturating_sub(1);
        self.batch.map(|_| earlier / in_session + 1)
    }
}

/// How a whole run took turns; `None` also for the record of a batch.
fn turns_of(run: &Record) -> Option<&SideBySide> {
    run.side_by_side.as_ref().filter(|_| run.batch.is_none())
}

/// The parts of a run from which the record of a batch is made.
#[derive(Default)]
struct BatchParts {
    intervals: Vec<Interval>,
    telemetry: Vec<Telemetry>,
    server_status: Vec<ServerStatus>,
}

/// The whole batches of a run.
fn of_run(run: &Record, turns: &SideBySide) -> Vec<Record> {
    // In a record that was read the names of the operations are only in its totals.
    let mut totals = run.batch_totals.clone();
    if run.added_up.is_none() {
        totals.clear();
        let intervals = run.intervals.iter();
        intervals.for_each(|it| add_by_batch(&mut totals, it, turns));
    }
    let measured_s: f64 = run.measured_intervals().map(|it| it.length_s).sum();
    // What all batches have in common.
    let mut common = run.clone();
    (common.intervals, common.telemetry, common.server_status) =
        (Vec::new(), Vec::new(), Vec::new());
    common.batch_totals.clear();
    // What was judged, counted and collected is of the whole run.
    common.steadiness = None;
    common.server_totals.clear();
    common.slow_log = None;
    common.collected.clear();
    let batches = parts_of(run, turns).into_iter();
    let whole = batches.filter(|(_, parts)| {
        let slices: BTreeSet<u32> = parts.intervals.iter().filter_map(|it| it.slice).collect();
        slices.len() == turns.slices_per_batch as usize
    });
    whole
        .map(|(number, parts)| {
            let own_s: f64 = parts.intervals.iter().map(|it| it.length_s).sum();
            let mut record = of_batch(&common, turns, number, parts);
            record.added_up = totals.remove(&number);
            for error in &mut record.errors {
                reduce(error, own_s / measured_s);
            }
            record.offered = run.offered.as_ref().map(|offered| {
                let own = record.totals();
                let failed: u64 = own.operations.values().map(|it| it.errors).sum();
                OfferedLoad {
                    spin: offered.spin,
                    ..OfferedLoad::of_closed_loop(own.response().count + failed)
                }
            });
            record
        })
        .collect()
}

/// The intervals, samples and readings of each batch.
fn parts_of(run: &Record, turns: &SideBySide) -> BTreeMap<u32, BatchParts> {
    let mut batches: BTreeMap<u32, BatchParts> = BTreeMap::new();
    for interval in run.measured_intervals() {
        if let Some(slice) = interval.slice {
            let batch = batches.entry(turns.batch_of(slice)).or_default();
            batch.intervals.push(interval.clone());
        }
    }
    let Some(measured) = run.measured() else {
        return batches;
    };
    let batch_at = |t_s, length_s| Some(turns.batch_of(measured.slice_at(t_s, length_s)?));
    for sample in &run.telemetry {
        if let Some(number) = batch_at(sample.t_s, sample.length_s) {
            let batch = batches.entry(number).or_default();
            batch.telemetry.push(sample.clone());
        }
    }
    let statuses = run.server_status.iter();
    let counters: BTreeSet<&String> = statuses.flat_map(|it| it.counters.keys()).collect();
    // A reading has only what changed: all values so far, and those since the last reading of a slice.
    let (mut all, mut changed) = (BTreeMap::new(), BTreeMap::new());
    for status in &run.server_status {
        all.extend(status.values.clone());
        changed.extend(status.values.clone());
        let Some(number) = batch_at(status.t_s, status.length_s) else {
            continue;
        };
        let batch = batches.entry(number).or_default();
        let mut status = status.clone();
        status.values = std::mem::take(&mut changed);
        if batch.server_status.is_empty() {
            status.values.clone_from(&all);
            // The first reading has all counters of the server, also those that did not grow.
            for name in &counters {
                status.counters.entry((*name).clone()).or_insert(0.0);
            }
        }
        batch.server_status.push(status);
    }
    batches
}

/// The record of a batch, with these parts and what it has in common with the others of its run.
fn of_batch(common: &Record, turns: &SideBySide, number: u32, parts: BatchParts) -> Record {
    let mut record = common.clone();
    record.intervals = parts.intervals;
    record.telemetry = parts.telemetry;
    record.server_status = parts.server_status;
    for carried in record.intervals.iter_mut().flat_map(|it| &mut it.carried) {
        let is_own = carried.slice.map(|slice| turns.batch_of(slice)) == Some(number);
        if !is_own {
            // They came back in the batch, and are none of its operations.
            (carried.due_in, carried.slice) = (Phase::Pause, None);
        }
    }
    if let Some((begin_s, end_s)) = record.measured_window_s() {
        let mark = |t_s, phase| PhaseMark {
            t_s,
            phase,
            why: format!("batch {number}"),
        };
        record.phases = vec![mark(begin_s, Phase::Measurement), mark(end_s, Phase::Drain)];
    }
    record.batch = Some(number);
    let earlier = record.header.block.saturating_sub(1);
    let earlier = earlier.saturating_mul(turns.batches_at_most());
    record.header.block = earlier.saturating_add(number);
    record
}

/// Leaves the errors of a part of the run that has this share of the measured time: which ones were in it is not known.
fn reduce(error: &mut ErrorCount, share: f64) {
    let counts = [
        &mut error.count,
        &mut error.retried,
        &mut error.in_measurement,
        &mut error.outcome_unknown,
    ];
    for count in counts {
        *count = (*count as f64 * share).round() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Durations, Histogram, Line, RecordWriter};

    /// Operations of a millisecond each, as an entry of a line.
    fn operation(count: u64) -> String {
        let mut histogram = Histogram::new();
        (0..count).for_each(|_| histogram.record(1_000_000));
        let histogram = serde_json::to_string(&histogram).unwrap();
        format!(
            r#"{{"load":"l","operation":"o","count":{count},"errors":0,"sum_ns":{},"min_ns":1000000,"max_ns":1000000,"histogram":{histogram}}}"#,
            count * 1_000_000
        )
    }

    /// An interval of half a second; `late` says where operations that came back in it were due.
    fn interval(t_s: f64, part: &str, count: u64, late: &str) -> String {
        let carried = match late {
            "" => String::new(),
            late => format!(
                r#","carried":[{{{late},"operations":[{}],"send_lag":{}}}]"#,
                operation(1),
                serde_json::to_string(&Durations::default()).unwrap()
            ),
        };
        format!(
            r#"{{"line":"interval","t_s":{t_s:?},"length_s":0.5,{part},"operations":[{}]{carried}}}"#,
            operation(count)
        )
    }

    /// A run in session 3, with batches of two slices: two whole ones and a slice of the third. One operation of the first
    /// slice comes back after it, and one of the settling time in the third slice.
    fn run() -> Record {
        let slice = |number: u32| format!(r#""phase":"measurement","slice":{number}"#);
        let pause = r#""phase":"pause""#;
        let mut lines = vec![
            r#"{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"x","experiment_sha256":"","seed":1,"run":5,"block":3,"combination":{"flush":"1"},"started_at":"","connections":4,"loops":1,"io":"epoll","transport":"unix socket"}"#.to_owned(),
            r#"{"line":"side_by_side","combinations":[{"flush":"1"},{"flush":"2"}],"slice_s":0.5,"settle_s":0.1,"slices_per_batch":2,"slices_at_most":6}"#.to_owned(),
            interval(0.5, r#""phase":"warm_up""#, 9, ""),
            interval(1.0, &slice(1), 10, ""),
            interval(1.5, pause, 3, r#""due_in":"measurement","slice":1"#),
            interval(2.0, &slice(2), 20, ""),
            interval(2.5, pause, 4, ""),
            interval(3.0, &slice(3), 30, r#""due_in":"pause""#),
            interval(3.5, pause, 0, ""),
            interval(4.0, &slice(4), 40, ""),
            interval(4.5, pause, 0, ""),
            interval(5.0, &slice(5), 50, ""),
            r#"{"line":"error","load":"l","operation":"o","number":1213,"sqlstate":"40001","message":"","count":20,"retried":10,"in_measurement":10}"#.to_owned(),
            r#"{"line":"end","t_s":5.5,"complete":true,"why":"as planned"}"#.to_owned(),
        ];
        for at in 1..11 {
            let t_s = f64::from(at) / 2.0;
            let counters = if at == 1 {
                r#""a":5.0,"b":0.0"#
            } else {
                r#""a":2.0"#
            };
            // It runs in the slices and is idle in the pauses; the last change is that of slice 3.
            let values = match at {
                1 => r#""uptime":1.0,"running":4.0"#.to_owned(),
                2..=6 => format!(r#""running":{}.0"#, 4 * (1 - at % 2)),
                _ => String::new(),
            };
            lines.push(format!(
                r#"{{"line":"telemetry","t_s":{t_s:?},"length_s":0.5,"host":"both"}}"#
            ));
            lines.push(format!(
                r#"{{"line":"server_status","t_s":{t_s:?},"length_s":0.5,"asked_s":0.0,"counters":{{{counters}}},"values":{{{values}}}}}"#
            ));
        }
        Record::read(lines.join("\n").as_bytes()).unwrap()
    }

    /// Measured time, operations due, and operations that came back.
    fn sums(record: &Record) -> (f64, u64, u64) {
        let totals = record.totals();
        let back: u64 = totals.operations.values().map(|it| it.back).sum();
        (totals.measured_s, totals.response().count, back)
    }

    #[test]
    fn a_batch_is_a_record_of_its_own_slices() {
        let run = run();
        let batches = Batches::of(std::slice::from_ref(&run));
        let [first, second] = &batches.records[..] else {
            panic!("two whole batches")
        };
        assert_eq!(sums(first), (1.0, 31, 30));
        assert_eq!(sums(second), (1.0, 70, 71));
        assert_eq!(sums(&run), (2.5, 151, 151));
        let blocks = [first, second].map(|it| (it.header.run, it.header.block, it.batch));
        assert_eq!(blocks, [(5, 7, Some(1)), (5, 8, Some(2))]);
        assert_eq!([first.session(), second.session()], [Some(3); 2]);
        assert_eq!(first.measured_window_s(), Some((1.0, 2.5)));
        assert!(first.is_complete());
        let times = |record: &Record| {
            let samples = record.telemetry.iter().map(|it| it.t_s);
            let readings = record.server_status.iter().map(|it| it.t_s);
            (samples.collect::<Vec<_>>(), readings.collect::<Vec<_>>())
        };
        assert_eq!(times(first), (vec![1.0, 2.0], vec![1.0, 2.0]));
        assert_eq!(times(second), (vec![3.0, 4.0], vec![3.0, 4.0]));
        let [reading, last] = &second.server_status[..] else {
            panic!("two readings")
        };
        assert_eq!((reading.counters["a"], reading.counters["b"]), (2.0, 0.0));
        assert_eq!(
            (reading.values["uptime"], reading.values["running"]),
            (1.0, 4.0)
        );
        assert!(last.values.is_empty() && !last.counters.contains_key("b"));
        // Of 2.5 s the batch has one.
        let error = &first.errors[0];
        assert_eq!(
            (error.count, error.retried, error.in_measurement),
            (8, 4, 4)
        );
    }

    #[test]
    fn a_record_in_memory_has_the_same_batches() {
        let read = run();
        let mut built = read.clone();
        built.added_up = None;
        built.batch_totals.clear();
        let batches = Batches::of(&[built]);
        let found: Vec<_> = batches.records.iter().map(sums).collect();
        assert_eq!(found, [(1.0, 31, 30), (1.0, 70, 71)]);
    }

    #[test]
    fn runs_without_slices_stay_as_they_are() {
        let sliced = run();
        let mut whole = sliced.clone();
        whole.side_by_side = None;
        assert!(Batches::of(std::slice::from_ref(&whole)).is_empty());
        let runs = [whole, sliced];
        let batches = Batches::of(&runs);
        assert_eq!(batches.runs, [0, 1, 1]);
        assert_eq!(batches.records[0], runs[0]);
        assert_eq!(batches.compared(&runs).len(), 3);
        assert_eq!(Batches::default().compared(&runs).len(), 2);
        assert!(Batches::of(&batches.records[1..]).is_empty());
    }

    #[test]
    fn pauses_are_no_part_of_the_measured_phase() {
        let run = run();
        let measured = run.measured().unwrap();
        assert_eq!(measured.window_s(), (1.0, 5.5));
        assert_eq!(measured.length_s(), 2.5);
        let parts = [(1.0, 1.5), (2.0, 2.5), (3.0, 3.5), (4.0, 4.5), (5.0, 5.5)];
        assert_eq!(measured.parts_s(), parts);
        let held = [0.5, 1.0, 1.5, 2.0].map(|t_s| measured.holds(t_s, 0.5));
        assert_eq!(held, [false, true, false, true]);
        let moments = [0.9, 1.0, 1.4, 1.5, 1.7].map(|at_s| measured.has_moment(at_s));
        assert_eq!(moments, [false, true, true, false, false]);
        assert_eq!(measured.counters().length_s(), 2.5);
        assert_eq!(measured.counters().growth("a"), 10.0);
    }

    #[test]
    fn the_lines_are_read_as_they_were_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run-0005.jsonl");
        let writer = RecordWriter::create(&path).unwrap();
        let run = run();
        let turns = run.side_by_side.clone().unwrap();
        writer.append(&Line::Run(run.header.clone())).unwrap();
        writer.append(&Line::SideBySide(turns)).unwrap();
        for interval in &run.intervals {
            writer.append(&Line::Interval(interval.clone())).unwrap();
        }
        let found = Record::open(&path).unwrap();
        assert_eq!(found.side_by_side, run.side_by_side);
        assert_eq!(found.intervals, run.intervals);
        assert_eq!(found.batch_totals.len(), 3);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].starts_with(r#"{"line":"side_by_side","combinations":[{"flush":"1"}"#));
        assert!(!lines[2].contains("slice"), "{}", lines[2]);
        assert!(lines[3].contains(r#""phase":"measurement","slice":1,"#));
        assert!(lines[4].contains(r#""phase":"pause","#));
        assert!(lines[4].contains(r#""due_in":"measurement","slice":1,"#));
    }
}
