//! Tests with falsified records, each found by the right rule, and with sound records, none of which is called invalid.

mod odd;
mod tampered;

use std::collections::BTreeSet;

use samples::{ErrorCount, Histogram, Interval, Phase, Record, Telemetry};

use crate::{
    Level, Subject, audit,
    fixture::{blocks_over, limit, over, set},
    judge, rule,
    subject::AuditedRun,
};

use odd::ODD;
use tampered::{CASES, CONTRADICTIONS, Case};

/// The variable has the value that the label says.
fn by_labels(runs: &mut [Record]) {
    for run in runs {
        let value = run.header.combination["flush"].clone();
        set(run, "innodb_flush_log_at_trx_commit", &value);
    }
}

fn sample(runs: &mut [Record], change: impl Fn(&mut Telemetry)) {
    change(&mut runs[3].telemetry[40]);
}

fn thinned_from(run: &mut Record, from_s: f64, share: f64) {
    let late = run.intervals.iter_mut().filter(|it| it.t_s >= from_s);
    late.for_each(|interval| thinned(interval, share));
}

fn side(runs: &mut [Record], level: &str, change: impl Fn(&mut Record)) {
    let side = runs
        .iter_mut()
        .filter(|run| run.header.combination["flush"] == level);
    side.for_each(change);
}

fn measured(runs: &mut [Record], at: usize, change: impl Fn(&mut Interval)) {
    let intervals = runs[at].intervals.iter_mut();
    intervals
        .filter(|it| it.phase == Phase::Measurement)
        .for_each(change);
}

fn copied(runs: &mut [Record], from: usize, to: usize) {
    let header = runs[to].header.clone();
    runs[to] = runs[from].clone();
    runs[to].header = header;
}

fn failing(run: &mut Record, failures: u64) {
    run.errors.push(ErrorCount {
        number: 1213,
        count: failures,
        in_measurement: failures,
        ..ErrorCount::default()
    });
}

/// Sets a throughput that rises to its final level, with times that agree.
fn warm(run: &mut Record, depth: f64, tau_s: f64) {
    let begin_s = run.measured_intervals().next().map_or(0.0, |it| it.t_s);
    for interval in &mut run.intervals {
        let share = 1.0 - depth * (-(interval.t_s - begin_s).max(0.0) / tau_s).exp();
        thinned(interval, share);
    }
}

fn stalled(run: &mut Record) {
    let stalled = run
        .intervals
        .iter_mut()
        .filter(|it| (60.0..75.0).contains(&it.t_s));
    stalled.for_each(|interval| thinned(interval, 0.0));
}

/// The same interval with this share of its operations.
fn thinned(interval: &mut Interval, share: f64) {
    let operation = &mut interval.operations[0];
    let count = (operation.count as f64 * share) as u64;
    let mean_ns = operation.sum_ns / operation.count.max(1);
    // No two intervals are the same to the nanosecond.
    let own_ns = operation.sum_ns % 1_000_000;
    let mut times = Histogram::new();
    times.record_many(mean_ns, count);
    operation.histogram = times.compacted();
    operation.count = count;
    operation.sum_ns = count * mean_ns + own_ns * u64::from(count > 0);
    (operation.min_ns, operation.max_ns) = if count > 0 {
        (mean_ns, mean_ns)
    } else {
        (0, 0)
    };
}

fn subject(runs: &[Record]) -> Subject<'_> {
    let mut declared = over(&["flush"]);
    declared.planned_runs = Some(10);
    let runs = runs.iter().map(|record| AuditedRun {
        record,
        limit: Some(limit()),
        side: None,
    });
    Subject {
        runs: runs.collect(),
        declared,
        ..Subject::default()
    }
}

fn level(id: &str, runs: &[Record]) -> Option<Level> {
    let rule = rule(id).expect("there is such a rule");
    judge(rule, &subject(runs))
        .ok()
        .map(|finding| finding.level)
}

fn missed(cases: &[Case]) -> Vec<String> {
    let (mut missed, mut known) = (Vec::new(), BTreeSet::new());
    for (at, (rule, change)) in cases.iter().enumerate() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        if known.insert(rule) {
            let before = level(rule, &runs);
            assert!(before < Some(Level::Warn), "{rule} speaks of honest runs");
        }
        change(&mut runs);
        let found = level(rule, &runs);
        if found < Some(Level::Warn) {
            missed.push(format!("{at}: {rule} says {found:?}"));
        }
    }
    println!(
        "{} of {} named; missed: {missed:?}",
        cases.len() - missed.len(),
        cases.len()
    );
    missed
}

#[test]
fn trust_what_was_made_better_is_named_by_the_right_rule() {
    let missed = missed(&CASES);
    assert!(missed.len() <= 2, "{missed:#?}");
}

#[test]
fn trust_records_that_contradict_themselves_are_named() {
    let missed = missed(&CONTRADICTIONS);
    assert!(missed.len() <= 2, "{missed:#?}");
}

#[test]
fn trust_odd_records_are_never_invalid() {
    let whole = blocks_over("flush", &["1", "2"]);
    assert_eq!(invalid(&whole), [""; 0]);
    for (at, change) in ODD.iter().enumerate() {
        let mut runs = whole.clone();
        change(&mut runs);
        assert_eq!(invalid(&runs), [""; 0], "change {at}");
    }
}

/// The rules that call these runs invalid, with the evidence.
fn invalid(runs: &[Record]) -> Vec<String> {
    let found = audit(&subject(runs));
    let found = found.judgements.iter().filter_map(|it| {
        let finding = it.outcome.as_ref().ok()?;
        (finding.level == Level::Invalid).then(|| format!("{}: {}", it.rule.id, finding.evidence))
    });
    found.collect()
}

/// Noise, slow tails, and other durations and numbers of runs are no fault.
#[test]
fn trust_honest_records_are_never_invalid() {
    let is_long = std::env::var_os("DBDYNO_TRUST").is_some();
    for seed in 0..if is_long { 20 } else { 6 } {
        let mut runs = blocks_over("flush", &["1", "2"]);
        let mut state: u64 = seed;
        let mut next = || {
            // Only the mixing step of SplitMix64 (Steele, Lea and Flood) is needed here.
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            (mixed >> 11) as f64 / (1_u64 << 53) as f64
        };
        for run in &mut runs {
            let level = 0.8 + 0.2 * next();
            for interval in &mut run.intervals {
                let noise = 1.0 + 0.1 * (next() + next() - 1.0);
                thinned(interval, (level * noise).min(1.0));
            }
            let back: u64 = run.measured_intervals().map(Interval::succeeded).sum();
            run.offered.as_mut().unwrap().due = back;
            run.ceiling = None;
        }
        assert_eq!(invalid(&runs), [""; 0], "{seed}");
    }
}
