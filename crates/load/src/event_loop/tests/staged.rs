//! Tests of loads with stages.

use super::*;
use crate::timeline::DueIn;
use settings::{Level, PlannedStage, Process, WarmUp};

/// Stages of a second each.
fn stages(levels: &[(Level<u32>, Option<Level<f64>>)]) -> Stages {
    let planned = levels.iter().map(|(connections, rate)| PlannedStage {
        connections: *connections,
        rate_per_s: *rate,
        length: Duration::from_secs(1),
    });
    Stages::of(WarmUp::None, &planned.collect::<Vec<_>>())
}

fn drive_stages(
    users: usize,
    took_ms: u64,
    arrivals: Arrivals,
    levels: &[(Level<u32>, Option<Level<f64>>)],
) -> Told {
    let users = (0..users).map(|_| Scripted::taking(&[took_ms])).collect();
    let phases = (0, Some(1_000 * levels.len() as u64));
    drive_in_stages(
        users,
        arrivals,
        OnError::Stop,
        phases,
        stages(levels),
        |task| task,
    )
}

/// Operations due in each stage, and those of them that came back in a later one.
fn due(told: &Told, stages: u32) -> Vec<(u64, u64)> {
    let in_stage = |number: u32| {
        let from = after_ms(1_000 * u64::from(number - 1));
        let to = from + Duration::from_secs(1);
        let is_last = number == stages;
        let own = told.intervals.iter();
        let own =
            own.filter(|it| it.1 >= from && (it.1 < to || is_last) && it.0 == Phase::Measurement);
        let own: u64 = own.map(|it| it.3.response.count).sum();
        let due_in = DueIn {
            phase: Phase::Measurement,
            stage: Some(number),
            slice: None,
        };
        let carried = told.carried.get(&due_in).map_or(0, Cells::succeeded);
        (own + carried, carried)
    };
    (1..=stages).map(in_stage).collect()
}

#[test]
fn a_stage_has_the_operations_of_its_connections() {
    let level = |connections| (Level::constant(connections), None);
    let told = drive_stages(3, 10, Arrivals::Closed, &[level(1), level(3), level(2)]);
    // Two of the last begin in the half millisecond by which the measurement is longer.
    assert_eq!(due(&told, 3), [(100, 1), (300, 3), (202, 2)]);
    assert_eq!(told.left.unanswered.unfinished, 0);
    // A user that waited for its stage was not late.
    assert_eq!(told.all.send_lag.max_ns, 0);
}

#[test]
fn a_ramp_of_connections_adds_one_after_the_other() {
    let ramp = (Level { from: 1, to: 4 }, None);
    let told = drive_stages(4, 10, Arrivals::Closed, &[ramp]);
    // A quarter of a second each with 1, 2, 3 and 4, and one more of each at the end.
    assert_eq!(due(&told, 1)[0].0, 25 + 50 + 75 + 100 + 4);
    let falling = (Level { from: 4, to: 1 }, None);
    let told = drive_stages(4, 10, Arrivals::Closed, &[falling]);
    assert_eq!(due(&told, 1)[0].0, 100 + 75 + 50 + 25 + 1);
}

#[test]
fn a_stage_has_the_operations_of_its_rate() {
    let rate = |from, to| (Level::constant(8), Some(Level { from, to }));
    let arrivals = Arrivals::Open {
        rate_per_s: 300.0,
        process: Process::Constant,
    };
    let told = drive_stages(
        8,
        1,
        arrivals,
        &[rate(100.0, 100.0), rate(200.0, 800.0), rate(300.0, 300.0)],
    );
    let due_by_pace: u64 = told.paces.iter().map(|pace| pace.due).sum();
    assert_eq!(due_by_pace, 100 + 500 + 300 + 1);
    let due: Vec<u64> = due(&told, 3).into_iter().map(|it| it.0).collect();
    assert_eq!(due, [100, 500, 301]);
}

#[test]
fn a_backlog_belongs_to_the_stage_in_which_it_was_due() {
    let rate = |per_s| (Level::constant(1), Some(Level::constant(per_s)));
    let arrivals = Arrivals::Open {
        rate_per_s: 110.0,
        process: Process::Constant,
    };
    // 100 of 200 per second are served in the first stage, and the others in the second.
    let told = drive_stages(1, 10, arrivals, &[rate(200.0), rate(20.0)]);
    let due = due(&told, 2);
    assert_eq!((due[0].0, due[1].0), (200, 21));
    assert!((100..=102).contains(&due[0].1), "{due:?}");
}

#[test]
fn what_is_left_is_told_by_stage() {
    let rate = |per_s| (Level::constant(1), Some(Level::constant(per_s)));
    let arrivals = Arrivals::Open {
        rate_per_s: 1_000.0,
        process: Process::Constant,
    };
    // 10 per second of 1,000, for two seconds and a drain of five: 70 of the first stage come back.
    let told = drive_stages(1, 100, arrivals, &[rate(1_000.0), rate(1_000.0)]);
    let left = |number| &told.left.by_stage[&number];
    let of_first = left(1).unfinished + left(1).not_started;
    assert_eq!(of_first + due(&told, 2)[0].0, 1_000);
    assert_eq!((left(2).unfinished, left(2).not_started), (0, 1_001));
    assert_eq!(
        left(1).waits.count + left(2).waits.count,
        told.left.unanswered.waits.count
    );
}
