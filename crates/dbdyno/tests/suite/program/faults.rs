//! Faults that end a run on our side: one clear message, measurements kept, and `--resume` completes the plan.

use std::{fs, io::Write, os::unix::fs::symlink, path::PathBuf, process::Command};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::{
    disturbed::{Disturbed, two_runs},
    null_server::{null_server, write_smack},
    results::record_name,
    scene::Scene,
};

/// An experiment against the null server in dbdyno itself.
const SIMULATED: &[&str] = &["--simulate"];

#[test]
fn dbdyno_is_killed() {
    let (disturbed, running) = Disturbed::start(Scene::new(), &two_runs(), SIMULATED);
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    disturbed.keeps_what_was_measured();
    assert_eq!(disturbed.results.record(2).all("end").count(), 0);
    disturbed.resumes();
}

#[test]
fn a_torn_last_line_is_left_out() {
    let (disturbed, running) = Disturbed::start(Scene::new(), &two_runs(), SIMULATED);
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
    let (disturbed, running) = Disturbed::start(Scene::new(), &two_runs(), SIMULATED);
    running.signal(Signal::INT);
    running.finish().exits(130).hints("--resume");
    disturbed.scene.nothing_is_left();
    disturbed.keeps_what_was_measured();
    assert_eq!(disturbed.results.record(2).one("end")["why"], "interrupted");
    disturbed.resumes();
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
    let (disturbed, running) = Disturbed::start(scene, &two_runs(), SIMULATED);
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

#[test]
fn dbdyno_is_killed_while_it_measures_a_given_server() {
    let scene = Scene::new();
    let (_server, socket) = null_server(&scene, &[]);
    write_smack(&scene, &socket, "select c from t where id = 1");
    let text = format!(
        "format = 1\norder = \"file\"\n[matrix]\nconnections = [1, 2]\n[server]\naddress = {socket:?}\n\
         user = \"u\"\n[load]\nsmack = \"one.smack\"\nconnections = \"{{connections}}\"\nwarmup = \"200ms\"\n\
         duration = \"8s\"\nthink_time = \"10ms\"\n[disturbed]\nrepeats = \"0 %\"\n"
    );
    scene.file("trial.toml", &text);
    let (disturbed, running) = Disturbed::start_written(scene, &[]);
    running.signal(Signal::KILL);
    running.finish().was_killed_by(Signal::KILL);
    disturbed.keeps_what_was_measured();
    // The server that was there still answers.
    disturbed.resumes();
}
