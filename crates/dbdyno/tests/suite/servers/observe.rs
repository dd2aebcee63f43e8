//! `dbdyno observe`: samples of the server's host, sent to the dbdyno that drives the load.
//!
//! On a machine that does not permit network namespaces, these tests report that and pass.

use std::{
    fs::{self, File, Permissions},
    net::TcpStream,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    experiment::Experiment,
    mariadb::MariaDb,
    other_host::{AHEAD_S, PORT, RemoteServer},
    results::{Record, Results, record_name},
    scene::{Scene, wait_until},
    terminal::Terminal,
};

/// Port of an observer that is alone on its host.
const OBSERVER_PORT: u16 = 7306;
const SECRET: &str = "Twas brillig, and the slithy toves";

/// An observer on the host of a server; it ends with the test.
struct Observer {
    process: Child,
    log: PathBuf,
}

impl Observer {
    /// Starts an observer through a script that runs its arguments on that host.
    #[track_caller]
    fn start(scene: &Scene, remote: &RemoteServer, script: &Path) -> Self {
        let file = scene.file("observe.secret", &format!("{SECRET}\n"));
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        let path = scene.path().join("observer.log");
        let log = File::create(&path).unwrap();
        let address = format!("{}:{OBSERVER_PORT}", remote.address());
        // The first word ends it together with this test, even if the test is killed.
        let process = Command::new("setpriv")
            .args(["--pdeathsig", "KILL"])
            .arg(script)
            .arg(env!("CARGO_BIN_EXE_dbdyno"))
            .args(["observe", "--listen", &address, "--secret-file"])
            .arg(&file)
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let observer = Self { process, log: path };
        observer.says(&format!("listening on {address}"));
        observer
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    #[track_caller]
    fn says(&self, what: &str) {
        wait_until(what, || self.log().contains(what));
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        // Both calls fail for a process that has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Writes an experiment on a remote server, with additional keys under `[server]`.
fn experiment(scene: &Scene, remote: &RemoteServer, keys: &str, duration: &str) {
    Experiment {
        server: format!(
            "address = \"{}:{PORT}\"\nuser = \"trial\"\npassword_file = \"password\"\n{keys}",
            remote.address()
        ),
        load: format!("connections = 2\nwarmup = \"500ms\"\nduration = \"{duration}\""),
        ..Experiment::default()
    }
    .write(scene);
}

fn listening(remote: &RemoteServer) -> String {
    let address = remote.address();
    format!(
        "observe = \"tcp://{address}:{OBSERVER_PORT}\"\nobserve_secret_file = \"observe.secret\""
    )
}

/// The hosts of the lines of a kind, in order.
fn hosts<'r>(record: &'r Record, kind: &'r str) -> Vec<&'r str> {
    let lines = record.all(kind);
    lines.map(|line| line["host"].as_str().unwrap()).collect()
}

fn samples<'r>(record: &'r Record, host: &'r str) -> Vec<&'r Value> {
    let samples = record.all("telemetry");
    samples.filter(|sample| sample["host"] == host).collect()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is not a number"))
}

/// Checks that the samples of the server's host are consecutive from the start of the load, by the load's clock.
#[track_caller]
fn are_on_the_clock_of_the_load(samples: &[&Value]) {
    let mut end_s = 0.0;
    for sample in samples {
        let t_s = number(&sample["t_s"]);
        // A process that was not given a processor sends nothing meanwhile, and tells no second twice.
        assert!(
            t_s > end_s - 0.5 && t_s < end_s + 60.0,
            "{t_s} follows {end_s}"
        );
        end_s = t_s + number(&sample["length_s"]);
    }
}

#[test]
fn a_listening_observer_tells_of_the_servers_machine() {
    let scene = Scene::for_servers();
    let Some(remote) = RemoteServer::start(&scene) else {
        return;
    };
    let Some(script) = remote.host.machine(&scene) else {
        return;
    };
    let observer = Observer::start(&scene, &remote, &script);
    experiment(&scene, &remote, &listening(&remote), "2s");
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(0)
        .conceals(SECRET);
    assert!(!observer.log().contains(SECRET), "{}", observer.log());
    let results = Results::at(scene.path().join("out"));
    let record = results.record(1);
    assert!(record.is_complete() && record.count() > 0);

    assert_eq!(hosts(&record, "machine"), ["client", "server"]);
    for machine in record.all("machine") {
        let missing = machine["not_observed"].to_string();
        assert!(!missing.contains("server host not observed"), "{missing}");
    }
    let storage = record.one("storage");
    assert_eq!(storage["host"], "server");
    assert!(storage["places"][0]["holds"].to_string().contains("data"));
    let collected: Vec<_> = record
        .all("collected")
        .map(|it| it["collector"].as_str().unwrap())
        .collect();
    assert!(
        collected.contains(&"observer") && collected.contains(&"machine"),
        "{collected:?}"
    );

    let of_server = samples(&record, "server");
    assert!(!of_server.is_empty());
    are_on_the_clock_of_the_load(&of_server);
    for sample in &of_server {
        assert!(
            sample["machine"].is_object() && sample["client"].is_null(),
            "{sample}"
        );
        assert!(
            number(&sample["server"]["resident_bytes"]) > 0.0,
            "{sample}"
        );
    }
    for sample in samples(&record, "client") {
        assert!(
            sample["client"].is_object() && sample["server"].is_null(),
            "{sample}"
        );
    }

    let said: Vec<_> = record.all("observer").collect();
    assert_eq!(said.len(), 2);
    assert_eq!(
        (&said[0]["at"], &said[1]["at"]),
        (&"start".into(), &"end".into())
    );
    assert!(
        said[0]["server_process"]
            .as_str()
            .unwrap()
            .ends_with("(mariadbd)")
    );
    for said in said {
        assert_eq!(
            said["address"],
            format!("tcp://{}:{OBSERVER_PORT}", remote.address())
        );
        assert_eq!(
            (&said["same_machine"], &said["lost"]),
            (&false.into(), &Value::Null)
        );
        let clock = &said["clock"];
        assert!(
            number(&clock["offset_s"]).abs() <= number(&clock["uncertainty_s"]),
            "{clock}"
        );
    }
    let seen = results.sql("SELECT server_percent > 0 FROM cpu");
    assert_eq!(seen, [[rusqlite::types::Value::Integer(1)]]);
    let page = results.text("report.html");
    for shown in [
        "CPU of the server&#39;s machine",
        "CPU of the client&#39;s machine",
        "The server&#39;s host was observed through tcp://",
    ] {
        let plain = shown.replace("&#39;", "'");
        assert!(page.contains(shown) || page.contains(&plain), "{shown}");
    }
    assert!(!page.contains("server host not observed"));
    observer.says(": left");
    observer.signal(Signal::TERM);
    observer.says("stopped");
}

#[test]
fn top_shows_the_machine_of_a_server_on_another_host_and_says_when_nobody_looks_there_any_more() {
    let scene = Scene::for_servers();
    let Some(remote) = RemoteServer::start(&scene) else {
        return;
    };
    let Some(script) = remote.host.machine(&scene) else {
        return;
    };
    let observer = Observer::start(&scene, &remote, &script);
    let address = remote.address();
    let arguments = format!(
        "--no-defaults --host {address} --user trial --password-file password \
         --observe tcp://{address}:{OBSERVER_PORT} --observe-secret-file observe.secret"
    );
    let plain = ["top", "--plain", "--every", "200ms", "--count", "5"];
    let plain = scene
        .dbdyno(plain.into_iter().chain(arguments.split_whitespace()))
        .exits(0)
        .conceals(SECRET)
        .text();
    let mut lines = plain.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
    let at = |name: &str| columns.iter().position(|column| *column == name).unwrap();
    // An observer that lacks a processor sends a sample late.
    let has_all = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let mut names = ["queries/s", "cpu_%", "srv_cpu", "cli_cpu"].into_iter();
        names.all(|name| cells[at(name)].parse::<f64>().is_ok())
    };
    assert!(lines.any(has_all), "{plain}");

    let screen = format!("\"$DBDYNO\" top {arguments}; read wait");
    let mut terminal = Terminal::run(&scene, &screen, (120, 40));
    terminal.shows_what("CPU of the server's process", |text| {
        text.contains("queries/s") && text.lines().any(|line| line.contains(" CPU "))
    });
    assert!(
        !terminal.text().contains("not observed"),
        "{}",
        terminal.text()
    );
    observer.signal(Signal::KILL);
    terminal.shows("server host not observed from ");
    terminal.types("q");
}

/// The first part needs a server without tables.
#[test]
fn an_observer_on_the_clients_machine_serves_one_client_after_another() {
    let scene = Scene::for_servers();
    let Some(remote) = RemoteServer::start(&scene) else {
        return;
    };
    let script = remote.host.script(&scene, "there.sh", "");
    let observer = Observer::start(&scene, &remote, &script);
    a_wrong_secret_is_told_on_both_sides(&scene, &remote, &observer);
    a_machine_that_both_share_is_one(&scene, &remote, &observer);
    remote.rows("drop table if exists test.http_auth");
    a_client_that_is_killed_is_noticed(&scene, &remote, &observer);
}

fn a_wrong_secret_is_told_on_both_sides(scene: &Scene, remote: &RemoteServer, observer: &Observer) {
    let keys = listening(remote).replace("observe.secret", "other.secret");
    scene.file("other.secret", "All mimsy were the borogoves");
    experiment(scene, remote, &keys, "1s");
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(2)
        .says("refused: wrong secret")
        .says("both sides need a file with the same first line")
        .conceals("mimsy");
    observer.says(": wrong secret");
    assert!(!scene.path().join("out").exists(), "nothing was measured");
    assert_eq!(
        remote.rows("show tables from test"),
        [[""; 0]; 0],
        "nothing was loaded"
    );
}

#[test]
fn a_run_goes_on_without_an_observer_that_is_killed() {
    let scene = Scene::for_servers();
    let Some(remote) = RemoteServer::start(&scene) else {
        return;
    };
    let Some(script) = remote.host.machine(&scene) else {
        return;
    };
    let observer = Observer::start(&scene, &remote, &script);
    experiment(&scene, &remote, &listening(&remote), "4s");
    let text = fs::read_to_string(scene.path().join("trial.toml")).unwrap();
    scene.file(
        "trial.toml",
        &text.replace("seed = 3", "seed = 3\nrepeats = 2"),
    );
    let mut running = scene.start(["run", "trial.toml", "--results", "out"]);
    let results = Results::at(scene.path().join("out"));
    running.wait_until("it measures, and the observer has sent a sample", || {
        let text = fs::read_to_string(results.file(&record_name(1))).unwrap_or_default();
        let record = Record::parse(&text);
        record.measured().count() > 0 && !samples(&record, "server").is_empty()
    });
    observer.signal(Signal::KILL);
    running
        .finish()
        .exits(0)
        .says("warning: server host not observed from ")
        .says("warning: server host not observed in this run: observer tcp://");
    let record = results.record(1);
    assert!(record.is_complete());
    let end = record.all("observer").last().unwrap();
    assert_eq!(end["at"], "end");
    let lost_s = number(&end["lost"]["t_s"]);
    assert!(
        end["lost"]["why"]
            .as_str()
            .is_some_and(|why| !why.is_empty())
    );
    let kept = samples(&record, "server");
    assert!(!kept.is_empty(), "what came is kept");
    assert!(kept.iter().all(|sample| number(&sample["t_s"]) <= lost_s));
    let last = samples(&record, "client").pop().unwrap();
    assert!(
        number(&last["t_s"]) > lost_s,
        "the client's machine was looked at to the end"
    );
    let page = results.text("report.html");
    assert!(page.contains("not observed from"), "the page says so");
    // The next run could not connect to it.
    let record = results.record(2);
    assert!(record.is_complete());
    assert_eq!(hosts(&record, "machine"), ["client"]);
    assert!(
        record.one("machine")["not_observed"]
            .to_string()
            .contains("server host not observed")
    );
    assert_eq!(number(&record.one("observer")["lost"]["t_s"]), 0.0);
}

#[test]
fn ssh_starts_an_observer_whose_clock_is_another() {
    let scene = Scene::for_servers();
    let Some(remote) = RemoteServer::start(&scene) else {
        return;
    };
    let Some(script) = remote.host.machine_ahead(&scene) else {
        return;
    };
    // Its last argument is the command for the remote shell.
    let ssh = scene.file(
        "ssh",
        &format!(
            "#!/bin/sh\necho \"$@\" >> {0}/ssh.log\nfor last; do :; done\n\
             case \"$last\" in lost*) echo 'db1: no route' >&2; exit 255;; esac\n\
             exec {1} sh -c \"$last\"\n",
            scene.path().display(),
            script.display()
        ),
    );
    fs::set_permissions(&ssh, Permissions::from_mode(0o755)).unwrap();
    let address = remote.address();
    let oltp = |command: &str, more: &[&str]| {
        let base = [
            "oltp",
            "read_only",
            command,
            "--no-defaults",
            "--host",
            &address,
            "--user",
            "trial",
            "--password-file",
            "password",
            "--database",
            "test",
            "--table-size",
            "1000",
        ];
        scene.dbdyno(base.iter().chain(more))
    };
    oltp("prepare", &[]).exits(0);
    let program = env!("CARGO_BIN_EXE_dbdyno");
    let observe = [
        "--observe",
        "ssh://dba@db1:2222",
        "--observe-ssh",
        "./ssh -v",
    ];
    let run = [
        "--duration",
        "2",
        "--connections",
        "2",
        "--rate",
        "20",
        "--record",
        "record.jsonl",
    ];
    oltp(
        "run",
        &[&run[..], &observe, &["--observe-program", program]].concat(),
    )
    .has_measured()
    .prints("observed through ssh://dba@db1:2222");
    let said = fs::read_to_string(scene.path().join("ssh.log")).unwrap();
    let expected = format!(
        "-v -o BatchMode=yes -o ConnectTimeout=10 -p 2222 -- dba@db1 {program} observe --stdio\n"
    );
    assert_eq!(said, expected);
    let record = Record::parse(&fs::read_to_string(scene.path().join("record.jsonl")).unwrap());
    assert!(record.is_complete());
    assert_eq!(hosts(&record, "machine"), ["client", "server"]);
    let said: Vec<_> = record.all("observer").collect();
    for said in &said {
        assert_eq!(said["address"], "ssh://dba@db1:2222");
        let clock = &said["clock"];
        let wrong_s = (number(&clock["offset_s"]) - AHEAD_S).abs();
        assert!(wrong_s <= number(&clock["uncertainty_s"]) + 1e-6, "{clock}");
        // Both hosts have one wall clock.
        let wall_s = number(&clock["wall_offset_s"]).abs();
        assert!(wall_s < 0.5 + number(&clock["uncertainty_s"]), "{clock}");
    }
    let drift = &said[1]["drift"];
    assert!(
        number(&drift["ppm"]).abs() <= number(&drift["uncertainty_ppm"]) + 1.0,
        "{drift}"
    );
    let of_server = samples(&record, "server");
    assert!(!of_server.is_empty());
    are_on_the_clock_of_the_load(&of_server);

    let unused = ["--duration", "1", "--record", "unused.jsonl"];
    oltp(
        "run",
        &[&unused[..], &observe, &["--observe-program", "lost"]].concat(),
    )
    .exits(2)
    .says("observer ssh://dba@db1:2222: ./ssh ended with exit status: 255: db1: no route")
    .says("hint: ssh must connect without asking");
    oltp(
        "run",
        &[&unused[..], &observe, &["--observe-program", "/no/dbdyno"]].concat(),
    )
    .exits(2)
    .says("exit status: 127")
    .says("hint: name the program on that host with its full path");
    oltp(
        "run",
        &[
            &unused[..],
            &observe,
            &["--observe-program", "echo welcome;"],
        ]
        .concat(),
    )
    .exits(2)
    .says("it sent 'welcome', which is not a message of dbdyno observe");
    assert!(!scene.path().join("unused.jsonl").exists());
}

fn a_machine_that_both_share_is_one(scene: &Scene, remote: &RemoteServer, observer: &Observer) {
    experiment(scene, remote, &listening(remote), "2s");
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(0);
    let results = Results::at(scene.path().join("out"));
    let record = results.record(1);
    assert_eq!(record.one("observer")["same_machine"], true);
    assert_eq!(hosts(&record, "machine"), ["both"]);
    assert_eq!(hosts(&record, "storage"), ["both"]);
    let shared = samples(&record, "both");
    assert!(!shared.is_empty() && shared.len() == record.all("telemetry").count());
    are_on_the_clock_of_the_load(&shared);
    for sample in shared {
        assert!(
            sample["server"].is_object() && sample["client"].is_object(),
            "{sample}"
        );
    }
    let page = results.text("report.html");
    assert!(page.contains("CPU of the machine that client and server share"));
    observer.says(": left");
}

fn a_client_that_is_killed_is_noticed(scene: &Scene, remote: &RemoteServer, observer: &Observer) {
    experiment(scene, remote, &listening(remote), "100s");
    let mut running = scene.start(["run", "trial.toml", "--results", "killed"]);
    let results = Results::at(scene.path().join("killed"));
    running.wait_until("it measures", || results.measured_so_far(1) >= 2);
    let left = || observer.log().matches(": left").count();
    let before = left();
    running.signal(Signal::KILL);
    wait_until("the observer notices", || left() > before);
    running.finish();
}

#[test]
fn what_makes_no_sense_is_refused() {
    let scene = Scene::for_servers();
    scene.file("short.secret", "snark");
    scene.file("observe.secret", SECRET);
    let observe = |more: &[&str]| scene.dbdyno(["observe"].iter().chain(more)).exits(2);
    observe(&["--listen", "127.0.0.1:0"]).says("--secret-file");
    observe(&["--listen", "127.0.0.1:0", "--secret-file", "short.secret"])
        .says("short.secret: the secret has 5 bytes, and at least 16 are required")
        .says("hint: openssl rand -hex 32 > short.secret")
        .conceals("snark");
    observe(&["--listen", "127.0.0.1:0", "--secret-file", "none"])
        .says("none: cannot read the secret");
    observe(&["--listen", "nowhere", "--secret-file", "observe.secret"]).says("nowhere: ");
    observe(&["--stdio", "--secret-file", "observe.secret"]).says("cannot be used with");
    observe(&[]).says("--stdio");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    observe(&["--listen", &address, "--secret-file", "observe.secret"])
        .says("Address already in use");
    assert!(TcpStream::connect(&address).is_ok(), "it is still ours");

    let mariadb = MariaDb::start(&scene, &[]);
    let run = ["--database", "test", "--observe", "ssh://db1"];
    let oltp: Vec<String> = ["oltp", "read_only", "run", "--no-defaults"]
        .map(str::to_owned)
        .into();
    let line = [oltp, mariadb.by_socket(), run.map(str::to_owned).into()].concat();
    scene
        .dbdyno(line)
        .exits(2)
        .says("the server is on this machine, which is observed anyway");
    scene
        .dbdyno(["quick", "--observe", "ssh://db1"])
        .exits(2)
        .says("--observe is for a server on another host, but none is named");
}
