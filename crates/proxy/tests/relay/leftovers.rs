//! What a session leaves on a connection of the pool, and who gets such a connection.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use protocol::{null_server::OutgoingGreeting, relay::ok_packet};
use proxy::{Decision, ScriptEnvironment, SharedSession};

use crate::{
    hooks::{Event, hooks},
    mock::{
        CAPABILITIES, End, Left, NOTHING_LEFT, Scene, answers_question, hello, login_with, server,
        wait_until,
    },
};

const OK: &[u8] = b"\0\0\0\x02\0\0\0";
const DENIED: &[u8] = b"\xff\x15\x04#28000Access denied";

/// What a mock server has got, as `connection: command text`.
type Log = Arc<Mutex<Vec<String>>>;

/// A server that writes down what it gets. Its connections keep a database as a server does, and statements leave there what
/// their text says.
fn logging(version: &'static str, log: &Log) -> SocketAddr {
    let (log, connections) = (Arc::clone(log), AtomicUsize::new(0));
    server(move |mut end| {
        let connection = connections.fetch_add(1, SeqCst);
        let hello = OutgoingGreeting {
            version: version.to_owned(),
            ..hello()
        };
        end.say(0, &hello.payload());
        let (_, login) = end.packet().expect("a login");
        end.say(2, OK);
        let is_in_shop = login.windows(5).any(|it| it == b"shop\0");
        let mut database = is_in_shop.then(|| "shop".to_owned());
        let (mut role, mut profiles) = (None, "0");
        while let Some((number, command)) = end.packet() {
            let text = String::from_utf8_lossy(&command[1..]).into_owned();
            (log.lock().unwrap()).push(format!("{connection}: {} {text}", command[0]));
            let left = Left {
                database: database.as_deref(),
                role,
                profiles,
            };
            if answers_question(&mut end, number, &command, &left) {
                continue;
            }
            match (command[0], text.as_str()) {
                (2, name) => database = Some(name.to_owned()),
                (3, "set role r") => role = Some("r"),
                (3, "set profiling = 1") => profiles = "3",
                (3, text) if text.starts_with("use ") => database = Some(text[4..].to_owned()),
                (0x11, _) if text.starts_with("mallory") => {
                    end.say(number.wrapping_add(1), DENIED);
                    continue;
                }
                (0x11, _) => database = text.contains("shop\0").then(|| "shop".to_owned()),
                (3, "whoami") => {
                    let error = format!("\u{1}#HY000{connection} {database:?}");
                    let mut packet = vec![0xff, 1];
                    packet.extend_from_slice(error.as_bytes());
                    end.say(number.wrapping_add(1), &packet);
                    continue;
                }
                _ => {}
            }
            end.say(number.wrapping_add(1), OK);
        }
        log.lock().unwrap().push(format!("{connection}: closed"));
    })
}

/// Parks the connection after the login, after each command and at the end, and takes an idle one for each command and for
/// each login that begins when as many are idle as `enough`.
fn share(
    enough: usize,
) -> impl Fn(Event<'_>, &SharedSession, &dyn ScriptEnvironment) -> Decision + Send + Sync {
    move |event, session, outside| match event {
        Event::Connect if outside.idle_connections(0, b"") >= enough => {
            session.borrow_mut().backend = Some(0);
            Decision::Ignore
        }
        Event::AuthResult(_) | Event::Left => {
            session.borrow_mut().backend = None;
            Decision::PassOn
        }
        Event::Query(packet) => {
            let mut session = session.borrow_mut();
            session.backend = Some(0);
            session.queries.push_back(proxy::Injection {
                id: 1,
                packet: packet.to_vec(),
                needs_result: true,
            });
            Decision::SendQueue
        }
        Event::Result(_) => {
            session.borrow_mut().backend = None;
            Decision::PassOn
        }
        _ => Decision::PassOn,
    }
}

/// A user that has logged in, with a database or without one.
#[track_caller]
fn user(scene: &Scene, name: &str, database: &str) -> End {
    let mut client = scene.client();
    client.expect(0);
    let flag = if database.is_empty() { 8 } else { 0 };
    let method = "mysql_native_password";
    let packet = login_with(name, CAPABILITIES & !flag, b"", method, database);
    // A login without a database has no field for it.
    let packet = match database {
        "" => without_database(&packet),
        _ => packet,
    };
    client.say(1, &packet);
    assert_eq!(client.expect(2), OK);
    client
}

fn without_database(login: &[u8]) -> Vec<u8> {
    let end = login.len() - "\0mysql_native_password\0".len();
    [&login[..end], &login[end + 1..]].concat()
}

