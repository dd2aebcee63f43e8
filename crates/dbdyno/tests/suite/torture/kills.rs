//! Kill points: after a signal at a seeded moment of a run, a load, or the creation, copying or restoration of a
//! server, all earlier data still exists, and the same command can be repeated.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;

use crate::torture::{
    attack::small_smack,
    budget::Budget,
    chance::{Chance, shuffled},
    figures::{Case, Kind, outputs},
    ground::{self, Ground, Place, contents, harmed},
    inputs::{left_in, simulated},
    judgement,
    trial::{Ended, Trial},
};

const SIGNALS: [Signal; 4] = [Signal::KILL, Signal::TERM, Signal::INT, Signal::HUP];
/// Maximum time until the end after a signal; the kernel kills the servers of a dbdyno that was killed.
const ENDS_WITHIN: Duration = Duration::from_secs(30);
const TIME_MAX: Duration = Duration::from_secs(120);

/// The kind `kills`: commands that receive a signal.
pub(crate) struct Kills<'a> {
    ground: &'a Ground,
    scripts: Vec<(&'static str, Script)>,
    seed: u64,
}

/// The killed command, with the checks afterwards.
type Script = fn(&mut Scene);

impl<'a> Kills<'a> {
    pub(crate) fn new(ground: &'a Ground, budget: &Budget) -> Self {
        // Scripts without a server, or with an account on the shared one, are quick.
        let mut scripts: Vec<(&'static str, Script)> = vec![("run --simulate", simulated_run)];
        if ground.mariadb().is_some() {
            scripts.push(("oltp prepare", oltp_prepare));
            scripts.push(("server create", server_create));
        }
        if ground.mariadb().is_some() && budget.is_long() {
            scripts.push(("run", private_run));
            scripts.push(("tpcc load", tpcc_load));
            scripts.push(("tpcc run", tpcc_run));
            scripts.push(("server snapshot", snapshot));
            scripts.push(("server restore", restore));
        }
        Self {
            ground,
            scripts,
            seed: budget.seed,
        }
    }
}

impl Kind for Kills<'_> {
    fn name(&self) -> &'static str {
        "kills"
    }

    fn case(&self, number: u64, mut chance: Chance) -> Case {
        let count = self.scripts.len();
        let (name, script) = self.scripts[shuffled(self.seed, "kills", number, count)];
        let outer = self.ground.place();
        outer.file("neighbour/data.txt", "not dbdyno's");
        let signal = *chance.one_of(&SIGNALS);
        let place = outer.inner("w");
        place.file("trial.smack", small_smack());
        place.file("results/of-somebody/notes.txt", "not dbdyno's");
        place.file(".local/share/dbdyno/servers/.keep", "");
        let before = contents(outer.path());
        let mut scene = Scene {
            ground: self.ground,
            place,
            chance,
            signal,
            number,
            story: Vec::new(),
            faults: Vec::new(),
        };
        script(&mut scene);
        scene.nothing_runs_on();
        let mut faults = std::mem::take(&mut scene.faults);
        faults.extend(harmed(&before, outer.path()));
        faults.extend(left_in(&scene.place.path().join("tmp")));
        Case {
            sort: format!("{name}: {}", signal_name(signal)),
            story: scene.story.join("\n"),
            faults,
        }
    }
}

/// One case in progress.
struct Scene<'a> {
    ground: &'a Ground,
    place: Place,
    chance: Chance,
    signal: Signal,
    number: u64,
    story: Vec<String>,
    faults: Vec<String>,
}

