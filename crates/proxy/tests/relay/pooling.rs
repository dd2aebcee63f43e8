//! Connections that are kept for other sessions.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
};

use protocol::{null_server::OutgoingGreeting, relay::ok_packet};
use proxy::{Decision, ScriptEnvironment, SharedSession};

use crate::{
    hooks::{Event, hooks},
    mock::{
        CAPABILITIES, NOTHING_LEFT, Scene, answers_question, hello, login, login_of, server,
        wait_until,
    },
};

const OK: &[u8] = b"\0\0\0\x02\0\0\0";

/// A server that writes down what it gets, answers everything with OK, and counts its connections.
fn server_with(log: &Arc<Mutex<Vec<Vec<u8>>>>, connections: &Arc<AtomicUsize>) -> SocketAddr {
    let (log, connections) = (Arc::clone(log), Arc::clone(connections));
    server(move |mut end| {
        connections.fetch_add(1, SeqCst);
        end.say(0, &hello().payload());
        while let Some((number, command)) = end.packet() {
            let is_leaving = command == b"\x03leave";
            log.lock().unwrap().push(command.clone());
            if !answers_question(&mut end, number, &command, &NOTHING_LEFT) {
                end.say(number.wrapping_add(1), &ok_packet());
            }
            if is_leaving {
                drop(end);
                log.lock().unwrap().push(b"left".to_vec());
                return;
            }
        }
    })
}

