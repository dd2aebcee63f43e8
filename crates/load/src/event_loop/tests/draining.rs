//! Tests of how long a load waits for its operations after the stop.

use super::*;

#[test]
fn a_server_that_does_not_answer_any_more_cannot_hold_the_load() {
    let told = drive(
        vec![Scripted::taking(&[3_600_000])],
        OnError::Stop,
        0,
        1_000,
    );
    assert_eq!(told.left.unanswered.unfinished, 1);
    assert_eq!(told.due_in(Phase::Measurement).response.count, 0);
}

#[test]
fn a_load_waits_as_long_as_its_drain_says() {
    for (drain, came_back) in [
        (Drain::AtMost(Duration::from_secs(1)), 0),
        (Drain::USUAL, 0),
        (Drain::AtMost(Duration::from_secs(20)), 1),
        (Drain::Unlimited, 1),
        (Drain::as_long_as(Duration::from_secs(1)), 0),
        (Drain::as_long_as(Duration::from_secs(20)), 1),
    ] {
        let user = Scripted::taking(&[15_000]);
        let phases = (0, Some(1_000));
        let told = drive_with(
            vec![user],
            Arrivals::Closed,
            OnError::Stop,
            phases,
            |task| Task { drain, ..task },
        );
        let finished = told.due_in(Phase::Measurement).response.count;
        assert_eq!(
            (finished, told.left.unanswered.unfinished),
            (came_back, 1 - came_back),
            "{drain:?}"
        );
    }
}

#[test]
fn an_interruption_does_not_wait_for_ever() {
    let lost = Scripted::taking(&[10; 10]).failing(5, failure(1064, false, false));
    let users = vec![lost, Scripted::taking(&[3_600_000])];
    let told = drive_with(
        users,
        Arrivals::Closed,
        OnError::Stop,
        (0, Some(60_000)),
        |task| Task {
            drain: Drain::Unlimited,
            ..task
        },
    );
    assert_eq!((told.halted.len(), told.left.unanswered.unfinished), (1, 1));
}
