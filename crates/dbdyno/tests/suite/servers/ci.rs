//! The examples for CI in docs/ci: their YAML, and every command of dbdyno in it on small data.

use std::{env, fs, path::Path, process::Command};

use saphyr::{LoadableYamlNode, Yaml};

use crate::scene::Scene;

const GITHUB: &str = include_str!("../../../../../docs/ci/github.yml");
const GITLAB: &str = include_str!("../../../../../docs/ci/gitlab.yml");
const PAGE: &str = include_str!("../../../../../docs/ci.md");

/// What is smaller in a test.
const SMALLER: [(&str, &str); 3] = [
    (
        "--budget 20m",
        "--budget 25s --duration 2s --warmup 100ms --connections 1",
    ),
    ("--table-size 250k", "--table-size 1k"),
    // One connection on a busy machine may not have the 100 operations of a p99 in two seconds.
    ("'p99 ", "'p50 "),
];
/// In both option files: no operation waits for the disk, which may be busy for longer than a run.
const NO_WAITING: &str = "[mysqld]\ninnodb_flush_log_at_trx_commit = 0\n";

/// The commands of dbdyno, which must be these three, in this order.
fn run(commands: &[String]) {
    let words: Vec<&str> = commands
        .iter()
        .map(|it| it.split_whitespace().nth(1).unwrap())
        .collect();
    let mut sorted = words.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, ["ab", "compare", "report"], "{commands:?}");
    assert_eq!(words[0], "ab");
    let scene = Scene::for_servers();
    scene.file("old.cnf", NO_WAITING);
    scene.file("new.cnf", &format!("{NO_WAITING}sync_binlog = 0\n"));
    let program = Path::new(env!("CARGO_BIN_EXE_dbdyno"));
    let path = format!(
        "{}:{}",
        program.parent().unwrap().display(),
        env::var("PATH").unwrap()
    );
    for (command, word) in commands.iter().zip(words) {
        let mut command = command.clone();
        for (large, small) in SMALLER {
            command = command.replace(large, small);
        }
        let output = Command::new("bash")
            .args(["-euo", "pipefail", "-c", &command])
            .current_dir(scene.path())
            .env("PATH", &path)
            .env("HOME", scene.path())
            .env("GITHUB_STEP_SUMMARY", scene.path().join("summary"))
            .output()
            .unwrap();
        let code = output.status.code().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // Runs of a second tell nothing for certain, or the wrong thing.
        let is_expected = code == 0 || word == "compare" && [1, 5].contains(&code);
        assert!(is_expected, "{command}: {code}\n{said}");
    }
    let report = fs::read_to_string(scene.path().join("report.md")).unwrap();
    assert!(report.contains("old.cnf"), "{report}");
    scene.nothing_is_left();
}

fn is_of_dbdyno(command: &str) -> bool {
    command.starts_with("dbdyno ")
}

fn texts<'y>(list: &'y Yaml<'y>) -> impl Iterator<Item = &'y str> {
    let items = list.as_sequence().unwrap().iter();
    items.map(|item| item.as_str().unwrap())
}

fn of_github() -> Vec<String> {
    let documents = Yaml::load_from_str(GITHUB).unwrap();
    let job = &documents[0]["jobs"]["compare"];
    let steps = job["steps"].as_sequence().unwrap();
    let runs = steps
        .iter()
        .filter_map(|step| step.as_mapping_get("run")?.as_str());
    runs.filter(|run| is_of_dbdyno(run))
        .map(str::to_owned)
        .collect()
}

fn of_gitlab() -> Vec<String> {
    let documents = Yaml::load_from_str(GITLAB).unwrap();
    let script = texts(&documents[0]["database"]["script"]);
    script
        .filter(|line| is_of_dbdyno(line))
        .map(str::to_owned)
        .collect()
}

fn of_the_page() -> Vec<String> {
    let block = PAGE.split("```sh\n").nth(1).unwrap();
    let block = block.split("```").next().unwrap();
    block.lines().map(str::to_owned).collect()
}

/// The words of each command, as the shell sees them, in the order of the alphabet.
fn words(commands: Vec<String>) -> Vec<String> {
    let joined = |command: String| {
        let command = command.replace("\\\n", " ");
        // What follows in the same step is the CI's own.
        let line = command.lines().next().unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut commands: Vec<String> = commands.into_iter().map(joined).collect();
    commands.sort_unstable();
    commands
}

#[test]
fn the_commands_of_the_workflow_run_and_the_others_are_the_same() {
    let page = words(of_the_page());
    assert_eq!(words(of_github()), page);
    assert_eq!(words(of_gitlab()), page);
    run(&of_github());
}
