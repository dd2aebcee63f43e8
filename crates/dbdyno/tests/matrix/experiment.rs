//! A small experiment on each version.

use std::fs;

use serde_json::Value;

use crate::{
    results::Cell,
    subject::{Subject, dbdyno},
};

pub(crate) const SMACK: &str = include_str!("../../../../experiments/smacks/hp-sizing.smack");

/// Loads some rows, reads and updates them, and leaves a complete record without an error.
pub(crate) fn run(subject: &mut Subject) -> Cell {
    let directory = subject.directory();
    let text = format!(
        "format = 1\nseed = 3\n[server]\nrun = \"{}\"\nset = {{ innodb_buffer_pool_size = \"32M\" }}\n\
         [data]\nsmack = \"hp-sizing.smack\"\nrows = \"2k\"\n\
         [load]\nsmack = \"hp-sizing.smack\"\nmix = \"1:1\"\nconnections = 2\nwarmup = \"500ms\"\nduration = \"1s\"\n",
        subject.version.name
    );
    fs::write(directory.join("trial.toml"), text).unwrap();
    fs::write(directory.join("hp-sizing.smack"), SMACK).unwrap();
    let ended = dbdyno(directory)
        .args(["run", "trial.toml", "--results", "out"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{}\n{told}", ended.status);

    let record = fs::read_to_string(directory.join("out/run-0001.jsonl")).unwrap();
    let lines: Vec<Value> = record
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let number = subject.number();
    assert!(record.contains(number), "the record does not name {number}");
    let complete = |line: &Value| line["line"] == "end" && line["complete"] == true;
    assert!(lines.iter().any(complete), "{record}");
    let measured = |line: &&Value| line["line"] == "interval" && line["phase"] == "measurement";
    let operations = lines
        .iter()
        .filter(measured)
        .flat_map(|interval| interval["operations"].as_array().unwrap());
    let (mut count, mut errors) = (0, 0);
    for operation in operations {
        count += operation["count"].as_u64().unwrap();
        errors += operation["errors"].as_u64().unwrap();
    }
    assert!(
        count > 0 && errors == 0,
        "{count} operations, {errors} errors"
    );
    Cell::Ok
}
