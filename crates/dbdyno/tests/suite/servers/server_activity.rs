//! The server's counters during a load, and `dbdyno tables`.

use std::path::Path;

use samples::{Edge, Line, Lines, Record, TableSizes};
use serde_json::Value;

use crate::{mariadb::MariaDb, scene::Scene};

const TABLES: [&str; 2] = ["--tables=2", "--table-size=2000"];

/// Creates the tables, and runs a workload over them.
fn measured(scene: &Scene, server: &[String], workload: &str, connections: u32) -> Record {
    let args = |command: &str, options: &[&str]| {
        let words = ["oltp", workload, command, "--database=test"];
        let words = words.iter().chain(&TABLES).chain(options);
        let words = words.map(|word| (*word).to_owned());
        words.chain(server.iter().cloned()).collect::<Vec<_>>()
    };
    scene.dbdyno(args("prepare", &[])).exits(0);
    let connections = format!("--connections={connections}");
    let run = [
        connections.as_str(),
        "--rate=50",
        "--duration=3s",
        "--record=record.jsonl",
    ];
    scene.dbdyno(args("run", &run)).has_measured();
    record(&scene.path().join("record.jsonl"))
}

fn record(path: &Path) -> Record {
    Record::open(path).unwrap()
}

/// The growth of a counter over all readings.
fn counted(record: &Record, name: &str) -> f64 {
    let status = record.server_status.iter();
    status.filter_map(|status| status.counters.get(name)).sum()
}

/// Number of statements that returned, in all phases, according to the record's own lines.
fn statements(scene: &Scene, names: &[&str]) -> f64 {
    let file = std::fs::File::open(scene.path().join("record.jsonl")).unwrap();
    let lines = Lines::of(std::io::BufReader::new(file));
    let intervals = lines.filter_map(|line| match line.unwrap() {
        Line::Interval(interval) => Some(interval),
        _ => None,
    });
    let sum: u64 = intervals
        .flat_map(|mut interval| {
            let carried = std::mem::take(&mut interval.carried);
            let carried = carried.into_iter().flat_map(|it| it.statements);
            interval.statements.into_iter().chain(carried)
        })
        .filter(|statement| names.contains(&statement.statement.as_str()))
        .map(|statement| statement.classes().all())
        .sum();
    sum as f64
}

#[test]
fn the_server_counts_what_the_client_counts() {
    let scene = Scene::for_servers_on_disk();
    let mariadb = MariaDb::start(
        &scene,
        &[
            ("performance_schema", "ON"),
            ("userstat", "1"),
            ("slow_query_log", "1"),
            ("long_query_time", "0"),
        ],
    );
    let record = measured(&scene, &mariadb.by_socket(), "read_write", 4);
    let cases = [
        ("Com_update", &["index_updates", "non_index_updates"][..]),
        ("Com_delete", &["deletes"]),
        ("Com_insert", &["inserts"]),
    ];
    for (counter, names) in cases {
        let (server, client) = (counted(&record, counter), statements(&scene, names));
        assert!(client > 0.0, "{names:?}");
        // Each of four connections may have two of a transaction under way when the server is asked.
        let off = (server - client).abs();
        assert!(
            off <= 0.01 * client + 8.0,
            "{counter}: server {server}, client {client}"
        );
    }
    // Variables, InnoDB's status and metrics, and the connected accounts.
    let first = &record.server_status[0];
    assert!(first.values["Innodb_page_size"] > 0.0);
    let innodb = first.innodb.as_ref().unwrap();
    assert!(innodb.checkpoint_age_bytes().is_some() && innodb.dirty_pages.is_some());
    assert!(counted(&record, "innodb_metrics.log_writes") > 0.0);
    let most: u32 = record
        .server_status
        .iter()
        .map(|status| status.processes.values().sum())
        .max()
        .unwrap();
    assert!(most >= 4, "four connections, and {most} were seen");
    // The server's totals by statement, wait, user and table.
    let totals = |source: &str| {
        let all = record.server_totals.iter();
        all.into_iter()
            .find(|totals| totals.source.ends_with(source))
            .unwrap_or_else(|| panic!("no {source}"))
    };
    let digests = totals("events_statements_summary_by_digest");
    assert!(digests.rows[0].counters["time_s"] > 0.0);
    let users = totals("USER_STATISTICS");
    assert_eq!(users.rows[0].name, "trial");
    let tables: Vec<&str> = totals("TABLE_STATISTICS")
        .rows
        .iter()
        .map(|row| row.name.as_str())
        .collect();
    assert!(tables.contains(&"test.sbtest1"), "{tables:?}");
    // The slow query log, with the run's statements without their values.
    let slow = record.slow_log.as_ref().unwrap();
    let class = slow
        .classes
        .iter()
        .find(|class| {
            class
                .fingerprint
                .starts_with("update sbtest1 set k = k + ?")
        })
        .unwrap_or_else(|| panic!("{slow:?}"));
    assert!(class.count > 0 && class.p50_s <= class.p95_s && class.p95_s <= class.max_s);
    // The tables, at the start and at the end.
    let at: Vec<Edge> = record
        .table_sizes
        .iter()
        .map(|sizes: &TableSizes| sizes.at)
        .collect();
    assert_eq!(at, [Edge::Start, Edge::End]);
    assert_eq!(record.table_sizes[0].tables.len(), 2);
    let how = record.server_observation.as_ref().unwrap();
    assert_eq!(how.not_observed, [""; 0]);
    let mut collected = record.collected.iter();
    let cost = collected.find(|it| it.collector == "server").unwrap();
    assert!(cost.samples >= 2 && cost.cpu_s > 0.0, "{cost:?}");
}

