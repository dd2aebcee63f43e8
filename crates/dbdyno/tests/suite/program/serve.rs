//! `--serve`: the live view of an experiment and of `top`, over real sockets.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
};

use rustix::process::Signal;

use crate::{
    experiment::Experiment,
    scene::{PATIENCE, Running, Scene},
};

/// A response: its status, its head in lower case, its body.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

fn connect(port: u16) -> TcpStream {
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// What comes back for these bytes; `None` where the connection is closed without a response.
pub(crate) fn send(port: u16, request: &[u8]) -> Option<Response> {
    let mut stream = connect(port);
    // A connection too many is closed before it is written to.
    stream.write_all(request).ok()?;
    let mut bytes = Vec::new();
    // A connection that is reset has said what it had to say.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Response {
        status,
        head: head.to_lowercase(),
        body: body.to_owned(),
    })
}

pub(crate) fn get(port: u16, path: &str) -> Response {
    try_get(port, path).expect("it answers")
}

/// The same; `None` where there is no room for another connection. For a wait, which asks again.
fn try_get(port: u16, path: &str) -> Option<Response> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
    send(port, request.as_bytes())
}

/// Waits until a page is there and says something.
#[track_caller]
pub(crate) fn shows(running: &mut Running, port: u16, path: &str, text: &str) {
    let what = format!("{path} shows {text:?}");
    running.wait_until(&what, || {
        let is_open = TcpStream::connect(("127.0.0.1", port)).is_ok();
        is_open && try_get(port, path).is_some_and(|it| it.body.contains(text))
    });
}

/// Every line of the metrics is one that the format knows.
#[track_caller]
pub(crate) fn is_openmetrics(text: &str) {
    let mut names = Vec::new();
    for line in text.lines() {
        if let Some(family) = line.strip_prefix("# TYPE ") {
            let (name, kind) = family.split_once(' ').expect("a name and a type");
            assert!(["gauge", "counter", "summary"].contains(&kind), "{line}");
            assert!(!names.contains(&name), "{line}: twice");
            names.push(name);
        } else if !line.starts_with('#') {
            let (sample, value) = line.rsplit_once(' ').expect("a sample and a value");
            let _: f64 = value.parse().expect("a number");
            let family = names.last().expect("a type comes first");
            assert!(sample.starts_with(family), "{line} in {family}");
        }
    }
    assert!(text.ends_with("# EOF\n"), "{text}");
    assert_eq!(text.matches("# EOF").count(), 1, "{text}");
}

/// A simulated experiment of a thousand short runs, which does not end before it is interrupted: a page that a busy machine
/// makes late shows one of the later runs.
fn experiment(scene: &Scene) -> PathBuf {
    let experiment = Experiment {
        top: "seed = 3\nrepeats = 500",
        matrix: "connections = [1, 2]".to_owned(),
        load: "connections = \"{connections}\"\nwarmup = \"100ms\"\nduration = \"4s\"".to_owned(),
        ..Experiment::default()
    };
    experiment.write(scene)
}

/// Runs it with a live view; returns its port, too.
fn run(scene: &Scene, file: &Path) -> (Running, u16) {
    let file = file.to_str().unwrap();
    let mut running = scene.start(["run", file, "--simulate", "--serve", "127.0.0.1:0"]);
    let port = listens_at(&mut running);
    (running, port)
}

