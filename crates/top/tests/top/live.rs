//! Tests of a server that is observed live.

use std::time::Duration;

use samples::{
    ClientConnection, Edge, ServerIdentity, ServerMoment, ServerStatus, ServerTotals, TimesUpTo,
    TotalsRow,
};
use top::{Key, Model, Screen, Source, Subject};

use crate::shown::{after, screen};

/// A reading of a server with performance_schema.
fn look(second: u32) -> ServerMoment {
    let map = |pairs: &[(&str, f64)]| {
        let pairs = pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value));
        pairs.collect()
    };
    let row = |name: &str, counters: &[(&str, f64)]| TotalsRow {
        name: name.to_owned(),
        counters: map(counters),
    };
    let totals = |source: &str, rows| ServerTotals {
        source: format!("performance_schema.{source}"),
        rows,
        left_out: 0,
    };
    let connection = |id, command: &str, state: &str, statement: &str| ClientConnection {
        id,
        user: "bench".to_owned(),
        host: "10.0.0.7:50312".to_owned(),
        database: "sbtest".to_owned(),
        command: command.to_owned(),
        time_s: 3.0 * id as f64,
        state: state.to_owned(),
        statement: statement.to_owned(),
    };
    let wave = 1.0 + f64::from(second % 5);
    ServerMoment {
        status: ServerStatus {
            t_s: f64::from(second),
            length_s: 1.0,
            counters: map(&[
                ("Questions", 1000.0 * wave),
                ("Com_select", 800.0 * wave),
                ("Innodb_row_lock_waits", wave - 1.0),
            ]),
            values: map(&[
                ("Threads_running", wave),
                ("Threads_connected", 12.0),
                ("Uptime", 5000.0 + f64::from(second)),
            ]),
            innodb: None,
            processes: [
                ("Sleep".to_owned(), 1),
                ("Query: Sending data".to_owned(), 2),
            ]
            .into(),
            ..ServerStatus::default()
        },
        totals: vec![
            totals(
                "events_statements_summary_by_digest",
                vec![
                    row(
                        "sbtest: SELECT `c` FROM `sbtest1` WHERE `id` = ?",
                        &[("time_s", 0.9), ("count", 800.0), ("rows_examined", 800.0)],
                    ),
                    row(
                        "sbtest: UPDATE `sbtest1` SET `k` = `k` + ? WHERE `id` = ?",
                        &[("time_s", 0.1), ("count", 10.0), ("errors", 2.0)],
                    ),
                ],
            ),
            totals(
                "events_waits_summary_global_by_event_name",
                vec![row(
                    "wait/io/file/innodb/innodb_log_file",
                    &[("time_s", 0.5), ("count", 250.0)],
                )],
            ),
        ],
        statement_times: vec![
            TimesUpTo {
                up_to_ns: 100_000,
                count: 90,
            },
            TimesUpTo {
                up_to_ns: 2_000_000,
                count: 10,
            },
        ],
        connections: vec![
            connection(7, "Query", "Sending data", "select c\n  from sbtest1"),
            connection(8, "Sleep", "", ""),
        ],
        asked: 7,
        not_observed: vec!["INNODB_METRICS not observed: access denied".to_owned()],
    }
}

fn identity() -> ServerIdentity {
    ServerIdentity {
        at: Edge::Start,
        version: "8.0.33".to_owned(),
        version_comment: String::new(),
        address: "db1:3306".to_owned(),
        private: false,
        variables: Default::default(),
        settings_changed: Vec::new(),
    }
}

/// Half a minute of a server.
fn model() -> Model {
    let mut model = Model::new(Subject {
        name: "db1:3306".to_owned(),
        ..Subject::default()
    });
    model.meet(&identity());
    (0..30).for_each(|second| model.look(look(second)));
    model
}

fn title(screen: &mut Screen, keys: &[Key], model: &Model) -> String {
    let shown = after(screen, keys, model, (110, 24));
    shown.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_server_is_shown_with_its_statements_waits_and_connections() {
    let model = model();
    let mut screen = screen(Source::Live);
    let shown = after(&mut screen, &[], &model, (120, 36));
    insta::assert_snapshot!("live_overview", shown);
    for (digit, name) in [
        ('2', "live_statements"),
        ('3', "live_waits"),
        ('4', "live_connections"),
    ] {
        let shown = after(&mut screen, &[Key::Char(digit)], &model, (120, 16));
        insta::assert_snapshot!(name, shown);
    }
    let idle = after(&mut screen, &[Key::Char('i')], &model, (120, 16));
    assert!(idle.contains("Sleep"), "{idle}");
    let help = after(&mut screen, &[Key::Char('h')], &model, (80, 24));
    insta::assert_snapshot!("live_help", help);
}

#[test]
fn lists_are_sorted_by_what_was_chosen() {
    let model = model();
    let mut screen = screen(Source::Live);
    let first = |screen: &mut Screen, keys: &[Key]| {
        let shown = after(screen, keys, &model, (120, 16));
        let statement = shown.lines().find(|line| line.contains("sbtest: "));
        let at = statement.and_then(|line| line.find("sbtest: "));
        let name = statement
            .zip(at)
            .map(|(line, at)| line[at..at + 14].to_owned());
        name.unwrap_or_default()
    };
    for (keys, expected) in [
        (&[Key::Char('2')][..], "sbtest: SELECT"),
        (&[Key::Char('s')], "sbtest: SELECT"),
        (&[Key::Char('s')], "sbtest: UPDATE"),
        (&[Key::Char('s')], "sbtest: UPDATE"),
        (&[Key::Char('s')], "sbtest: SELECT"),
    ] {
        assert_eq!(first(&mut screen, keys), expected);
    }
}

#[test]
fn a_server_that_went_away_is_told_and_its_counters_begin_anew() {
    let mut model = model();
    let mut screen = screen(Source::Live);
    let ordinary = title(&mut screen, &[], &model);
    assert!(ordinary.ends_with("every 1 s"), "{ordinary}");
    model.lose(30.5, "connection refused".to_owned());
    model.lose(42.5, "connection refused".to_owned());
    let away = title(&mut screen, &[], &model);
    assert!(
        away.contains("SERVER AWAY for 12 s, trying again"),
        "{away}"
    );
    // Its earlier figures are stale.
    let gone = after(&mut screen, &[], &model, (110, 24));
    let queries = gone.lines().find(|line| line.contains("queries/s"));
    assert!(queries.unwrap_or_default().contains(" - "), "{gone}");
    // Its earlier counters are not valid for another process: a counter without a change is unknown, not 0.
    model.meet(&identity());
    let mut empty = look(43);
    empty.status.counters.clear();
    model.look(empty);
    let back = after(&mut screen, &[], &model, (110, 24));
    assert!(!back.contains("AWAY"), "{back}");
    let queries = back.lines().find(|line| line.contains("queries/s"));
    assert!(queries.unwrap_or_default().contains(" - "), "{back}");
}

#[test]
fn silence_and_pause_are_told() {
    let model = model();
    let mut screen = screen(Source::Live);
    screen.set_silence(Some(Duration::from_secs(7)));
    let silent = title(&mut screen, &[], &model);
    assert!(silent.contains("NO NEWS for 7 s"), "{silent}");
    screen.set_silence(None);
    let paused = title(&mut screen, &[Key::Char('p')], &model);
    assert!(paused.contains("PAUSED"), "{paused}");
    let back = title(&mut screen, &[Key::PageUp], &model);
    assert!(back.contains("PAUSED, 10 s back"), "{back}");
    let on = title(&mut screen, &[Key::Char('p')], &model);
    assert!(on.ends_with("every 1 s"), "{on}");
}