#[track_caller]
fn say(client: &mut End, text: &str) -> String {
    client.say(0, &[b"\x03", text.as_bytes()].concat());
    let answer = client.expect(1);
    String::from_utf8_lossy(answer.get(9..).unwrap_or_default()).into_owned()
}

fn has(log: &Log, line: &str) -> bool {
    log.lock().unwrap().iter().any(|it| it.starts_with(line))
}

#[test]
fn what_a_session_left_is_removed_when_it_ends_and_not_when_the_next_one_comes() {
    let log = Log::default();
    let scene = Scene::with(&[logging("10.11.1-MariaDB", &log)], hooks(share(9)), |_| {});
    let mut client = user(&scene, "ann", "shop");
    say(&mut client, "begin");
    assert!(
        !has(&log, "0: 31"),
        "the session may go on with its transaction"
    );
    // No word of farewell.
    client.close();
    wait_until(|| has(&log, "0: 31"));
    wait_until(|| has(&log, "0: 3 SELECT DATABASE(), CURRENT_ROLE()"));
    assert!(!has(&log, "0: closed"));
}

#[test]
fn a_connection_with_what_no_command_removes_is_closed_and_not_shared() {
    for (statement, version, is_closed) in [
        ("set role r", "10.11.1-MariaDB", true),
        ("set profiling = 1", "10.11.1-MariaDB", true),
        ("set profiling = 1", "8.0.40", true),
        ("set resource group g", "9.7.0", true),
        ("select 1", "10.11.1-MariaDB", false),
        ("select 1", "9.7.0", false),
    ] {
        for ends_first in [true, false] {
            let log = Log::default();
            let scene = Scene::with(&[logging(version, &log)], hooks(share(1)), |_| {});
            let mut first = user(&scene, "ann", "shop");
            say(&mut first, statement);
            if ends_first {
                drop(first);
                scene.all_left();
                wait_until(|| has(&log, "0: 3 SELECT") || has(&log, "0: closed"));
                let mut second = user(&scene, "bob", "shop");
                let expected = if is_closed { "1 " } else { "0 " };
                assert!(
                    say(&mut second, "whoami").starts_with(expected),
                    "{statement}"
                );
            } else {
                let mut second = user(&scene, "ann", "shop");
                let number = say(&mut second, "whoami");
                let is_reserved = statement.contains("resource");
                let expected = if is_closed { "1 " } else { "0 " };
                assert!(number.starts_with(expected), "{statement} {number}");
                // Of what the relay has seen the session itself keeps its connection.
                if is_reserved {
                    assert!(say(&mut first, "whoami").starts_with("0 "), "{statement}");
                }
            }
        }
    }
}

#[test]
fn the_connection_that_is_idle_longest_is_taken_first() {
    let log = Log::default();
    let scene = Scene::with(&[logging("10.11.1-MariaDB", &log)], hooks(share(3)), |_| {});
    let sessions = ["ann", "bob", "cid"].map(|name| user(&scene, name, "shop"));
    for client in sessions {
        drop(client);
    }
    for connection in 0..3 {
        wait_until(|| has(&log, &format!("{connection}: 3 SELECT")));
    }
    for expected in ["0", "1", "2", "0"] {
        let mut client = user(&scene, "dan", "shop");
        assert!(say(&mut client, "whoami").starts_with(expected));
        drop(client);
        let resets = || {
            let log = log.lock().unwrap();
            log.iter()
                .filter(|it| it.starts_with(&format!("{expected}: 31")))
                .count()
        };
        let before = if expected == "0" { 2 } else { 1 };
        wait_until(|| resets() >= before);
        scene.all_left();
    }
}

#[test]
fn a_database_chosen_by_a_statement_is_that_of_the_session() {
    let log = Log::default();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let told = Arc::clone(&seen);
    let shared = share(9);
    let script = hooks(move |event, session, outside| {
        if let Event::Query(_) = event {
            let database = session.borrow().client.default_db.clone();
            told.lock()
                .unwrap()
                .push(String::from_utf8(database).unwrap());
        }
        shared(event, session, outside)
    });
    let scene = Scene::with(&[logging("10.11.1-MariaDB", &log)], script, |_| {});
    let mut first = user(&scene, "ann", "shop");
    say(&mut first, "use other");
    assert_eq!(say(&mut first, "whoami"), "0 Some(\"other\")");
    // Another session of the user takes the connection, in its own database, and the first one follows with its own.
    let mut second = user(&scene, "ann", "shop");
    say(&mut second, "select 1");
    for _ in 0..2 {
        assert!(say(&mut first, "whoami").ends_with("Some(\"other\")"));
        assert!(say(&mut second, "whoami").ends_with("Some(\"shop\")"));
    }
    let seen = seen.lock().unwrap();
    assert_eq!(seen[..3], ["shop", "other", "shop"]);
}

