//! `dbdyno size FILE`: an experiment is measured, with the combinations that emulate the target; `crates/sizing/tests` has
//! the figures.

use super::size::{RUNS, TARGET};
use crate::{null_server::null_server, scene::Scene, shipped::experiments};

/// A target with a buffer pool between those of the bundled experiment, and fewer CPUs than any machine.
const EMULATED: &str = "cpus=0.5,buffer_pool=96M,read_iops=1000,fsync=1ms";

#[test]
fn an_experiment_is_measured_with_its_target_in_the_same_blocks() {
    let scene = Scene::new();
    experiments(&scene);
    let plan = |file: &str, target: &str, more: &[&str]| {
        let begin = ["size", file, "--target", target, "--plan"];
        scene.dbdyno(begin.iter().chain(more))
    };
    let file = "experiments/size-hp.toml";
    // Eight combinations of the experiment, and the target with 16, 32 and 64 connections.
    plan(file, EMULATED, &[])
        .exits(0)
        .prints("11 combinations x 3 repeats = 33 runs")
        .says("note: not emulated: fsync");
    plan(file, EMULATED, &["--no-validate"])
        .exits(0)
        .prints("8 combinations x 3 repeats = 24 runs");
    // A change is not tested.
    plan(file, EMULATED, &["--what-if", "cpus=1"])
        .exits(0)
        .prints("8 combinations x 3 repeats = 24 runs");
    // The bundled experiment of this name.
    plan("size-hp", EMULATED, &["--no-validate"]).exits(0);
    // A plan is neither a page nor data for a program.
    for option in ["--html=plan.html", "--format=text", "--format=json"] {
        plan(file, EMULATED, &[option])
            .exits(2)
            .says("cannot be used with");
    }
    assert!(!scene.path().join("results").exists());
}

#[test]
fn an_experiment_that_predicts_nothing_is_refused_before_it_runs() {
    let scene = Scene::new();
    experiments(&scene);
    let refused = |file: &str, target: &str, problem: &str| {
        let begin = ["size", file, "--target", target, "--plan"];
        scene.dbdyno(begin).exits(2).says(problem);
    };
    refused(
        "experiments/size-hp.toml",
        "cpus=1",
        "--target names no memory, and the records have buffer pools of 64.0 MiB to 512 MiB",
    );
    refused(
        "experiments/size-hp.toml",
        "buffer_pool=96M",
        "--target names no limit",
    );
    refused(
        "experiments/versions.toml",
        "cpus=1",
        "versions: the factor ",
    );
    refused(
        "experiments/max-rate.toml",
        "cpus=1",
        "max-rate: a prediction needs a fixed number of two or more executions",
    );
    refused(
        "experiments/local-and-remote.toml",
        "cpus=1",
        "local-and-remote: ",
    );
    refused("gone.toml", "cpus=1", "gone.toml");
    scene
        .dbdyno(["size", RUNS, "--target", TARGET, "--no-validate"])
        .exits(2)
        .says("--no-validate is for an experiment file");
    scene
        .dbdyno(["size", RUNS, "--target", TARGET, "--keep"])
        .exits(2)
        .says("--keep is for an experiment file");
}

/// Two executions of one combination on an existing server.
const TRIAL: &str = r#"format = 1
repeats = 2
[matrix]
connections = [1]
[server]
address = "SOCKET"
[load]
script = "a.sql"
connections = "{connections}"
warmup = "0s"
duration = "1s"
[expect]
throughput = "> 1G"
"#;

#[test]
fn an_experiment_is_measured_and_the_prediction_follows() {
    let scene = Scene::new();
    scene.file("a.sql", "SELECT 1;\n");
    let (_server, socket) = null_server(&scene, &[]);
    let trial = TRIAL.replace("SOCKET", &socket.display().to_string());
    scene.file("trial.toml", &trial);
    let size = |more: &[&str]| {
        let begin = ["size", "trial.toml", "--target", "fsync=1ms"];
        scene.dbdyno(begin.iter().chain(more))
    };
    size(&[])
        .exits(2)
        .says("a target is emulated by limits of the kernel, which need a private server")
        .hints("--no-validate");
    // The null server has no log whose flushes it could count.
    let answer = size(&["--no-validate", "--results", "here"])
        .exits(5)
        .prints("measurements for fsync are missing")
        .says("note: the records are in here");
    assert!(answer.text().starts_with("The throughput is not known"));
    // The file is complete: it can be run again.
    scene.dbdyno(["run", "here/trial.toml", "--plan"]).exits(0);
    scene
        .dbdyno(["size", "here", "--target", "fsync=1ms"])
        .exits(5)
        .prints("2 executions of trial on ");
}
