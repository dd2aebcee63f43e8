//! Faults that end a run on our side: one clear message, measurements kept, and `--resume` completes the plan.

use std::{fs, io::Write, os::unix::fs::symlink, path::PathBuf, process::Command};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::{
    disturbed::Disturbed,
    null_server::null_server,
    results::record_name,
    scene::{Running, Scene, wait_until},
};

/// Statements of each of the two runs.
const STATEMENTS: u32 = 60;

/// An experiment on a given server, which answers all statements of the first run, half of those of the second, and then
/// none: the run stays in its midst until something ends it.
struct Held {
    disturbed: Disturbed,
    server: Running,
}

impl Held {
    /// Starts both, and waits until the second run has measured for a while and recorded the last answer.
    fn start(scene: Scene) -> (Self, Running) {
        let answered = format!("--spare={}", STATEMENTS + STATEMENTS / 2);
        let (server, socket) = null_server(&scene, &["--never-answer", &answered]);
        let text = format!(
            "format = 1\norder = \"file\"\n[matrix]\nconnections = [1, 2]\n\
             [server]\naddress = {socket:?}\nuser = \"u\"\n\
             [load]\nslap = {{ query = \"select c from t\", number_of_queries = {STATEMENTS} }}\n\
             connections = \"{{connections}}\"\n[disturbed]\nrepeats = \"0 %\"\n"
        );
        scene.file("trial.toml", &text);
        let (disturbed, mut running) = Disturbed::start_written(scene);
        running.wait_until("all answers are recorded", || {
            disturbed.results.counted_so_far(2) == u64::from(STATEMENTS / 2)
        });
        (Self { disturbed, server }, running)
    }

    /// Checks that the record of the second run is kept, with the statements that were answered.
    fn keeps_what_was_measured(&self) {
        self.disturbed.keeps_what_was_measured();
        let measured = self.disturbed.results.record(2).count();
        assert_eq!(measured, u64::from(STATEMENTS / 2));
    }

    /// Checks that `--resume` executes the missing runs only, on a server that answers.
    fn resumes(self) {
        self.server.signal(Signal::TERM);
        self.server.finish().exits(0);
        let (_server, _) = null_server(&self.disturbed.scene, &[]);
        self.disturbed.resumes();
    }
}

#[test]
fn dbdyno_is_killed() {
    let (held, running) = Held::start(Scene::new());
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    held.keeps_what_was_measured();
    assert_eq!(held.disturbed.results.record(2).all("end").count(), 0);
    held.resumes();
}

#[test]
fn the_command_of_an_event_ends_with_a_dbdyno_that_is_killed() {
    let scene = Scene::new();
    let (_server, socket) = null_server(&scene, &[]);
    let text = format!(
        "format = 1\n[server]\naddress = {socket:?}\nuser = \"u\"\n\
         [load]\nslap = {{ query = \"select c from t\" }}\nconnections = 1\nwarmup = \"100ms\"\nduration = \"10m\"\n\
         [[event]]\nat = \"1ms\"\n\
         command = [\"sh\", \"-c\", \"sleep 600 & echo $! > pids.new; \
         echo $(setsid sh -c 'sleep 600 >/dev/null & echo $!') $$ >> pids.new; mv pids.new pids; wait\"]\n"
    );
    scene.file("trial.toml", &text);
    let mut running = scene.start(["run", "trial.toml"]);
    let pids = scene.path().join("pids");
    running.wait_until("the command runs", || pids.exists());
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    let pids = fs::read_to_string(pids).unwrap();
    assert_eq!(pids.split_whitespace().count(), 3, "{pids}");
    for pid in pids.split_whitespace() {
        wait_until("the processes of the command have ended", || {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat"));
            stat.map_or(true, |stat| stat.contains(") Z "))
        });
    }
}

#[test]
fn a_torn_last_line_is_left_out() {
    let (held, running) = Held::start(Scene::new());
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    let path = held.disturbed.results.file(&record_name(2));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() - 20]).unwrap();
    held.keeps_what_was_measured();
    held.resumes();
}

#[test]
fn ctrl_c_in_mid_run() {
    let (held, running) = Held::start(Scene::new());
    running.signal(Signal::INT);
    running.finish().exits(130).hints("--resume");
    held.disturbed.scene.nothing_is_left();
    held.keeps_what_was_measured();
    assert_eq!(
        held.disturbed.results.record(2).one("end")["why"],
        "interrupted"
    );
    held.resumes();
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
    let scene = Scene::new();
    symlink(disk.directory.path(), scene.path().join("out")).unwrap();
    let (held, running) = Held::start(scene);
    disk.fill();
    running
        .finish()
        .exits(4)
        .says("run-0002.jsonl")
        .hints("space");
    held.disturbed.scene.nothing_is_left();
    held.keeps_what_was_measured();
    disk.free();
    held.resumes();
}
