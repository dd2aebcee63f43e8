//! What a server refuses, fails, drops or never answers is never a clean result, whichever command meets it.

use std::{path::Path, process::Command, thread};

use rustix::process::Signal;
use serde_json::Value;

use crate::{
    null_server::{null_server, write_smack},
    scene::{Finished, Scene},
};

/// Connections, clients, terminals or workers that every load asks for.
const CONNECTIONS: &str = "8";

/// One way to a load or to tables, and which faults it meets.
struct Door {
    name: &'static str,
    /// Runs it against the null server behind this socket.
    run: fn(&Scene, &str) -> Finished,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A load that its time ends, with a record in `record.jsonl`.
    Recorded,
    /// A load that its time ends.
    Timed,
    /// A load that ends with its users, which wait for every answer.
    Counted,
    /// Tables are made.
    Tables,
}

impl Door {
    /// Statements before its load, which a server must answer for the load to begin.
    fn asks_before(&self) -> u32 {
        match self.name {
            name if name.starts_with("tpcc") => 1,
            name if name.starts_with("oltp") && self.kind == Kind::Recorded => 1,
            _ => 0,
        }
    }
}

const DOORS: &[Door] = &[
    Door {
        name: "oltp point_select",
        run: |scene, socket| oltp(scene, socket, "point_select", &[]),
        kind: Kind::Recorded,
    },
    Door {
        name: "oltp read_write",
        run: |scene, socket| oltp(scene, socket, "read_write", &[]),
        kind: Kind::Recorded,
    },
    Door {
        name: "oltp insert as text",
        run: |scene, socket| oltp(scene, socket, "insert", &["--db-ps-mode=disable"]),
        kind: Kind::Recorded,
    },
    Door {
        name: "oltp bulk_insert",
        run: |scene, socket| oltp(scene, socket, "bulk_insert", &[]),
        kind: Kind::Recorded,
    },
    Door {
        name: "oltp with a rate",
        run: |scene, socket| oltp(scene, socket, "update_index", &["--rate=100"]),
        kind: Kind::Recorded,
    },
    Door {
        name: "tpcc run",
        run: |scene, socket| tpcc(scene, socket, "inline", "statements"),
        kind: Kind::Recorded,
    },
    Door {
        name: "tpcc run with deferred deliveries",
        run: |scene, socket| tpcc(scene, socket, "deferred", "statements"),
        kind: Kind::Recorded,
    },
    Door {
        name: "tpcc_start",
        run: |scene, socket| {
            let line = "-h localhost -d tpcc -u root -p x -w 1 -r 0 -l 1 -i 1 -c";
            let words = line.split(' ').chain([CONNECTIONS]);
            scene.called_with_socket(socket, "tpcc_start", words)
        },
        kind: Kind::Timed,
    },
    Door {
        name: "mysqlslap",
        run: |scene, socket| slap(scene, socket, "mysqlslap", &[]),
        kind: Kind::Counted,
    },
    Door {
        name: "mariadb-slap that counts errors",
        run: |scene, socket| slap(scene, socket, "mariadb-slap", &["--on-error=count"]),
        kind: Kind::Counted,
    },
    Door {
        name: "mysqlslap with a time and transactions",
        run: |scene, socket| {
            let options = ["--duration=1s", "--commit=1000000000", "--on-error=retry"];
            slap(scene, socket, "mysqlslap", &options)
        },
        kind: Kind::Timed,
    },
    Door {
        name: "super-smack",
        run: |scene, socket| smack(scene, socket, "stop"),
        kind: Kind::Counted,
    },
    Door {
        name: "super-smack that counts errors",
        run: |scene, socket| smack(scene, socket, "count"),
        kind: Kind::Counted,
    },
    Door {
        name: "super-smack that retries",
        run: |scene, socket| smack(scene, socket, "retry"),
        kind: Kind::Counted,
    },
    Door {
        name: "an experiment",
        run: |scene, socket| experiment(scene, socket, "stop"),
        kind: Kind::Timed,
    },
    Door {
        name: "an experiment that counts errors",
        run: |scene, socket| experiment(scene, socket, "count"),
        kind: Kind::Timed,
    },
    Door {
        name: "an experiment that retries",
        run: |scene, socket| experiment(scene, socket, "retry"),
        kind: Kind::Timed,
    },
    Door {
        name: "oltp prepare",
        run: |scene, socket| {
            let words = ["oltp", "read_write", "prepare", "--table-size=1000"];
            scene.dbdyno(words.into_iter().chain(["--socket", socket]))
        },
        kind: Kind::Tables,
    },
    Door {
        name: "oltp prewarm",
        run: |scene, socket| {
            let words = ["oltp", "read_write", "prewarm", "--table-size=1000"];
            scene.dbdyno(words.into_iter().chain(["--socket", socket]))
        },
        kind: Kind::Tables,
    },
    Door {
        name: "tpch load",
        run: |scene, socket| {
            let words = ["tpch", "load", "--scale-factor", "0.001", "--database", "h"];
            scene.dbdyno(words.into_iter().chain(["--socket", socket]))
        },
        kind: Kind::Tables,
    },
];

