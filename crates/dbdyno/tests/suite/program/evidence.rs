//! Statements that a server refuses, fails, drops or never answers must not give a clean result, in any command.

use std::{process::Command, thread};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    null_server::null_server,
    scene::{Finished, Scene, first_child, wait_until},
};

mod doors;

use doors::{DELAY, DOORS, Door, Kind, experiment, write_experiment};

/// The length of a row in the null server's answers.
const ROW: &str = "--row-bytes=1";
/// The options of a null server for a load of 20 ms a statement.
const USUAL: [&str; 2] = [ROW, DELAY];

/// As many doors run at the same time: a machine that all of them fill gives no clean results.
const AT_ONCE: usize = 8;

/// Runs these doors, each against its own null server with these options, and checks each door's output with its record.
fn at_all_doors(
    options: &[&str],
    is_meant: impl Fn(&Door) -> bool,
    check: impl Fn(&Door, &Finished, &[Value]) -> Result<(), String> + Sync,
) {
    let doors: Vec<&Door> = DOORS.iter().filter(|door| is_meant(door)).collect();
    let mut failures = Vec::new();
    for doors in doors.chunks(AT_ONCE) {
        thread::scope(|scope| {
            let threads = doors.iter().map(|door| {
                let check = &check;
                scope.spawn(move || at_door(door, options, check))
            });
            let threads: Vec<_> = threads.collect();
            let ended = threads.into_iter().map(|thread| thread.join().unwrap());
            failures.extend(ended.filter_map(Result::err));
        });
    }
    assert!(
        failures.is_empty(),
        "{options:?}\n{}",
        failures.join("\n\n")
    );
}

/// The name of an option that may have its value behind it.
fn name_of(option: &str) -> &str {
    option.split_once('=').map_or(option, |(name, _)| name)
}

fn at_door(
    door: &Door,
    options: &[&str],
    check: impl Fn(&Door, &Finished, &[Value]) -> Result<(), String>,
) -> Result<(), String> {
    let scene = Scene::new();
    let spare = format!("--spare={}", door.asks_before);
    let is_given = |usual: &str| options.iter().any(|it| name_of(it) == name_of(usual));
    let usual = [ROW, door.delay, spare.as_str()].into_iter();
    let usual: Vec<&str> = usual.filter(|usual| !is_given(usual)).collect();
    let (server, socket) = null_server(&scene, &[&usual, options].concat());
    let finished = (door.run)(&scene, socket.to_str().unwrap());
    server.signal(Signal::TERM);
    server.finish().exits(0);
    let record = scene.path().join("record.jsonl");
    let record = std::fs::read_to_string(record).unwrap_or_default();
    let record: Vec<Value> = record
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    check(door, &finished, &record)
        .map_err(|what| format!("{}: {what}\n{}", door.name, finished.shown()))
}

fn is_load(door: &Door) -> bool {
    door.kind != Kind::Tables
}

/// All except the one that makes 300 MB of text before its first statement.
fn any_quick_door(door: &Door) -> bool {
    door.name != "tpch load"
}

/// Terminals, which repeat a transaction until 5 s after the end of their load, each time over a new connection, on
/// which they prepare all statements anew.
fn is_of_terminals(door: &Door) -> bool {
    door.name.starts_with("tpcc run") || door.name == "tpcc_start"
}

/// The loads that repeat what ends with a deadlock until 5 s after their end.
fn repeats_deadlocks(door: &Door) -> bool {
    door.kind == Kind::Recorded || is_of_terminals(door)
}

/// What the failures of loads that repeat wait for: a few attempts of each connection are enough.
const BETWEEN_ATTEMPTS: &str = "--delay=500ms";

/// One of each front door, among them all where a missing table has a meaning of its own: for a fault that differs from
/// another one by its number only.
const ONE_OF_EACH_FRONT_DOOR: [&str; 10] = [
    "oltp read_write",
    "oltp prepare",
    "tpcc run",
    "tpcc check",
    "tpcc_start",
    "quick",
    "mysqlslap",
    "super-smack",
    "an experiment",
    "an experiment with oltp",
];

