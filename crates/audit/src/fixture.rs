//! Records for the tests of the rules: a healthy run, and changes to it.

use std::collections::BTreeMap;

use samples::{Record, StorageRecord, Telemetry};

use crate::{
    asked_comparison::AskedComparison,
    finding::{Level, Outcome, SkipReason},
    judgement::judge,
    rule::Rule,
    subject::{AuditedRun, BesideRecords, Comparison, Limit, Preregistration, Subject},
};

mod healthy;
mod storage;

pub(crate) use healthy::{empty, healthy};
pub(crate) use storage::{course, imported_job, machine_cpu, rounds, sound_storage};

/// Makes a run one of reads of 16 KiB on a disk, without a server; its operations stay as they are.
pub(crate) fn on_a_disk(record: &mut Record, direct: bool, file_bytes: u64) {
    record.servers.clear();
    record.server_status.clear();
    record.storage[0].places = vec![samples::StorageDirectory::default()];
    record.disk_load = Some(samples::DiskLoad {
        directory: "/mnt/a".to_owned(),
        engine: "libaio".to_owned(),
        direct,
        sync: "none".to_owned(),
        file_bytes: Some(file_bytes),
        memory_bytes: Some(16 << 30),
        fio_version: "fio-3.33".to_owned(),
        jobs: vec![samples::Pattern {
            name: "requests".to_owned(),
            access: samples::Access::Random,
            block_bytes: 16 << 10,
            reads_percent: 100,
            depth: 8,
        }],
        job_file: String::new(),
    });
}

/// A planned event that restarted the server, begun at this time of the load and over after a second.
pub(crate) fn event(t_s: f64) -> samples::PlannedEvent {
    samples::PlannedEvent {
        number: 1,
        name: "server restart".to_owned(),
        action: samples::PlannedAction::Server,
        what: "restart".to_owned(),
        t_s,
        begin_s: Some(0.0),
        end_s: Some(1.0),
        outcome: samples::EventOutcome::Done,
        ..samples::PlannedEvent::default()
    }
}

/// Divides the measurement of a run into two stages of the same length, from these connections to those.
pub(crate) fn in_stages(record: &mut Record, levels: [(u32, u32); 2]) {
    let (begin_s, end_s) = record.measured_window_s().expect("it was measured");
    let length_s = (end_s - begin_s) / 2.0;
    let stages = levels.into_iter().zip(1..);
    let stages = stages.map(|((from, to), number)| samples::LoadStage {
        number,
        t_s: begin_s + f64::from(number - 1) * length_s,
        length_s,
        connections_from: from,
        connections_to: to,
        rate_from_per_s: None,
        rate_to_per_s: None,
        offered: None,
    });
    record.stages = stages.collect();
    let measured = record.intervals.iter_mut();
    for interval in measured.filter(|it| it.phase == samples::Phase::Measurement) {
        interval.stage = Some(1 + u32::from(interval.t_s >= begin_s + length_s));
    }
}

/// Makes a run one of two side by side: every other second of its measurement is a slice, and the rest are pauses.
pub(crate) fn in_turns(record: &mut Record) {
    let combination = |level: &str| BTreeMap::from([("flush".to_owned(), level.to_owned())]);
    record.side_by_side = Some(samples::SideBySide {
        combinations: vec![combination("1"), combination("2")],
        slice_s: 1.0,
        settle_s: 0.0,
        slices_per_batch: 5,
        slices_at_most: 60,
        ..samples::SideBySide::default()
    });
    let (begin_s, end_s) = record.measured_window_s().expect("it was measured");
    let is_pause = |t_s: f64| t_s >= begin_s && (t_s - begin_s) as u32 % 2 == 1;
    for interval in record.intervals.iter_mut().filter(|it| it.t_s >= begin_s) {
        if is_pause(interval.t_s) {
            interval.phase = samples::Phase::Pause;
            interval.operations.clear();
            (interval.send_lag, interval.pace) = (None, None);
        } else {
            interval.slice = Some((interval.t_s - begin_s) as u32 / 2 + 1);
        }
    }
    record.phases.push(samples::PhaseMark {
        t_s: end_s,
        phase: samples::Phase::Drain,
        why: "as planned".to_owned(),
    });
    let due = record.measured_intervals().map(|it| it.succeeded()).sum();
    record.offered = Some(samples::OfferedLoad::of_closed_loop(due));
    // An idle server executes nothing.
    let readings = record.server_status.iter_mut();
    for reading in readings.filter(|it| is_pause(it.t_s)) {
        reading.counters.clear();
    }
}

