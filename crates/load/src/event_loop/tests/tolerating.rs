//! Tests of failures that a planned event causes: they do not end the load.

use super::*;

const POLICIES: [OnError; 4] = [
    OnError::Stop,
    OnError::Count,
    OnError::RETRY,
    OnError::RetryElseStop {
        reconnect_for: Duration::from_secs(2),
    },
];

const OUTAGE: ToleratedFailures = ToleratedFailures {
    reconnect_for: Some(Duration::from_secs(60)),
    numbers: &[1317],
};

fn drive_tolerating(user: Scripted, on_error: OnError, measure_ms: u64) -> Told {
    let phases = (0, Some(measure_ms));
    drive_with(vec![user], Arrivals::Closed, on_error, phases, |task| {
        Task {
            tolerated: OUTAGE,
            ..task
        }
    })
}

#[test]
fn a_server_that_is_gone_for_seconds_is_reached_again_under_every_policy() {
    for on_error in POLICIES {
        let mut user = Scripted::taking(&[10; 1000]).failing(5, failure(0, false, true));
        // 20 attempts take about 8 seconds, much longer than the usual patience.
        (user.connect_fails_from, user.connect_fails) = (2, 20);
        let told = drive_tolerating(user, on_error, 15_000);
        assert!(told.halted.is_empty(), "{on_error:?}: {:?}", told.halted);
        let measured = told.due_in(Phase::Measurement);
        assert!(measured.response.count > 600, "{on_error:?}");
        assert_eq!(measured.errors, 1, "{on_error:?}");
        let refused = &told.refusals[&(0, 0)];
        assert_eq!((refused.count, refused.retried), (20, 20), "{on_error:?}");
    }
}

#[test]
fn a_statement_that_the_shutdown_interrupts_is_counted() {
    for on_error in POLICIES {
        let user = Scripted::taking(&[10, 10]).failing(0, failure(1317, false, false));
        let told = drive_tolerating(user, on_error, 1_000);
        assert!(told.halted.is_empty(), "{on_error:?}: {:?}", told.halted);
        assert_eq!(told.due_in(Phase::Measurement).response.count, 50);
    }
}

#[test]
fn any_other_failure_keeps_its_policy() {
    let user = Scripted::taking(&[10, 10]).failing(1, failure(1062, false, false));
    let told = drive_tolerating(user, OnError::Stop, 1_000);
    assert!(matches!(&told.halted[..], [Termination::Failed { .. }]));
    // A server that does not come back ends the load, in any case at its end.
    let mut user = Scripted::taking(&[10]).failing(0, failure(0, false, true));
    user.connect_fails_from = 2;
    let told = drive_tolerating(user, OnError::Stop, 300_000);
    assert!(matches!(&told.halted[..], [Termination::ServerLost(_)]));
    let mut user = Scripted::taking(&[10]).failing(0, failure(0, false, true));
    user.connect_fails_from = 2;
    let told = drive_tolerating(user, OnError::Stop, 5_000);
    assert!(told.halted.is_empty(), "{:?}", told.halted);
}
