//! `dbdyno oltp`: sysbench's workloads, on tables of sysbench and of dbdyno, with both output layouts.

use std::{collections::BTreeSet, fs, process::Command};

use crate::{
    mariadb, private_server,
    scene::{Finished, Scene},
};

/// Two small tables.
const TABLES: [&str; 2] = ["--tables=2", "--table-size=2000"];

/// A scene with a private server `s` that has an account without password for sysbench.
fn with_server(settings: &[&str]) -> Scene {
    let scene = Scene::for_servers();
    let set = settings.iter().flat_map(|setting| ["--set", setting]);
    let create = ["server", "create", "s"].into_iter().chain(set);
    scene.dbdyno(create).exits(0);
    let sql =
        "create user plain@localhost; grant all on *.* to plain@localhost; create database sbtest";
    answer(&scene, sql);
    scene
}

fn answer(scene: &Scene, sql: &str) -> String {
    let client = ["server", "client", "s", "--"];
    let options = ["--batch", "--skip-column-names", "-e", sql];
    scene
        .dbdyno(client.into_iter().chain(options))
        .exits(0)
        .text()
}

fn socket(scene: &Scene) -> String {
    let socket = scene.servers_directory().join("s/run/mysqld.sock");
    socket.display().to_string()
}

/// The server's address as arguments of sysbench.
fn server_options(scene: &Scene) -> Vec<String> {
    vec![
        format!("--mysql-socket={}", socket(scene)),
        "--mysql-user=plain".to_owned(),
    ]
}

/// Runs `dbdyno oltp` with sysbench's option names.
fn oltp(scene: &Scene, workload: &str, command: &str, options: &[&str]) -> Finished {
    let mut args = vec!["oltp".to_owned(), workload.to_owned(), command.to_owned()];
    args.extend(server_options(scene));
    args.extend(options.iter().map(|option| (*option).to_owned()));
    scene.dbdyno(args)
}

fn oltp_on(scene: &Scene, workload: &str, command: &str, options: &[&str]) -> Finished {
    let options: Vec<&str> = TABLES.iter().chain(options).copied().collect();
    oltp(scene, workload, command, &options)
}

fn has_sysbench() -> bool {
    let found = Command::new("sysbench").arg("--version").output().is_ok();
    if !found {
        eprintln!("skipped: sysbench is not installed (scripts/install-packages.sh test)");
    }
    found
}

/// Runs sysbench itself; it must succeed.
#[track_caller]
fn sysbench(scene: &Scene, workload: &str, command: &str, options: &[&str]) -> String {
    let output = Command::new("sysbench")
        .arg(workload)
        .args(server_options(scene))
        .args(TABLES)
        .args(options)
        .arg(command)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "sysbench {workload} {command}\n{text}"
    );
    text
}

fn rows(scene: &Scene) -> String {
    answer(
        scene,
        "select (select count(*) from sbtest.sbtest1), (select count(*) from sbtest.sbtest2)",
    )
}

/// Each part needs a database without tables; the first one also counts the records of all runs in the scene.
#[test]
fn workloads_run_on_tables_that_are_checked() {
    let scene = with_server(&[]);
    every_workload_runs_prepared_and_as_text(&scene);
    bulk_insert_fills_a_table_for_each_connection(&scene);
    check_finds_what_is_not_as_prepared(&scene);
}

#[test]
fn sysbench_and_dbdyno_replace_each_other() {
    if !has_sysbench() {
        return;
    }
    let scene = with_server(&[]);
    tables_of_sysbench_are_run_here_and_ours_there(&scene);
    the_layout_is_sysbenchs_own(&scene);
}

fn tables_of_sysbench_are_run_here_and_ours_there(scene: &Scene) {
    let short = ["--threads=4", "--time=0", "--events=50"];
    // Transactions of several threads sometimes deadlock, which both clients count as ignored errors.
    let alone = ["--threads=1", "--time=0", "--events=50"];
    let clean = |text: &str| {
        assert!(
            text.contains("ignored errors:                      0 "),
            "{text}"
        );
    };
    sysbench(scene, "oltp_read_write", "prepare", &[]);
    let theirs = answer(scene, "show create table sbtest.sbtest1");
    for mode in ["auto", "disable"] {
        let mode = format!("--db-ps-mode={mode}");
        let options = [&alone[..], &[&mode, "--format=sysbench"]].concat();
        clean(
            &oltp_on(scene, "oltp_read_write", "run", &options)
                .exits(0)
                .text(),
        );
        assert_eq!(rows(scene), "2000\t2000\n");
    }
    oltp_on(scene, "oltp_read_write", "cleanup", &[]).exits(0);
    oltp_on(scene, "oltp_read_write", "prepare", &[]).exits(0);
    let without_counter = |text: &str| {
        let (head, tail) = text.split_once(" AUTO_INCREMENT=").unwrap();
        head.to_owned() + tail.split_once(' ').unwrap().1
    };
    let ours = answer(scene, "show create table sbtest.sbtest1");
    assert_eq!(without_counter(&ours), without_counter(&theirs));
    clean(&sysbench(scene, "oltp_read_write", "run", &alone));
    assert_eq!(rows(scene), "2000\t2000\n");
    sysbench(scene, "oltp_read_only", "run", &short);
    sysbench(scene, "oltp_read_write", "cleanup", &[]);
    let left = answer(
        scene,
        "select count(*) from information_schema.tables where table_schema = 'sbtest'",
    );
    assert_eq!(left, "0\n");
}