fn oltp(scene: &Scene, socket: &str, benchmark: &str, more: &[&str]) -> Finished {
    let usual = [
        "oltp",
        benchmark,
        "run",
        "--threads",
        CONNECTIONS,
        "--time=1",
        "--record=record.jsonl",
        "--socket",
        socket,
    ];
    scene.dbdyno(usual.iter().chain(more))
}

fn tpcc(scene: &Scene, socket: &str, delivery: &str, round_trips: &str) -> Finished {
    let line = "tpcc run -w 1 --warmup 0s --duration 1s --no-check --record record.jsonl -c";
    let options = [
        CONNECTIONS,
        "--delivery",
        delivery,
        "--round-trips",
        round_trips,
        "--socket",
        socket,
    ];
    scene.dbdyno(line.split(' ').chain(options))
}

fn slap(scene: &Scene, socket: &str, program: &str, more: &[&str]) -> Finished {
    let usual = [
        program,
        "--no-defaults",
        "--create-schema=s",
        "--query=insert into t values (1)",
        "--concurrency",
        CONNECTIONS,
        "--socket",
        socket,
    ];
    let limit = ["--number-of-queries=80"];
    let is_timed = more.iter().any(|word| word.starts_with("--duration"));
    let limit = limit.iter().filter(|_| !is_timed);
    scene.dbdyno(usual.iter().chain(limit).chain(more))
}

fn smack(scene: &Scene, socket: &str, on_error: &str) -> Finished {
    write_smack(scene, Path::new(socket), "update t set c = 1");
    let words = ["super-smack", "one.smack", CONNECTIONS, "10"];
    scene.dbdyno(words.into_iter().chain(["--on-error", on_error]))
}

fn experiment(scene: &Scene, socket: &str, on_error: &str) -> Finished {
    write_smack(scene, Path::new(socket), "update t set c = 1");
    scene.file(
        "trial.toml",
        &format!(
            "format = 1\n[server]\naddress = \"{socket}\"\nuser = \"u\"\n[load]\nsmack = \"one.smack\"\n\
             connections = {CONNECTIONS}\nwarmup = \"100ms\"\nduration = \"1s\"\non_error = \"{on_error}\"\n"
        ),
    );
    scene.dbdyno(["run", "trial.toml", "--results", "out"])
}

/// Every door of these kinds against a null server of its own with these options, all at the same time; what each door said,
/// with its record.
fn at_all_doors(
    options: &[&str],
    kinds: &[Kind],
    check: impl Fn(&Door, &Finished, &[Value]) -> Result<(), String> + Sync,
) {
    let failures: Vec<String> = thread::scope(|scope| {
        let doors = DOORS.iter().filter(|door| kinds.contains(&door.kind));
        let threads: Vec<_> = doors
            .map(|door| {
                let check = &check;
                scope.spawn(move || {
                    let scene = Scene::new();
                    let spare = format!("--spare={}", door.asks_before());
                    let options = [&["--row-bytes=1", spare.as_str()], options].concat();
                    let (server, socket) = null_server(&scene, &options);
                    let finished = (door.run)(&scene, socket.to_str().unwrap());
                    server.signal(Signal::TERM);
                    server.finish().exits(0);
                    let record = scene.path().join("record.jsonl");
                    let record = std::fs::read_to_string(record).unwrap_or_default();
                    let record: Vec<Value> = record
                        .lines()
                        .map(|line| serde_json::from_str(line).unwrap())
                        .collect();
                    let checked = check(door, &finished, &record);
                    checked.map_err(|what| format!("{}: {what}\n{}", door.name, finished.shown()))
                })
            })
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.filter_map(Result::err).collect()
    });
    assert!(
        failures.is_empty(),
        "{options:?}\n{}",
        failures.join("\n\n")
    );
}

const ALL: &[Kind] = &[Kind::Recorded, Kind::Timed, Kind::Counted, Kind::Tables];
const LOADS: &[Kind] = &[Kind::Recorded, Kind::Timed, Kind::Counted];

/// The exit code is this one, and standard error says this.
fn ends(finished: &Finished, code: i32, says: &str) -> Result<(), String> {
    match finished.code() {
        Some(found) if found == code && finished.stderr.contains(says) => Ok(()),
        found => Err(format!("exit code {found:?} and not {code} with {says:?}")),
    }
}

