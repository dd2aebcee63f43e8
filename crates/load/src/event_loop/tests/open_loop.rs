//! Tests of operations that are due whatever the server does, of think times, and of a number of operations.

use super::*;
use crate::budget::Budget;
use settings::{Process, ThinkTime};

fn constant(rate_per_s: f64) -> Arrivals {
    let process = Process::Constant;
    Arrivals::Open {
        rate_per_s,
        process,
    }
}

/// A number of users of a server that takes a millisecond, and does not answer in a period.
fn users_of_a_frozen_server(users: usize, from_ms: u64, to_ms: u64) -> Vec<Scripted> {
    let user = || Scripted {
        frozen: Some((after_ms(from_ms), after_ms(to_ms))),
        ..Scripted::taking(&[1])
    };
    (0..users).map(|_| user()).collect()
}

fn at_a_rate(users: Vec<Scripted>, rate_per_s: f64, warm_up_ms: u64, measure_ms: u64) -> Told {
    let constant = constant(rate_per_s);
    drive_at(users, constant, OnError::Count, warm_up_ms, measure_ms)
}

#[test]
fn a_stall_is_in_the_response_times_of_all_that_were_due_meanwhile() {
    const USERS: usize = 8;
    let told = at_a_rate(
        users_of_a_frozen_server(USERS, 2_000, 2_500),
        1_000.0,
        0,
        6_000,
    );
    // A model of the same server and queue: an operation is sent when it is due and one of the users is free.
    let mut free_ms = [0.0_f64; USERS];
    let mut truth = Durations::default();
    for due_ms in (0..=6_000).map(f64::from) {
        let first = (0..USERS).min_by(|a, b| free_ms[*a].total_cmp(&free_ms[*b]));
        let user = &mut free_ms[first.unwrap()];
        let sent_ms = user.max(due_ms);
        let frozen = (2_000.0..2_500.0).contains(&sent_ms);
        *user = if frozen { 2_500.0 } else { sent_ms } + 1.0;
        truth.record(((*user - due_ms) * 1e6) as u64);
    }
    let measured = told.due_in(Phase::Measurement).response;
    assert_eq!(
        (measured.count, measured.sum_ns),
        (truth.count, truth.sum_ns)
    );
    assert_eq!(
        (measured.min_ns, measured.max_ns),
        (truth.min_ns, truth.max_ns)
    );
    for quantile in [0.5, 0.9, 0.95, 0.99, 0.999] {
        let ns = |durations: &Durations| durations.histogram.quantile_ns(quantile);
        assert_eq!(ns(&measured), ns(&truth), "quantile {quantile}");
    }
    let service = &told.all.service[0];
    assert_eq!(
        (service.count, service.histogram.count_above(2_000_000)),
        (6_001, 8)
    );
    let lags = told.all.send_lag.histogram.count_above(1_000_000);
    assert!(lags > 490, "{lags} operations waited for a free user");
}

#[test]
fn a_stall_at_the_end_does_not_vanish() {
    let told = at_a_rate(
        users_of_a_frozen_server(4, 2_000, 3_600_000),
        1_000.0,
        0,
        3_000,
    );
    assert_eq!(told.due_in(Phase::Measurement).response.count, 2_000);
    let left = &told.left.unanswered;
    assert_eq!(
        (told.left.in_flight, left.unfinished, left.not_started),
        (4, 4, 997)
    );
    // The drain lasted five seconds more; the first of them was due one second before it.
    assert_eq!(left.waits.count, 1_001);
    assert_eq!((left.waits.max_ns + 500_000) / 1_000_000, 6_001);
    let at_the_stop = told.paces.iter().map(|pace| pace.waiting).max();
    assert_eq!(at_the_stop, Some(997));
}