/// A text with each number replaced by `N`, and the blanks before it, which depend on its width, by one blank.
fn shape(text: &str) -> Vec<String> {
    let shape_of = |line: &str| {
        let mut out = String::new();
        for part in line.split_inclusive(|character: char| !matches!(character, '0'..='9' | '.')) {
            let number =
                part.trim_end_matches(|character: char| !matches!(character, '0'..='9' | '.'));
            if number.chars().any(|character| character.is_ascii_digit()) {
                while out.ends_with("  ") {
                    out.pop();
                }
                out.push('N');
                out.push_str(&part[number.len()..]);
            } else {
                out.push_str(part);
            }
        }
        // The width of a number is visible after it in a left-aligned column.
        while out.contains("  (") {
            out = out.replace("  (", " (");
        }
        out
    };
    text.lines().map(shape_of).collect()
}

fn the_layout_is_sysbenchs_own(scene: &Scene) {
    let prepared = sysbench(scene, "oltp_read_write", "prepare", &[]);
    let dropped = sysbench(scene, "oltp_read_write", "cleanup", &[]);
    let ours = oltp_on(
        scene,
        "oltp_read_write",
        "prepare",
        &["--format=sysbench", "--threads=1"],
    );
    let ours = ours.exits(0).text();
    for line in prepared.lines().skip(1) {
        assert!(
            ours.lines().any(|own| own == line),
            "{line:?} is not in\n{ours}"
        );
    }
    // Transactions sleep in the server: what is compared does not depend on how many there are.
    for table in ["sbtest1", "sbtest2"] {
        let slow = format!(
            "create trigger sbtest.slow_{table} before delete on sbtest.{table} for each row set @slept = sleep(0.02)"
        );
        answer(scene, &slow);
    }
    for options in [
        &["--threads=2", "--time=2", "--report-interval=1"][..],
        &[
            "--threads=2",
            "--time=2",
            "--rate=5",
            "--report-interval=1",
            "--rand-seed=7",
        ],
        &["--threads=1", "--time=1", "--percentile=0"],
        &["--threads=1", "--time=0", "--events=50", "--percentile=99"],
    ] {
        let theirs = sysbench(scene, "oltp_read_write", "run", options);
        let with_format = [options, &["--format=sysbench"]].concat();
        let ours = oltp_on(scene, "oltp_read_write", "run", &with_format)
            .has_measured()
            .text();
        let (theirs, ours) = (shape(&theirs), shape(&ours));
        // The first line names the program; on a busy machine either program may leave out intermediate lines.
        let is_intermediate = |line: &String| line.starts_with("[ Ns ]");
        let both_have_some = [&ours, &theirs]
            .iter()
            .all(|lines| lines.iter().any(is_intermediate));
        let told = |lines: &[String]| {
            let mut intermediate = BTreeSet::new();
            let mut told: Vec<String> = lines[1..].to_vec();
            told.retain(|line| {
                !is_intermediate(line) || both_have_some && intermediate.insert(line.clone())
            });
            told.dedup();
            told
        };
        assert_eq!(told(&ours), told(&theirs), "{options:?}");
    }
    let ours = oltp_on(scene, "oltp_read_write", "cleanup", &["--format=sysbench"]);
    assert_eq!(shape(&ours.exits(0).text())[1..], shape(&dropped)[1..]);
}

fn every_workload_runs_prepared_and_as_text(scene: &Scene) {
    oltp_on(scene, "read_write", "prepare", &[])
        .exits(0)
        .says("4000 rows");
    oltp_on(scene, "read_write", "prewarm", &["--threads=2"]).exits(0);
    for workload in [
        "point_select",
        "read_only",
        "read_write",
        "write_only",
        "update_index",
        "update_non_index",
        "select_random_points",
        "select_random_ranges",
        "insert",
        "delete",
    ] {
        for mode in ["auto", "disable"] {
            let mode = format!("--db-ps-mode={mode}");
            let options = [
                "--connections=3",
                "--events=30",
                "--format=json",
                "--seed=5",
                &mode,
            ];
            let text = oltp_on(scene, workload, "run", &options).exits(0).text();
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(json["response"]["count"], 30, "{workload}: {text}");
            assert_eq!(json["settings"]["rand-type"], "uniform");
            assert_eq!(json["failed"], 0);
        }
    }
    // 30 events twice: inserts add 60 rows, deletes remove at most as many; the others keep the number.
    let count = rows(scene);
    let counts = count
        .split_whitespace()
        .map(|count| count.parse::<u64>().unwrap());
    let sum: u64 = counts.sum();
    assert!((4000..4060).contains(&sum), "{count}");
    let records = fs::read_dir(scene.path().join("results")).unwrap().count();
    assert_eq!(records, 20);
    oltp_on(scene, "read_write", "cleanup", &[]).exits(0);
}

