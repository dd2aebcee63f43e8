//! Tests of connections that open, fail, or take too long.

use super::*;

/// The result of connecting such a user, and its time.
fn connected_after(user: Scripted) -> (Result<Duration, Failure>, Duration) {
    let options = Options {
        clock: Clock::Driven,
        spin: false,
    };
    let offsets = GroupOffsets {
        group: 0,
        first_operation: 0,
        first_statement: 0,
    };
    let (messages, inbox) = channel::unbounded();
    let timeline = Timeline::new(Duration::from_secs(1), Stages::default(), None);
    let users = vec![UserAssignment {
        offsets,
        place: None,
        user,
    }];
    let reactor = reactor::Reactor::with_options(options).expect("a reactor");
    let took = reactor.run(async {
        let begin = reactor::now();
        connecting::connect_all(&messages, &timeline, users).await;
        reactor::now() - begin
    });
    match inbox.recv().expect("a message") {
        Message::Connect { result, .. } => (result, took),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_connection_whose_statements_are_never_prepared_is_given_up() {
    let user = Scripted {
        connect_takes: Duration::from_secs(3600),
        ..Scripted::taking(&[1])
    };
    let (result, took) = connected_after(user);
    assert_eq!(result.unwrap_err().message, "no answer within 60s");
    assert!(took < Duration::from_secs(61), "{took:?}");
}

#[test]
fn all_attempts_have_one_limit() {
    let user = Scripted {
        connect_takes: Duration::from_secs(25),
        connect_fails_from: 1,
        ..Scripted::taking(&[1])
    };
    let connects = Rc::clone(&user.connects);
    let (result, took) = connected_after(user);
    assert!(result.is_err());
    assert!(took < Duration::from_secs(61), "{took:?}");
    assert_eq!(connects.get(), 3);
}
