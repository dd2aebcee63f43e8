//! The experiments in `experiments/` that need only the machine's own server, each scaled down to seconds; at full size
//! with `DBDYNO_SHIPPED=full`.

use std::{fs, path::Path, time::Duration};

use crate::{
    results::Results,
    scene::{Finished, Scene},
};

/// Where the experiments' results are, in the scene.
const RESULTS: &str = "out";
/// How many times as long as the first the attempts measure.
const LONGER: [u32; 3] = [1, 6, 36];

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
    let options = if is_full() { &[] } else { smaller };
    checked(scene, run_once(scene, name, options))
}

/// The same with measurements of two seconds, which the scale makes of this duration. How many operations fit into them is
/// the machine's affair: where none did, or too few by `are_enough`, the experiment runs again, with longer ones.
pub(crate) fn run_until(
    scene: &Scene,
    name: &str,
    (duration, smaller): (Duration, &[&str]),
    are_enough: impl Fn(&Results) -> bool,
) -> Results {
    if is_full() {
        return run(scene, name, smaller);
    }
    for longer in LONGER {
        let duration = format!("{}s", (duration * longer).as_secs());
        let options = [smaller, &["--duration", &duration]].concat();
        let ended = run_once(scene, name, &options);
        if !ended
            .stderr
            .contains("no operation succeeded while the run was measured")
        {
            let results = checked(scene, ended);
            if are_enough(&results) {
                return results;
            }
        }
        fs::remove_dir_all(scene.path().join(RESULTS)).unwrap();
    }
    panic!("{name}: too few operations in every attempt");
}

fn run_once(scene: &Scene, name: &str, options: &[&str]) -> Finished {
    let file = format!("experiments/{name}.toml");
    scene.dbdyno([&["run", &file, "--results", RESULTS], options].concat())
}

#[track_caller]
fn checked(scene: &Scene, ended: Finished) -> Results {
    ended.exits(0).prints("measured  ");
    scene.nothing_is_left();
    Results::at(scene.path().join(RESULTS))
}

/// Options for a smaller scale and for these combinations only.
pub(crate) fn smaller<'a>(scale: &'a str, only: &[&'a str]) -> Vec<&'a str> {
    let smaller = ["--scale", scale, "--repeats", "1"].into_iter();
    smaller
        .chain(only.iter().flat_map(|it| ["--only", *it]))
        .collect()
}

/// Lets an experiment take any installed MariaDB.
pub(crate) fn for_any_mariadb(scene: &Scene, name: &str) {
    let file = scene.path().join(format!("experiments/{name}.toml"));
    let text = fs::read_to_string(&file).unwrap();
    let any = text.replace("\"mariadb-10.11\"", "\"mariadb\"");
    assert_ne!(any, text);
    fs::write(file, any).unwrap();
}

/// Lets the connections of an experiment think between operations, so that a run costs little; not at full size.
pub(crate) fn unhurried(scene: &Scene, name: &str) {
    if is_full() {
        return;
    }
    let file = scene.path().join(format!("experiments/{name}.toml"));
    let text = fs::read_to_string(&file).unwrap();
    let slow = text.replace("[load]\n", "[load]\nthink_time = \"100ms\"\n");
    let slow = slow.replace("[[load]]\n", "[[load]]\nthink_time = \"100ms\"\n");
    assert_ne!(slow, text);
    fs::write(&file, slow).unwrap();
}