/// Checks the exit code and a text on standard error.
fn ends(finished: &Finished, code: i32, says: &str) -> Result<(), String> {
    match finished.code() {
        Some(found) if found == code && finished.stderr.contains(says) => Ok(()),
        found => Err(format!("exit code {found:?} and not {code} with {says:?}")),
    }
}

/// The total of a figure over all lines of a kind.
fn sum(record: &[Value], kind: &str, figure: &str) -> u64 {
    let lines = record.iter().filter(|line| line["line"] == kind);
    lines.filter_map(|line| line[figure].as_u64()).sum()
}

/// Checks that the record reports the failures, and the finding of the rule that operations succeed.
fn tells_failures(door: &Door, finished: &Finished, record: &[Value]) -> Result<(), String> {
    if door.kind != Kind::Recorded {
        return Ok(());
    }
    if sum(record, "error", "count") == sum(record, "error", "retried") {
        return Err("no error in the record".to_owned());
    }
    let text = finished.text();
    // After a failure that ends the run nothing was measured. bulk_insert counts rows when it gathers them: its few
    // statements may be less than a thousandth of them, which is the rule's limit.
    let is_of_rows = door.name == "oltp bulk_insert";
    let is_short = text.contains("measured  0 s:") || text.contains("measured 0 s");
    let broke_off = text.contains("was interrupted") && (is_short || is_of_rows);
    let are_named = is_of_rows && finished.stderr.contains("statements failed: ");
    if broke_off || text.contains("W10") || are_named {
        Ok(())
    } else {
        Err("W10 does not fail".to_owned())
    }
}

#[test]
fn a_server_that_answers_is_a_clean_result_at_every_door() {
    at_all_doors(
        &[],
        |door| door.can_be_clean,
        |door, finished, record| {
            let is_measured = door.kind == Kind::Recorded;
            if is_measured && sum(record, "connects", "count") < 8 {
                return Err("not all connections were open".to_owned());
            }
            // A busy machine may miss a rate, which both the answer and the exit code then say.
            let is_missed = finished.text().contains("\nrate        not reached after ");
            ends(finished, i32::from(is_missed), "")
        },
    );
}

#[test]
fn a_server_that_fails_every_statement() {
    for (options, number, is_meant) in [
        (
            &[BETWEEN_ATTEMPTS][..],
            "1213",
            repeats_deadlocks as fn(&Door) -> bool,
        ),
        (&[], "1213", |door| {
            any_quick_door(door) && !repeats_deadlocks(door)
        }),
        (&[], "1146", |door| {
            ONE_OF_EACH_FRONT_DOOR.contains(&door.name)
        }),
    ] {
        let faults = ["--error-rate=1", "--error-number", number];
        let options = [options, &faults].concat();
        at_all_doors(&options, is_meant, |door, finished, record| {
            // For missing tables the message is that they must be loaded, which is the user's error.
            let is_users = door.name == "tpcc check" && number == "1146";
            ends(finished, if is_users { 2 } else { 3 }, "error")?;
            tells_failures(door, finished, record)
        });
    }
}

#[test]
fn a_server_that_drops_every_connection() {
    // The load of TPC-H's tables is dropped in their midst below.
    for (options, is_meant) in [
        (
            &["--drop-rate=1", BETWEEN_ATTEMPTS][..],
            is_of_terminals as fn(&Door) -> bool,
        ),
        (&["--drop-rate=1"], |door| {
            any_quick_door(door) && !is_of_terminals(door)
        }),
    ] {
        at_all_doors(options, is_meant, |door, finished, record| {
            ends(finished, 3, "error")?;
            tells_failures(door, finished, record)
        });
    }
}

#[test]
fn a_server_that_never_answers() {
    let is_timed = |door: &Door| matches!(door.kind, Kind::Recorded | Kind::Timed);
    at_all_doors(&["--never-answer"], is_timed, |door, finished, record| {
        ends(finished, 3, "")?;
        if door.kind == Kind::Recorded && sum(record, "offered", "in_flight") == 0 {
            return Err("nothing is in flight in the record".to_owned());
        }
        Ok(())
    });
}