impl Scene<'_> {
    fn trial(&self, args: &[&str]) -> Trial {
        self.place.trial(args).within(TIME_MAX)
    }

    fn note(&mut self, ended: &Ended) {
        let how = match (ended.code, ended.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, signal) => format!("signal {signal:?}"),
        };
        let line = format!("{} -> {how} after {:.1?}", ended.line, ended.took);
        self.story.push(line);
        self.faults.extend(judgement::faults(ended));
    }

    /// Runs a command that receives the signal at a moment below `until_ms`.
    fn killed(&mut self, args: &[&str], until_ms: usize) -> Ended {
        let after = Duration::from_millis(self.chance.below(until_ms) as u64);
        let trial = Trial {
            signals: vec![(after, self.signal)],
            time_max: after + ENDS_WITHIN,
            ..self.trial(args)
        };
        let ended = trial.run();
        self.story
            .push(format!("{:?} after {after:?}", self.signal));
        self.note(&ended);
        if ended.signalled.is_empty() && !matches!(ended.code, Some(0 | 1)) {
            self.faults
                .push(format!("failed by itself{}", outputs(&ended)));
        }
        ended
    }

    /// Runs a command that must succeed.
    fn succeeds(&mut self, args: &[&str]) -> Ended {
        let ended = self.trial(args).run();
        self.note(&ended);
        if ended.code != Some(0) {
            self.faults
                .push(format!("does not succeed afterwards{}", outputs(&ended)));
        }
        ended
    }

    /// Runs a command that may give a negative answer, but without a fault.
    fn answers(&mut self, args: &[&str]) -> Ended {
        let ended = self.trial(args).run();
        self.note(&ended);
        ended
    }

    /// Checks that all processes started here end within a moment.
    fn nothing_runs_on(&mut self) {
        let start = Instant::now();
        loop {
            let running = processes_of(self.place.path());
            if running.is_empty() {
                return;
            }
            if start.elapsed() > ENDS_WITHIN {
                self.faults.push(format!("still run: {running:?}"));
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Connection options of the MariaDB that all cases share.
    fn given(&self) -> [String; 5] {
        let server = self.ground.mariadb().expect("it was there");
        self.place.file("password", crate::torture::trial::PASSWORD);
        [
            "--no-defaults".to_owned(),
            "--host=127.0.0.1".to_owned(),
            format!("--port={}", server.port()),
            "--user=trial".to_owned(),
            "--password-file=password".to_owned(),
        ]
    }

    /// A separate database on that server.
    fn database(&self) -> String {
        let server = self.ground.mariadb().expect("it was there");
        let name = format!("kills{}", self.number);
        ground::run(
            &server.endpoint(),
            &format!("drop database if exists {name}"),
        );
        ground::run(&server.endpoint(), &format!("create database {name}"));
        name
    }

    fn drop_database(&self, name: &str) {
        let server = self.ground.mariadb().expect("it was there");
        ground::run(
            &server.endpoint(),
            &format!("drop database if exists {name}"),
        );
    }
}

/// Processes whose command line names this directory.
fn processes_of(directory: &Path) -> Vec<String> {
    let here = directory.as_os_str().as_encoded_bytes();
    let processes = fs::read_dir("/proc").expect("this is Linux").flatten();
    let lines = processes.filter_map(|process| {
        let line = fs::read(process.path().join("cmdline")).ok()?;
        let is_here = line.windows(here.len()).any(|part| part == here);
        is_here.then(|| String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.collect()
}

/// Checks that the results are readable: a record with any content can be audited and reported.
fn can_be_read(scene: &mut Scene) {
    let out = scene.place.path().join("out");
    let has_record = contents(&out).keys().any(|path| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let size = fs::metadata(path).map_or(0, |file| file.len());
        name.starts_with("run-") && size > 4096
    });
    if has_record {
        scene.answers(&["audit", "out"]);
        scene.answers(&["report", "out", "--format=json"]);
    }
}

fn simulated_run(scene: &mut Scene) {
    scene.place.file("trial.toml", simulated());
    let run = ["run", "trial.toml", "--simulate", "--results", "out"];
    scene.killed(&run, 2500);
    can_be_read(scene);
    scene.killed(&[&run[..], &["--resume"]].concat(), 2500);
    scene.succeeds(&[&run[..], &["--resume"]].concat());
    scene.succeeds(&["report", "out", "--format=json"]);
}

fn private_run(scene: &mut Scene) {
    // On a busy disk a commit that waits for it can outlast a run.
    let server =
        "[server]\nset = { innodb_buffer_pool_size = \"16M\", innodb_flush_log_at_trx_commit = 0 }";
    scene
        .place
        .file("trial.toml", simulated().replace("[server]", server));
    let run = ["run", "trial.toml", "--results", "out"];
    scene.killed(&run, 12_000);
    scene.nothing_runs_on();
    can_be_read(scene);
    scene.killed(&[&run[..], &["--resume"]].concat(), 12_000);
    scene.nothing_runs_on();
    scene.succeeds(&[&run[..], &["--resume"]].concat());
    no_server_is_left(scene);
}

/// The next command removes the server of a killed one; then none is left.
fn no_server_is_left(scene: &mut Scene) {
    scene.succeeds(&["server", "list"]);
    let servers = scene.place.path().join(".local/share/dbdyno/servers");
    let left: Vec<_> = fs::read_dir(servers)
        .map(|entries| entries.flatten().map(|entry| entry.file_name()).collect())
        .unwrap_or_default();
    let left: Vec<_> = left.into_iter().filter(|name| name != ".keep").collect();
    if !left.is_empty() {
        scene
            .faults
            .push(format!("directories of servers are left: {left:?}"));
    }
}

fn oltp_prepare(scene: &mut Scene) {
    let database = scene.database();
    let named = format!("--database={database}");
    let given = scene.given();
    let place: Vec<&str> = given
        .iter()
        .map(String::as_str)
        .chain([named.as_str()])
        .collect();
    let with =
        |words: &[&'static str]| [words, &["--tables=2", "--table-size=20k"], &place].concat();
    let prepare = with(&["oltp", "read_write", "prepare"]);
    scene.killed(&prepare, 2500);
    scene.succeeds(&with(&["oltp", "read_write", "cleanup"]));
    scene.succeeds(&prepare);
    let run = with(&[
        "oltp",
        "read_write",
        "run",
        "--duration=1m",
        "--operations=50",
        "--warmup=100ms",
    ]);
    scene.succeeds(&[&run[..], &["--record=record.jsonl"]].concat());
    scene.drop_database(&database);
}

fn tpcc_load(scene: &mut Scene) {
    let database = scene.database();
    let named = format!("--database={database}");
    let given = scene.given();
    let place: Vec<&str> = given
        .iter()
        .map(String::as_str)
        .chain([named.as_str()])
        .collect();
    let load = [&["tpcc", "load", "--warehouses=1"][..], &place].concat();
    let killed = scene.killed(&load, 15_000);
    // A load that was complete before the signal is kept, and is not repeated.
    if killed.code != Some(0) {
        scene.succeeds(&load);
    }
    scene.succeeds(&[&["tpcc", "check"][..], &place].concat());
    scene.drop_database(&database);
}

fn tpcc_run(scene: &mut Scene) {
    let database = scene.database();
    let named = format!("--database={database}");
    let given = scene.given();
    let place: Vec<&str> = given
        .iter()
        .map(String::as_str)
        .chain([named.as_str()])
        .collect();
    scene.succeeds(&[&["tpcc", "load", "--warehouses=1"][..], &place].concat());
    let run = [
        "tpcc",
        "run",
        "--connections=4",
        "--warmup=100ms",
        "--pacing=none",
        "--no-check",
    ];
    let run = [
        &run[..],
        &["--duration=20s", "--record=record.jsonl"],
        &place,
    ]
    .concat();
    scene.killed(&run, 10_000);
    scene.answers(&["audit", "record.jsonl"]);
    scene.succeeds(&[&["tpcc", "check"][..], &place].concat());
    scene.drop_database(&database);
}

const CREATE: [&str; 5] = [
    "server",
    "create",
    "one",
    "--set",
    "innodb_buffer_pool_size=16M",
];

fn server_create(scene: &mut Scene) {
    let ended = scene.killed(&CREATE, 4000);
    if ended.signalled.is_empty() {
        scene.answers(&["server", "destroy", "one"]);
        return no_server_is_left(scene);
    }
    scene.answers(&["server", "list"]);
    // A server that was created before the signal exists, which is reported.
    scene.answers(&["server", "destroy", "one"]);
    scene.nothing_runs_on();
    scene.succeeds(&CREATE);
    scene.succeeds(&["server", "destroy", "one"]);
    no_server_is_left(scene);
}

/// Writes a value into the server and reads it back, with the server's client.
fn writes(scene: &mut Scene, value: &str) {
    let sql = format!("create or replace table test.t as select '{value}' as v");
    scene.succeeds(&["server", "client", "one", "--", "-e", &sql]);
}

fn reads(scene: &mut Scene, value: &str) {
    let ended = scene.succeeds(&[
        "server",
        "client",
        "one",
        "--",
        "-N",
        "-e",
        "select v from test.t",
    ]);
    let found = String::from_utf8_lossy(&ended.stdout).trim().to_owned();
    if found != value {
        scene.faults.push(format!(
            "the data are those of {found:?} and not of {value:?}"
        ));
    }
}

fn snapshot(scene: &mut Scene) {
    scene.succeeds(&CREATE);
    writes(scene, "kept");
    scene.killed(&["server", "snapshot", "one", "first"], 3000);
    scene.succeeds(&["server", "snapshots", "one"]);
    scene.answers(&["server", "start", "one"]);
    reads(scene, "kept");
    scene.succeeds(&["server", "snapshot", "one", "second"]);
    writes(scene, "later");
    scene.succeeds(&["server", "restore", "one", "second"]);
    scene.answers(&["server", "start", "one"]);
    reads(scene, "kept");
    scene.succeeds(&["server", "destroy", "one"]);
}

fn restore(scene: &mut Scene) {
    scene.succeeds(&CREATE);
    writes(scene, "kept");
    scene.succeeds(&["server", "snapshot", "one", "first"]);
    scene.answers(&["server", "start", "one"]);
    writes(scene, "later");
    scene.killed(&["server", "restore", "one", "first"], 3000);
    scene.succeeds(&["server", "restore", "one", "first"]);
    scene.answers(&["server", "start", "one"]);
    reads(scene, "kept");
    scene.succeeds(&["server", "destroy", "one"]);
}

fn signal_name(signal: Signal) -> &'static str {
    match signal {
        Signal::KILL => "KILL",
        Signal::TERM => "TERM",
        Signal::INT => "INT",
        _ => "HUP",
    }
}
