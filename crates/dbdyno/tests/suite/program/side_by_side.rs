//! `design = "side by side"` on null servers: loads take turns, and a session ends when its batches decide the question or
//! when something ends it early.

use std::{collections::BTreeSet, fs};

use rustix::process::Signal;
use samples::{Record, ServerState};

use crate::{
    experiment::Experiment,
    null_server::null_server,
    results::{Results, record_name},
    scene::{Running, Scene},
    turns::{slices, take_turns, two_records},
};

const RUN: [&str; 4] = ["run", "trial.toml", "--results", "out"];
/// A statement for which the null server has a delay.
const STATEMENT: &str = "SELECT c FROM t WHERE id = 1";

/// A think time as factor, of which the second one is the baseline; each is measured for this time in each session.
fn write(scene: &Scene, [think, baseline]: [&str; 2], duration: &str) {
    let trial = Experiment {
        top: "seed = 3\nrepeats = \"until decided\"\nat_most = 6\n\
              design = \"side by side\"\nslice = \"100ms\"\nsettle = \"0s\"",
        matrix: format!("think = [{think:?}, {baseline:?}]"),
        load: format!(
            "connections = 2\nthink_time = \"{{think}}\"\nwarmup = \"200ms\"\nduration = {duration:?}"
        ),
        disturbed: "",
        ..Experiment::default()
    };
    trial.write(scene);
    let verdict =
        format!("[verdict]\nbaseline = {{ think = {baseline:?} }}\nmin_effect = \"5 %\"\n");
    scene.file("trial.toml", &(trial.text() + &verdict));
}

#[test]
fn a_session_that_decides_the_question_is_the_last_and_ends_early() {
    let scene = Scene::new();
    // One is ten times the other, with many operations in a slice. A stalled machine may take a session without a decision.
    write(&scene, ["1ms", "10ms"], "6s");
    let run = ["run", "trial.toml", "--simulate", "--results", "out"];
    let ended = scene.dbdyno(run).exits(0);
    // Of the answer so far, only the decision is printed where nothing can be rewritten.
    ended
        .says("run 1-2 of 12 side by side")
        .says(" s, decided\n");
    let results = Results::at(scene.path().join("out"));
    let records = || {
        let names = results.names().into_iter();
        let names = names.filter(|name| name.starts_with("run-"));
        names.collect::<Vec<String>>()
    };
    let measured = records();
    let last = measured.len() as u32;
    assert_eq!(measured, (1..=last).map(record_name).collect::<Vec<_>>());
    assert!(last < 12, "not all sessions are needed");
    let ends = [last - 1, last].map(|run| {
        let record = Record::open(&results.file(&record_name(run))).unwrap();
        assert!(record.is_complete());
        let measured = record.measured_state.unwrap();
        assert_eq!(measured.state, ServerState::Fresh);
        let last = record.intervals.iter().filter_map(|it| it.slice).max();
        (last.unwrap(), record.end.unwrap().why)
    });
    let [(slices, why), other] = &ends;
    assert!(slices.is_multiple_of(5) && *slices < 60, "{slices}");
    assert!(
        why.ends_with(&format!("decided after {slices} slices")),
        "{why}"
    );
    assert_eq!(&ends[0], other);
    // It is found decided when it is resumed, too.
    scene.dbdyno(run.iter().chain(&["--resume"])).exits(0);
    assert_eq!(records(), measured);
}

#[test]
fn nothing_is_decided_on_slices_that_are_too_short() {
    let scene = Scene::new();
    // Each connection has time for two operations in a slice.
    write(&scene, ["60ms", "90ms"], "3s");
    let short = "slices of 0.1 s are too short: the median slice holds ";
    scene
        .dbdyno(["run", "trial.toml", "--simulate", "--results", "out"])
        .exits(0)
        .says(&format!("nothing is decided in this session: {short}"))
        .says("not decided after 1 of at most 6 sessions; the others would not help: ")
        .prints("measured  2 of 2 runs")
        .prints_sentence(short);
}

