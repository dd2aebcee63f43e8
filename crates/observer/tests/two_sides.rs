//! Tests of client and observer with each other over the loopback interface, and of each with an impostor.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    sync::{Arc, Mutex, mpsc::channel},
    thread::{self, JoinHandle},
    time::{Duration, UNIX_EPOCH},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use observer::{
    Access, FromClient, FromObserver, ObservationRequest, PROTOCOL, RemoteHost, Secret, Tcp,
    Transport, listen, read,
};
use reactor::{Interrupt, system_now, wall_now};
use samples::{Changed, Collected, Host, Telemetry};
use sha2::Sha256;

const SECRET: &str = "correct horse battery";
const LONG: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(10);

fn secret(text: &str) -> Secret {
    Secret::new(text).unwrap()
}

fn way(port: u16, text: &str) -> Transport {
    Transport::Tcp(Tcp {
        host: "127.0.0.1".to_owned(),
        port,
        secret: secret(text),
    })
}

fn reach(way: Transport) -> Result<RemoteHost, observer::Error> {
    let Transport::Tcp(tcp) = &way else {
        unreachable!("`way` makes no other");
    };
    let address = format!("tcp://{}:{}", tcp.host, tcp.port);
    RemoteHost::reach(&address, &way)
}

/// An observer that listens, until it is dropped.
struct Listening {
    port: u16,
    stop: Interrupt,
    said: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl Listening {
    fn start() -> Self {
        Self::allowing(Path::new("/srv"))
    }

    fn allowing(allowed: &Path) -> Self {
        let allowed = allowed.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let stop = Interrupt::default();
        let said = Arc::new(Mutex::new(Vec::new()));
        let (stopped, heard) = (stop.clone(), Arc::clone(&said));
        let thread = thread::spawn(move || {
            let place = Access::new(Some(secret(SECRET)), None, vec![allowed]);
            listen(listener, &place, &stopped, &|line| {
                heard.lock().unwrap().push(line);
            })
            .unwrap();
        });
        Self {
            port,
            stop,
            said,
            thread: Some(thread),
        }
    }

    fn stop(&mut self) {
        self.stop.raise();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    /// Waits until it has printed a text.
    #[track_caller]
    fn says(&self, what: &str) {
        let deadline = system_now() + LONG;
        while system_now() < deadline {
            if self.said.lock().unwrap().iter().any(|it| it.contains(what)) {
                return;
            }
            thread::sleep(POLL);
        }
        panic!("{what} is not in {:?}", self.said.lock().unwrap());
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop.raise();
    }
}

#[test]
fn samples_come_with_the_times_of_the_load() {
    let observer = Listening::start();
    let host = reach(way(observer.port, SECRET)).unwrap();
    let offset = host.offset();
    assert!(
        offset.offset_ns.unsigned_abs() <= offset.uncertainty_ns,
        "both are one machine: {offset:?}"
    );
    let watch = ObservationRequest {
        port: Some(observer.port),
        datadir: Some("/srv".into()),
        directories: vec![("data".to_owned(), "/srv".into())],
        ..ObservationRequest::default()
    };
    let watched = host.watch(watch, &Interrupt::default()).unwrap();
    assert_eq!((host.same_machine(), host.host()), (Some(true), Host::Both));
    assert_eq!(watched.storage.places[0].holds, ["data"]);
    let found = watched.server_process.unwrap();
    let port = observer.port;
    assert!(found.starts_with(&format!("port {port} (")), "{found}");

    let (send, taken) = channel();
    let started = system_now();
    let every = Duration::from_millis(100);
    host.start(started, every, move |it| send.send(it).is_ok());
    let samples: Vec<Telemetry> = (0..5).map(|_| taken.recv_timeout(LONG).unwrap()).collect();
    let passed_s = (system_now() - started).as_secs_f64();
    let observed = host.leave(&Interrupt::default());
    assert_eq!(observed.lost, None);
    // Every exchange updates the estimate of the offset, which is as good as the fastest answers.
    let last = observed.offset.unwrap();
    let uncertain_ns = offset.uncertainty_ns.max(last.uncertainty_ns);
    let tolerance_s = 0.05 + 2.0 * uncertain_ns as f64 / 1e9;
    let mut end_s = 0.0;
    for sample in &samples {
        assert!(
            (sample.t_s - end_s).abs() < tolerance_s || end_s == 0.0,
            "{samples:?}"
        );
        end_s = sample.t_s + sample.length_s;
        assert!(sample.machine.is_some() && sample.server.is_some() && sample.client.is_some());
    }
    assert!(end_s <= passed_s + tolerance_s, "{end_s} {passed_s}");
    let collected = observed.collected.unwrap();
    assert!(collected.samples >= 5 && collected.collector == "observer");
    assert!(collected.cpu_s > 0.0 && observed.receiving_cpu > Duration::ZERO);
    assert!(last.exchanges >= 16);
    let drift = observed.drift.unwrap();
    assert!(drift.ppm.abs() <= drift.uncertainty_ppm, "{drift:?}");
    observer.says("left");
}

/// The observer may run as root: it does not read paths from a client unless its own side allows them.
#[test]
fn files_that_its_own_side_does_not_allow_are_not_looked_at() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    let inside = directory.path().join("x/../server.pid");
    std::fs::write(directory.path().join("server.pid"), "no number\n").unwrap();
    let observer = Listening::allowing(directory.path());
    let outside = "only reads files of that host's servers";
    for (file, why) in [
        (Path::new("/dev/zero"), outside),
        (Path::new("/etc/passwd"), outside),
        (&directory.path().join("../x.pid"), outside),
        (&fifo, "a FIFO, not a regular file"),
        (&inside, "contains no process id"),
    ] {
        let host = reach(way(observer.port, SECRET)).unwrap();
        let watch = ObservationRequest {
            pid_file: Some(file.to_owned()),
            datadir: Some("/etc".into()),
            directories: vec![
                ("redo log".to_owned(), "/root".into()),
                ("data".to_owned(), directory.path().into()),
            ],
            ..ObservationRequest::default()
        };
        let watched = host.watch(watch, &Interrupt::default()).unwrap();
        let missing = watched.machine.not_observed.join("\n");
        // Where one server runs on this machine, it is found by its name in spite of the file.
        let by_name = watched.server_process.as_deref();
        let is_found = by_name.is_some_and(|found_by| found_by.starts_with("name "));
        assert!(
            is_found || missing.contains(why),
            "{}: {missing}",
            file.display()
        );
        assert!(
            missing.contains("data directory /etc not observed"),
            "{missing}"
        );
        assert!(missing.contains("redo log /root not observed"), "{missing}");
        let places = watched.storage.places;
        assert_eq!(places.len(), 1, "{places:?}");
        assert_eq!(places[0].holds, ["data"]);
    }
}

#[test]
fn a_wrong_secret_is_told_on_both_sides_and_not_tried_for_ever() {
    let observer = Listening::start();
    for attempt in 0..6 {
        let error = reach(way(observer.port, "wrong horse battery")).unwrap_err();
        let text = error.to_string();
        match attempt {
            0..5 => {
                assert!(text.ends_with("refused: wrong secret"), "{text}");
                let hint = error.hint().unwrap();
                assert!(hint.contains("--observe-secret-file"), "{hint}");
                assert!(hint.contains("on the server's host"), "{hint}");
            }
            _ => assert!(text.contains("too many wrong secrets"), "{text}"),
        }
        assert!(!text.contains("horse"));
    }
    observer
        .says("wrong secret\nhint: both sides need a file with the same first line: --secret-file");
    observer.says("too many wrong secrets");
    // From that address even a client with the secret is refused.
    assert!(reach(way(observer.port, SECRET)).is_err());
}

#[test]
fn several_clients_are_served_at_a_time() {
    let observer = Listening::start();
    let one = reach(way(observer.port, SECRET)).unwrap();
    let other = reach(way(observer.port, SECRET)).unwrap();
    for host in [&one, &other] {
        host.watch(ObservationRequest::default(), &Interrupt::default())
            .unwrap();
    }
    let (send, taken) = channel();
    for (number, host) in [&one, &other].into_iter().enumerate() {
        let send = send.clone();
        let every = Duration::from_millis(100);
        host.start(system_now(), every, move |_| send.send(number).is_ok());
    }
    let mut seen = [false; 2];
    while seen != [true; 2] {
        seen[taken.recv_timeout(LONG).unwrap()] = true;
    }
    assert!(one.leave(&Interrupt::default()).lost.is_none());
    assert!(other.leave(&Interrupt::default()).lost.is_none());
    drop(reach(way(observer.port, SECRET)).unwrap());
}

#[test]
fn an_observer_that_stops_is_lost_from_then_on() {
    let mut observer = Listening::start();
    let host = reach(way(observer.port, SECRET)).unwrap();
    host.watch(ObservationRequest::default(), &Interrupt::default())
        .unwrap();
    let (send, taken) = channel();
    let started = system_now();
    let every = Duration::from_millis(100);
    host.start(started, every, move |it| send.send(it).is_ok());
    taken.recv_timeout(LONG).unwrap();
    observer.stop();
    // Samples in transit still arrive; then the other end of the channel is closed with the connection.
    let observed = host.leave(&Interrupt::default());
    let (at, why) = observed.lost.unwrap();
    assert_eq!(why, "the observer was stopped");
    assert!(at > started && observed.collected.is_none());
    assert!(observed.offset.is_some(), "what was known is kept");
}

#[test]
fn a_client_that_says_what_is_not_its_turn_is_sent_away() {
    let observer = Listening::start();
    for (line, answer) in [
        (r#"{"message":"stop"}"#, "'stop' at an unexpected time"),
        ("GET / HTTP/1.1", "is not a message of dbdyno observe"),
        (
            r#"{"message":"hello","protocol":1}"#,
            "this observer requires a secret",
        ),
        (
            r#"{"message":"hello","protocol":1,"nonce":""}"#,
            "this observer requires a secret",
        ),
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", observer.port)).unwrap();
        writeln!(stream, "{line}").unwrap();
        observer.says(answer);
    }
    // A client of another version receives the version here.
    let mut stream = TcpStream::connect(("127.0.0.1", observer.port)).unwrap();
    writeln!(
        stream,
        r#"{{"message":"hello","protocol":7,"version":"9.9.9"}}"#
    )
    .unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    let FromObserver::Hello(hello) = read(line.trim_end().as_bytes()).unwrap() else {
        panic!("{line}");
    };
    assert_eq!(hello.protocol, PROTOCOL);
    observer.says("version 9.9.9 there uses protocol 7");
}

/// A foreign program on a port, which answers with `answer` until that returns `None`.
fn impostor(mut answer: impl FnMut(FromClient) -> Option<String> + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        let lines = BufReader::new(stream.try_clone().unwrap()).split(b'\n');
        for line in lines.map_while(Result::ok) {
            let Some(answer) = answer(read(&line).unwrap()) else {
                return;
            };
            if writeln!(stream, "{answer}").is_err() {
                return;
            }
        }
    });
    port
}

