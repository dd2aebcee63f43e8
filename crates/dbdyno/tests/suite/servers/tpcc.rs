//! `dbdyno tpcc`, `tpcc_load` and `tpcc_start`: resumed loads, runs that leave the database consistent, and detected
//! violations.

use std::fs;

use rustix::process::Signal;
use samples::Record;
use serde_json::Value;

use crate::{
    private_server, results,
    scene::{ATTEMPTS, Finished, Running, Scene},
};

/// Triggers that let orders and payments sleep in the server, so that a run is long enough on a busy machine and costs it
/// little.
pub(super) const UNHURRIED: [&str; 2] = [
    "create or replace trigger unhurried_orders before insert on orders for each row set @slept = sleep(0.05)",
    "create or replace trigger unhurried_payments before insert on history for each row set @slept = sleep(0.05)",
];

fn server() -> Scene {
    let scene = Scene::for_servers();
    scene
        .dbdyno([
            "server",
            "create",
            "one",
            "--set",
            "innodb_buffer_pool_size=256M",
            "--set",
            "innodb_flush_log_at_trx_commit=2",
        ])
        .exits(0);
    scene
}

fn tpcc(scene: &Scene, args: &[&str]) -> Finished {
    scene.dbdyno([&["tpcc"], args, &["--server", "one"]].concat())
}

/// Rows of statements; none if one fails, such as one that reads a table which a load has not made yet.
fn sql(scene: &Scene, database: &str, sql: &str) -> String {
    private_server::text(scene, "one", Some(database), sql).unwrap_or_default()
}

/// A table with the name of a TPC-C table, and different columns: nothing is dropped.
fn a_table_of_somebody_else_stays(scene: &Scene) {
    let before = sql(scene, "tpcc", "show tables");
    let add = "alter table history add column mine int";
    assert_eq!(sql(scene, "tpcc", add), "");
    tpcc(scene, &["drop"])
        .exits(2)
        .says("tpcc.history: its columns are not those of TPC-C")
        .hints("nothing was dropped");
    assert_eq!(sql(scene, "tpcc", "show tables"), before);
    sql(scene, "tpcc", "alter table history drop column mine");
}

/// Starts a load and waits until this number of table parts is loaded.
fn load_until(scene: &Scene, parts: u64) -> Running {
    let mut load = scene.start(["tpcc", "load", "--warehouses", "1", "--server", "one"]);
    let noted = "select count(*) from dbdyno_tpcc_parts";
    let is_there = || sql(scene, "tpcc", noted).trim().parse().unwrap_or(0) >= parts;
    load.wait_until("parts of the load are in", is_there);
    load
}

/// A load is killed, interrupted and loses its server; it is resumed each time, and at the end every row exists once.
fn load_with_interruptions(scene: &Scene) {
    let load = load_until(scene, 1);
    load.signal(Signal::KILL);
    load.finish().was_killed_by(Signal::KILL);
    tpcc(scene, &["check"])
        .exits(2)
        .says("is incomplete")
        .hints("to continue the load");
    tpcc(scene, &["load", "--warehouses", "2"])
        .exits(2)
        .says("a load of 1 warehouses with seed 1 was interrupted")
        .hints("--warehouses 1 --seed 1 continues");

    // Including loads by INSERT.
    sql(scene, "tpcc", "set global local_infile = 0");
    let load = load_until(scene, 4);
    load.signal(Signal::INT);
    load.finish()
        .exits(130)
        .says("loading with INSERT")
        .hints("run the same command again");
    sql(scene, "tpcc", "set global local_infile = 1");

    let load = load_until(scene, 7);
    scene.dbdyno(["server", "restart", "one"]).exits(0);
    load.finish().exits(3).hints("run the same command again");

    tpcc(scene, &["load", "--warehouses", "1"])
        .exits(0)
        .says("continuing an interrupted load")
        .prints("database tpcc: 1 warehouses");
    let counts = "select (select count(*) from item), (select count(*) from stock), (select count(*) from history), \
                  (select count(*) from orders), (select count(*) from order_line)";
    assert_eq!(
        sql(scene, "tpcc", counts),
        "100000\t100000\t30000\t30000\t300565\n"
    );
    let keys = "select count(*) from information_schema.table_constraints \
                where table_schema = 'tpcc' and constraint_type = 'FOREIGN KEY'";
    assert_eq!(sql(scene, "tpcc", keys), "10\n");
    tpcc(scene, &["check", "--after-load"])
        .exits(0)
        .prints("13 of 13 conditions hold");
    tpcc(scene, &["load", "--warehouses", "1"])
        .exits(2)
        .says("loaded already")
        .hints("tpcc cleanup");
    let settings =
        "select @@global.local_infile, @@global.foreign_key_checks, @@global.unique_checks";
    assert_eq!(sql(scene, "tpcc", settings), "1\t1\t1\n");
}

