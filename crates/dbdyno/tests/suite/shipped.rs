//! The experiments in `experiments/` that need only the machine's own server, each scaled down to seconds; at full size
//! with `DBDYNO_SHIPPED=full`.

use std::{fs, path::Path};

use crate::{results::Results, scene::Scene};

/// Whether the experiments run at full size.
pub(crate) fn is_full() -> bool {
    std::env::var("DBDYNO_SHIPPED").is_ok_and(|size| size == "full")
}

/// Copies everything under `experiments/` into the scene.
pub(crate) fn experiments(scene: &Scene) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    copy(&from, &scene.path().join("experiments"));
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Moves the two file systems of the article on ioDrive, which need root and a disk each, into the scene's own.
pub(crate) fn on_one_disk(scene: &Scene, name: &str) {
    let file = scene.path().join(format!("experiments/{name}.toml"));
    let text = fs::read_to_string(&file).unwrap();
    let here = text.replace(
        "/mnt/dbdyno-{fs}",
        &scene.path().join("{fs}").display().to_string(),
    );
    assert_ne!(here, text);
    fs::write(&file, here).unwrap();
    for name in ["xfs", "ext4"] {
        fs::create_dir_all(scene.path().join(name)).unwrap();
    }
}

/// Runs one of them, scaled down by these options, and checks that all of its runs are complete.
pub(crate) fn run(scene: &Scene, name: &str, smaller: &[&str]) -> Results {
    let file = format!("experiments/{name}.toml");
    let options: &[&str] = if is_full() { &[] } else { smaller };
    let ended = scene.dbdyno([&["run", &file, "--results", "out"], options].concat());
    ended.exits(0).prints("measured  ");
    scene.nothing_is_left();
    Results::at(scene.path().join("out"))
}

/// Options for a smaller scale and for these combinations only.
pub(crate) fn smaller<'a>(scale: &'a str, only: &[&'a str]) -> Vec<&'a str> {
    let smaller = ["--scale", scale, "--repeats", "1"].into_iter();
    smaller
        .chain(only.iter().flat_map(|it| ["--only", *it]))
        .collect()
}

/// The same with measurements of two seconds, which the scale makes of this duration: in a shorter one, no operation may
/// begin on a busy machine.
pub(crate) fn two_seconds<'a>(duration: &'a str, smaller: Vec<&'a str>) -> Vec<&'a str> {
    [smaller, vec!["--duration", duration]].concat()
}

/// Lets an experiment take any installed MariaDB.
pub(crate) fn for_any_mariadb(scene: &Scene, name: &str) {
    rewritten(scene, name, "\"mariadb-10.11\"", "\"mariadb\"");
}

/// Replaces a text of an experiment.
pub(crate) fn rewritten(scene: &Scene, name: &str, old: &str, new: &str) {
    let file = scene.path().join(format!("experiments/{name}.toml"));
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(old), "{text}");
    fs::write(file, text.replace(old, new)).unwrap();
}

/// Lets the connections of an experiment think between operations, so that a run costs little; not at full size.
pub(crate) fn unhurried(scene: &Scene, name: &str) {
    if is_full() {
        return;
    }
    let file = scene.path().join(format!("experiments/{name}.toml"));
    let text = fs::read_to_string(&file).unwrap();
    let slow = text.replace("[load]\n", "[load]\nthink_time = \"20ms\"\n");
    let slow = slow.replace("[[load]]\n", "[[load]]\nthink_time = \"20ms\"\n");
    assert_ne!(slow, text);
    fs::write(&file, slow).unwrap();
}
