//! Commands that a hook sends, and what becomes of their results.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use protocol::relay::{error_packet, ok_packet, put_packet};
use proxy::{Decision, QueryResult, Status};

use crate::{
    hooks::{Event, append, append_packet, hooks},
    mock::{CAPABILITIES, DEPRECATE_EOF, Scene, hello, login, login_of, open_server, server},
};

const EOF: &[u8] = b"\xfe\0\0\x02\0";
const OK: &[u8] = b"\0\0\0\x02\0\0\0";

/// A server that answers a statement with one row that says it, `ok` with an OK, and `bad` with an error.
fn echo() -> SocketAddr {
    open_server(|mut end| {
        while let Some((number, command)) = end.packet() {
            let next = number.wrapping_add(1);
            match &command[..] {
                [3, statement @ ..] if statement.starts_with(b"ok") => {
                    end.say(next, b"\0\x02\x05\x03\0\x01\0");
                }
                [3, statement @ ..] if statement.starts_with(b"bad") => {
                    end.say(next, &error_packet(1064, "42000", "no"));
                }
                [3, statement @ ..] if statement.starts_with(b"file") => {
                    end.say(next, b"\xfbx");
                    while end.packet().is_some_and(|(_, data)| !data.is_empty()) {}
                    end.say(next.wrapping_add(3), OK);
                }
                [3, statement @ ..] => {
                    let mut row = vec![u8::try_from(statement.len()).unwrap()];
                    row.extend_from_slice(statement);
                    end.say_all(next, &[b"\x01", b"\x03def", EOF, &row, EOF]);
                }
                [1 | 25, ..] => {}
                _ => end.say(next, OK),
            }
        }
    })
}

fn rows(statement: &[u8]) -> Vec<Vec<u8>> {
    let mut row = vec![u8::try_from(statement.len()).unwrap()];
    row.extend_from_slice(statement);
    vec![
        b"\x01".into(),
        b"\x03def".into(),
        EOF.into(),
        row,
        EOF.into(),
    ]
}

#[track_caller]
fn expect_rows(client: &mut crate::mock::End, number: u8, statement: &[u8]) {
    for (number, payload) in (number..).zip(rows(statement)) {
        assert_eq!(client.expect(number), payload);
    }
}

type Results = Arc<Mutex<Vec<QueryDigest>>>;

/// What a hook was told of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
struct QueryDigest {
    id: i64,
    status: Status,
    rows: u64,
    columns: usize,
    bytes: u64,
    packets: Option<Vec<Vec<u8>>>,
}

fn digest(result: &QueryResult) -> QueryDigest {
    assert!(result.query_time_us <= result.response_time_us);
    QueryDigest {
        id: result.injection.id,
        status: result.status,
        rows: result.row_count,
        columns: result.columns,
        bytes: result.bytes,
        packets: result.packets.as_deref().cloned(),
    }
}

/// A scene whose hook answers `select` by the commands of `queue` and ignores the results that `ignored` says.
fn scene(queue: &'static [(i64, &'static str, bool)], ignored: &'static [i64]) -> (Scene, Results) {
    let results = Results::default();
    let told = Arc::clone(&results);
    let script = hooks(move |event, session, _| match event {
        Event::Query(b"\x03select") => {
            for (id, statement, needs_result) in queue {
                append(session, *id, statement, *needs_result);
            }
            Decision::SendQueue
        }
        Event::Result(result) => {
            told.lock().unwrap().push(digest(&result));
            if ignored.contains(&result.injection.id) {
                Decision::Ignore
            } else {
                Decision::PassOn
            }
        }
        _ => Decision::PassOn,
    });
    (Scene::with(&[echo()], script, |_| {}), results)
}

#[test]
fn a_statement_is_replaced_and_its_result_passes() {
    let (scene, results) = scene(&[(7, "other", false)], &[]);
    let mut client = scene.user(0);
    for _ in 0..2 {
        client.say(0, b"\x03select");
        expect_rows(&mut client, 1, b"other");
    }
    client.say(0, b"\x03unchanged");
    expect_rows(&mut client, 1, b"unchanged");
    let bytes = rows(b"other").iter().map(|it| it.len() as u64 + 4).sum();
    let expected = QueryDigest {
        id: 7,
        status: Status::Rows,
        rows: 1,
        columns: 1,
        bytes,
        packets: None,
    };
    assert_eq!(*results.lock().unwrap(), [expected.clone(), expected]);
}

#[test]
fn an_injected_result_is_kept_from_the_client() {
    // `START TRANSACTION` before the client's statement, `SHOW WARNINGS` after it.
    let queue = &[(1, "ok start", true), (2, "real", true), (3, "after", true)];
    let (scene, results) = scene(queue, &[1, 3]);
    let mut client = scene.user(0);
    for _ in 0..3 {
        client.say(0, b"\x03select");
        expect_rows(&mut client, 1, b"real");
        results.lock().unwrap().truncate(3);
    }
    let results = results.lock().unwrap();
    assert_eq!(
        (results[0].status, results[0].packets.as_ref().map(Vec::len)),
        (
            Status::Ok {
                affected_rows: 2,
                insert_id: 5
            },
            Some(1)
        )
    );
    assert_eq!(results[1].packets, Some(rows(b"real")));
}