#[test]
fn a_database_is_loaded_run_checked_and_dropped() {
    let scene = server();
    tpcc(&scene, &["run"]).exits(2).hints("create the database");
    // MariaDB's redo log cannot be disabled.
    tpcc(&scene, &["load", "--warehouses", "1", "--redo-log", "off"])
        .exits(2)
        .hints("8.0.21");
    load_with_interruptions(&scene);

    sql(
        &scene,
        "tpcc",
        "set foreign_key_checks = 0; update warehouse set w_ytd = w_ytd + 1; \
         delete from order_line where ol_d_id = 3 and ol_o_id = 7 and ol_number = 1; \
         delete from order_line where ol_d_id = 5 and ol_o_id = 1; \
         delete from orders where o_d_id = 5 and o_id = 1; \
         update stock set s_ytd = s_ytd + 1 where s_i_id = 42",
    );
    tpcc(&scene, &["check", "--after-load"])
        .exits(1)
        // Only after the load an order cannot be missing.
        .prints("condition 11 is violated by 1 rows")
        .prints("condition 1 is violated by 1 rows")
        .prints("w_id 1: w_ytd")
        .prints("condition 6 is violated by 1 rows")
        .prints("o_w_id 1 o_d_id 3 o_id 7: o_ol_cnt")
        .prints("s_w_id 1 s_i_id 42: s_ytd");

    sql(&scene, "tpcc", &UNHURRIED.join("; "));
    let run = |args: &[&str]| tpcc(&scene, &[&["run", "--warmup", "0s"], args].concat());
    // Earlier violations are not attributed to the run.
    let (ran, deliveries) = delivering(&scene, || run(&["-c", "8", "--duration", "6s", "-v"]));
    let ran = ran
        .says("warning: before the run, condition 1 is violated")
        .says("record: results/tpcc-1/record.jsonl")
        .says("report: results/tpcc-1/report.html")
        .prints("New-Orders per minute")
        .prints("every condition that held before the run holds after it");
    for transaction in [
        "New-Order",
        "Payment",
        "Order-Status",
        "Delivery",
        "Stock-Level",
    ] {
        assert!(ran.text().contains(transaction), "{transaction}");
    }
    assert!(ran.text().contains("Deferred Delivery"));
    assert_eq!(deliveries["queued"], deliveries["executed"]);
    // Every order that is not waiting was delivered by the run, or earlier by the load.
    let delivered: u64 = deliveries["delivered"]
        .as_array()
        .unwrap()
        .iter()
        .map(|count| count.as_u64().unwrap())
        .sum();
    let taken = "select count(*) from orders where o_id > 2100 and o_carrier_id is not null";
    assert_eq!(sql(&scene, "tpcc", taken), format!("{delivered}\n"));
    run(&["-w", "2"])
        .exits(2)
        .says("it has 1 warehouses, not 2");

    run(&["--record", "results/tpcc-1/record.jsonl"])
        .exits(2)
        .says("already exists");

    done_again(&scene);

    stored_procedures(&scene);

    a_table_of_somebody_else_stays(&scene);
    tpcc(&scene, &["drop"]).exits(0);
    assert_eq!(sql(&scene, "tpcc", "show tables"), "");
    let procedures =
        "select count(*) from information_schema.routines where routine_schema = 'tpcc'";
    assert_eq!(sql(&scene, "tpcc", procedures), "0\n");
    scene.dbdyno(["server", "destroy", "one"]).exits(0);
}

/// Executes a run, again if none of its terminals came to a Delivery within its time, as on a busy machine; returns it with
/// its deliveries.
fn delivering(scene: &Scene, run: impl Fn() -> Finished) -> (Finished, Value) {
    for _ in 0..ATTEMPTS {
        let ran = run().exits(0);
        let directory = scene.path().join("results/tpcc-1");
        let record =
            results::Record::parse(&fs::read_to_string(directory.join("record.jsonl")).unwrap());
        let deliveries = record.one("deliveries").clone();
        if deliveries["queued"].as_u64().unwrap() > 0 {
            return (ran, deliveries);
        }
        fs::remove_dir_all(directory).unwrap();
    }
    panic!("no delivery in {ATTEMPTS} attempts");
}

