//! Single commands that take a connection to another backend.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use protocol::relay::ok_packet;
use proxy::{Decision, Metrics, Route};

use crate::{
    hooks::{Event, hooks},
    mock::{NOTHING_LEFT, PATIENCE, Scene, answers_question, open_server, wait_until},
};

type Log = Arc<Mutex<Vec<String>>>;

/// A server that writes down the statements that it gets. Its answers say that a transaction is open after `begin`.
fn logging(name: &'static str, log: &Log) -> SocketAddr {
    let log = Arc::clone(log);
    open_server(move |mut end| {
        while let Some((number, command)) = end.packet() {
            let text = String::from_utf8_lossy(&command[1..]).into_owned();
            let is_begin = text == "begin";
            log.lock()
                .unwrap()
                .push(format!("{name}: {} {text}", command[0]));
            if answers_question(&mut end, number, &command, &NOTHING_LEFT) {
                continue;
            }
            let mut ok = ok_packet();
            ok[3] |= u8::from(is_begin);
            end.say(number.wrapping_add(1), &ok);
        }
    })
}

#[test]
fn a_routed_command_goes_elsewhere_and_the_session_stays() {
    let log = Log::default();
    let addresses = [logging("home", &log), logging("away", &log)];
    let mut metrics: Option<Arc<Metrics>> = None;
    let rule: Arc<Mutex<Option<Route>>> = Arc::default();
    let route = Arc::clone(&rule);
    let scene = Scene::with(
        &addresses,
        hooks(move |event, session, _| {
            let mut session = session.borrow_mut();
            match event {
                // The first session leaves its connection for others.
                Event::Connect if session.number == 1 => session.backend = Some(1),
                Event::Left => session.backend = None,
                Event::Query(packet) if packet.starts_with(b"\x03away") => {
                    session.route.clone_from(&route.lock().unwrap());
                }
                _ => {}
            }
            Decision::PassOn
        }),
        |settings| metrics = Some(Arc::clone(&settings.metrics)),
    );
    let metrics = metrics.unwrap();
    let counter = metrics.rule("away");
    *rule.lock().unwrap() = Some(Route {
        backend: 1,
        rule: counter,
    });
    let dropped = || metrics.snapshot().rules[0].dropped;
    let mut client = scene.user(0);
    drop(scene.user(0));
    // The number of the first session is the client's: it stays at backend 1, where a route to it changes nothing.
    client.say(0, b"\x03away at home");
    assert_eq!(client.expect(1), ok_packet());
    assert_eq!(dropped(), 0);
    drop(client);
    scene.all_left();
    // What the two sessions have left is removed at once.
    let questions = || {
        log.lock()
            .unwrap()
            .iter()
            .filter(|it| it.contains("DATABASE()"))
            .count()
    };
    wait_until(|| questions() == 2);
    log.lock().unwrap().clear();

    let mut client = scene.user(0);
    for command in ["one", "away two", "three", "away four"] {
        client.say(0, &[b"\x03", command.as_bytes()].concat());
        assert_eq!(client.expect(1), ok_packet(), "{command}");
    }
    let logged = std::mem::take(&mut *log.lock().unwrap());
    // The idle connection gets the client's state once.
    assert_eq!(logged[0], "home: 3 one");
    assert_eq!(logged[1], "away: 2 shop");
    let statements: Vec<&str> = (logged.iter().map(String::as_str))
        .filter(|it| it.contains(": 3 ") && !it.contains("SET"))
        .collect();
    assert_eq!(
        statements,
        [
            "home: 3 one",
            "away: 3 away two",
            "home: 3 three",
            "away: 3 away four"
        ]
    );
    assert_eq!(logged.iter().filter(|it| it.contains(": 2 ")).count(), 1);
    assert_eq!(dropped(), 0);

    // The connection goes back to the pool after the client has its answer.
    let start = reactor::system_now();
    while metrics.snapshot().backends[1].idle == 0 {
        assert!(reactor::system_now() - start < PATIENCE, "it is not idle");
    }
    let figures = metrics.snapshot();
    let routed = figures.changes.iter().filter(|it| it.change == "routed");
    assert_eq!(routed.map(|it| it.count).sum::<u64>(), 2);
    drop(client);
    scene.all_left();
}

#[test]
fn without_a_connection_the_command_stays_and_is_counted() {
    let log = Log::default();
    let addresses = [logging("home", &log), logging("away", &log)];
    let mut metrics: Option<Arc<Metrics>> = None;
    let rule: Arc<Mutex<Option<Route>>> = Arc::default();
    let route = Arc::clone(&rule);
    let scene = Scene::with(
        &addresses,
        hooks(move |event, session, _| {
            if matches!(event, Event::Query(_)) {
                session
                    .borrow_mut()
                    .route
                    .clone_from(&route.lock().unwrap());
            }
            Decision::PassOn
        }),
        |settings| metrics = Some(Arc::clone(&settings.metrics)),
    );
    let metrics = metrics.unwrap();
    *rule.lock().unwrap() = Some(Route {
        backend: 1,
        rule: metrics.rule("away"),
    });
    let mut client = scene.user(0);
    client.say(0, b"\x03statement");
    assert_eq!(client.expect(1), ok_packet());
    assert_eq!(*log.lock().unwrap(), ["home: 3 statement"]);
    assert_eq!(metrics.snapshot().rules[0].dropped, 1);
}