#[test]
fn some_failures_that_remain_are_no_clean_result() {
    // Terminals and other retrying loads recover from deadlocks: these are reported and do not count as failures.
    // Of the 20 statements of a read-write transaction all succeed in one of eight.
    let options = ["--error-rate=0.1", "--delay=5ms"];
    // The few statements of bulk_insert may all succeed.
    let is_meant = |door: &Door| door.kind == Kind::Recorded && door.name != "oltp bulk_insert";
    at_all_doors(&options, is_meant, |_, finished, record| {
        let (failed, retried) = (
            sum(record, "error", "count"),
            sum(record, "error", "retried"),
        );
        if retried == 0 || !finished.text().contains("1213") {
            return Err(format!("{failed} failed, {retried} retried"));
        }
        ends(finished, if failed == retried { 0 } else { 3 }, "")
    });
    let options = ["--error-rate=0.3", "--error-number=1146"];
    at_all_doors(&options, is_load, |_, finished, _| {
        ends(finished, 3, "error")
    });
}

#[test]
fn a_server_that_refuses_connections() {
    for (limit, message, is_meant) in [
        (
            "--max-connections=6",
            "Too many connections",
            is_load as fn(&Door) -> bool,
        ),
        (
            "--user-connections=6",
            "max_user_connections",
            |door: &Door| is_load(door) && ONE_OF_EACH_FRONT_DOOR.contains(&door.name),
        ),
    ] {
        at_all_doors(&[limit], is_meant, |door, finished, record| {
            let asked = match door.name {
                // Two couriers beside the terminals.
                "tpcc run with deferred deliveries" => "of 10 ",
                _ => "of 8 ",
            };
            ends(finished, 3, message)?;
            ends(finished, 3, asked)?;
            let end = record.iter().find(|line| line["line"] == "end");
            if end.is_some_and(|end| end["complete"] == true) {
                Err("the record says that the run is complete".to_owned())
            } else {
                Ok(())
            }
        });
    }
}

/// Doors to tables that execute more than a few statements.
const LONG: [&str; 4] = ["tpcc load", "tpcc_load", "tpch load", "tpcc check"];

#[test]
fn a_server_that_fails_amid_the_tables() {
    let is_long = |door: &Door| LONG.contains(&door.name);
    for (fault, is_meant) in [
        (
            "--error-rate=1",
            &(|door: &Door| is_long(door) && any_quick_door(door)) as &dyn Fn(&Door) -> bool,
        ),
        ("--drop-rate=1", &is_long),
    ] {
        at_all_doors(&["--spare=5", fault], is_meant, |_, finished, _| {
            ends(finished, 3, "error")
        });
    }
}

#[test]
fn a_server_that_refuses_the_connections_of_a_load_of_tables() {
    let is_parallel = |door: &Door| ["tpcc load", "tpcc_load"].contains(&door.name);
    let limit = ["--max-connections=1"];
    at_all_doors(&limit, is_parallel, |_, finished, _| {
        ends(finished, 3, "Too many connections")
    });
}

#[test]
fn a_rerun_is_judged_as_the_run_was() {
    let scene = Scene::new();
    let (server, socket) = null_server(&scene, &USUAL);
    let path = socket.to_str().unwrap();
    experiment(&scene, path, "count").exits(0);
    let single = "oltp point_select run --threads 2 --time 1 --record single/record.jsonl --socket";
    scene.dbdyno(single.split(' ').chain([path])).exits(0);
    server.signal(Signal::TERM);
    server.finish().exits(0);
    let faulty = ["--error-rate=1", "--error-number=1146", "--delay=5ms"];
    let (server, _) = null_server(&scene, &faulty);
    for (results, record) in [
        ("out", "again/run-0001.jsonl"),
        ("single", "more/record.jsonl"),
    ] {
        let new = record.split('/').next().unwrap();
        let finished = scene.dbdyno(["rerun", results, "--results", new]);
        finished.exits(3).says("error");
        let text = std::fs::read_to_string(scene.path().join(record)).unwrap();
        assert!(text.contains("1146"), "{record}");
    }
    server.signal(Signal::TERM);
    server.finish().exits(0);
}

