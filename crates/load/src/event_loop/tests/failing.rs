//! Tests of operations that fail, and of connections that are lost.

use super::*;

#[test]
fn counted_errors_do_not_end_the_load_and_do_not_count_as_successes() {
    let user = Scripted::taking(&[10, 10]).failing(1, failure(1064, false, false));
    let told = drive(vec![user], OnError::Count, 0, 1_000);
    let measured = told.due_in(Phase::Measurement);
    assert_eq!((measured.response.count, measured.errors), (51, 50));
    assert!(told.halted.is_empty());
}

#[test]
fn the_first_error_ends_the_load_under_the_stop_policy() {
    let user = Scripted::taking(&[10, 10]).failing(1, failure(1064, false, false));
    let told = drive(vec![user], OnError::Stop, 0, 60_000);
    assert_eq!(told.due_in(Phase::Measurement).response.count, 1);
    assert!(
        matches!(&told.halted[..], [Termination::Failed { operation, failure }]
        if operation == "select" && failure.number == 1064)
    );
}

#[test]
fn a_lost_connection_is_opened_again() {
    let user = Scripted::taking(&[10, 10]).failing(1, failure(0, false, true));
    let connects = Rc::clone(&user.connects);
    let told = drive(vec![user], OnError::Count, 0, 1_000);
    assert!(told.halted.is_empty());
    assert_eq!(
        connects.get(),
        51,
        "the first connection, and one after each loss"
    );
}

#[test]
fn a_server_that_stays_away_ends_the_load() {
    let mut user = Scripted::taking(&[10, 10]).failing(1, failure(0, false, true));
    user.connect_fails_from = 2;
    let told = drive(vec![user], OnError::Count, 0, 60_000);
    assert!(matches!(&told.halted[..], [Termination::ServerLost(_)]));
    assert_eq!(told.due_in(Phase::Measurement).response.count, 1);
}
