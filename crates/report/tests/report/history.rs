//! Tests of results over time: the list and a series of fabricated runs, as snapshots.

use report::{PastResult, SeriesFigure, history_as_text, series_as_text};
use samples::Host;
use verdict::{Measure, Metric};

use crate::synthetic::{Plan, record};

/// Two executions of a server with this maximum throughput.
fn result(number: u32, limit_per_s: f64) -> (PastResult, Vec<samples::Record>) {
    let server = if number > 6 { "10.11.20" } else { "10.11.19" };
    let mut records: Vec<samples::Record> = (1..=2)
        .map(|block| {
            record(&Plan {
                run: number * 2 + block,
                block,
                combination: vec![("connections", "8".to_owned())],
                connections: 8,
                limit_per_s,
                measured_s: 4,
                host: Host::Both,
            })
        })
        .collect();
    for identity in records.iter_mut().flat_map(|it| &mut it.servers) {
        identity.version = server.to_owned();
    }
    let past = PastResult {
        at: format!("2026-11-{number:02}T02:00:00Z"),
        name: "nightly".to_owned(),
        question: "Is the server as fast as it was before yesterday's change?".to_owned(),
        key: "3fa85f64".to_owned(),
        server: server.to_owned(),
        varies: vec!["innodb_flush_log_at_trx_commit".to_owned()],
        grade: Some('B'),
        headline: verdict::headline(&records),
        search_answers: Vec::new(),
        missing: None,
        path: format!("results/nightly-{number}"),
    };
    (past, records)
}

#[test]
fn a_list_of_results() {
    let mut results = vec![result(1, 20_000.0).0, result(2, 20_000.0).0];
    results[0].missing = Some("run-0001.jsonl: not a run record".to_owned());
    results[0].grade = None;
    insta::assert_snapshot!(history_as_text(&results, 3, 2, 200));
    let wide = history_as_text(&results, 0, 0, 300);
    let question = "  Is the server as fast as it was before …  ";
    assert!(wide.contains(question), "{wide}");
    for width in [150, 130, 100, 80] {
        let text = history_as_text(&results, 0, 0, width);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(width.into()), "{width}: {text}");
        assert!(text.contains("results/nightly-2"), "{text}");
    }
    assert!(history_as_text(&[], 0, 0, 80).starts_with("no results yet"));
    assert!(
        history_as_text(&[], 0, 1, 80)
            .ends_with("\n\n1 result is gone; --forget removes missing results from the list\n")
    );
}

#[test]
fn a_series_that_changes() {
    let levels = (1..).zip([
        20.0, 20.1, 19.9, 20.0, 20.1, 20.0, 15.0, 15.1, 14.9, 15.0, 15.1, 15.0,
    ]);
    let results: Vec<_> = levels
        .map(|(number, k)| result(number, k * 1000.0))
        .collect();
    let (past, records): (Vec<_>, Vec<_>) = results.into_iter().unzip();
    let measure = Measure::Metric(Metric::Throughput);
    let series = verdict::series(records.iter().map(Vec::as_slice), measure);
    let figure = SeriesFigure::of(measure);
    insta::assert_snapshot!(series_as_text("nightly", &past, &series, figure, 120));
}
