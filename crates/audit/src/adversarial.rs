//! Tests with falsified records, each found by the right rule, and with sound records, none of which is called invalid.

use std::collections::BTreeSet;

use samples::{ErrorCount, Interval, Phase, Record};

use crate::{
    Level, Subject, audit,
    fixture::{blocks_over, limit, over, set},
    judge, rule,
    subject::Measured,
};

/// A change to the ten runs of an experiment, and the rule that has to find it.
type Case = (&'static str, fn(&mut Vec<Record>));

const CASES: [Case; 40] = [
    // Measurements are cut, falsified or copied.
    ("T06", |runs| drop(runs[3].intervals.remove(60))),
    ("T06", |runs| drop(runs[3].intervals.drain(50..90))),
    ("T06", |runs| runs[3].intervals.truncate(80)),
    ("T06", |runs| runs[3].intervals.swap(60, 61)),
    ("T06", |runs| runs[3].intervals[60].length_s = 0.0),
    ("T06", |runs| runs[3].intervals[60].length_s = f64::NAN),
    ("T06", |runs| runs[3].intervals[60].length_s = 0.5),
    ("T06", |runs| {
        measured(runs, 3, |it| it.operations[0].count *= 2)
    }),
    ("T06", |runs| {
        measured(runs, 3, |it| it.operations[0].count += 1)
    }),
    ("T06", |runs| {
        measured(runs, 3, |it| it.operations[0].sum_ns /= 2)
    }),
    ("T06", |runs| {
        measured(runs, 3, |it| it.operations[0].min_ns = 1)
    }),
    ("T06", |runs| {
        measured(runs, 3, |it| it.operations[0].max_ns = u64::MAX)
    }),
    ("T06", |runs| {
        measured(runs, 3, |it| it.operations[0].histogram.clear())
    }),
    ("T06", |runs| copied(runs, 2, 5)),
    ("T06", |runs| copied(runs, 1, 8)),
    ("T06", |runs| {
        runs[4].header.started_at = "2027-01-01T00:00:00Z".to_owned()
    }),
    ("T06", |runs| runs[3].end.as_mut().unwrap().t_s = 70.0),
    // Runs are missing, or belong to another experiment.
    ("M12", |runs| drop(runs.pop())),
    ("M12", |runs| drop(runs.drain(2..5))),
    ("M12", |runs| {
        runs[3].header.experiment_sha256 = "another".to_owned()
    }),
    ("M12", |runs| runs[3].end = None),
    // Failed operations, and clients at their limit.
    ("W10", |runs| failing(&mut runs[3], 6_000)),
    ("W10", |runs| {
        runs.iter_mut().for_each(|run| failing(run, 1_200))
    }),
    ("H12", |runs| {
        measured(runs, 3, |it| it.pace.as_mut().unwrap().loop_cpu = 0.97)
    }),
    ("H12", |runs| {
        runs[3].ceiling.as_mut().unwrap().share = Some(0.95)
    }),
    // Durability, settings and data.
    ("C01", |runs| {
        side(runs, "2", |run| {
            set(run, "innodb_flush_log_at_trx_commit", "2")
        })
    }),
    ("C01", |runs| {
        side(runs, "2", |run| set(run, "innodb_doublewrite", "OFF"))
    }),
    ("C01", |runs| {
        side(runs, "1", |run| set(run, "log_bin", "ON"))
    }),
    ("C12", |runs| {
        let variables = &mut runs[3].servers[1].variables;
        variables.insert("sync_binlog".to_owned(), "1".to_owned());
    }),
    ("W16", |runs| runs[3].dataset.as_mut().unwrap().rows /= 2),
    // The machine is disturbed.
    ("H14", |runs| {
        let samples = runs[3].telemetry.iter_mut();
        samples.for_each(|it| it.machine.as_mut().unwrap().user_s += 2.0);
    }),
    ("H14", |runs| {
        let samples = runs[3].telemetry.iter_mut();
        samples.for_each(|it| it.machine.as_mut().unwrap().steal_s = 0.4);
    }),
    ("T01", |runs| {
        runs[3]
            .telemetry
            .retain(|it| !(60.0..75.0).contains(&it.t_s))
    }),
    ("T01", |runs| {
        runs.iter_mut().for_each(|run| run.telemetry.clear())
    }),
    // The throughput is not steady.
    ("M03", |runs| side(runs, "2", |run| warm(run, 0.6, 12.0))),
    ("M03", |runs| side(runs, "1", |run| warm(run, 0.3, 60.0))),
    ("M06", |runs| stalled(&mut runs[3])),
    ("T03", |runs| {
        measured(runs, 3, |it| it.pace.as_mut().unwrap().busy = 0.5)
    }),
    ("T04", |runs| {
        for status in &mut runs[3].server_status {
            *status.counters.get_mut("Questions").unwrap() *= 1.3;
        }
    }),
    ("M07", |runs| {
        // All runs of one level first, then all of the other.
        runs.sort_by_key(|run| run.header.combination["flush"].clone());
        for (at, run) in runs.iter_mut().enumerate() {
            run.header.run = at as u32 + 1;
            run.header.started_at = format!("2026-11-21T01:{at:02}:00Z");
        }
    }),
];

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
    operation.histogram.clear();
    (0..count).for_each(|_| operation.histogram.record(mean_ns));
    operation.count = count;
    operation.sum_ns = count * mean_ns;
    (operation.min_ns, operation.max_ns) = if count > 0 {
        (mean_ns, mean_ns)
    } else {
        (0, 0)
    };
}

fn subject(runs: &[Record]) -> Subject<'_> {
    let mut declared = over(&["flush"]);
    declared.planned_runs = Some(10);
    let runs = runs.iter().map(|record| Measured {
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

#[test]
fn trust_what_was_made_better_is_named_by_the_right_rule() {
    let (mut missed, mut known) = (Vec::new(), BTreeSet::new());
    for (at, (rule, change)) in CASES.iter().enumerate() {
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
        CASES.len() - missed.len(),
        CASES.len()
    );
    assert!(missed.len() <= 2, "{missed:#?}");
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
        }
        let found = audit(&subject(&runs));
        let invalid = found.judgements.iter().filter(|it| {
            it.outcome
                .as_ref()
                .is_ok_and(|it| it.level == Level::Invalid)
        });
        let invalid: Vec<_> = invalid.map(|it| (it.rule.id, &it.outcome)).collect();
        assert!(invalid.is_empty(), "{seed}: {invalid:?}");
    }
}
