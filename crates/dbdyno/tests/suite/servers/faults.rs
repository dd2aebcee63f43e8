//! Failures during a run: one clear message, no process left running, measurements kept, and `--resume` completes the
//! plan.

use std::{
    fs, io::Write, os::unix::fs::symlink, path::PathBuf, process::Command, thread, time::Duration,
};

use rustix::process::{Signal, kill_process};
use tempfile::TempDir;

use crate::{
    experiment::{Experiment, SMACK},
    mariadb::MariaDb,
    results::{Results, names_in, record_name},
    scene::{Running, Scene},
};

/// Two runs in a known order, long enough to be interrupted.
fn two_runs() -> Experiment {
    Experiment {
        top: "order = \"file\"",
        matrix: "connections = [1, 2]".to_owned(),
        load: "connections = \"{connections}\"\nwarmup = \"500ms\"\nduration = \"4s\"".to_owned(),
        ..Experiment::default()
    }
}

/// An experiment that is interrupted in its second run.
struct Disturbed {
    scene: Scene,
    results: Results,
}

impl Disturbed {
    /// Starts it and waits until the second run has measured for a while.
    fn start(scene: Scene, experiment: &Experiment) -> (Self, Running) {
        experiment.write(&scene);
        let results = Results::at(scene.path().join("out"));
        let mut running = scene.start(["run", "trial.toml", "--results", "out"]);
        // One more than is required below: a torn line removes one.
        running.wait_until("run 2 measures", || results.measured_so_far(2) >= 4);
        (Self { scene, results }, running)
    }

    /// Checks that the record of the second run is kept and marked as incomplete.
    fn keeps_what_was_measured(&self) {
        assert!(self.results.record(1).is_complete());
        let disturbed = self.results.record(2);
        assert!(!disturbed.is_complete());
        assert!(disturbed.measured().count() >= 3);
        assert!(disturbed.count() > 0);
    }

    /// Checks that `--resume` executes the missing runs only.
    fn resumes(&self) {
        let first = self.results.text(&record_name(1));
        let disturbed = self.results.text(&record_name(2));
        self.scene
            .dbdyno(["run", "trial.toml", "--results", "out", "--resume"])
            .exits(0)
            .prints("measured  2 of 2 runs");
        assert_eq!(
            self.results.text(&record_name(1)),
            first,
            "run 1 was done already"
        );
        assert_eq!(self.results.text("run-0002.incomplete-1.jsonl"), disturbed);
        assert!(self.results.record(2).is_complete());
        self.scene.nothing_is_left();
    }
}

#[test]
fn the_server_is_killed() {
    let (disturbed, running) = Disturbed::start(Scene::for_servers(), &two_runs());
    let servers = disturbed.scene.servers();
    assert_eq!(servers.len(), 1, "one private server runs: {servers:?}");
    kill_process(servers[0], Signal::KILL).unwrap();
    running
        .finish()
        .exits(3)
        .says("the server went away")
        .hints("--resume");
    disturbed.scene.nothing_is_left();
    disturbed.keeps_what_was_measured();
    let end = disturbed.results.record(2);
    let why = end.one("end")["why"].as_str().unwrap();
    assert!(why.contains("the server went away"), "{why}");
    assert!(disturbed.results.file("report.html").exists());
    disturbed.resumes();
}

