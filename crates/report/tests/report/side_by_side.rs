//! Tests of results of runs side by side, which are compared by their batches of slices.

use std::collections::BTreeMap;

use report::{
    Factor, MeasureSelection, Results, contrast_as_markdown, html, pictures, summary, table,
};
use samples::{Batches, Histogram, Record};
use verdict::{ComparisonParameters, Execution, Metric, Question, Side};

use crate::{contrast::audited, page::markup};

/// Slices of a batch, and batches of a session.
const SLICES: u32 = 5;
const BATCHES: u32 = 4;

/// The line of a slice with this number of operations.
fn slice_line(t_s: f64, slice: u32, count: u64) -> String {
    let mut histogram = Histogram::new();
    (0..count).for_each(|_| histogram.record(1_000_000));
    let histogram = serde_json::to_string(&histogram).unwrap();
    let sum_ns = count * 1_000_000;
    format!(
        r#"{{"line":"interval","t_s":{t_s:?},"length_s":0.5,"phase":"measurement","slice":{slice},"operations":[{{"load":"l","operation":"o","count":{count},"errors":0,"sum_ns":{sum_ns},"min_ns":1000000,"max_ns":1000000,"histogram":{histogram}}}]}}"#
    )
}

/// One of two runs of a session; the second is faster by a fifth. The machine is slower in each second batch.
fn run(session: u32, flush: u32) -> Record {
    let number = 2 * (session - 1) + flush;
    let most = SLICES * BATCHES;
    let mut lines = vec![
        format!(
            r#"{{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"x","experiment_sha256":"","seed":1,"run":{number},"block":{session},"combination":{{"flush":"{flush}"}},"started_at":"","connections":8,"loops":1,"io":"epoll","transport":"unix socket"}}"#
        ),
        format!(
            r#"{{"line":"side_by_side","combinations":[{{"flush":"1"}},{{"flush":"2"}}],"slice_s":0.5,"settle_s":0.1,"slices_per_batch":{SLICES},"slices_at_most":{most}}}"#
        ),
    ];
    for slice in 1..=most {
        let batch = (slice - 1) / SLICES;
        let speed = u64::from(100 - 20 * (batch % 2) + slice % 3);
        let count = match flush {
            1 => speed * 5,
            _ => speed * 6 + u64::from((slice + session) % 7),
        };
        // The two take turns from second 10 on.
        let t_s = 10.0 + f64::from(2 * (slice - 1) + flush - 1) * 0.6;
        lines.push(slice_line(t_s, slice, count));
        let pause_s = t_s + 0.5;
        lines.push(format!(
            r#"{{"line":"interval","t_s":{pause_s:?},"length_s":0.5,"phase":"pause","operations":[]}}"#
        ));
    }
    lines.push(r#"{"line":"end","t_s":40.0,"complete":true,"why":"as planned"}"#.to_owned());
    Record::read(lines.join("\n").as_bytes()).unwrap()
}

/// Two sessions of two combinations, and the question which is faster.
fn results() -> Results {
    let runs: Vec<Record> = [(1, 1), (1, 2), (2, 1), (2, 2)]
        .map(|(session, flush)| run(session, flush))
        .into();
    Results {
        name: "x".into(),
        question: "Which one is faster?".into(),
        experiment_text: String::new(),
        factors: vec![Factor {
            name: "flush".into(),
            levels: vec!["1".into(), "2".into()],
        }],
        chart: None,
        verdict: Some(question()),
        clauses: Vec::new(),
        expectations: Vec::new(),
        staged: Default::default(),
        batches: Batches::of(&runs),
        runs,
        disturbances: Default::default(),
        audit: None,
        planned_runs: 4,
    }
}

fn question() -> Question {
    Question {
        metric: Metric::Throughput,
        baseline: vec![("flush".into(), "1".into())],
        min_effect: 0.02,
        until_decided: None,
    }
}

#[test]
fn the_page_draws_the_pairs_of_batches_over_the_time_of_their_sessions() {
    let page = markup(&html(&results()));
    let (_, section) = page.split_once("aria-labelledby=\"over-time\"").unwrap();
    let (section, _) = section.split_once("</section>").unwrap();
    for part in [
        "flush 2 against flush 1: faster",
        "id=\"over-time-0-change-t\"",
        "8 pairs, mean +20.7\u{a0}% (+20.6\u{a0}% to +20.8\u{a0}%); lowest +20.5 %, highest +20.9 %.",
        "id=\"over-time-0-throughput-t\"",
        "Operations per second. flush 1: ",
        "session 1, seconds",
        "session 2, seconds",
        "session 1, batch 2, ",
        "change of throughput",
        "class=\"band\"",
        "between two sessions",
    ] {
        assert!(section.contains(part), "{part} is not in {section}");
    }
    // A pair, and a batch of each side.
    assert_eq!(section.matches("session 2, batch 4, ").count(), 3);
    assert_eq!(section.matches("<svg class=\"chart\"").count(), 2);
    let mut without = results();
    without.verdict = None;
    assert!(!html(&without).contains("over-time"));
}

#[test]
fn the_charts_over_time_are_a_picture() {
    let pictures = pictures(&results());
    let names: Vec<&str> = pictures.iter().map(|it| it.name.as_str()).collect();
    assert!(names.contains(&"over-time"), "{names:?}");
}

#[test]
fn outputs_call_batches_by_their_name() {
    let results = results();
    let texts = [
        markup(&html(&results)),
        table(&results, 120),
        summary(&results, "results/x-1".as_ref(), 120, &|_| None),
    ];
    for text in &texts {
        for other in ["execution", "block 1", "Block by block"] {
            assert!(!text.contains(other), "{other} is in {text}");
        }
    }
    assert!(texts[0].contains("8 batches of each combination"));
    assert!(texts[0].contains("<th scope=\"col\">batches</th>"));
    assert!(texts[1].contains("8 batches"), "{}", texts[1]);
}

#[test]
fn a_comparison_calls_batches_by_their_name() {
    let results = results();
    let side = |flush: &str| Side {
        name: format!("flush={flush}"),
        levels: BTreeMap::from([("flush".to_owned(), flush.to_owned())]),
        executions: results
            .compared()
            .iter()
            .filter(|it| it.header.combination["flush"] == flush)
            .map(|it| Execution::of(it, 1))
            .collect(),
        looked_at: None,
    };
    let terms = ComparisonParameters::of(0.02);
    let contrast = verdict::contrast(&side("1"), &side("2"), &terms);
    assert_eq!(contrast.places.len(), 1);
    assert!(contrast.places[0].of_batches);
    assert_eq!(contrast.places[0].executions, [8, 8]);
    let text = contrast_as_markdown(&contrast, &[], &audited(), MeasureSelection::All);
    assert!(text.contains("8 batches a side, in pairs"), "{text}");
    assert!(text.contains("Batches are compared with Student"), "{text}");
    assert!(!text.to_lowercase().contains("execution"), "{text}");
}