#[test]
fn what_was_due_before_the_stop_is_worked_off_and_counts() {
    // 200 per second of 400: half of the operations due in two seconds are left, and take two more.
    let users = vec![Scripted::taking(&[5])];
    let told = at_a_rate(users, 400.0, 0, 2_000);
    assert_eq!(told.due_in(Phase::Measurement).response.count, 801);
    let in_time: u64 = told.intervals.iter().map(|one| one.3.response.count).sum();
    assert_eq!(in_time, 400);
    assert_eq!(told.carried[&Phase::Measurement.into()].succeeded(), 401);
    assert_eq!(
        (
            told.left.unanswered.not_started,
            told.left.unanswered.waits.count
        ),
        (0, 0)
    );
    assert_eq!(told.paces.iter().map(|pace| pace.due).sum::<u64>(), 801);
}

#[test]
fn a_backlog_of_the_warm_up_does_not_reach_the_measurement() {
    let told = at_a_rate(users_of_a_frozen_server(2, 0, 1_000), 100.0, 500, 2_000);
    let warm_up = told.due_in(Phase::WarmUp).response;
    assert_eq!(warm_up.count, 51);
    assert_eq!(
        told.carried[&Phase::WarmUp.into()].operations[0]
            .response
            .count,
        51
    );
    let measured = told.due_in(Phase::Measurement).response;
    assert_eq!(measured.count, 200);
    // The first of them was due at 510 ms, and its turn came when the server answered again.
    assert_eq!(measured.max_ns / 1_000_000, 516);
}

#[test]
fn an_overload_ends_with_the_drain() {
    let users = vec![Scripted::taking(&[10]), Scripted::taking(&[10])];
    let told = at_a_rate(users, 1_000.0, 0, 2_000);
    let measured = told.due_in(Phase::Measurement).response.count;
    let left = &told.left.unanswered;
    assert_eq!(measured + left.unfinished + left.not_started, 2_001);
    assert_eq!(
        measured, 1_399,
        "200 per second for two seconds and a drain of five"
    );
    assert!(told.halted.is_empty());
}

#[test]
fn an_interrupted_load_works_nothing_off() {
    let user = Scripted::taking(&[10; 200]).failing(100, failure(1064, false, false));
    let constant = constant(1_000.0);
    let told = drive_at(vec![user], constant, OnError::Stop, 0, 60_000);
    assert_eq!(told.all.succeeded(), 100);
    assert!(
        told.left.unanswered.not_started > 800,
        "{}",
        told.left.unanswered.not_started
    );
}

#[test]
fn a_user_thinks_after_each_operation() {
    let fixed = Arrivals::Thinking(ThinkTime::Fixed(Duration::from_millis(30)));
    let told = drive_at(
        vec![Scripted::taking(&[10])],
        fixed,
        OnError::Stop,
        0,
        1_000,
    );
    let measured = told.due_in(Phase::Measurement).response;
    assert_eq!((measured.count, measured.max_ns), (25, 10_000_000));
    assert_eq!((told.all.send_lag.count, told.all.send_lag.max_ns), (25, 0));
}

#[test]
fn a_number_of_operations_is_exact() {
    let users = (0..7).map(|_| Scripted::taking(&[10, 3])).collect();
    let task_of = |task: Task| Task {
        allowance: Allowance::new(Some(Arc::new(Budget::new(1_000, 1)))),
        ..task
    };
    let told = drive_with(users, Arrivals::Closed, OnError::Stop, (500, None), task_of);
    assert_eq!(told.due_in(Phase::Measurement).response.count, 1_000);
    assert!(told.due_in(Phase::WarmUp).response.count > 500);
}

#[test]
fn nothing_is_owed_once_the_number_is_reached_before_the_time() {
    let users = (0..4).map(|_| Scripted::taking(&[1])).collect();
    let task_of = |task: Task| Task {
        allowance: Allowance::new(Some(Arc::new(Budget::new(1_000, 1)))),
        ..task
    };
    let rate_per_s = 500.0;
    let constant = constant(rate_per_s);
    let told = drive_with(users, constant, OnError::Stop, (0, Some(60_000)), task_of);
    let finished = told.due_in(Phase::Measurement).response.count;
    assert_eq!((finished, told.left.unanswered.not_started), (1_000, 0));
}