/// A run is repeated by its record's command, on the tables as they are then.
fn done_again(scene: &Scene) {
    let short = ["--warmup=none", "--duration=5s", "--no-check"];
    tpcc(scene, &[&["run", "--connections=2"], &short[..]].concat()).exits(0);
    let orders = || -> u64 {
        let count = sql(scene, "tpcc", "select count(*) from orders");
        count.trim().parse().unwrap()
    };
    let before = orders();
    scene
        .dbdyno(["rerun", "results/tpcc-2", "--results", "again", "-v"])
        .exits(0)
        .says("its tables are used as they are now")
        .says("again: dbdyno tpcc run --connections=2 --warmup=none --duration=5s --no-check --server one")
        .prints("New-Orders/min")
        .prints("then (A) and now (B):\n\nA  results/tpcc-2\nB  again")
        // Some seconds are too short for an equal mix, which the short answer would report instead.
        .prints("What differs: nothing recorded about server, machine, data or method.");
    assert!(orders() > before, "it ran on the same tables");
    let record = |name: &str| Record::open(&scene.path().join(name).join("record.jsonl")).unwrap();
    let (then, now) = (record("results/tpcc-2"), record("again"));
    assert_eq!(then.header.seed, now.header.seed);
    assert_eq!(then.header.combination, now.header.combination);
    let command = now.command.unwrap().in_words();
    assert!(command.contains("--seed="), "can be done again: {command}");
}

/// Two runs on one data set; the second finds a warehouse whose balance was changed from outside. A check costs more than
/// a run, so the first has none.
const EXPERIMENT: &str = r#"
format = 1
order = "file"
[matrix]
gift = ["off", "on"]
[server.set]
innodb_buffer_pool_size = "256M"
innodb_flush_log_at_trx_commit = 2
[data]
tpcc = { warehouses = 1, foreign_keys = "off" }
[each]
before = [UNHURRIED, "update warehouse set w_ytd = w_ytd + ('{gift}' = 'on')"]
[load]
tpcc = { check = "{gift}" }
connections = 2
warmup = "200ms"
duration = "2s"
[verdict]
metric = "new_orders_per_min"
baseline = { gift = "off" }
[disturbed]
repeats = "0 %"
"#;

#[test]
fn an_experiment_runs_terminals_and_takes_no_inconsistent_result() {
    let scene = Scene::for_servers();
    let unhurried = format!("{:?}, {:?}", UNHURRIED[0], UNHURRIED[1]);
    let file = scene.file(
        "terminals.toml",
        &EXPERIMENT.replace("UNHURRIED", &unhurried),
    );
    let ran = scene
        .dbdyno(["run".as_ref(), file.as_os_str()])
        .exits(1)
        .prints("New-Orders/min")
        .prints("page      results/terminals-1/report.html")
        .says("the run is not valid: after it, condition 1 is violated by 1 rows")
        .says("w_id 1: w_ytd");
    assert_eq!(
        ran.stderr.matches("is violated by").count(),
        1,
        "{}",
        ran.stderr
    );
    let results = scene.path().join("results/terminals-1");
    let read = |run: &str| fs::read_to_string(results.join(run)).unwrap();
    let (first, second) = (read("run-0001.jsonl"), read("run-0002.jsonl"));
    for (record, state, complete) in [(first, "loaded", true), (second, "restored", false)] {
        for text in [
            "\"source\":\"TPC-C with 1 warehouse\"".to_owned(),
            format!("\"state\":\"{state}\""),
            format!("\"complete\":{complete}"),
            "\"operation\":\"New-Order\"".to_owned(),
            // Deferred, as by `tpcc run`; none is left.
            "\"line\":\"deliveries\"".to_owned(),
            "\"left\":0".to_owned(),
        ] {
            assert!(record.contains(&text), "{text}");
        }
    }
    scene.nothing_is_left();
}

/// The same transactions as calls of procedures, which the run creates, or replaces if they have another version.
fn stored_procedures(scene: &Scene) {
    sql(
        scene,
        "tpcc",
        "create procedure dbdyno_tpcc_payment() comment 'dbdyno 00000000' select 1",
    );
    let run = |args: &[&str]| {
        let all = [
            "run",
            "--round-trips",
            "stored",
            "--no-check",
            "--warmup",
            "0s",
            "-c",
            "4",
            "--duration",
            "2s",
        ];
        tpcc(scene, &[&all, args].concat())
    };
    run(&["--record", "stored.jsonl"])
        .exits(0)
        .says("created 5 stored procedures")
        .prints("round_trips stored");
    let record = fs::read_to_string(scene.path().join("stored.jsonl")).unwrap();
    assert!(record.contains("\"round_trips\":\"stored\""));
    // One statement is one operation: there are no statements inside.
    assert!(!record.contains("\"statements\":["));
    let again = run(&[]).exits(0);
    assert!(!again.stderr.contains("created"), "{}", again.stderr);
}