#[test]
fn a_session_without_a_database_gets_none_and_is_not_closed_beside_others() {
    let log = Log::default();
    let scene = Scene::with(&[logging("10.11.1-MariaDB", &log)], hooks(share(2)), |_| {});
    let mut clients: Vec<(End, &str)> = (0..6)
        .map(|at| if at % 2 == 0 { "" } else { "shop" })
        .map(|database| (user(&scene, "ann", database), database))
        .collect();
    for _ in 0..5 {
        for (client, database) in &mut clients {
            let expected = match *database {
                "" => "None",
                _ => "Some(\"shop\")",
            };
            assert!(say(client, "whoami").ends_with(expected), "{database:?}");
        }
    }
    drop(clients);
    scene.all_left();
    // Also where the connection was that of a client with one.
    for database in ["shop", "", "shop", ""] {
        let mut client = user(&scene, "ann", database);
        let expected = if database.is_empty() { "None" } else { "Some" };
        assert!(
            say(&mut client, "whoami").contains(expected),
            "{database:?}"
        );
    }
}

#[test]
fn a_login_leaves_the_last_connection_to_the_sessions_that_live() {
    let log = Log::default();
    let scene = Scene::with(&[logging("10.11.1-MariaDB", &log)], hooks(share(1)), |_| {});
    let mut first = user(&scene, "ann", "shop");
    scene.all_left();
    // Another user, and the same one without a database, which no other session could give back.
    let mut second = user(&scene, "bob", "shop");
    assert!(say(&mut second, "whoami").starts_with("1 "));
    scene.all_left();
    let mut third = user(&scene, "ann", "");
    assert!(say(&mut third, "whoami").ends_with("None"));
    scene.all_left();
    assert!(say(&mut first, "whoami").starts_with("0 "));
    drop((first, second, third));
    // No session needs them any more.
    wait_until(|| (0..3).all(|connection| has(&log, &format!("{connection}: 31"))));
    let mut fourth = user(&scene, "cid", "shop");
    assert!(!say(&mut fourth, "whoami").is_empty());
    let log = log.lock().unwrap();
    assert!(log.iter().any(|line| line.contains(": 17 cid")), "{log:?}");
}

#[test]
fn a_connection_with_refused_changes_of_the_user_is_not_shared() {
    let log = Log::default();
    let keep = hooks(|event, session, outside| match event {
        Event::Connect if outside.idle_connections(0, b"") > 0 => {
            session.borrow_mut().backend = Some(0);
            Decision::Ignore
        }
        Event::Left => {
            session.borrow_mut().backend = None;
            Decision::PassOn
        }
        _ => Decision::PassOn,
    });
    let scene = Scene::with(&[logging("10.11.1-MariaDB", &log)], keep, |_| {});
    let mut client = user(&scene, "ann", "shop");
    client.say(0, b"\x11mallory\0\0shop\0\x2d\0mysql_native_password\0");
    assert_eq!(client.expect(1), DENIED);
    assert!(say(&mut client, "whoami").starts_with('0'));
    drop(client);
    wait_until(|| has(&log, "0: closed"));
    let mut next = user(&scene, "ann", "shop");
    assert!(say(&mut next, "whoami").starts_with('1'));
}

#[test]
fn a_server_without_the_reset_shares_connections_by_login_only() {
    // It knows no COM_RESET_CONNECTION, which MariaDB has since 10.2.4.
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    let log: Arc<Mutex<Vec<u8>>> = Arc::default();
    let commands = Arc::clone(&log);
    let address = server(move |mut end| {
        count.fetch_add(1, SeqCst);
        let hello = OutgoingGreeting {
            version: "5.5.68-MariaDB".to_owned(),
            ..hello()
        };
        end.say(0, &hello.payload());
        end.packet();
        end.say(2, OK);
        while let Some((number, command)) = end.packet() {
            commands.lock().unwrap().push(command[0]);
            if command == [0x1f] {
                end.say(number.wrapping_add(1), b"\xff\x17\x04#08S01Unknown command");
            } else if !answers_question(&mut end, number, &command, &NOTHING_LEFT) {
                end.say(number.wrapping_add(1), &ok_packet());
            }
        }
    });
    let scene = Scene::with(&[address], hooks(share(1)), |_| {});
    let mut first = user(&scene, "ann", "shop");
    say(&mut first, "one");
    drop(first);
    scene.all_left();
    // ROLLBACK, and the question.
    wait_until(|| log.lock().unwrap().ends_with(&[0x1f, 3, 3]));
    let mut second = user(&scene, "ann", "shop");
    say(&mut second, "two");
    assert_eq!(connections.load(SeqCst), 1);
    assert!(log.lock().unwrap().contains(&0x11), "it has logged in");
}
