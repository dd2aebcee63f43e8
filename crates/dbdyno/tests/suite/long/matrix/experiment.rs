//! Small experiments on each version.

use std::fs;

use serde_json::Value;

use crate::long::matrix::{
    results::Cell,
    subject::{Subject, dbdyno},
};

pub(crate) const SMACK: &str = include_str!("../../../../../../experiments/smacks/hp-sizing.smack");
const LIBRARY: &[u8] = include_bytes!("../../../../../../experiments/library/library.sql.gz");
const SCRIPTS: [(&str, &str); 4] = [
    (
        "search.sql",
        include_str!("../../../../../../experiments/library/search.sql"),
    ),
    (
        "account.sql",
        include_str!("../../../../../../experiments/library/account.sql"),
    ),
    (
        "desk.sql",
        include_str!("../../../../../../experiments/library/desk.sql"),
    ),
    (
        "overdue.sql",
        include_str!("../../../../../../experiments/library/overdue.sql"),
    ),
];

/// Loads some rows, reads and updates them, and leaves a complete record without an error.
pub(crate) fn run(subject: &mut Subject) -> Cell {
    let directory = subject.directory();
    let text = format!(
        "format = 1\nseed = 3\n[server]\nrun = \"{}\"\nset = {{ innodb_buffer_pool_size = \"32M\" }}\n\
         [data]\nsmack = \"hp-sizing.smack\"\nrows = \"2k\"\n\
         [load]\nsmack = \"hp-sizing.smack\"\nmix = \"1:1\"\nconnections = 2\nwarmup = \"500ms\"\nduration = \"2s\"\n",
        subject.version.name
    );
    fs::write(directory.join("hp-sizing.smack"), SMACK).unwrap();
    is_measured_without_errors(subject, "trial", &text);
    Cell::Ok
}

/// A dump of mariadb-dump, with what MySQL does not take from it, and scripts that use its view, triggers and procedures.
pub(crate) fn dumped(subject: &mut Subject) -> Cell {
    if ["5.5.", "5.6."]
        .iter()
        .any(|it| subject.number().starts_with(it))
    {
        return Cell::Skipped("it has no computed columns".to_owned());
    }
    let directory = subject.directory();
    fs::write(directory.join("library.sql.gz"), LIBRARY).unwrap();
    for (name, script) in SCRIPTS {
        fs::write(directory.join(name), script).unwrap();
    }
    let text = format!(
        "format = 1\n[server]\nrun = \"{}\"\nset = {{ innodb_buffer_pool_size = \"64M\" }}\n\
         [data]\ndump = \"library.sql.gz\"\n\
         [load]\nscript = {:?}\nconnections = 2\nwarmup = \"500ms\"\nduration = \"2s\"\n",
        subject.version.name,
        SCRIPTS.map(|(name, _)| name)
    );
    is_measured_without_errors(subject, "dumped", &text);
    Cell::Ok
}

/// Runs an experiment of one run.
#[track_caller]
fn is_measured_without_errors(subject: &Subject, name: &str, text: &str) {
    let directory = subject.directory();
    let file = format!("{name}.toml");
    fs::write(directory.join(&file), text).unwrap();
    let results = format!("{name}-results");
    let ended = dbdyno(directory)
        .args(["run", &file, "--results", &results])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{}\n{told}", ended.status);

    let record = fs::read_to_string(directory.join(results).join("run-0001.jsonl")).unwrap();
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
}
