//! Tests of operations that were queued before a user took them.

use super::*;

#[test]
fn queued_operations_count_from_when_they_were_queued() {
    let mut user = Scripted::taking(&[10]);
    user.queued = vec![START_NS, START_NS];
    user.rounds = Some(2);
    let told = drive(vec![user], OnError::Stop, 0, 60_000);
    let response = told.due_in(Phase::Measurement).response;
    assert_eq!(
        (response.count, response.min_ns, response.max_ns),
        (2, 10_000_000, 20_000_000)
    );
    // The user itself was ready as soon as possible.
    assert_eq!(told.all.send_lag.max_ns, 0);
}

#[test]
fn they_belong_to_the_phase_in_which_they_were_queued_and_stay_after_the_stop() {
    let mut user = Scripted::taking(&[30]);
    user.queued = vec![START_NS; 5];
    let told = drive(vec![user], OnError::Stop, 40, 70);
    assert_eq!(told.due_in(Phase::WarmUp).response.count, 4);
    assert_eq!(told.due_in(Phase::Measurement).response.count, 0);
}