/// A null server in a scene of its own.
struct Server {
    running: Running,
    socket: String,
    scene: Scene,
}

impl Server {
    /// A statement on it takes this time.
    fn start(delay: &str) -> Self {
        Self::with(&["--delay", delay])
    }

    /// Starts it with these options.
    fn with(options: &[&str]) -> Self {
        let scene = Scene::new();
        let options = [options, &["--log", "statements.log"]].concat();
        let (running, socket) = null_server(&scene, &options);
        let socket = socket.to_str().unwrap().to_owned();
        Self {
            running,
            socket,
            scene,
        }
    }

    /// Ends the server, which must still run; returns the number of connections that sent statements of a load.
    fn end(self) -> usize {
        self.running.signal(Signal::TERM);
        self.running.finish().exits(0);
        let log = fs::read_to_string(self.scene.path().join("statements.log")).unwrap();
        let connections = log
            .lines()
            .skip(1)
            .filter_map(|line| line.split(' ').next());
        connections.collect::<BTreeSet<_>>().len()
    }
}

/// An experiment on existing servers, side by side.
struct Trial<'a> {
    /// Content of `[matrix]`.
    matrix: &'a str,
    address: &'a str,
    /// Length of a slice.
    slice: &'a str,
    /// Content of `[load]`, without the warm-up.
    load: &'a str,
}

impl Trial<'_> {
    /// Writes it as `trial.toml`.
    fn write(&self, scene: &Scene) {
        let Self {
            matrix,
            address,
            slice,
            load,
        } = self;
        let text = format!(
            "format = 1\nseed = 3\ndesign = \"side by side\"\nslice = \"{slice}\"\nsettle = \"0s\"\n\
             [matrix]\n{matrix}\n[server]\naddress = \"{address}\"\nuser = \"u\"\n\
             [load]\n{load}\nwarmup = \"0s\"\n"
        );
        scene.file("trial.toml", &text);
    }
}

/// Keys of `[load]`: this number of connections sends the statement for this time.
fn load(connections: &str, duration: &str) -> String {
    format!(
        "slap = {{ query = \"{STATEMENT}\" }}\nconnections = \"{connections}\"\nduration = \"{duration}\""
    )
}

/// Starts an experiment on two servers, with slices of this length and a session of half an hour.
fn start_long(servers: &[Server; 2], slice: &str) -> (Running, Results) {
    let [first, second] = servers;
    let trial = Trial {
        matrix: &format!("server = [{:?}, {:?}]", first.socket, second.socket),
        address: "{server}",
        slice,
        load: &load("2", "30m"),
    };
    trial.write(&first.scene);
    let results = Results::at(first.scene.path().join("out"));
    (first.scene.start(RUN), results)
}

#[test]
fn existing_servers_take_turns_until_one_is_found_faster() {
    // One is ten times as slow, so that even a busy machine shows the difference.
    let [slow, fast] = ["10ms", "1ms"].map(Server::start);
    let scene = &slow.scene;
    scene.file("one.sql", &format!("{STATEMENT};\n"));
    let hosts = format!("{},{}", slow.socket, fast.socket);
    let words = "--design side-by-side --slice 100ms --settle 0s --warmup 200ms --duration 6s --budget 1m \
                 --connections 2 --user bench -v script one.sql";
    let words = ["ab", "--host", &hosts]
        .into_iter()
        .chain(words.split_whitespace());
    let (faster, slower) = (&fast.socket, &slow.socket);
    scene
        .dbdyno(words)
        .exits(0)
        .says("run 1-2 of ")
        .prints_sentence(&format!(
            "server {faster} against {slower}: faster, throughput "
        ));
    let results = Results::at(scene.path().join("results/ab-1"));
    let records = two_records(&results);
    take_turns(&records);
    for record in &records {
        assert!(record.is_complete(), "{:?}", record.end);
        let own = record.header.combination.get("server");
        for server in &record.servers {
            assert_eq!((Some(&server.address), server.private), (own, false));
        }
    }
    // The connections of a load stay open from turn to turn, and so does a server at the end.
    let sessions = results.names();
    let sessions = sessions.iter().filter(|name| name.starts_with("run-"));
    let sessions = sessions.count() / 2;
    for server in [slow, fast] {
        assert_eq!(server.end(), 2 * sessions);
    }
}

