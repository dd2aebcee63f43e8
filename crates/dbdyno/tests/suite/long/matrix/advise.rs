//! `dbdyno sql advise --try` on staged cases, and useless indexes given to the same judge.
//!
//! It measures, so it needs a quiet machine and some 20 minutes a version: `DBDYNO_ADVISE=1` asks for it, on MariaDB
//! 10.11, MySQL 8.0.33 and 9.7; `DBDYNO_ADVISE_ONLY=union` runs the cases with that text in their names. Without it four
//! cases must only be known, on MariaDB 10.11.

mod cases;

use std::time::{Duration, Instant};

use protocol::Endpoint;
use serde_json::Value;
use server::Server;

use self::cases::{CASES, Case, ROWS, TABLES};
use crate::long::matrix::{
    results::Cell,
    subject::{Subject, dbdyno, on, rows},
};

/// Cases whose remedy must be found and proved.
const PROVED_AT_LEAST: usize = 17;
/// Useless indexes, and those of them that may be proved.
const PLACEBOS: usize = 20;
const PLACEBOS_AT_MOST: usize = 2;
/// Useless indexes that are measured together.
const TOGETHER: usize = 4;
/// Cases that must be known without a measurement.
const KNOWN: [&str; 4] = [
    "an implicit conversion",
    "a function of an indexed column",
    "a subquery of IN for each row",
    "a derived table",
];
/// The versions of MySQL on which the cases are measured.
const MYSQL: [&str; 2] = ["8.0.33", "9.7"];
const NAME: &str = "staged";

/// What came of a case.
struct Outcome {
    case: &'static Case,
    /// The right remedy, if it is among the candidates.
    remedy: Option<String>,
    /// What the trial said about it.
    verdict: String,
    is_proved: bool,
    took: Duration,
}

/// The remedies of the cases are known; with `DBDYNO_ADVISE=1` 17 of 20 are proved, and of 20 useless indexes at most
/// two.
pub(crate) fn staged(subject: &mut Subject) -> Cell {
    let number = subject.number();
    let is_measured = std::env::var_os("DBDYNO_ADVISE").is_some();
    let is_staged = if subject.is_mariadb() {
        number.starts_with("10.11")
    } else {
        is_measured && MYSQL.iter().any(|start| number.starts_with(start))
    };
    if !is_staged {
        return Cell::Skipped("staged on MariaDB 10.11, MySQL 8.0.33 and 9.7".to_owned());
    }
    if !is_measured {
        for case in CASES.iter().filter(|case| KNOWN.contains(&case.name)) {
            let outcome = advised(subject, case, false);
            assert!(outcome.remedy.is_some(), "{}: no remedy", case.name);
        }
        return Cell::Ok;
    }
    // The server of the other checks would take time from the measured one.
    if let Some(server) = &mut subject.server {
        server.stop().unwrap();
    }
    let only = std::env::var("DBDYNO_ADVISE_ONLY").unwrap_or_default();
    let mut outcomes = Vec::new();
    for case in CASES.iter().filter(|case| case.name.contains(&only)) {
        let outcome = advised(subject, case, true);
        eprintln!("{}", line(&outcome));
        outcomes.push(outcome);
    }
    let proved = outcomes.iter().filter(|it| it.is_proved).count();
    eprintln!("{proved} of {} remedies found and proved", outcomes.len());
    if !only.is_empty() {
        return Cell::Ok;
    }
    let wrong = proved_placebos(subject);
    eprintln!("{wrong} of {PLACEBOS} useless indexes proved");
    assert!(proved >= PROVED_AT_LEAST, "{proved} proved");
    assert!(wrong <= PLACEBOS_AT_MOST, "{wrong} useless indexes proved");
    Cell::Ok
}

fn line(outcome: &Outcome) -> String {
    let mark = if outcome.is_proved { "proved" } else { "-" };
    let remedy = outcome
        .remedy
        .as_deref()
        .unwrap_or("not among the candidates");
    let remedy: String = remedy.chars().take(70).collect();
    format!(
        "{:<46} {mark:<7} {:>3} s  {remedy}  {}",
        outcome.case.name,
        outcome.took.as_secs(),
        outcome.verdict
    )
}