#[test]
fn what_is_off_or_refused_is_named() {
    let scene = Scene::for_servers();
    let mariadb = MariaDb::start(&scene, &[]);
    mariadb.rows("create user small@'%' identified by 'Wh1te rabbit'");
    mariadb.rows("grant all on test.* to small@'%'");
    let server: Vec<String> = mariadb
        .by_socket()
        .into_iter()
        .map(|option| option.replace("--user=trial", "--user=small"))
        .collect();
    let record = measured(&scene, &server, "point_select", 4);
    let how = record.server_observation.as_ref().unwrap();
    let named = |what: &str| {
        how.not_observed
            .iter()
            .any(|missing| missing.contains(what))
    };
    for what in [
        "SHOW ENGINE INNODB STATUS not observed",
        "INNODB_METRICS not observed",
        "statement digests not observed: performance_schema is off",
        "user statistics not observed: userstat is off",
        "slow query log not observed: slow_query_log is off",
    ] {
        assert!(named(what), "{what}: {:?}", how.not_observed);
    }
    // Data that needs no privilege is recorded nevertheless.
    assert!(counted(&record, "Com_select") > 0.0);
    assert!(
        record
            .server_status
            .iter()
            .all(|status| status.innodb.is_none())
    );
}

#[test]
fn it_takes_no_connection_from_the_load() {
    let scene = Scene::for_servers();
    let mariadb = MariaDb::start(&scene, &[("max_connections", "10")]);
    let record = measured(&scene, &mariadb.by_socket(), "point_select", 10);
    assert!(record.is_complete());
    assert!(record.server_status.is_empty());
    assert_eq!(
        record.server_observation.unwrap().not_observed,
        ["server status not observed: max_connections = 10 leaves no connection for it"]
    );
}

#[test]
fn tables_by_size() {
    let scene = Scene::for_servers();
    let mariadb = MariaDb::start(&scene, &[]);
    mariadb.rows("create table small (n int) engine=innodb");
    mariadb.rows("create table large (n int primary key, t varchar(200), key (t)) engine=innodb");
    mariadb.rows("insert into large select seq, repeat(seq, 20) from seq_1_to_20000");
    mariadb.rows("analyze table large");
    let tables = |options: &[&str]| {
        let words = ["tables"]
            .iter()
            .chain(options)
            .map(|word| (*word).to_owned());
        scene
            .dbdyno(words.chain(mariadb.by_socket()))
            .exits(0)
            .text()
    };
    let text = tables(&[]);
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(names[2..4], ["test.large", "test.small"], "{text}");
    assert!(text.contains("buffer pool 16.0 MiB"), "{text}");
    let json: Value = serde_json::from_str(&tables(&["--database=test", "--format=json"])).unwrap();
    assert_eq!(json["tables"][0]["table"], "large");
    assert!(json["tables"][0]["index_bytes"].as_u64() > Some(1 << 20));
    assert_eq!(json["buffer_pool_bytes"], 16 << 20);
    assert_eq!(tables(&["--format=csv"]).lines().count(), 3);
    // A database in an option file does not replace the requested one, whether it exists or not.
    mariadb.rows("create database other");
    mariadb.rows("create table other.history (n int) with system versioning");
    for database in ["other", "test", "not_there"] {
        let file = scene.file("client.cnf", &format!("[client]\ndatabase={database}\n"));
        let mut words = vec!["tables".to_owned(), "--format=csv".to_owned()];
        words.push(format!("--defaults-file={}", file.display()));
        let by_socket = mariadb.by_socket().into_iter();
        words.extend(by_socket.filter(|word| word != "--no-defaults"));
        let listed = scene.dbdyno(words).exits(0).text();
        let names: Vec<String> = listed
            .lines()
            .skip(1)
            .map(|line| line.split(',').take(2).collect::<Vec<_>>().join("."))
            .collect();
        assert_eq!(
            names,
            ["test.large", "other.history", "test.small"],
            "{database}"
        );
    }
    let all = tables(&["--all", "--format=csv"]);
    assert!(
        all.contains("mysql,") && all.contains("test,large"),
        "{all}"
    );
    assert!(!tables(&["--format=csv"]).contains("mysql,"));
}