#[test]
fn dbdyno_is_killed() {
    let (disturbed, running) = Disturbed::start(Scene::for_servers(), &two_runs());
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    // The kernel kills the server with dbdyno; on a busy machine that takes a moment.
    for _ in 0..100 {
        if disturbed.scene.servers().is_empty() {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(disturbed.scene.servers(), [], "the server outlives dbdyno");
    disturbed.keeps_what_was_measured();
    assert_eq!(disturbed.results.record(2).all("end").count(), 0);
    // Among other things, `--resume` removes the directory of the dead dbdyno's server.
    assert!(
        fs::read_dir(disturbed.scene.servers_directory())
            .unwrap()
            .count()
            > 0
    );
    disturbed.resumes();
}

#[test]
fn a_torn_last_line_is_left_out() {
    let (disturbed, running) = Disturbed::start(Scene::for_servers(), &two_runs());
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    let path = disturbed.results.file(&record_name(2));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    disturbed.keeps_what_was_measured();
    disturbed.resumes();
}

#[test]
fn ctrl_c_in_mid_run() {
    let (disturbed, running) = Disturbed::start(Scene::for_servers(), &two_runs());
    running.signal(Signal::INT);
    running.finish().exits(130).hints("--resume");
    disturbed.scene.nothing_is_left();
    disturbed.keeps_what_was_measured();
    assert_eq!(disturbed.results.record(2).one("end")["why"], "interrupted");
    disturbed.resumes();
}

#[test]
fn ctrl_c_while_a_server_is_made() {
    let scene = Scene::for_servers().with_own_cache();
    two_runs().write(&scene);
    let mut running = scene.start(["run", "trial.toml", "--results", "out"]);
    running.wait_until("its server is made", || !scene.servers().is_empty());
    running.signal(Signal::INT);
    running.finish().exits(130);
    scene.nothing_is_left();
    scene
        .dbdyno(["run", "trial.toml", "--results", "out", "--resume"])
        .exits(0);
}

/// A separate file system, small enough to be filled; unmounted at the end of the test.
struct SmallDisk {
    directory: TempDir,
}

impl SmallDisk {
    /// Mounts a file system; `None` without the permission.
    fn mount() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"])
            .arg(directory.path())
            .output();
        let reason = match mount {
            Ok(output) if output.status.success() => return Some(Self { directory }),
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        eprintln!("skipped: no small disk: mount: {reason}");
        None
    }

    fn filler(&self) -> PathBuf {
        self.directory.path().join("filler")
    }

    fn fill(&self) {
        let mut filler = fs::File::create(self.filler()).unwrap();
        while filler.write_all(&[0; 4096]).is_ok() {}
    }

    fn free(&self) {
        fs::remove_file(self.filler()).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a dbdyno that a failed test left running may still write there.
        let unmount = ["--lazy".as_ref(), self.directory.path().as_os_str()];
        let _ = Command::new("umount").args(unmount).status();
    }
}

#[test]
fn the_disk_of_the_results_is_full() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let scene = Scene::for_servers();
    symlink(disk.directory.path(), scene.path().join("out")).unwrap();
    let (disturbed, running) = Disturbed::start(scene, &two_runs());
    disk.fill();
    running
        .finish()
        .exits(4)
        .says("run-0002.jsonl")
        .hints("space");
    disturbed.scene.nothing_is_left();
    disturbed.keeps_what_was_measured();
    disk.free();
    disturbed.resumes();
}

/// A .smack file whose select fails with error 1054.
fn with_a_failing_select(scene: &Scene, on_error: &str) {
    Experiment {
        load: format!(
            "mix = \"1:1\"\nconnections = 2\nwarmup = \"500ms\"\nduration = \"1s\"\non_error = \"{on_error}\""
        ),
        ..Experiment::default()
    }
    .write(scene);
    scene.file(
        "hp-sizing.smack",
        &SMACK.replace("select * from", "select nosuch from"),
    );
}

#[test]
fn a_failed_statement_ends_the_run() {
    let scene = Scene::for_servers();
    with_a_failing_select(&scene, "stop");
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(3)
        .says("select_index: error 1054")
        .says("Unknown column 'nosuch'")
        .hints("on_error");
    scene.nothing_is_left();
    let record = Results::at(scene.path().join("out")).record(1);
    assert!(!record.is_complete());
    assert_eq!(record.one("error")["number"], 1054);
    assert_eq!(record.one("error")["operation"], "select_index");
}

#[test]
fn failed_statements_are_counted_by_number() {
    let scene = Scene::for_servers();
    with_a_failing_select(&scene, "count");
    scene
        .dbdyno(["run", "trial.toml", "--results", "out"])
        .exits(3)
        .says("with error 1054");
    let results = Results::at(scene.path().join("out"));
    let record = results.record(1);
    assert!(record.is_complete());
    let error = record.one("error");
    assert_eq!(
        (&error["operation"], &error["number"]),
        (&"select_index".into(), &1054.into())
    );
    assert_eq!(
        (&error["sqlstate"], &error["retried"]),
        (&"42S22".into(), &0.into())
    );
    // Over the whole run, warm-up included.
    assert!(error["count"].as_u64().unwrap() >= record.errors());
    // Each barrel has one of each: the operations counted as done are the updates.
    let (done, failed) = (record.count() as f64, record.errors() as f64);
    assert!(
        failed > 0.0 && (done / failed - 1.0).abs() < 0.1,
        "{done} done, {failed} failed"
    );
    let summary = results.sql("SELECT operation, number, count FROM errors");
    let count = error["count"].as_i64().unwrap();
    assert_eq!(
        summary,
        [["select_index".to_owned().into(), 1054.into(), count.into()]]
    );
}

#[test]
fn dbdyno_is_killed_while_it_measures_a_given_server() {
    let scene = Scene::for_servers();
    let mariadb = MariaDb::start(&scene, &[]);
    let experiment = Experiment {
        server: mariadb.as_experiment(),
        ..two_runs()
    };
    let (disturbed, running) = Disturbed::start(scene, &experiment);
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    assert_eq!(
        disturbed.scene.servers().len(),
        1,
        "a server that was there goes on"
    );
    disturbed.keeps_what_was_measured();
    let first = disturbed.results.text(&record_name(1));
    disturbed
        .scene
        .dbdyno(["run", "trial.toml", "--results", "out", "--resume"])
        .exits(0)
        .prints("measured  2 of 2 runs");
    assert_eq!(disturbed.results.text(&record_name(1)), first);
}

#[test]
fn ctrl_c_while_rows_are_loaded() {
    let scene = Scene::for_servers();
    Experiment {
        data: "rows = \"100k\"",
        ..two_runs()
    }
    .write(&scene);
    let mut running = scene.start(["run", "trial.toml", "--results", "out"]);
    running.wait_until("it loads", || {
        let servers = names_in(&scene.servers_directory());
        servers.iter().any(|server| {
            let table = scene
                .servers_directory()
                .join(server)
                .join("data/test/http_auth.ibd");
            fs::metadata(table).is_ok_and(|table| table.len() > 1 << 20)
        })
    });
    running.signal(Signal::INT);
    // It does not wait for the remaining rows.
    running
        .finish()
        .exits(130)
        .conceals("keeping a copy of the data");
    scene.nothing_is_left();
}