#[test]
fn an_experiment_is_shown_while_it_runs() {
    let scene = Scene::new();
    let (mut running, port) = run(&scene, &experiment(&scene));
    shows(&mut running, port, "/now", " of 1000");
    shows(&mut running, port, "/", " of 1000 runs");
    let page = get(port, "/");
    assert_eq!(page.status, 200);
    let policy = "content-security-policy: default-src 'none'; script-src 'self';";
    assert!(page.head.contains(policy), "{}", page.head);
    // No script stands in the page itself, for its policy would refuse it.
    let scripts = page.body.matches("<script").count();
    let ours = page.body.matches("<script src=\"/").count();
    let data = page
        .body
        .matches("<script type=\"application/json\"")
        .count();
    assert_eq!(scripts, ours + data, "{}", page.body);
    assert_eq!(get(port, "/live.js").status, 200);
    let version = || -> Option<u64> {
        let version = try_get(port, "/version")?.body;
        Some(version.parse().expect("a number"))
    };
    let before = version().expect("it answers");

    // A completed run makes another version of the page.
    running.wait_until("the page is made again", || {
        version().is_some_and(|now| now > before)
    });
    running.wait_until("a run is complete", || {
        let page = try_get(port, "/").map(|it| it.body).unwrap_or_default();
        (1..=1000).any(|complete| page.contains(&format!("{complete} of 1000 runs")))
    });
    shows(&mut running, port, "/now", "connections=");
    shows(&mut running, port, "/now/machine", "Machine");
    // A run is complete, another has measured its first interval.
    let names = [
        "dbdyno_throughput_operations_per_second{",
        "dbdyno_now_operations_per_second{",
    ];
    running.wait_until("the metrics show both", || {
        let metrics = try_get(port, "/metrics").map(|it| it.body);
        let metrics = metrics.unwrap_or_default();
        names.iter().all(|name| metrics.contains(name))
    });
    is_openmetrics(&get(port, "/metrics").body);
    running.signal(Signal::INT);
    let finished = running.finish().exits(130);
    let finished = finished.says(&format!("live view: http://127.0.0.1:{port}/"));
    assert!(
        !finished.stderr.contains("warning: everyone"),
        "{}",
        finished.stderr
    );
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn what_is_no_reading_request_is_refused() {
    let scene = Scene::new();
    let (mut running, port) = run(&scene, &experiment(&scene));
    shows(&mut running, port, "/now", "run");
    let asked = |request: &str| send(port, request.as_bytes()).map(|it| it.status);
    let host = format!("Host: 127.0.0.1:{port}");
    let long = "x".repeat(20_000);
    for (request, status) in [
        (format!("GET /nothing HTTP/1.1\r\n{host}\r\n\r\n"), 404),
        (
            format!("GET /../etc/passwd HTTP/1.1\r\n{host}\r\n\r\n"),
            404,
        ),
        (
            format!("POST / HTTP/1.1\r\n{host}\r\nContent-Length: 5\r\n\r\nhello"),
            405,
        ),
        (format!("DELETE /now HTTP/1.1\r\n{host}\r\n\r\n"), 405),
        (
            "GET / HTTP/1.1\r\nHost: rebound.example\r\n\r\n".to_owned(),
            421,
        ),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), 400),
        ("\u{1}\u{2} garbage\r\n\r\n".to_owned(), 400),
        (format!("GET /{long} HTTP/1.1\r\n{host}\r\n\r\n"), 431),
    ] {
        assert_eq!(
            asked(&request),
            Some(status),
            "{}",
            &request[..40.min(request.len())]
        );
    }
    let head = send(
        port,
        format!("HEAD / HTTP/1.1\r\n{host}\r\n\r\n").as_bytes(),
    )
    .unwrap();
    assert_eq!((head.status, head.body.as_str()), (200, ""));

    // Clients that say nothing, or half of a request, hold up no other one and are sent away.
    let mut slow: Vec<TcpStream> = (0..8).map(|_| connect(port)).collect();
    slow[0].write_all(b"GET / HTTP/1.1\r\nHo").unwrap();
    assert_eq!(get(port, "/now").status, 200);
    for stream in &mut slow {
        let mut rest = Vec::new();
        assert!(matches!(stream.read_to_end(&mut rest), Ok(0)), "{rest:?}");
    }
    // More clients than there is room for: those beyond it are closed, and there is room again later.
    let many: Vec<TcpStream> = (0..60).map(|_| connect(port)).collect();
    drop(many);
    shows(&mut running, port, "/now", "run");

    running.signal(Signal::INT);
    running.finish().exits(130);
}

/// The port at which a process listens, of which its system knows.
pub(crate) fn listens_at(running: &mut Running) -> u16 {
    let pid = running.pid();
    running.wait_until("it listens", || listening_port(pid).is_some());
    listening_port(pid).unwrap()
}

/// The only TCP port at which a process listens.
fn listening_port(pid: u32) -> Option<u16> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
    let links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    let sockets: Vec<String> = links
        .filter_map(|link| {
            let link = link.to_string_lossy().into_owned();
            Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        })
        .collect();
    let table = std::fs::read_to_string(format!("/proc/{pid}/net/tcp")).ok()?;
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_ours = fields.get(3) == Some(&"0A") && sockets.iter().any(|it| it == fields[9]);
        let port = fields.get(1)?.rsplit_once(':')?.1;
        is_ours.then(|| u16::from_str_radix(port, 16).ok())?
    })
}

#[test]
fn a_port_that_is_taken_is_an_error_of_input() {
    let scene = Scene::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let file = experiment(&scene).display().to_string();
    let run = scene.dbdyno(["run", &file, "--simulate", "--serve", &address]);
    run.exits(2).hints("port 0 chooses a free port");
    assert!(!scene.path().join("results").exists());
    let wrong = scene.dbdyno(["run", &file, "--simulate", "--serve", "nowhere"]);
    wrong.exits(2).says("--serve nowhere");
}

#[test]
fn another_address_than_loopback_is_warned_of() {
    let scene = Scene::new();
    let file = experiment(&scene).display().to_string();
    let mut running = scene.start(["run", &file, "--simulate", "--serve", "0.0.0.0:0"]);
    let port = listens_at(&mut running);
    shows(&mut running, port, "/now", "run");
    running.signal(Signal::INT);
    let ended = running.finish().exits(130);
    ended.says("everyone who reaches any address of this machine");
}