#[test]
fn a_decided_comparison_is_confirmed_by_classical_runs() {
    let [slow, fast] = ["10ms", "1ms"].map(Server::start);
    let scene = &slow.scene;
    scene.file("one.sql", &format!("{STATEMENT};\n"));
    let hosts = format!("{},{}", slow.socket, fast.socket);
    // A busy machine has time for three blocks of classical runs, and no more are planned.
    let words = "--design side-by-side --confirm --slice 100ms --settle 0s --warmup 200ms --duration 3s --budget 48s \
                 --connections 2 --user bench script one.sql";
    let words = ["ab", "--host", &hosts]
        .into_iter()
        .chain(words.split_whitespace());
    scene
        .dbdyno(words)
        .exits(0)
        .prints("confirm   confirmed by classical runs: ");
    let classical = Results::at(scene.path().join("results/ab-classical-1"));
    let names = classical.names().into_iter();
    let runs: Vec<String> = names.filter(|name| name.starts_with("run-")).collect();
    assert_eq!(runs.len(), 6, "{runs:?}");
    for run in &runs {
        let record = Record::open(&classical.file(run)).unwrap();
        assert!(record.is_complete(), "{:?}", record.end);
        assert!(record.side_by_side.is_none());
    }
}

#[test]
fn turns_wait_until_the_server_before_is_quiet() {
    let servers = ["20ms", "2ms"].map(Server::start);
    let scene = &servers[0].scene;
    scene.file("one.sql", &format!("{STATEMENT};\n"));
    let hosts = format!("{},{}", servers[0].socket, servers[1].socket);
    let words = "--design side-by-side --wait-until-quiet --slice 100ms --settle 0s --warmup 200ms --duration 3s \
                 --budget 1m --connections 2 --user bench script one.sql";
    let words = ["ab", "--host", &hosts]
        .into_iter()
        .chain(words.split_whitespace());
    scene.dbdyno(words).exits(0);
    let records = two_records(&Results::at(scene.path().join("results/ab-1")));
    take_turns(&records);
    let mut all: Vec<_> = records.iter().flat_map(slices).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(all.len(), 60);
    for pair in all.windows(2) {
        assert!(pair[1].0 - pair[0].1 >= 0.1, "{pair:?}");
    }
    for record in &records {
        assert!(record.is_complete(), "{:?}", record.end);
        assert!(record.side_by_side.as_ref().is_some_and(|it| it.quiet));
    }
}

#[test]
fn loads_take_turns_on_one_server() {
    let server = Server::start("5ms");
    let scene = &server.scene;
    let trial = Trial {
        matrix: "n = [1, 2]",
        address: &server.socket,
        slice: "100ms",
        load: &load("{n}", "3s"),
    };
    trial.write(scene);
    scene.dbdyno(RUN).exits(0).prints("measured  2 of 2 runs");
    let records = two_records(&Results::at(scene.path().join("out")));
    take_turns(&records);
    for record in &records {
        assert!(record.is_complete(), "{:?}", record.end);
        assert_eq!(slices(record).len(), 30);
    }
    assert_eq!(server.end(), 3);
}

