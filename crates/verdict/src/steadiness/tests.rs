//! Tests of the states and stalls of fabricated runs.

use samples::SideBySide;
use stats::{Reason, Steadiness};

use super::*;
use crate::testing::{RecordBuilder, record};

/// A run with these numbers of operations in each second of its measurement, and the server's status in each.
fn run(counts: &[u64], status: impl Fn(usize) -> ServerStatus) -> Record {
    let mut record = record(&RecordBuilder::default());
    let mut intervals = record.intervals.iter();
    let is_measured = |it: &&Interval| it.phase == Phase::Measurement;
    let first = intervals.find(is_measured).unwrap().clone();
    record.intervals = counts
        .iter()
        .enumerate()
        .map(|(second, count)| {
            let mut interval = first.clone();
            interval.t_s = second as f64;
            interval.length_s = 1.0;
            interval.operations[0].count = *count;
            interval
        })
        .collect();
    record.server_status = (0..counts.len())
        .map(|second| ServerStatus {
            t_s: second as f64,
            length_s: 1.0,
            ..status(second)
        })
        .collect();
    record
}

fn even(seconds: usize) -> Vec<u64> {
    (0..seconds)
        .map(|second| 1000 + second as u64 % 3)
        .collect()
}

fn silent(_: usize) -> ServerStatus {
    ServerStatus::default()
}

#[test]
fn only_what_precedes_the_first_event_is_judged() {
    let counts = [even(40), vec![0; 20]].concat();
    let mut record = run(&counts, silent);
    assert_ne!(
        run_state(&record).map(|it| it.steadiness),
        Ok(Steadiness::Steady)
    );
    assert!(run_stalls(&record).is_some());
    record.events = vec![samples::PlannedEvent {
        number: 1,
        t_s: 40.0,
        begin_s: Some(40.0),
        ..samples::PlannedEvent::default()
    }];
    assert_eq!(run_state(&record).unwrap().steadiness, Steadiness::Steady);
    assert_eq!(run_stalls(&record), None);
}

#[test]
fn the_throughput_of_the_measurement_is_judged() {
    let steady = run_state(&run(&even(60), silent)).unwrap();
    assert_eq!(steady.steadiness, Steadiness::Steady);
    let rising: Vec<u64> = (0..60).map(|second| 500 + 10 * second).collect();
    assert_eq!(
        run_state(&run(&rising, silent)).unwrap().steadiness,
        Steadiness::Warming
    );
    assert_eq!(
        run_state(&run(&even(11), silent)),
        Err(Indeterminate::Short(11))
    );
    // The last interval was cut short by the end: it is not an observation.
    let mut cut = run(&even(12), silent);
    cut.intervals.last_mut().unwrap().length_s = 0.2;
    assert_eq!(run_state(&cut), Err(Indeterminate::Short(11)));
}

#[test]
fn counters_of_the_measurement_are_evidence() {
    let reads = |per_s: fn(usize) -> f64| {
        move |second| ServerStatus {
            counters: [("Innodb_buffer_pool_reads".to_owned(), per_s(second))].into(),
            ..ServerStatus::default()
        }
    };
    let filling = run(&even(60), reads(|second| 6000.0 - 90.0 * second as f64));
    let state = run_state(&filling).unwrap();
    assert_eq!(state.steadiness, Steadiness::Warming, "{state:?}");
    assert!(matches!(state.reasons[..], [Reason::Misses(change)] if change.share < 0.0));
    let flat = run(&even(60), reads(|second| 600.0 + (second % 5) as f64));
    assert_eq!(run_state(&flat).unwrap().steadiness, Steadiness::Steady);
    let debt = run(&even(60), |second| ServerStatus {
        innodb: Some(InnodbStatus {
            lsn: Some(5_000_000 + 1_000_000 * second as u64),
            checkpoint_lsn: Some(1_000_000),
            dirty_pages: Some(50),
            ..InnodbStatus::default()
        }),
        ..ServerStatus::default()
    });
    let state = run_state(&debt).unwrap();
    assert_eq!(state.steadiness, Steadiness::Slowing, "{state:?}");
    assert!(matches!(state.reasons[..], [Reason::CheckpointAge(_)]));
}

/// Five readings of the server per second, of which one contains the state of InnoDB.
#[test]
fn looks_without_the_state_of_innodb_take_no_evidence_away() {
    let mut debt = run(&even(60), silent);
    debt.server_status = (0..301)
        .map(|look| ServerStatus {
            t_s: f64::from(look) / 5.0,
            // The last reading comes after the end of the load.
            length_s: if look < 300 { 0.2 } else { 0.05 },
            counters: [("Innodb_buffer_pool_reads".to_owned(), 2.0)].into(),
            innodb: (look % 5 == 4).then(|| InnodbStatus {
                lsn: Some(5_000_000 + 200_000 * look as u64),
                checkpoint_lsn: Some(1_000_000),
                ..InnodbStatus::default()
            }),
            ..ServerStatus::default()
        })
        .collect();
    let state = run_state(&debt).unwrap();
    assert!(matches!(state.reasons[..], [Reason::CheckpointAge(_)]));
    let series = TimeSeries::of(&debt).counted_since(0.0);
    assert_eq!(series.misses_per_s, [10.0; 300]);
    assert_eq!(series.checkpoint_age_bytes.len(), 60);
    assert_eq!(series.dirty_pages.len(), 0);
}

