//! Tests of the results database with SQL queries.

use figures::RunFigures;
use report::{Error, Factor, Results, write_summary};
use rusqlite::{Batch, Connection, fallible_iterator::FallibleIterator};
use samples::{Host, LoadStage, OfferedLoad, Phase, Staged};

use crate::synthetic::quickstart;

fn written(results: &Results) -> (tempfile::TempDir, Connection) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("results.sqlite");
    write_summary(results, &path).expect("the summary is written");
    let connection = Connection::open(&path).expect("SQLite opens what it wrote");
    (directory, connection)
}

fn one<T: rusqlite::types::FromSql>(connection: &Connection, sql: &str) -> T {
    connection
        .query_row(sql, [], |row| row.get(0))
        .expect("the query has one value")
}

#[test]
fn figures_come_back_as_they_were_summarised() {
    let results = quickstart(Host::Both);
    let (_directory, connection) = written(&results);
    assert_eq!(one::<i64>(&connection, "SELECT count(*) FROM runs"), 24);
    assert_eq!(
        one::<i64>(&connection, "SELECT count(*) FROM operations"),
        48
    );
    let summary = RunFigures::of(&results.runs[6]);
    let row: (String, f64, f64, f64) = connection
        .query_row(
            "SELECT mix, throughput_per_s, p95_us, server_percent FROM results WHERE run = 7",
            [],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
        )
        .unwrap();
    assert_eq!(row.0, "5:1");
    assert_eq!(Some(row.1), summary.throughput_per_s);
    let p95_ns = summary.response.unwrap().measured_ns(0.95);
    assert_eq!(row.2, p95_ns.unwrap() as f64 / 1e3);
    assert_eq!(row.3, summary.server_cpu.unwrap().server.unwrap() * 100.0);
    let why: String = one(
        &connection,
        "SELECT incomplete_why FROM runs WHERE NOT complete",
    );
    assert_eq!(why, "the server was killed (signal 9)");
    let lost: i64 = one(&connection, "SELECT count FROM errors WHERE number = 2013");
    assert_eq!(lost, 4);
}

#[test]
fn combinations_can_be_averaged_in_the_order_of_their_connections() {
    let (_directory, connection) = written(&quickstart(Host::Both));
    let mut query = connection
        .prepare(
            "SELECT connections, avg(throughput_per_s) FROM results WHERE complete AND mix = '1:0' \
             GROUP BY connections ORDER BY connections",
        )
        .unwrap();
    let means: Vec<(i64, f64)> = query
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(
        means
            .iter()
            .map(|(clients, _)| *clients)
            .collect::<Vec<_>>(),
        [1, 2, 4, 8]
    );
    assert!(
        means.windows(2).all(|pair| pair[0].1 < pair[1].1),
        "{means:?}"
    );
}

#[test]
fn factors_with_awkward_names_keep_the_view_whole() {
    let mut results = quickstart(Host::Both);
    let names = ["Count", "it's \"q\"", "factor_Count"];
    results.factors.extend(names.map(|name| Factor {
        name: name.into(),
        levels: vec!["x".into()],
    }));
    for record in &mut results.runs {
        for name in names {
            record
                .header
                .combination
                .insert(name.into(), format!("level of {name}"));
        }
    }
    let (_directory, connection) = written(&results);
    let read = |column: &str| {
        one::<String>(
            &connection,
            &format!("SELECT \"{column}\" FROM results WHERE run = 1"),
        )
    };
    assert_eq!(read("factor_Count"), "level of Count");
    assert_eq!(read("it's \"\"q\"\""), "level of it's \"q\"");
    assert_eq!(read("factor_factor_Count"), "level of factor_Count");
}

#[test]
fn unobserved_server_has_no_cpu_row() {
    let (_directory, connection) = written(&quickstart(Host::Client));
    assert_eq!(one::<i64>(&connection, "SELECT count(*) FROM cpu"), 0);
    assert_eq!(one::<i64>(&connection, "SELECT count(*) FROM results"), 24);
}