/// The sum of a figure over all lines of a kind.
fn sum(record: &[Value], kind: &str, figure: &str) -> u64 {
    let lines = record.iter().filter(|line| line["line"] == kind);
    lines.filter_map(|line| line[figure].as_u64()).sum()
}

/// A record that says what failed, and the rule that operations succeed.
fn tells_failures(door: &Door, finished: &Finished, record: &[Value]) -> Result<(), String> {
    if door.kind != Kind::Recorded {
        return Ok(());
    }
    if sum(record, "error", "count") == sum(record, "error", "retried") {
        return Err("no error in the record".to_owned());
    }
    let text = finished.text();
    // Where the first failure ends a run, nothing was measured; of the rows of bulk_insert few statements are lost.
    let is_short = text.contains("measured 0 s") || text.contains("over 0 s");
    let broke_off = text.contains("broke off") && (is_short || door.name == "oltp bulk_insert");
    if broke_off || text.contains("fail    W10") {
        Ok(())
    } else {
        Err("W10 does not fail".to_owned())
    }
}

#[test]
fn a_server_that_answers_is_a_clean_result_at_every_door() {
    at_all_doors(&[], ALL, |door, finished, record| {
        let is_measured = door.kind == Kind::Recorded;
        if is_measured && sum(record, "connects", "count") < 8 {
            return Err("not all connections were open".to_owned());
        }
        ends(finished, 0, "")
    });
}

#[test]
fn a_server_that_fails_every_statement() {
    for number in ["1213", "1146"] {
        let options = ["--error-rate=1", "--error-number", number, "--delay=5ms"];
        at_all_doors(&options, ALL, |door, finished, record| {
            ends(finished, 3, "error")?;
            tells_failures(door, finished, record)
        });
    }
}

#[test]
fn a_server_that_drops_every_connection() {
    let options = ["--drop-rate=1", "--delay=5ms"];
    at_all_doors(&options, ALL, |door, finished, record| {
        ends(finished, 3, "error")?;
        tells_failures(door, finished, record)
    });
}

#[test]
fn a_server_that_never_answers() {
    let timed = [Kind::Recorded, Kind::Timed];
    at_all_doors(&["--never-answer"], &timed, |door, finished, record| {
        ends(finished, 3, "")?;
        if door.kind == Kind::Recorded && sum(record, "offered", "in_flight") == 0 {
            return Err("nothing is in flight in the record".to_owned());
        }
        Ok(())
    });
}

#[test]
fn some_failures_that_remain_are_no_clean_result() {
    // A terminal, or who retries, puts deadlocks right: that is told, and no failure.
    let options = ["--error-rate=0.3", "--delay=1ms"];
    at_all_doors(&options, &[Kind::Recorded], |door, finished, record| {
        let (failed, retried) = (
            sum(record, "error", "count"),
            sum(record, "error", "retried"),
        );
        // Its few statements may all succeed.
        if door.name == "oltp bulk_insert" {
            return Ok(());
        }
        if retried == 0 || !finished.text().contains("1213") {
            return Err(format!("{failed} failed, {retried} retried"));
        }
        ends(finished, if failed == retried { 0 } else { 3 }, "")
    });
    let options = ["--error-rate=0.3", "--error-number=1146", "--delay=1ms"];
    at_all_doors(&options, LOADS, |_, finished, _| ends(finished, 3, "error"));
}

#[test]
fn a_server_that_refuses_connections() {
    for (limit, message) in [
        ("--max-connections=6", "Too many connections"),
        ("--user-connections=6", "max_user_connections"),
    ] {
        at_all_doors(&[limit], LOADS, |door, finished, record| {
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

/// Runs a line of bash in the scene; `dbdyno` is what it is called.
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
        let options = ["--row-bytes=1"];
        let (server, socket) = null_server(&scene, &options);
        let socket = socket.to_str().unwrap();
        // Whatever it says, nobody hears it.
        bash(&scene, &format!("dbdyno report nowhere {closed}")).exits(2);
        bash(&scene, &format!("dbdyno nonsense {closed}")).exits(2);
        experiment(&scene, socket, "stop").exits(0);
        std::fs::remove_dir_all(scene.path().join("out")).unwrap();
        bash(
            &scene,
            &format!("dbdyno run trial.toml --results out {closed}"),
        )
        .exits(0);
        assert!(scene.path().join("out/report.html").exists(), "{closed}");
        server.signal(Signal::TERM);
        server.finish().exits(0);
        // There is no server any more.
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
    let (server, socket) = null_server(&scene, &["--row-bytes=1"]);
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