#[test]
fn a_measurement_that_became_warm_up_is_one() {
    let whole = run(&even(60), silent);
    let mut course = TimeSeries::default();
    let rising = |second: usize| Interval {
        t_s: second as f64,
        ..whole.intervals[second].clone()
    };
    (0..20).for_each(|second| course.add(&rising(second)));
    assert!(course.state().is_ok());
    course.add(&Interval {
        phase: Phase::WarmUp,
        ..rising(20)
    });
    assert_eq!(course.state(), Err(Indeterminate::Short(0)));
    (21..60).for_each(|second| course.add(&rising(second)));
    assert!(course.state().unwrap().is_steady());
    assert_eq!(course.counted_since(0.0), CountedSeries::default());
}

/// A run of a slice of half a second every two seconds, with these numbers of operations. Before the first one it waits
/// for a minute, and between them the other loads have their turns; the server reads 50 pages in each slice.
fn in_slices(counts: &[u64]) -> Record {
    let mut record = run(counts, silent);
    record.side_by_side = Some(SideBySide {
        slice_s: 0.5,
        settle_s: 0.1,
        slices_per_batch: 5,
        slices_at_most: counts.len() as u32,
        ..SideBySide::default()
    });
    let first = record.intervals[0].clone();
    let part = |t_s: f64, length_s: f64, phase: Phase, slice: Option<u32>, count: u64| {
        let mut interval = Interval {
            t_s,
            length_s,
            phase,
            slice,
            ..first.clone()
        };
        interval.operations[0].count = count;
        interval
    };
    let mut intervals: Vec<Interval> = (0..60)
        .map(|second| part(f64::from(second), 1.0, Phase::WarmUp, None, 0))
        .collect();
    for (count, number) in counts.iter().zip(1..) {
        let t_s = 58.0 + 2.0 * f64::from(number);
        let slice = part(t_s, 0.5, Phase::Measurement, Some(number), *count);
        intervals.extend([slice, part(t_s + 0.5, 1.5, Phase::Pause, None, 0)]);
    }
    let status = |it: &Interval| {
        let reads = |_| ("Innodb_buffer_pool_reads".to_owned(), 50.0);
        ServerStatus {
            t_s: it.t_s,
            length_s: it.length_s,
            counters: it.slice.map(reads).into_iter().collect(),
            ..ServerStatus::default()
        }
    };
    record.server_status = intervals.iter().map(status).collect();
    record.intervals = intervals;
    record
}

#[test]
fn slices_are_judged_without_the_pauses_between_them() {
    let even = even(60);
    let steady = in_slices(&even);
    assert_eq!(run_state(&steady).unwrap().steadiness, Steadiness::Steady);
    assert_eq!(run_stalls(&steady), None);
    let misses = TimeSeries::of(&steady).counted_since(0.0).misses_per_s;
    assert_eq!(misses, [100.0; 60]);
    let rising: Vec<u64> = (0..60).map(|slice| 500 + 10 * slice).collect();
    let state = run_state(&in_slices(&rising)).unwrap();
    assert_eq!(state.steadiness, Steadiness::Warming);
    let mut stalled = even;
    stalled[20..23].fill(300);
    let found = run_stalls(&in_slices(&stalled)).unwrap();
    assert_eq!((found.measured_s, found.stalled_s), (30.0, 1.5));
    assert_eq!(found.longest_gap_s, 0.0);
}

#[test]
fn stalls_are_told_in_seconds() {
    let mut counts = even(60);
    counts[20..23].fill(300);
    counts[40..42].fill(0);
    let found = run_stalls(&run(&counts, silent)).unwrap();
    let expected = RunStalls {
        measured_s: 60.0,
        stalled_s: 5.0,
        longest_s: 3.0,
        longest_gap_s: 2.0,
        median_per_s: found.median_per_s,
    };
    assert_eq!(found, expected);
    assert!((1000.0..=1002.0).contains(&found.median_per_s));
    assert_eq!(run_stalls(&run(&even(60), silent)), None);
    // Two operations per second: a second without one is chance.
    let rare: Vec<u64> = (0..60).map(|second| second % 3 * 2).collect();
    assert_eq!(run_stalls(&run(&rare, silent)), None);
}