#[test]
fn older_summary_is_replaced_and_nothing_else_left_behind() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.sqlite");
    let mut results = quickstart(Host::Both);
    write_summary(&results, &path).unwrap();
    results.runs.truncate(3);
    write_summary(&results, &path).unwrap();
    let connection = Connection::open(&path).unwrap();
    assert_eq!(one::<i64>(&connection, "SELECT count(*) FROM runs"), 3);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_written_says_where_and_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("missing/results.sqlite");
    let mut results = quickstart(Host::Both);
    let error = write_summary(&results, &path).unwrap_err();
    assert!(
        matches!(&error, Error::Io { path: named, .. } if *named == path),
        "{error}"
    );
    assert!(
        error.hint().unwrap().contains("missing"),
        "{:?}",
        error.hint()
    );

    results.runs[1].header.run = 1;
    let error = write_summary(&results, &directory.path().join("r.sqlite")).unwrap_err();
    assert!(
        matches!(&error, Error::DuplicateRun { run } if run == "1"),
        "{error}"
    );
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn shares_of_the_cpu_in_the_view_add_up_to_100_percent() {
    let (_directory, connection) = written(&quickstart(Host::Both));
    let least_and_most: (f64, f64) = connection
        .query_row(
            "SELECT min(whole), max(whole) FROM (SELECT server_percent + client_percent + rest_percent + \
             iowait_percent + steal_percent + idle_percent AS whole FROM results)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert!(
        (least_and_most.0 - 100.0).abs() < 1e-6,
        "{least_and_most:?}"
    );
    assert!(
        (least_and_most.1 - 100.0).abs() < 1e-6,
        "{least_and_most:?}"
    );
}

#[test]
fn every_query_of_the_documentation_runs_and_finds_something() {
    const PAGE: &str = include_str!("../../../../docs/results-database.md");
    let (_directory, connection) = written(&in_two_stages(quickstart(Host::Both)));
    let blocks = PAGE.split("```sql\n").skip(1);
    let blocks = blocks.map(|block| block.split_once("```").unwrap().0);
    let mut queries = 0;
    for block in blocks {
        let mut batch = Batch::new(&connection, block);
        while let Some(mut query) = batch.next().unwrap() {
            let found = query.query([]).unwrap().next().unwrap().is_some();
            assert!(found, "no row from {}", query.expanded_sql().unwrap());
            queries += 1;
        }
    }
    assert!(queries >= 3, "{queries} queries on the page");
}

/// A complete run.
fn single() -> Results {
    let mut results = quickstart(Host::Both);
    results.runs.retain(samples::Record::is_complete);
    results.runs.truncate(1);
    results
}

/// Divides the first complete run into two stages of the same length at 100 operations per second each.
fn in_two_stages(mut results: Results) -> Results {
    let run = results.runs.iter_mut().find(|it| it.is_complete());
    let run = run.expect("a run is complete");
    let (begin_s, end_s) = run.measured_window_s().unwrap();
    let length_s = (end_s - begin_s) / 2.0;
    let measured = run.intervals.iter_mut();
    for interval in measured.filter(|it| it.phase == Phase::Measurement) {
        interval.stage = Some(1 + u32::from(interval.t_s >= begin_s + length_s));
    }
    let stages = [1, 2].map(|number| LoadStage {
        number,
        t_s: begin_s + f64::from(number - 1) * length_s,
        length_s,
        connections_from: 2,
        connections_to: 2 * number,
        rate_from_per_s: Some(100.0),
        rate_to_per_s: Some(100.0),
        offered: Some(OfferedLoad {
            rate_per_s: Some(100.0),
            ..OfferedLoad::of_closed_loop(1_000)
        }),
    });
    run.stages = stages.into();
    results.parts.staged = Staged::of(&results.runs);
    results
}

#[test]
fn each_stage_has_a_row() {
    let (_directory, connection) = written(&in_two_stages(single()));
    assert_eq!(one::<i64>(&connection, "SELECT count(*) FROM runs"), 1);
    let levels: String = one(
        &connection,
        "SELECT group_concat(level, '; ') FROM load_stages WHERE rate_reached",
    );
    assert_eq!(
        levels,
        "1 (100/s over 2 connections); 2 (100/s over 2 to 4 connections)"
    );
    let of_stages: i64 = one(&connection, "SELECT sum(count) FROM load_stages");
    assert_eq!(of_stages, one::<i64>(&connection, "SELECT count FROM runs"));
}

#[test]
fn reports_compare_the_achieved_rate_of_each_stage_with_the_requested_one() {
    let results = in_two_stages(single());
    let page = report::html(&results);
    assert!(page.contains("Every stage of every run (2)"));
    assert!(page.contains("Achieved and requested rate of each stage"));
    let text = report::table(&results, 200);
    assert!(
        text.contains("Achieved and requested rates: stage 1 "),
        "{text}"
    );
    let json = report::json(&results, report::Detail::Runs);
    assert!(json.contains("\"stage_rates\""));
    assert!(json.contains("\"2 (100/s over 2 to 4 connections)\""));
}