#[test]
fn only_the_first_result_reaches_the_client() {
    let (scene, results) = scene(&[(1, "a", true), (2, "b", true), (3, "c", true)], &[]);
    let mut client = scene.user(0);
    client.say(0, b"\x03select");
    expect_rows(&mut client, 1, b"a");
    client.say(0, b"\x03next");
    expect_rows(&mut client, 1, b"next");
    assert_eq!(results.lock().unwrap().len(), 3);
}

#[test]
fn a_second_result_that_cannot_be_kept_closes_the_connection() {
    let (scene, _) = scene(&[(1, "a", false), (2, "b", false)], &[]);
    let mut client = scene.user(0);
    client.say(0, b"\x03select");
    expect_rows(&mut client, 1, b"a");
    client.expect_end();
    scene.all_left();
}

#[test]
fn a_decision_about_a_result_that_has_passed_changes_nothing() {
    let (scene, _) = scene(&[(1, "a", false)], &[1]);
    let mut client = scene.user(0);
    client.say(0, b"\x03select");
    expect_rows(&mut client, 1, b"a");
    client.say(0, b"\x03next");
    expect_rows(&mut client, 1, b"next");
}

#[test]
fn a_client_all_of_whose_results_are_ignored_gets_an_error() {
    let (scene, _) = scene(&[(1, "a", true)], &[1]);
    let mut client = scene.user(0);
    client.say(0, b"\x03select");
    assert_eq!(client.expect(1)[..3], [0xff, 0x51, 0x04]);
    client.say(0, b"\x03next");
    expect_rows(&mut client, 1, b"next");
}

#[test]
fn errors_and_files_of_injected_commands() {
    let (scene, results) = scene(
        &[(1, "bad", true), (2, "file", true), (3, "late", true)],
        &[1, 3],
    );
    let mut client = scene.user(0);
    client.say(0, b"\x03select");
    assert_eq!(client.expect(1), b"\xfbx");
    client.say_all(2, &[b"rows", b""]);
    assert_eq!(client.expect(4), OK);
    client.say(0, b"\x03next");
    expect_rows(&mut client, 1, b"next");
    assert_eq!(results.lock().unwrap()[0].status, Status::Err);
}

#[test]
fn a_result_may_be_replaced_and_the_queue_may_grow() {
    let script = hooks(|event, session, _| match event {
        Event::Query(b"\x03select") => {
            append(session, 1, "first", true);
            Decision::SendQueue
        }
        Event::Result(result) if result.injection.id == 1 => {
            append(session, 2, "second", true);
            Decision::Ignore
        }
        Event::Result(_) => Decision::Answer(vec![b"\0\x09\0\x02\0\0\0".to_vec()]),
        _ => Decision::PassOn,
    });
    let scene = Scene::with(&[echo()], script, |_| {});
    let mut client = scene.user(0);
    client.say(0, b"\x03select");
    assert_eq!(client.expect(1), b"\0\x09\0\x02\0\0\0");
}

#[test]
fn a_query_may_be_answered_and_the_client_closed() {
    let script = hooks(|event, session, _| match event {
        Event::Query(b"\x03mine") => Decision::Answer(rows(b"hook")),
        Event::Query(b"\x03close") => {
            session.borrow_mut().close = true;
            Decision::Answer(vec![ok_packet()])
        }
        Event::Query(b"\x03queue") => {
            append(session, 1, "discarded", false);
            Decision::PassOn
        }
        Event::Query(b"\x03empty") => Decision::SendQueue,
        Event::Query(packet) if packet.len() > 16_000_000 => {
            assert_eq!(packet.len(), 17_000_000);
            Decision::Answer(vec![ok_packet()])
        }
        _ => Decision::PassOn,
    });
    let scene = Scene::with(&[echo()], script, |_| {});
    let mut client = scene.user(0);
    client.say(0, b"\x03mine");
    expect_rows(&mut client, 1, b"hook");
    for statement in [&b"\x03queue"[..], b"\x03empty"] {
        client.say(0, statement);
        expect_rows(&mut client, 1, &statement[1..]);
    }
    client.say(0, &vec![3; 17_000_000]);
    assert_eq!(client.expect(2), OK);
    client.say(0, b"\x03close");
    assert_eq!(client.expect(1), OK);
    client.expect_end();
    scene.all_left();
}

#[test]
fn numbers_go_on_from_the_clients_packet() {
    // The client's command has two packets, the injected one has one.
    let script = hooks(|event, session, _| match event {
        Event::Query(packet) if packet.len() > 1000 => {
            append(session, 1, "short", false);
            Decision::SendQueue
        }
        _ => Decision::PassOn,
    });
    let scene = Scene::with(&[echo()], script, |_| {});
    let mut client = scene.user(0);
    client.say(0, &vec![3; 17_000_000]);
    expect_rows(&mut client, 2, b"short");
}