#[test]
fn an_interrupted_session_keeps_what_was_measured() {
    let servers = ["2ms"; 2].map(Server::start);
    let (mut running, results) = start_long(&servers, "100ms");
    running.wait_until("slices of both loads are measured", || {
        [1, 2].iter().all(|run| results.measured_so_far(*run) > 1)
    });
    running.signal(Signal::INT);
    running.finish().exits(130);
    for record in two_records(&results) {
        assert_eq!(record.incomplete_why(), Some("interrupted"));
        assert!(!slices(&record).is_empty());
    }
    for server in servers {
        assert!(server.end() <= 2);
    }
}

#[test]
fn a_server_that_dies_in_mid_slice_ends_the_session() {
    let servers = ["2ms"; 2].map(Server::start);
    let (mut running, results) = start_long(&servers, "1m");
    let measured = || {
        [1, 2]
            .into_iter()
            .find(|run| results.measured_so_far(*run) > 0)
    };
    running.wait_until("a load is in its first slice", || measured().is_some());
    let run = measured().unwrap();
    let socket = results.record(run).one("run")["combination"]["server"].clone();
    let dying = servers.iter().find(|it| socket == it.socket.as_str());
    let dying = dying.unwrap();
    dying.running.signal(Signal::KILL);
    let name = format!("run of server={}", dying.socket);
    running
        .finish()
        .exits(3)
        .says(&format!("{name}: the server went away"))
        .hints("--resume");
    let mut records = two_records(&results);
    if run == 2 {
        records.reverse();
    }
    let [own, other] = records;
    let why = own.incomplete_why().unwrap();
    assert!(why.contains("the server went away"), "{why}");
    assert!(!slices(&own).is_empty());
    let why = other.incomplete_why().unwrap();
    assert!(
        why.starts_with(&format!("ended with the {name}: ")),
        "{why}"
    );
}

#[test]
fn a_server_that_fills_its_disk_is_named_and_nothing_is_decided() {
    // Error 1021: the disk is full.
    let full = "--delay 2ms --error-rate 1 --error-number 1021 --spare 500";
    let full: Vec<&str> = full.split(' ').collect();
    let servers = [Server::start("2ms"), Server::with(&full)];
    let (running, results) = start_long(&servers, "100ms");
    let name = format!("run of server={}", servers[1].socket);
    running
        .finish()
        .exits(4)
        .says(&format!(
            "{name}: the disk of its server is full: error 1021"
        ))
        .hints("free disk space");
    let mut records = two_records(&results);
    if records[0].header.combination["server"] == servers[1].socket {
        records.reverse();
    }
    let [other, own] = records;
    let why = own.incomplete_why().unwrap();
    assert!(
        why.contains("the disk of its server is full: error 1021"),
        "{why}"
    );
    let why = other.incomplete_why().unwrap();
    assert!(
        why.starts_with(&format!("ended with the {name}: ")),
        "{why}"
    );
}

#[test]
fn one_server_by_two_addresses_is_refused() {
    let scene = Scene::new();
    scene.file("one.sql", &format!("{STATEMENT};\n"));
    let words =
        "ab --host localhost:1,127.0.0.1:1 --user bench --design side-by-side script one.sql";
    scene
        .dbdyno(words.split_whitespace())
        .exits(2)
        .says("are the same server (127.0.0.1:1)")
        .hints("name another server");
}

#[test]
fn prepared_statements_of_loads_on_one_server_count_together() {
    let scene = Scene::new();
    let (_server, socket) = null_server(&scene, &["--variable", "max_prepared_stmt_count=2"]);
    scene.file("one.sql", &format!("{STATEMENT};\n"));
    let trial = Trial {
        matrix: "n = [1, 2]",
        address: socket.to_str().unwrap(),
        slice: "100ms",
        load: "script = \"one.sql\"\nconnections = \"{n}\"\nduration = \"10s\"",
    };
    trial.write(&scene);
    scene
        .dbdyno(RUN)
        .exits(2)
        .says("3 connections prepare 3 statements, but the server allows only 2")
        .hints("SET GLOBAL max_prepared_stmt_count=3");
}
