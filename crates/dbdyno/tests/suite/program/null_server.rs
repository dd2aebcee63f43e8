//! `dbdyno null-server` as a process: its start, output and end.

use std::net::TcpListener;

use rustix::process::Signal;

use crate::{
    experiment::Experiment,
    null_server::{null_server, write_smack},
    results::Results,
    scene::Scene,
};

#[test]
fn a_simulated_experiment_loads_and_starts_nothing() {
    let scene = Scene::new();
    let trial = Experiment {
        matrix: "pool = [\"16M\", \"64M\"]".to_owned(),
        server: "set = { innodb_buffer_pool_size = \"{pool}\" }".to_owned(),
        data: "rows = \"0.25x\"",
        ..Experiment::default()
    };
    trial.write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--simulate"])
        .exits(0)
        .prints("Simulated, against a server that does nothing")
        .prints("measured  2 of 2 runs")
        .prints("results/trial-simulated-1/report.html");
    scene.nothing_is_left();
    let results = Results::at(scene.path().join("results/trial-simulated-1"));
    let record = results.record(1);
    assert!(record.count() > 0);
    assert_eq!(record.one("dataset")["state"], "simulated");
    scene
        .dbdyno([
            "run",
            "trial.toml",
            "--resume",
            "--results",
            "results/trial-simulated-1",
        ])
        .exits(2)
        .says("they were measured with --simulate, this run is without it");

    let tpcc = trial.text().split("[data]").next().unwrap().to_owned()
        + "[data]\ntpcc = { warehouses = 1 }\n[load]\ntpcc = {}\nconnections = 1\nduration = \"1s\"\n";
    scene.file("tpcc.toml", &tpcc);
    scene
        .dbdyno(["run", "tpcc.toml", "--simulate"])
        .exits(2)
        .says("--simulate: [load] tpcc needs a server that stores data")
        .hints("loads that can be simulated: smack, oltp, slap");
}

#[test]
fn it_says_where_it_listens_and_leaves_nothing_behind() {
    let scene = Scene::new();
    let (running, socket) = null_server(&scene, &["--port", "0", "--log", "statements.log"]);
    write_smack(&scene, &socket, "select c from t where id = 1");
    scene
        .dbdyno(["super-smack", "one.smack", "3", "100"])
        .exits(0);
    running.signal(Signal::TERM);
    let ended = running
        .finish()
        .exits(0)
        .prints(&format!("listening on {} and 127.0.0.1:", socket.display()))
        .says("300 statements on 4 connections");
    assert_eq!(ended.text().lines().count(), 1);
    assert!(!socket.exists());
    let log = std::fs::read_to_string(scene.path().join("statements.log")).unwrap();
    let mut last = 0;
    for line in log.lines().skip(1) {
        let words: Vec<&str> = line.split(' ').collect();
        let [received, answered] = [1, 2].map(|word| words[word].parse::<u64>().unwrap());
        assert!(last <= answered && received <= answered, "{line}");
        assert_eq!(words[3..], ["query", "rows"], "{line}");
        last = received;
    }
    assert_eq!(log.lines().count(), 301);
}

#[test]
fn errors_on_purpose_reach_the_client() {
    let scene = Scene::new();
    let options = [
        "--error-rate",
        "1",
        "--error-number",
        "1205",
        "--dialect",
        "mysql",
    ];
    let (running, socket) = null_server(&scene, &options);
    write_smack(&scene, &socket, "update t set c = 1");
    scene
        .dbdyno(["super-smack", "one.smack", "1", "1"])
        .exits(3)
        .says("Lock wait timeout exceeded");
    running.signal(Signal::INT);
    running.finish().exits(0).says("failed on purpose");
}

#[test]
fn what_it_refuses() {
    let scene = Scene::new();
    scene.dbdyno(["null-server"]).exits(2).says("--socket");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    scene
        .dbdyno(["null-server", "--port", &port])
        .exits(2)
        .says(&format!("127.0.0.1:{port}: "));
    scene.file("there", "mine");
    scene
        .dbdyno(["null-server", "--socket", "there"])
        .exits(2)
        .hints("remove there");
    assert_eq!(
        std::fs::read_to_string(scene.path().join("there")).unwrap(),
        "mine"
    );
    let cases: [(&[&str], &str); 13] = [
        (&["--delay", "fast"], "--delay"),
        (&["--error-rate", "2"], "not from 0 to 1"),
        (&["--error-number", "1213"], "--error-rate"),
        (&["--stall-every", "1s", "--stall-for", "1s"], "--stall-for"),
        (&["--freeze-at", "1s"], "--freeze-for"),
        (&["--row-bytes", "99999999"], "--row-bytes"),
        (&["--cpus", "2"], "--cpu-time"),
        (&["--cpu-time", "1ms"], "--cpus"),
        (&["--cpus", "0", "--cpu-time", "1ms"], "--cpus"),
        (&["--serial-time", "0s"], "not above zero"),
        (&["--read-iops", "3000"], "--reads-per-statement"),
        (
            &["--reads-per-statement", "1", "--read-iops", "3k"],
            "not a number above 0",
        ),
        (
            &["--never-answer", "--cpus", "2", "--cpu-time", "1ms"],
            "cannot be used with",
        ),
    ];
    for (options, expected) in cases {
        let arguments = [&["null-server", "--socket", "s"], options].concat();
        scene.dbdyno(arguments).exits(2).says(expected);
    }
    let many = u32::MAX.to_string();
    scene
        .dbdyno(["null-server", "--socket", "s", "--max-connections", &many])
        .exits(4)
        .hints("LimitNOFILE");
}

#[test]
fn a_file_that_took_the_place_of_its_socket_stays() {
    let scene = Scene::new();
    let (server, socket) = null_server(&scene, &[]);
    std::fs::remove_file(&socket).unwrap();
    std::fs::write(&socket, "somebody else's").unwrap();
    server.signal(Signal::TERM);
    server.finish().exits(0);
    assert_eq!(std::fs::read_to_string(&socket).unwrap(), "somebody else's");
}
