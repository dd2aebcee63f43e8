//! Tests of time limits: the client waits for a silent server for as long as the endpoint specifies.

use std::time::Duration;

use protocol::{
    Connection, Endpoint, Error, LocalSource, Value,
    testing::{Answer, Dialect, OutgoingGreeting, Peer},
};
use reactor::{now, sleep};

use crate::fake::against;

const LIMIT: Duration = Duration::from_secs(60);

/// The limit of the purpose; the user's limit takes precedence.
const OF_PURPOSE: Duration = Duration::from_secs(3600);

fn limited(endpoint: Endpoint) -> Endpoint {
    Endpoint {
        statement_timeout: Some(LIMIT),
        ..endpoint
    }
}

/// Accepts the login, then stays silent, or sends an endless answer slowly.
async fn stopped(mut peer: Peer, trickles: bool) {
    peer.greet(&OutgoingGreeting::default()).await.unwrap();
    peer.answer(&Answer::ok(0)).await.unwrap();
    let _ = peer.receive_command().await;
    if trickles {
        // The beginning of an error packet of 57,344 bytes.
        let _ = peer.send_raw(&[0, 0xe0, 0, 1, 0xff]).await;
    }
    while trickles && peer.send_raw(b"x").await.is_ok() {
        sleep(Duration::from_secs(1)).await;
    }
    std::future::pending().await
}

struct Endless;

impl LocalSource for Endless {
    fn fill(&mut self, buffer: &mut Vec<u8>) -> std::io::Result<bool> {
        buffer.resize(1 << 20, b'x');
        Ok(true)
    }
}

#[test]
fn every_statement_ends_at_its_limit() {
    for trickles in [false, true] {
        for kind in ["query", "prepare", "rows", "ping", "load"] {
            let client = async |endpoint| {
                let mut connection = Connection::open_within(&limited(endpoint), OF_PURPOSE)
                    .await
                    .unwrap();
                let begin = now();
                let result = match kind {
                    "query" => connection.query(b"DO 1").await.map(drop),
                    "prepare" => connection.prepare("DO ?").await.map(drop),
                    "rows" => connection.rows("SELECT 1").await.map(drop),
                    "ping" => connection.ping().await,
                    _ => connection
                        .load_local("LOAD DATA LOCAL ...", &mut Endless)
                        .await
                        .map(drop),
                };
                let error = result.unwrap_err();
                assert!(matches!(error, Error::NoAnswer { after: LIMIT }), "{error}");
                assert!(error.is_connection_lost());
                assert_eq!(now() - begin, LIMIT, "{kind}");
                // The connection is unusable afterwards.
                let next = connection.query(b"DO 2").await.unwrap_err();
                assert!(next.is_connection_lost(), "{next}");
            };
            against(move |peer| stopped(peer, trickles), client);
        }
    }
}

/// Accepts the login, and prepares a statement without columns and parameters.
async fn prepare(peer: &mut Peer) {
    peer.greet(&OutgoingGreeting::default()).await.unwrap();
    peer.answer(&Answer::ok(0)).await.unwrap();
    peer.receive_command().await.unwrap();
    peer.send(&[0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        .await
        .unwrap();
}

#[test]
fn a_prepared_statement_ends_at_its_limit() {
    let server = async |mut peer: Peer| {
        prepare(&mut peer).await;
        let _ = peer.receive_command().await;
        std::future::pending().await
    };
    let client = async |endpoint| {
        let mut connection = Connection::open_within(&limited(endpoint), OF_PURPOSE)
            .await
            .unwrap();
        let statement = connection.prepare("DO 1").await.unwrap();
        let begin = now();
        let none: [Value<'_>; 0] = [];
        let error = connection.execute(&statement, &none).await.unwrap_err();
        assert!(matches!(error, Error::NoAnswer { .. }), "{error}");
        assert_eq!(now() - begin, LIMIT);
    };
    against(server, client);
}

#[test]
fn only_preparing_ends_at_a_limit_of_its_own() {
    let server = async |mut peer: Peer| {
        prepare(&mut peer).await;
        peer.receive_command().await.unwrap();
        sleep(2 * LIMIT).await;
        peer.answer(&Answer::ok(1)).await.unwrap();
        let _ = peer.receive_command().await;
        std::future::pending().await
    };
    against(server, async |endpoint| {
        let mut connection = Connection::open(&endpoint).await.unwrap();
        let prepared = connection.prepare_within("DO 1", LIMIT).await.unwrap();
        let none: [Value<'_>; 0] = [];
        let done = connection.execute(&prepared, &none).await.unwrap();
        assert_eq!(done.affected_rows, 1);
        let begin = now();
        let error = connection.prepare_within("DO 2", LIMIT).await.unwrap_err();
        assert!(matches!(error, Error::NoAnswer { .. }), "{error}");
        assert_eq!(now() - begin, LIMIT);
    });
}

/// MySQL 8.0.33 announces the parameter of an ORDER BY, and sends no definition of it.
#[test]
fn a_parameter_without_a_definition_is_not_waited_for() {
    const COLUMN: &[u8] =
        b"\x03def\x00\x00\x00\x01a\x01a\x0c\x2d\x00\x00\x04\x00\x00\xfd\x00\x00\x00\x00\x00";
    const EOF: &[u8] = &[0xfe, 0, 0, 2, 0];
    let server = async |mut peer: Peer| {
        let hello = OutgoingGreeting {
            version: "8.0.33".to_owned(),
            dialect: Dialect::MySql,
            ..OutgoingGreeting::default()
        };
        peer.greet(&hello).await.unwrap();
        peer.answer(&Answer::ok(0)).await.unwrap();
        peer.receive_command().await.unwrap();
        // Statement 1 with a column and a parameter.
        let announced = &[0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0];
        for packet in [announced, EOF, COLUMN, EOF] {
            peer.send(packet).await.unwrap();
        }
        let _ = peer.receive_command().await;
        std::future::pending().await
    };
    against(server, async |endpoint| {
        let mut connection = Connection::open_within(&limited(endpoint), OF_PURPOSE)
            .await
            .unwrap();
        let prepared = connection.prepare("SELECT a FROM t ORDER BY ?").await;
        assert_eq!(prepared.unwrap().parameters(), 1);
    });
}

#[test]
fn an_answer_in_time_is_taken_and_without_a_limit_time_does_not_matter() {
    for (limit, takes) in [
        (Some(LIMIT), LIMIT - Duration::from_secs(1)),
        (None, 100 * LIMIT),
    ] {
        let server = async move |mut peer: Peer| {
            peer.greet(&OutgoingGreeting::default()).await.unwrap();
            peer.answer(&Answer::ok(0)).await.unwrap();
            while let Ok(Some(command)) = peer.receive_command().await {
                if command.first() == Some(&3) {
                    sleep(takes).await;
                    peer.answer(&Answer::ok(1)).await.unwrap();
                }
            }
        };
        let client = async |endpoint| {
            let opened = match limit {
                Some(limit) => Connection::open_within(&endpoint, limit).await,
                None => Connection::open(&limited(endpoint)).await,
            };
            let mut connection = opened.unwrap();
            for _ in 0..3 {
                connection.query(b"DO 1").await.unwrap();
            }
        };
        against(server, client);
    }
}
