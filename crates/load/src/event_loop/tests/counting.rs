//! Tests that every attempt is counted when it fails, whatever the result of its operation.

use super::*;

const FOR_EVER: OnError = OnError::RetryElseStop {
    reconnect_for: Duration::from_secs(2),
};

#[test]
fn attempts_of_an_operation_that_never_ends_are_counted() {
    let deadlocks = Scripted::taking(&[10]).failing(0, failure(1213, true, false));
    let losses = Scripted::taking(&[10]).failing(0, failure(0, true, true));
    for (user, number) in [(deadlocks, 1213), (losses, 0)] {
        let told = drive(vec![user], FOR_EVER, 0, 1_000);
        let measured = told.due_in(Phase::Measurement);
        assert_eq!((measured.response.count, measured.errors), (0, 0));
        assert_eq!(
            (told.left.in_flight, told.left.unanswered.unfinished),
            (1, 1)
        );
        // One in each 10 ms of the measurement and of the 5 s after it.
        let failed = &told.failures[&(0, number)];
        assert_eq!((failed.count, failed.retried), (600, 0), "{number}");
        assert_eq!(failed.in_measurement, 600, "{number}");
    }
}

#[test]
fn what_is_tried_again_for_ever_ends_also_where_a_load_waits_for_all() {
    let user = Scripted::taking(&[10]).failing(0, failure(1213, true, false));
    let told = drive_with(
        vec![user],
        Arrivals::Closed,
        FOR_EVER,
        (0, Some(1_000)),
        |task| Task {
            drain: Drain::Unlimited,
            ..task
        },
    );
    let measured = told.due_in(Phase::Measurement);
    assert_eq!((measured.response.count, measured.errors), (0, 1));
    assert_eq!(told.failures[&(0, 1213)].count, 601);
    assert_eq!(told.left.in_flight, 0);
}

#[test]
fn refused_reconnects_are_counted_and_put_right_by_the_one_that_succeeds() {
    let mut user = Scripted::taking(&[10, 10]).failing(1, failure(2013, true, true));
    (user.connect_fails_from, user.connect_fails) = (2, 3);
    let told = drive(vec![user], FOR_EVER, 0, 1_000);
    let refused = &told.refusals[&(0, 0)];
    assert_eq!((refused.count, refused.retried), (3, 3));
    assert_eq!(refused.in_measurement, 3);
    let lost = &told.failures[&(0, 2013)];
    assert_eq!(lost.count, lost.retried);

    let mut user = Scripted::taking(&[10, 10]).failing(1, failure(2013, true, true));
    user.connect_fails_from = 2;
    let told = drive(vec![user], FOR_EVER, 0, 60_000);
    assert!(matches!(&told.halted[..], [Termination::ServerLost(_)]));
    let refused = &told.refusals[&(0, 0)];
    assert!(refused.count > 5 && refused.retried == 0, "{refused:?}");
    assert_eq!(told.failures[&(0, 2013)].retried, 0);
}

#[test]
fn what_a_user_still_holds_at_its_end_can_fail() {
    let mut user = Scripted::taking(&[10]);
    user.last.1 = Some(failure(1146, false, false));
    let told = drive(vec![user], FOR_EVER, 0, 100);
    assert!(
        matches!(&told.halted[..], [Termination::Failed { operation, failure }]
        if operation == "select" && failure.number == 1146)
    );
    assert_eq!(told.failures[&(0, 1146)].in_measurement, 1);

    let mut user = Scripted::taking(&[10]);
    user.last.0 = Duration::from_secs(60);
    let told = drive(vec![user], FOR_EVER, 0, 100);
    assert_eq!(told.left.in_flight, 1, "it has no answer");

    // A failed user sends nothing more.
    let mut user = Scripted::taking(&[10]).failing(0, failure(1064, false, false));
    user.last.1 = Some(failure(1146, false, false));
    let told = drive(vec![user], FOR_EVER, 0, 100);
    assert_eq!(told.failures.keys().collect::<Vec<_>>(), [&(0, 1064)]);
}