#[test]
fn hooks_know_the_session() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let script = hooks(move |event, session, _| {
        let (name, packet) = match event {
            Event::Connect => ("connect", Vec::new()),
            Event::Handshake => ("handshake", Vec::new()),
            Event::Auth => ("auth", Vec::new()),
            Event::AuthResult(packet) => ("auth_result", packet.to_vec()),
            Event::Query(packet) => ("query", packet.to_vec()),
            Event::Result(_) => ("result", Vec::new()),
            Event::Left => ("left", Vec::new()),
        };
        told.lock()
            .unwrap()
            .push((name, packet, format!("{:?}", session.borrow())));
        Decision::PassOn
    });
    let scene = Scene::with(&[echo()], script, |_| {});
    let mut client = scene.user(0);
    client.say(0, b"\x02other");
    assert_eq!(client.expect(1), OK);
    client.say(0, b"\x03x");
    expect_rows(&mut client, 1, b"x");
    client.close();
    scene.all_left();
    let seen = seen.lock().unwrap();
    let names: Vec<&str> = seen.iter().map(|(name, ..)| *name).collect();
    assert_eq!(
        names,
        [
            "connect",
            "handshake",
            "auth",
            "auth_result",
            "query",
            "query",
            "left"
        ]
    );
    assert_eq!(seen[3].1, OK);
    let known = |at: usize, what: &str| seen[at].2.contains(what);
    assert!(known(0, "server: None") && known(0, "backend: None"));
    assert!(known(1, "mysqld_version: 101101") && known(1, "thread_id: 7"));
    assert!(known(2, "username: [97, 110, 110]") && known(1, "username: []"));
    assert!(known(2, "default_db: [115, 104, 111, 112]"));
    assert!(known(5, "default_db: [111, 116, 104, 101, 114]"));
}

#[test]
fn hooks_may_be_the_whole_server() {
    let script = hooks(|event, _, _| match event {
        Event::Connect => Decision::Answer(vec![hello().payload()]),
        Event::Query(b"\x03pass") => Decision::PassOn,
        Event::Query(_) => Decision::Answer(rows(b"hook")),
        _ => Decision::PassOn,
    });
    let scene = Scene::with(&[], script, |_| {});
    let mut client = scene.user(DEPRECATE_EOF);
    client.say(0, b"\x03select");
    expect_rows(&mut client, 1, b"hook");
    // No server can answer this.
    client.say(0, b"\x03pass");
    client.expect_end();
}

#[test]
fn hooks_may_refuse_at_each_step() {
    let refused = || error_packet(1105, "07000", "no");
    for step in 0..4 {
        let script = hooks(move |event, _, _| {
            let at = match event {
                Event::Connect => 0,
                Event::Handshake => 1,
                Event::Auth => 2,
                Event::AuthResult(_) => 3,
                _ => 9,
            };
            if at == step {
                Decision::Answer(vec![error_packet(1105, "07000", "no")])
            } else {
                Decision::PassOn
            }
        });
        let scene = Scene::with(&[echo()], script, |_| {});
        let mut client = scene.client();
        let first = client.expect(0);
        if step < 2 {
            assert_eq!(first, refused());
        } else {
            client.say(1, &login(CAPABILITIES, b"", "mysql_native_password"));
            assert_eq!(client.expect(2), refused());
        }
        if step < 3 {
            client.expect_end();
            scene.all_left();
        }
    }
}

#[test]
fn a_login_may_be_replaced() {
    let address = server(|mut end| {
        end.say(0, &hello().payload());
        assert_eq!(end.expect(1)[32..36], *b"bob\0");
        end.say(2, &ok_packet());
        while end.packet().is_some() {}
    });
    let script = hooks(|event, session, _| match event {
        Event::Auth => {
            let other = login_of("bob", CAPABILITIES, b"", "mysql_native_password");
            append_packet(session, 1, other, true);
            Decision::SendQueue
        }
        _ => Decision::PassOn,
    });
    Scene::with(&[address], script, |_| {}).user(0);
}

#[test]
fn commands_without_an_answer_may_be_injected() {
    let script = hooks(|event, session, _| match event {
        Event::Query(b"\x03select") => {
            append_packet(session, 1, b"\x19\x01\0\0\0".to_vec(), false);
            append(session, 2, "real", false);
            Decision::SendQueue
        }
        _ => Decision::PassOn,
    });
    let scene = Scene::with(&[echo()], script, |_| {});
    let mut client = scene.user(0);
    client.say(0, b"\x03select");
    expect_rows(&mut client, 1, b"real");
    let mut out = Vec::new();
    assert_eq!(put_packet(b"", 0, &mut out), 1);
}