/// The first part counts the statements of the server, the last one leaves its tables.
#[test]
fn options_reach_the_server_and_its_tables() {
    let scene = with_server(&[]);
    a_password_on_the_command_line_is_wiped(&scene);
    rows_are_the_same_whichever_way_they_go_in(&scene);
    a_rate_that_is_not_reached_is_an_answer(&scene);
}

fn rows_are_the_same_whichever_way_they_go_in(scene: &Scene) {
    let sums = |options: &[&str]| {
        oltp_on(scene, "read_only", "prepare", options).exits(0);
        let sums = answer(scene, "checksum table sbtest.sbtest1, sbtest.sbtest2");
        oltp_on(scene, "read_only", "cleanup", &[]).exits(0);
        sums
    };
    let by_load = sums(&["--threads=4"]);
    // Without AUTO_INCREMENT several connections fill one table.
    let shared = sums(&["--threads=3", "--auto-inc=off"]);
    answer(scene, "set global local_infile = 0");
    let by_insert = sums(&["--threads=2"]);
    assert_eq!((&shared, &by_insert), (&by_load, &by_load));
    let other = sums(&["--seed=2"]);
    assert_ne!(other, by_load);
    let globals =
        "select @@global.unique_checks, @@global.foreign_key_checks, @@global.local_infile";
    assert_eq!(answer(scene, globals), "1\t1\t0\n");
}

fn check_finds_what_is_not_as_prepared(scene: &Scene) {
    let check = |options: &[&str]| oltp_on(scene, "read_write", "check", options);
    check(&[])
        .exits(1)
        .prints("2 of 2 tables not as prepared: sbtest1 is missing; sbtest2 is missing");
    oltp_on(scene, "read_write", "prepare", &[]).exits(0);
    let rows = TABLES[1].trim_start_matches("--table-size=");
    check(&[]).exits(0).prints(&format!(
        "sbtest: 2 tables as prepared, each with the ids 1 to {rows}"
    ));
    check(&["--table-size=3"]).exits(1).prints("rows, not 3");
    // Every row that a transaction deletes is inserted again.
    let short = ["--threads=2", "--events=200"];
    oltp_on(scene, "read_write", "run", &short).exits(0);
    check(&[]).exits(0);
    for (change, fault) in [
        ("update sbtest1 set id = 0 where id = 7", "ids from 0 to"),
        ("update sbtest1 set id = 7 where id = 0", ""),
        ("drop index k_2 on sbtest2", "sbtest2 has no index on k"),
        (
            "alter table sbtest2 add key (k), add column x int",
            "has the columns",
        ),
        (
            "alter table sbtest2 drop column x, modify id int not null, drop primary key",
            "no primary key",
        ),
        ("delete from sbtest2 where id = 5", "rows, not"),
    ] {
        answer(scene, &format!("use sbtest; {change}"));
        match fault {
            "" => check(&[]).exits(0),
            fault => check(&[]).exits(1).prints("1 of 2 tables").prints(fault),
        };
    }
    oltp(
        scene,
        "bulk_insert",
        "check",
        &["--connections=1", "--database=none"],
    )
    .exits(2);
    let secondary = ["--secondary=on", "--auto-inc=off"];
    oltp_on(scene, "read_write", "cleanup", &[]).exits(0);
    oltp_on(scene, "read_write", "prepare", &secondary).exits(0);
    check(&secondary).exits(0);
    check(&[]).exits(1).prints("no primary key on id");
    answer(scene, "update sbtest.sbtest1 set id = 3 where id = 4");
    check(&secondary).exits(1).prints("not every id from 1");
}

fn bulk_insert_fills_a_table_for_each_connection(scene: &Scene) {
    let two = ["--connections=2"];
    oltp(scene, "bulk_insert", "prepare", &two).exits(0);
    oltp(scene, "bulk_insert", "check", &two)
        .exits(0)
        .prints("2 tables as prepared, without rows");
    let options = ["--connections=2", "--events=100000", "--format=json"];
    let text = oltp(scene, "bulk_insert", "run", &options).exits(0).text();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["response"]["count"], 100_000);
    let count = rows(scene);
    let counts = count
        .split_whitespace()
        .map(|count| count.parse::<u64>().unwrap());
    assert_eq!(counts.sum::<u64>(), 100_000, "{count}");
    oltp(scene, "bulk_insert", "cleanup", &two).exits(0);
}