/// Its null server is a separate process, which may be killed, for example by the kernel when memory is exhausted.
#[test]
fn a_calibration_whose_server_goes_is_none() {
    let scene = Scene::new();
    let running = scene.start(["calibrate", "--connections", "1", "--duration", "300s"]);
    let server = || {
        let id = first_child(running.pid())?;
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // User time, after the name in parentheses; half a second of it shows that the server answers.
        let user_ticks = stat.rsplit_once(')')?.1.split_whitespace().nth(11)?;
        let is_at_work = user_ticks.parse::<u64>().ok()? > 20;
        is_at_work.then(|| Pid::from_raw(id)).flatten()
    };
    wait_until("its server answers", || server().is_some());
    kill_process(server().unwrap(), Signal::KILL).unwrap();
    running.finish().exits(3).says("null server");
    let kept = scene.path().join(".local/share/dbdyno/calibration.json");
    assert!(!kept.exists());
}

/// Runs a line of bash in the scene, in which `dbdyno` is the program.
fn bash(scene: &Scene, line: &str) -> Finished {
    let mut command = Command::new("bash");
    let dbdyno = env!("CARGO_BIN_EXE_dbdyno");
    let function = format!("dbdyno() {{ \"{dbdyno}\" \"$@\"; }}; set -o pipefail; {line}");
    command.arg("-c");
    scene.launch(command, [function]).finish()
}

#[test]
fn a_closed_standard_error_changes_no_exit_code() {
    for closed in ["2>&-", "2> >(true)", "2>/dev/full"] {
        let scene = Scene::new();
        let (server, socket) = null_server(&scene, &USUAL);
        let socket = socket.to_str().unwrap();
        // Its output is discarded.
        bash(&scene, &format!("dbdyno report nowhere {closed}")).exits(2);
        bash(&scene, &format!("dbdyno nonsense {closed}")).exits(2);
        write_experiment(&scene, socket, "stop");
        bash(
            &scene,
            &format!("dbdyno run trial.toml --results out {closed}"),
        )
        .exits(0);
        assert!(scene.path().join("out/report.html").exists(), "{closed}");
        server.signal(Signal::TERM);
        server.finish().exits(0);
        // The server no longer exists.
        bash(
            &scene,
            &format!("dbdyno run trial.toml --results gone {closed}"),
        )
        .exits(3);
    }
}

#[test]
fn a_closed_standard_output_ends_no_run_and_hides_no_failure() {
    let scene = Scene::new();
    let (server, socket) = null_server(&scene, &USUAL);
    let socket = socket.to_str().unwrap();
    experiment(&scene, socket, "stop").exits(0);
    for reader in ["head -0", "head -1", "true"] {
        bash(
            &scene,
            &format!("dbdyno report out --format csv | {reader}"),
        )
        .exits(0);
        bash(&scene, &format!("dbdyno completions bash | {reader}")).exits(0);
        bash(
            &scene,
            &format!(
                "dbdyno run trial.toml --results {} | {reader}",
                reader.replace(' ', "")
            ),
        )
        .exits(0);
        let page = scene
            .path()
            .join(reader.replace(' ', ""))
            .join("report.html");
        assert!(page.exists(), "{reader}");
        let oltp = format!(
            "dbdyno oltp point_select run --time=2 --report-interval=1 --socket {socket} --record {}.jsonl | {reader}",
            reader.replace(' ', "")
        );
        bash(&scene, &oltp).exits(0);
        let name = format!("{}.jsonl", reader.replace(' ', ""));
        let record = std::fs::read_to_string(scene.path().join(name)).unwrap();
        assert!(record.contains("\"complete\":true"), "{reader}");
    }
    server.signal(Signal::TERM);
    server.finish().exits(0);
    bash(&scene, "dbdyno run trial.toml --results gone | head -0").exits(3);
}