/// The advice on a case, on a server of its own.
fn advised(subject: &Subject, case: &'static Case, is_tried: bool) -> Outcome {
    let started = now();
    let endpoint = created(subject, case.options);
    load(
        &endpoint,
        &[&TABLES[..], case.schema, &[ROWS, "analyze table t"]].concat(),
    );
    // Statistics that a case has changed are read at a start.
    succeeds(subject, &["server", "restart", NAME]);
    let switches = rows(&endpoint, "SELECT @@optimizer_switch").unwrap();
    let known = case
        .off
        .iter()
        .filter(|it| switches[0][0].contains(&format!("{it}=")));
    let off: Vec<String> = known.map(|it| format!("{it}=off")).collect();
    let mut text = String::new();
    if !off.is_empty() {
        text = format!("set optimizer_switch = '{}';\n", off.join(","));
    }
    text.push_str(case.statement);
    let file = subject.directory().join("staged.sql");
    std::fs::write(&file, text).unwrap();
    let mut command = dbdyno(subject.directory());
    command.args(["sql", "advise", "staged.sql", "--server", NAME]);
    command.args(["--database", "staged", "--format", "json"]);
    if is_tried {
        command.args(["--try", "--budget", "20s"]);
    }
    let output = command.output().unwrap();
    let answer = serde_json::from_slice::<Value>(&output.stdout);
    let answer = answer.unwrap_or_else(|_| panic!("{}: {output:?}", case.name));
    let candidates = answer["candidates"].as_array().unwrap();
    let text = |it: &Value| it["remedy"].as_str().unwrap().to_owned();
    let is_right = |it: &&Value| case.remedies.iter().any(|part| text(it).contains(part));
    // The right one that is proved, if one is.
    let mut right: Vec<&Value> = candidates.iter().filter(is_right).collect();
    right.sort_by_key(|it| it["trial"]["outcome"] != "proved");
    let first = right.first();
    let trial = first.map(|it| it["trial"].clone()).unwrap_or_default();
    let said = trial["faster"]
        .as_array()
        .or(trial["statements"].as_array());
    let said = said.and_then(|it| it.first()).and_then(Value::as_str);
    destroyed(subject);
    Outcome {
        case,
        remedy: first.map(|it| text(it)),
        verdict: said
            .or(trial["reason"].as_str())
            .unwrap_or_default()
            .to_owned(),
        is_proved: trial["outcome"] == "proved",
        took: now() - started,
    }
}

/// Useless indexes that are proved: on columns of which the statement uses none.
fn proved_placebos(subject: &Subject) -> usize {
    let endpoint = created(subject, &["innodb_buffer_pool_size=64M"]);
    load(
        &endpoint,
        &[&TABLES[..], &[ROWS, "analyze table t"]].concat(),
    );
    let columns = ["a", "b", "c", "code", "d"];
    let mut indexes = Vec::new();
    for first in columns {
        indexes.push(first.to_owned());
        indexes.extend(
            columns
                .iter()
                .filter(|it| **it != first)
                .map(|it| format!("{first}, {it}")),
        );
    }
    let statements = [
        "select count(pad) from t where id between 1000 and 30000",
        "select max(length(pad)) from t where id in (5, 500, 5000)",
    ];
    let mut proved = 0;
    for (run, some) in indexes[..PLACEBOS].chunks(TOGETHER).enumerate() {
        let mut command = dbdyno(subject.directory());
        command.args(["sql", "compare", "--server", NAME, "--database", "staged"]);
        command.args(["--min-effect", "5", "--budget", "30s", "--format", "json"]);
        for statement in statements {
            command.args(["-e", statement]);
        }
        for (at, columns) in some.iter().enumerate() {
            let variant = format!("p{run}{at}: create index p{run}{at} on t ({columns})");
            command.args(["--variant", &variant]);
        }
        let output = command.output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let comparisons = answer["comparisons"].as_array().unwrap();
        for at in 0..some.len() {
            let variant = format!("p{run}{at}");
            let mut own = comparisons.iter().filter(|it| it["variant"] == *variant);
            proved += usize::from(own.any(|it| it["verdict"] == "faster"));
        }
    }
    destroyed(subject);
    proved
}

/// A running server with an empty database, which is that of its endpoint.
fn created(subject: &Subject, options: &[&str]) -> Endpoint {
    let mut command = dbdyno(subject.directory());
    command.args(["server", "create", NAME, "--run", &subject.version.name]);
    for option in options {
        command.args(["--set", option]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let directory = subject.directory().join("data/dbdyno/servers").join(NAME);
    let endpoint = Server::open(&directory).unwrap().endpoint();
    load(&endpoint, &["create database staged"]);
    Endpoint {
        database: Some("staged".to_owned()),
        ..endpoint
    }
}

fn destroyed(subject: &Subject) {
    succeeds(subject, &["server", "destroy", NAME]);
}

fn succeeds(subject: &Subject, arguments: &[&str]) {
    let output = dbdyno(subject.directory())
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Executes statements in one session.
fn load(endpoint: &Endpoint, statements: &[&str]) {
    on(endpoint, async |connection| {
        for sql in statements {
            connection.query(sql.as_bytes()).await?;
        }
        Ok(())
    })
    .unwrap();
}

#[expect(clippy::disallowed_methods, reason = "a test runs on the real clock")]
fn now() -> Instant {
    Instant::now()
}
