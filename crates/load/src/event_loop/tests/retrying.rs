//! Tests of the policy that retries retryable failures and stops at all others.

use super::*;

const POLICY: OnError = OnError::RetryElseStop {
    reconnect_for: Duration::from_secs(2),
};

#[test]
fn what_may_be_retried_is_retried_within_one_response_time() {
    let user = Scripted::taking(&[10, 10, 10])
        .failing(0, failure(1213, true, false))
        .failing(1, failure(1213, true, false));
    let told = drive(vec![user], POLICY, 0, 300);
    let measured = told.due_in(Phase::Measurement);
    assert_eq!((measured.response.count, measured.errors), (11, 0));
    assert_eq!(measured.response.min_ns, 30_000_000);
    let deadlocks = &told.failures[&(0, 1213)];
    assert_eq!((deadlocks.count, deadlocks.retried), (22, 22));
    assert!(told.halted.is_empty());
    // The last one was due in the measurement and completed after it.
    let user = told.users[0];
    assert_eq!((user.count, user.busy), (11, Duration::from_millis(330)));
}

#[test]
fn a_lost_connection_that_may_be_retried_is_opened_again() {
    let user = Scripted::taking(&[10, 10]).failing(0, failure(0, true, true));
    let connects = Rc::clone(&user.connects);
    let told = drive(vec![user], POLICY, 0, 100);
    assert_eq!(told.due_in(Phase::Measurement).response.count, 6);
    assert_eq!(connects.get(), 1 + 6);
    assert!(told.halted.is_empty());
}

#[test]
fn anything_else_ends_the_load() {
    let user = Scripted::taking(&[10, 10]).failing(1, failure(1062, false, false));
    let told = drive(vec![user], POLICY, 0, 1000);
    let [Termination::Failed { failure: last, .. }] = &told.halted[..] else {
        panic!("{:?}", told.halted);
    };
    assert_eq!(last.number, 1062);
    assert_eq!(told.due_in(Phase::Measurement).response.count, 1);
    let user = Scripted::taking(&[10]).failing(0, failure(0, false, true));
    let told = drive(vec![user], POLICY, 0, 1000);
    assert!(matches!(told.halted[..], [Termination::ServerLost(_)]));
}

#[test]
fn retries_end_when_the_load_gives_up_waiting() {
    let user = Scripted::taking(&[10]).failing(0, failure(1205, true, false));
    let told = drive(vec![user], POLICY, 0, 100);
    let measured = told.due_in(Phase::Measurement);
    assert_eq!((measured.response.count, measured.errors), (0, 0));
    assert_eq!(told.left.in_flight, 1);
}

#[test]
fn what_may_have_been_committed_is_not_run_again() {
    let unknown = Failure {
        outcome_unknown: true,
        ..failure(0, false, true)
    };
    let user = Scripted::taking(&[10, 10]).failing(0, unknown);
    let connects = Rc::clone(&user.connects);
    let told = drive(vec![user], POLICY, 0, 100);
    let measured = told.due_in(Phase::Measurement);
    assert_eq!((measured.response.count, measured.errors), (5, 6));
    // The sixth attempt came after the end of the load.
    assert_eq!(connects.get(), 1 + 5);
    assert!(told.halted.is_empty());
    let lost = &told.failures[&(0, 0)];
    assert_eq!(
        (lost.count, lost.outcome_unknown, lost.in_measurement),
        (6, 6, 6)
    );
}

#[test]
fn a_load_that_no_time_ends_gives_up_when_nothing_succeeds() {
    let without_end =
        |user: Scripted| drive_with(vec![user], Arrivals::Closed, POLICY, (0, None), |task| task);
    let user = Scripted::taking(&[10]).failing(0, failure(1213, true, false));
    let told = without_end(user);
    let [Termination::Failed { failure: last, .. }] = &told.halted[..] else {
        panic!("{:?}", told.halted);
    };
    assert_eq!(
        last.message,
        "given up after 6000 attempts and 60 s without one success: error 1213"
    );
    assert_eq!(told.failures[&(0, 1213)].count, 6000);
    // Each attempt waits long for a lock: 60 s pass quickly.
    let user = Scripted::taking(&[1000]).failing(0, failure(1205, true, false));
    assert_eq!(without_end(user).failures[&(0, 1205)].count, 100);
    // With one success in between, it continues.
    let mut user = Scripted::taking(&[1000; 199]);
    for at in (0..99).chain(100..198) {
        user = user.failing(at, failure(1205, true, false));
    }
    user.rounds = Some(199);
    let told = without_end(user);
    assert!(told.halted.is_empty(), "{:?}", told.halted);
}

#[test]
fn a_deadlock_is_retried_within_the_same_operation() {
    let user = Scripted::taking(&[10, 10]).failing(0, failure(1213, true, false));
    let told = drive(vec![user], OnError::Retry { at_most: 3 }, 0, 1_000);
    let measured = told.due_in(Phase::Measurement);
    assert_eq!((measured.response.count, measured.errors), (51, 0));
    assert_eq!(
        measured.response.min_ns, 20_000_000,
        "the response time includes the retry"
    );
    let deadlocks = &told.failures[&(0, 1213)];
    assert_eq!(
        (deadlocks.count, deadlocks.retried),
        (51, 51),
        "one of them after the stop"
    );
}