/// Reads of this time that were due in a slice and came back after it.
pub(crate) fn late_reads(slice: Option<u32>, count: u64, each_ns: u64) -> samples::LateOperations {
    let mut times = samples::Durations::default();
    (0..count).for_each(|_| times.record(each_ns));
    samples::LateOperations {
        due_in: samples::Phase::Measurement,
        stage: None,
        slice,
        operations: vec![samples::OperationInterval {
            load: "one".to_owned(),
            operation: "read".to_owned(),
            count,
            errors: 0,
            sum_ns: times.sum_ns,
            min_ns: times.min_ns,
            max_ns: times.max_ns,
            histogram: times.histogram,
            service: None,
            returned: samples::ReturnedRows::default(),
        }],
        statements: Vec::new(),
        send_lag: samples::Durations::default(),
        client_lag: None,
    }
}

/// Makes every operation of a run a read that took this long.
pub(crate) fn reads_of(record: &mut Record, each_ns: u64) {
    let operations = record
        .intervals
        .iter_mut()
        .flat_map(|it| &mut it.operations);
    for operation in operations {
        let mut times = samples::Durations::default();
        (0..operation.count).for_each(|_| times.record(each_ns));
        operation.operation = "read".to_owned();
        operation.sum_ns = times.sum_ns;
        (operation.min_ns, operation.max_ns) = (times.min_ns, times.max_ns);
        operation.histogram = times.histogram.compacted();
    }
}

/// The outcome of a rule for the healthy run after a change.
pub(crate) fn judged(rule: &Rule, change: impl FnOnce(&mut Record)) -> Outcome {
    let mut record = healthy();
    change(&mut record);
    judged_with(rule, &record, Some(limit()))
}

/// The outcome of a rule for the sound measurement of storage after a change.
pub(crate) fn judged_storage(rule: &Rule, change: impl FnOnce(&mut StorageRecord)) -> Outcome {
    let mut record = sound_storage();
    change(&mut record);
    judge(rule, &Subject::of_storage(&record))
}

pub(crate) fn judged_with(rule: &Rule, record: &Record, limit: Option<Limit>) -> Outcome {
    judge(rule, &Subject::of_run(record, limit))
}

pub(crate) fn judged_together(rule: &Rule, runs: &[Record], declared: Preregistration) -> Outcome {
    judged_with_kept(rule, runs, declared, BesideRecords::default())
}

/// The outcome of a rule for an experiment whose comparisons were answered.
pub(crate) fn judged_answered(
    rule: &Rule,
    runs: &[Record],
    declared: Preregistration,
    comparisons: &[AskedComparison],
) -> Outcome {
    let subject = Subject {
        comparisons: comparisons.to_vec(),
        ..with_batches(runs, &[], declared)
    };
    judge(rule, &subject)
}

/// The outcome of a rule for an experiment with the state of its directory.
pub(crate) fn judged_with_kept(
    rule: &Rule,
    runs: &[Record],
    declared: Preregistration,
    kept: BesideRecords,
) -> Outcome {
    let runs = runs.iter().map(|record| AuditedRun {
        record,
        limit: Some(limit()),
        side: None,
    });
    let runs = runs.collect();
    judge(
        rule,
        &Subject {
            runs,
            declared,
            kept,
            ..Subject::default()
        },
    )
}

pub(crate) fn judged_sides(
    rule: &Rule,
    a: &[Record],
    b: &[Record],
    declared: Preregistration,
) -> Outcome {
    let side = |runs: &'_ [Record], name: &str| -> Vec<(Record, String)> {
        runs.iter()
            .map(|run| (run.clone(), name.to_owned()))
            .collect()
    };
    let all = [side(a, "A"), side(b, "B")].concat();
    let runs = all.iter().map(|(record, side)| AuditedRun {
        record,
        limit: Some(limit()),
        side: Some(side.clone()),
    });
    let subject = Subject {
        runs: runs.collect(),
        declared,
        ..Subject::default()
    };
    judge(rule, &subject)
}

pub(crate) fn judged_stages(rule: &Rule, runs: &[Record], declared: Preregistration) -> Outcome {
    let staged = samples::Staged::of(runs);
    let measured = |record| AuditedRun {
        record,
        limit: Some(limit()),
        side: None,
    };
    let subject = Subject {
        runs: runs.iter().map(measured).collect(),
        stages: staged.records.iter().map(measured).collect(),
        declared,
        ..Subject::default()
    };
    judge(rule, &subject)
}