#[test]
fn faults_name_what_is_wrong() {
    let scene = with_server(&["max_prepared_stmt_count=50"]);
    oltp_on(
        &scene,
        "read_write",
        "run",
        &["--db-ps-mode=disable", "--time=1"],
    )
    .exits(3)
    .hints("dbdyno oltp read_write prepare");
    oltp_on(&scene, "read_write", "prepare", &[]).exits(0);
    oltp_on(&scene, "read_write", "prepare", &[])
        .exits(3)
        .says("already exists")
        .hints("dbdyno oltp read_write cleanup");
    // The second table is not sysbench's.
    let tables = answer(&scene, "show tables in sbtest");
    answer(&scene, "alter table sbtest.sbtest2 add column mine int");
    oltp_on(&scene, "read_write", "cleanup", &["--format=sysbench"])
        .exits(2)
        .says("sbtest.sbtest2: its columns are not those of sysbench")
        .hints("nothing was dropped");
    assert_eq!(answer(&scene, "show tables in sbtest"), tables);
    answer(&scene, "alter table sbtest.sbtest2 drop column mine");
    oltp_on(&scene, "read_write", "run", &["--threads=8"])
        .exits(2)
        .says("8 connections prepare 168 statements, but the server allows only 50")
        .hints("max_prepared_stmt_count=168");
    oltp(
        &scene,
        "point_select",
        "run",
        &["--table-size=5k", "--events=10"],
    )
    .exits(0)
    .says("the ids of sbtest1 end at 2000");
    for (options, fault) in [
        (&["--luajit-cmd=off"][..], "--luajit-cmd"),
        (&["--time=0"], "would never end"),
        (
            &["--rand-zipfian-exp=1"],
            "--rand-zipfian-exp has no effect",
        ),
        (&["--arrivals=constant"], "--arrivals has no effect"),
        (&["--table-size=3Q"], "--table-size"),
    ] {
        oltp(&scene, "point_select", "run", options)
            .exits(2)
            .says(fault);
    }
    // An error outside the list ends the run, with its statement.
    answer(&scene, "alter table sbtest.sbtest1 drop column pad");
    oltp(
        &scene,
        "insert",
        "run",
        &["--events=5", "--table-size=2000"],
    )
    .exits(3)
    .says("Unknown column 'pad'")
    .says("INSERT INTO sbtest1 (id, k, c, pad)");
}

fn a_rate_that_is_not_reached_is_an_answer(scene: &Scene) {
    oltp_on(scene, "insert", "prepare", &[]).exits(0);
    for table in ["sbtest1", "sbtest2"] {
        let slow = format!(
            "create trigger sbtest.slow_{table} before insert on sbtest.{table} for each row set @slept = sleep(0.05)"
        );
        answer(scene, &slow);
    }
    let options = [
        "--rate=900",
        "--time=1",
        "--threads=2",
        "--arrivals=constant",
        "-v",
    ];
    oltp_on(scene, "insert", "run", &options)
        .exits(1)
        .prints("send lag")
        .prints("not reached")
        .says("the rate was not reached");
}

fn a_password_on_the_command_line_is_wiped(scene: &Scene) {
    answer(
        scene,
        "create user secretive@localhost identified by 'hunter2-hunter2'; grant all on *.* to secretive@localhost",
    );
    let socket = format!("--mysql-socket={}", socket(scene));
    let options = [
        "--mysql-user=secretive",
        "--mysql-password=hunter2-hunter2",
        &socket,
    ];
    scene
        .dbdyno(["oltp", "point_select", "prepare"].iter().chain(&options))
        .exits(0);
    let run = ["oltp", "point_select", "run", "--time=60", "--rate=1000"];
    let mut running = scene.start(run.iter().chain(&options));
    // After connecting, a run may not have started: before its start an interrupt ends it like any program.
    let executed = "select variable_value > 100 from information_schema.global_status \
                    where variable_name = 'Com_stmt_execute'";
    let server = private_server::endpoint(scene, "s");
    running.wait_until("it runs", || mariadb::rows(&server, executed) == [["1"]]);
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines =
        processes.map(|process| fs::read(process.path().join("cmdline")).unwrap_or_default());
    for line in lines {
        let line = String::from_utf8_lossy(&line).into_owned();
        assert!(!line.contains("hunter2"), "{line}");
    }
    running.signal(rustix::process::Signal::INT);
    running.finish().exits(130).conceals("hunter2");
    answer(scene, "drop table sbtest.sbtest1");
}