#[test]
fn impostors_are_found_out() {
    let nonce = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";
    let hello =
        format!(r#"{{"message":"hello","protocol":1,"version":"0.1.0","nonce":"{nonce}"}}"#);
    let newer = r#"{"message":"hello","protocol":2,"version":"3.0.0"}"#.to_owned();
    let cases = [
        (
            vec!["Welcome to db1!".to_owned()],
            "'Welcome to db1!', which is not a message of dbdyno observe",
        ),
        (
            vec![newer],
            "version 3.0.0 there uses protocol 2, version 0.1.0 here uses protocol 1",
        ),
        (
            vec![r#"{"message":"hello","protocol":1,"version":"0.1.0"}"#.to_owned()],
            "the observer requires no secret",
        ),
        (
            vec![
                hello.clone(),
                r#"{"message":"proof","proof":"AAAA"}"#.to_owned(),
            ],
            "the observer does not know the secret",
        ),
        (
            vec![hello, r#"{"message":"welcome","boot_id":null}"#.to_owned()],
            "it sent 'welcome' at an unexpected time",
        ),
        (vec![], "the connection was closed"),
    ];
    for (lines, expected) in cases {
        let mut lines = lines.into_iter();
        let port = impostor(move |_| lines.next());
        let error = reach(way(port, SECRET)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(
            error.starts_with(&format!("tcp://127.0.0.1:{port}: ")),
            "{error}"
        );
    }
    // The port of a client, on which no program can listen. A port that a listener just left may still have one: a process
    // that another test starts has a copy of it until it executes its program.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let port = client.local_addr().unwrap().port();
    let error = reach(way(port, SECRET)).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("no observer: Connection refused"),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("dbdyno observe --listen"));
}

/// The answers of an observer whose clock is 1,000 s ahead, with 1 ms of transit there and 4 ms back.
fn ahead(message: FromClient, client_nonce: &mut String) -> String {
    let monotonic_ns = || system_now().as_ns() + 1_000_000_000_000;
    let say = |messages: &[FromObserver]| {
        let lines = messages.iter().map(|it| serde_json::to_string(it).unwrap());
        lines.collect::<Vec<_>>().join("\n")
    };
    match message {
        FromClient::Hello(hello) => {
            *client_nonce = hello.nonce.clone().unwrap();
            say(&[FromObserver::Hello(hello)])
        }
        FromClient::Proof { .. } => {
            let mut code = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
            code.update(b"dbdyno observe 1, observer\n");
            code.update(format!("{client_nonce} {client_nonce}").as_bytes());
            let proof = STANDARD.encode(code.finalize().into_bytes());
            let boot_id = Some("another".to_owned());
            say(&[
                FromObserver::Proof { proof },
                FromObserver::Welcome { boot_id },
            ])
        }
        FromClient::Ping { t1_ns } => {
            thread::sleep(Duration::from_millis(1));
            let wall = wall_now().duration_since(UNIX_EPOCH).unwrap();
            let pong = FromObserver::Pong {
                t1_ns,
                t2_ns: monotonic_ns(),
                t3_ns: monotonic_ns(),
                wall_ns: wall.as_nanos() as u64 + 3600 * 1_000_000_000,
            };
            thread::sleep(Duration::from_millis(4));
            say(&[pong])
        }
        FromClient::Watch(_) => say(&[FromObserver::Watching(Box::default())]),
        FromClient::Start { .. } => say(&[FromObserver::Sample {
            begin_ns: monotonic_ns(),
            telemetry: Box::new(Telemetry {
                t_s: 77.0,
                length_s: 0.5,
                ..Telemetry::default()
            }),
        }]),
        FromClient::Stop => say(&[FromObserver::Stopped {
            changed: vec![Changed::default()],
            collected: Collected::default(),
        }]),
    }
}

#[test]
fn the_clock_of_another_host_is_found_over_an_uneven_way() {
    let mut nonce = String::new();
    let port = impostor(move |message| Some(ahead(message, &mut nonce)));
    let host = reach(way(port, SECRET)).unwrap();
    let offset = host.offset();
    let is_true = |ns: i64, true_s: i64| {
        let off_ns = ns.abs_diff(true_s * 1_000_000_000);
        off_ns <= offset.uncertainty_ns
    };
    assert!(is_true(offset.offset_ns, 1000), "{offset:?}");
    assert!(is_true(offset.wall_ns, 3600), "{offset:?}");
    let half_ns = 2_500_000;
    assert!(offset.uncertainty_ns >= half_ns, "{offset:?}");
    host.watch(ObservationRequest::default(), &Interrupt::default())
        .unwrap();
    assert_eq!(
        (host.same_machine(), host.host()),
        (Some(false), Host::Server)
    );
    let (send, taken) = channel();
    let started = system_now();
    host.start(started, LONG, move |it| send.send(it).is_ok());
    let sample = taken.recv_timeout(LONG).unwrap();
    let passed_s = (system_now() - started).as_secs_f64();
    let uncertainty_s = offset.uncertainty_ns as f64 / 1e9 + 0.001;
    assert!(
        (0.0..=passed_s + uncertainty_s).contains(&sample.t_s),
        "{sample:?}"
    );
    assert_eq!((sample.length_s, sample.host), (0.5, Host::Server));
    let observed = host.leave(&Interrupt::default());
    assert_eq!(observed.lost, None);
    assert_eq!(observed.changed[0].host, Host::Server);
    assert!(is_true(observed.offset.unwrap().offset_ns, 1000));
}

#[test]
fn an_observer_that_floods_is_lost() {
    let pong = r#"{"message":"pong","t1_ns":1,"t2_ns":1,"t3_ns":1,"wall_ns":1}"#;
    let sample = serde_json::to_string(&FromObserver::Sample {
        begin_ns: 1,
        telemetry: Box::default(),
    })
    .unwrap();
    for (line, said) in [
        (sample.as_str(), "more samples than were requested"),
        (pong, "sent the time without a request"),
    ] {
        let flood = vec![line; 100_000].join("\n");
        let mut nonce = String::new();
        let port = impostor(move |message| match message {
            FromClient::Start { .. } => Some(flood.clone()),
            other => Some(ahead(other, &mut nonce)),
        });
        let host = reach(way(port, SECRET)).unwrap();
        host.watch(ObservationRequest::default(), &Interrupt::default())
            .unwrap();
        let (send, taken) = channel();
        let every = Duration::from_secs(60);
        host.start(system_now(), every, move |it| send.send(it).is_ok());
        let deadline = system_now() + LONG;
        while host.lost().is_none() && system_now() < deadline {
            thread::sleep(POLL);
        }
        let (_, why) = host.lost().unwrap();
        assert!(why.contains(said), "{why}");
        assert!(taken.try_iter().count() <= 11, "the others were not taken");
    }
}

#[test]
fn strangers_keep_nobody_out() {
    let observer = Listening::start();
    let inside = reach(way(observer.port, SECRET)).unwrap();
    inside
        .watch(ObservationRequest::default(), &Interrupt::default())
        .unwrap();
    let connect = || TcpStream::connect(("127.0.0.1", observer.port)).unwrap();
    let idle: Vec<TcpStream> = (0..200).map(|_| connect()).collect();
    // Meanwhile other clients are admitted, and connected ones stay.
    drop(reach(way(observer.port, SECRET)).unwrap());
    inside
        .watch(ObservationRequest::default(), &Interrupt::default())
        .unwrap();
    // The first ones were displaced, and the last ones have a time limit.
    for stream in [&idle[0], &idle[199]] {
        stream.set_read_timeout(Some(LONG)).unwrap();
        let mut line = String::new();
        let ended = BufReader::new(stream).read_line(&mut line);
        assert!(ended.is_ok(), "it was not ended: {ended:?}");
    }
    assert!(inside.leave(&Interrupt::default()).lost.is_none());
}