pub(crate) fn judged_batches(rule: &Rule, runs: &[Record], declared: Preregistration) -> Outcome {
    let batches = samples::Batches::of(runs);
    judge(rule, &with_batches(runs, &batches.records, declared))
}

/// An experiment of these runs and their batches of slices.
pub(crate) fn with_batches<'r>(
    runs: &'r [Record],
    batches: &'r [Record],
    declared: Preregistration,
) -> Subject<'r> {
    let measured = |record| AuditedRun {
        record,
        limit: Some(limit()),
        side: None,
    };
    Subject {
        runs: runs.iter().map(measured).collect(),
        batches: batches.iter().map(measured).collect(),
        declared,
        ..Subject::default()
    }
}

/// The level of a finding; fails with the outcome if there is none.
#[track_caller]
pub(crate) fn level(outcome: &Outcome) -> Level {
    match outcome {
        Ok(finding) => finding.level,
        Err(why) => panic!("nothing was found: {why:?}"),
    }
}

/// Asserts the level, and that the evidence contains `part`.
#[track_caller]
pub(crate) fn assert_found(outcome: &Outcome, expected: Level, part: &str) {
    assert_eq!(level(outcome), expected, "{outcome:?}");
    let evidence = &outcome.as_ref().expect("it was found").evidence;
    assert!(evidence.contains(part), "{evidence}");
}

#[track_caller]
pub(crate) fn assert_missing(outcome: &Outcome, part: &str) {
    match outcome {
        Err(SkipReason::NotEvaluated(what)) => assert!(what.contains(part), "{what}"),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub(crate) fn assert_no_subject(outcome: &Outcome) {
    assert!(
        matches!(outcome, Err(SkipReason::DoesNotApply(_))),
        "{outcome:?}"
    );
}

/// The limit of the healthy run.
pub(crate) fn limit() -> Limit {
    Limit {
        resource: Some("CPU".to_owned()),
        evidence: "97 % busy".to_owned(),
    }
}

/// An experiment over `factors` that compares the throughput of their levels.
pub(crate) fn over(factors: &[&str]) -> Preregistration {
    let factors: Vec<String> = factors.iter().map(|&factor| factor.to_owned()).collect();
    Preregistration {
        is_experiment: true,
        comparison: Some(Comparison {
            factors: factors.clone(),
            metric: "throughput".to_owned(),
            min_effect: None,
        }),
        factors,
        ..Preregistration::default()
    }
}

/// The healthy run as number `run` of an experiment, in block `block`, with these levels.
pub(crate) fn run_of(run: u32, block: u32, levels: &[(&str, &str)]) -> Record {
    let mut record = healthy();
    record.header.run = run;
    record.header.block = block;
    // Five minutes apart.
    record.header.started_at = format!("2026-11-21T{:02}:{:02}:00Z", run / 12, run % 12 * 5);
    // No two runs are identical to the nanosecond.
    for interval in &mut record.intervals {
        interval.operations[0].sum_ns += u64::from(run) * 1000;
    }
    let levels = levels.iter();
    record.header.combination = levels
        .map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned()))
        .collect();
    record
}

/// Five blocks over the levels of one factor, in an order that changes from block to block.
pub(crate) fn blocks_over(factor: &str, levels: &[&str]) -> Vec<Record> {
    let orders: [usize; 5] = [0, 1, 1, 0, 1];
    let mut runs = Vec::new();
    for (block, first) in orders.into_iter().enumerate() {
        for at in 0..levels.len() {
            let level = levels[(at + first) % levels.len()];
            let run = runs.len() as u32 + 1;
            runs.push(run_of(run, block as u32 + 1, &[(factor, level)]));
        }
    }
    runs
}

/// Sets the throughput and leaves everything else unchanged.
pub(crate) fn set_throughput(record: &mut Record, per_s: f64) {
    for interval in &mut record.intervals {
        interval.operations[0].count = (per_s * interval.length_s).round() as u64;
    }
}

/// Sets a server variable at the start and at the end.
pub(crate) fn set(record: &mut Record, name: &str, value: &str) {
    for server in &mut record.servers {
        server.variables.insert(name.to_owned(), value.to_owned());
    }
}

/// Sets a counter in every reading of the server.
pub(crate) fn counter(record: &mut Record, name: &str, per_s: f64) {
    for reading in &mut record.server_status {
        reading.counters.insert(name.to_owned(), per_s);
    }
}

pub(crate) fn each_sample(record: &mut Record, change: impl Fn(&mut Telemetry)) {
    record.telemetry.iter_mut().for_each(change);
}