/// Parks the connection after the login and after each command, and takes it for each command.
fn park_always(
    event: Event<'_>,
    session: &SharedSession,
    outside: &dyn ScriptEnvironment,
) -> Decision {
    match event {
        Event::Connect if outside.idle_connections(0, b"") > 0 => {
            session.borrow_mut().backend = Some(0);
            Decision::Ignore
        }
        Event::AuthResult(_) => {
            session.borrow_mut().backend = None;
            Decision::PassOn
        }
        Event::Query(b"\x01") => Decision::Answer(vec![ok_packet()]),
        Event::Query(packet) => {
            if outside.idle_connections(0, b"ann") == 0 {
                return Decision::Answer(vec![b"\xff\x51\x04#07000none".to_vec()]);
            }
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

#[test]
fn an_idle_connection_serves_the_next_client() {
    let (log, connections) = (Arc::default(), Arc::default());
    let address = server_with(&log, &connections);
    let scene = Scene::with(&[address], hooks(park_always), |_| {});
    let mut first = scene.user(0);
    scene.all_left();
    first.say(0, b"\x03one");
    assert_eq!(first.expect(1), OK);
    scene.all_left();
    // The second client's proof is checked by the server; its session begins anew.
    let mut second = scene.client();
    second.expect(0);
    second.say(1, &login(CAPABILITIES, &[7; 20], "mysql_native_password"));
    assert_eq!(second.expect(2), OK);
    first.say(0, b"\x03two");
    assert_eq!(first.expect(1), OK);
    first.say(0, b"\x03three");
    assert_eq!(first.expect(1), OK);
    assert_eq!(connections.load(SeqCst), 1);
    let log = log.lock().unwrap();
    let mut change = b"\x11ann\0\x14".to_vec();
    change.extend_from_slice(&[7; 20]);
    change.extend_from_slice(b"shop\0\x2d\0mysql_native_password\0");
    let expected: [&[u8]; 11] = [
        b"",
        b"\x03one",
        // What the first session left is removed, and the second logs in.
        b"\x1f",
        b"\x03SELECT DATABASE(), ",
        &change,
        // The first session takes over from the second, and later from itself.
        b"\x1f",
        b"\x03SELECT DATABASE(), ",
        b"\x02shop",
        b"\x03SET character_set_client = 45",
        b"\x03two",
        b"\x03three",
    ];
    assert_eq!(log.len(), expected.len(), "{log:?}");
    for (got, begin) in log.iter().zip(expected) {
        assert!(got.starts_with(begin), "{got:?}");
    }
}

#[test]
fn an_idle_connection_that_the_server_closed_is_gone() {
    let (log, connections) = (Arc::default(), Arc::default());
    let address = server_with(&log, &connections);
    let scene = Scene::with(&[address], hooks(park_always), |_| {});
    let mut client = scene.user(0);
    client.say(0, b"\x03leave");
    assert_eq!(client.expect(1), OK);
    wait_until(|| log.lock().unwrap().last().is_some_and(|it| it == b"left"));
    client.say(0, b"\x03is it there");
    assert_eq!(client.expect(1)[0], 0xff);
    scene.all_left();
}

#[test]
fn connections_are_taken_for_their_user_only() {
    let (log, connections) = (Arc::default(), Arc::default());
    let address = server_with(&log, &connections);
    let refused = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&refused);
    let script = hooks(move |event, session, outside| match event {
        Event::AuthResult(_) => {
            session.borrow_mut().backend = None;
            Decision::PassOn
        }
        Event::Query(_) => {
            assert_eq!(outside.idle_connections(0, b""), 2);
            assert_eq!(outside.idle_connections(0, b"bob"), 1);
            session.borrow_mut().client.username = b"carl".to_vec();
            session.borrow_mut().backend = Some(0);
            Decision::PassOn
        }
        Event::Left => {
            told.store(true, SeqCst);
            Decision::PassOn
        }
        _ => Decision::PassOn,
    });
    let scene = Scene::with(&[address], script, |_| {});
    let mut first = scene.user(0);
    let mut second = scene.client();
    second.expect(0);
    second.say(
        1,
        &login_of("bob", CAPABILITIES, b"", "mysql_native_password"),
    );
    assert_eq!(second.expect(2), OK);
    scene.all_left();
    first.say(0, b"\x03x");
    first.expect_end();
    assert!(refused.load(SeqCst));
    assert_eq!(connections.load(SeqCst), 2);
}

#[test]
fn without_change_user_a_login_is_checked_on_a_new_connection_with_a_challenge_of_its_own() {
    let closed = Arc::new(AtomicUsize::new(0));
    let connections = Arc::new(AtomicUsize::new(0));
    let (ends, begun) = (Arc::clone(&closed), Arc::clone(&connections));
    let address = server(move |mut end| {
        let number = begun.fetch_add(1, SeqCst);
        let hello = OutgoingGreeting {
            nonce: [b'a' + u8::try_from(number % 20).unwrap(); 20],
            ..hello()
        };
        end.say(0, &hello.payload());
        while let Some((number, command)) = end.packet() {
            if !answers_question(&mut end, number, &command, &NOTHING_LEFT) {
                end.say(number.wrapping_add(1), OK);
            }
        }
        ends.fetch_add(1, SeqCst);
    });
    let scene = Scene::with(&[address], hooks(park_always), |settings| {
        settings.pool_changes_user = false;
    });
    drop(scene.user(0));
    let logins = AtomicUsize::new(1);
    let log_in = || {
        let mut next = scene.client();
        let greeting = next.expect(0);
        let number = logins.fetch_add(1, SeqCst);
        let nonce = [b'a' + u8::try_from(number % 20).unwrap(); 8];
        assert!(
            greeting.windows(8).any(|it| it == nonce),
            "not the challenge of a connection of its own"
        );
        next.say(1, &login(CAPABILITIES, &[7; 20], "mysql_native_password"));
        assert_eq!(next.expect(2), OK);
        next.say(0, b"\x03x");
        assert_eq!(next.expect(1), OK);
    };
    // An idle one makes room for a new one, once what its session left is removed.
    wait_until(|| {
        log_in();
        closed.load(SeqCst) > 0
    });
    assert_eq!(connections.load(SeqCst), logins.load(SeqCst));
}

#[test]
fn a_login_that_a_hook_refuses_is_none() {
    let (log, connections) = (Arc::default(), Arc::default());
    let address = server_with(&log, &connections);
    let refuse = hooks(|event, _, _| match event {
        Event::AuthResult(_) => Decision::Answer(vec![b"\xff\x15\x04#28000not you".to_vec()]),
        _ => Decision::PassOn,
    });
    let scene = Scene::with(&[address], refuse, |_| {});
    let mut client = scene.client();
    client.expect(0);
    client.say(
        1,
        &login_of("bob", CAPABILITIES, b"", "mysql_native_password"),
    );
    assert_eq!(client.expect(2)[0], 0xff);
    client.expect_end();
    assert!(
        log.lock()
            .unwrap()
            .iter()
            .all(|it| !it.starts_with(b"\x03")),
        "no command reached the server"
    );
}
