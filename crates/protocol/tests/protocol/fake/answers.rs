//! Tests of the fake server itself, as the tests of other crates use it.

use std::time::Duration;

use protocol::{
    Connection, Error, Value,
    testing::{Answer, Request, endpoint, serve},
};
use reactor::{Clock, Listener, Reactor, now};

#[test]
fn requests_get_their_answers_after_their_delays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    Reactor::new(Clock::Driven).unwrap().run(async {
        serve(
            Listener::bind_unix(&path).unwrap(),
            |request| match request {
                Request::Query(b"slow") => Answer::ok(1).after(Duration::from_millis(300)),
                Request::Query(b"two") => {
                    Answer::rows(&["a"], &[&[None], &[Some("x")]]).then(Answer::ok(5))
                }
                Request::Query(b"fail") => Answer::error(1213, "40001", "Deadlock found"),
                Request::Query(b"leave") => Answer::error(1053, "08S01", "Shutdown").and_close(),
                Request::Execute(b"SELECT ?") => Answer::packet(&[0, 7, 0, 2, 0, 0, 0]),
                _ => Answer::ok(0),
            },
        );
        let mut connection = Connection::open(&endpoint(&path)).await.unwrap();
        let start = now();
        assert_eq!(connection.query(b"slow").await.unwrap().affected_rows, 1);
        assert_eq!(now() - start, Duration::from_millis(300));
        let outcome = connection.query(b"two").await.unwrap();
        assert_eq!(
            (outcome.rows, outcome.affected_rows, outcome.result_sets),
            (2, 5, 1)
        );
        let error = connection.query(b"fail").await.unwrap_err();
        assert_eq!(error.to_string(), "error 1213 (40001): Deadlock found");
        let statement = connection.prepare("SELECT ?").await.unwrap();
        let outcome = connection
            .execute(&statement, &[Value::Int(1)])
            .await
            .unwrap();
        assert_eq!(outcome.affected_rows, 7);
        connection.close_statement(statement).await.unwrap();
        connection.ping().await.unwrap();
        assert!(
            connection
                .query(b"leave")
                .await
                .unwrap_err()
                .is_connection_lost()
        );
        assert!(matches!(connection.ping().await, Err(Error::Lost { .. })));

        let other = Connection::open(&endpoint(&path)).await.unwrap();
        assert_eq!(other.connection_id(), 2);
        assert_eq!(other.server_version(), "8.0.0-fake");
        other.close().await.unwrap();
    });
}
