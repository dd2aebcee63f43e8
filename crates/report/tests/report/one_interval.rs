//! Every output has one interval for one figure: that of the combination itself.

use proptest::prelude::*;
use report::{Detail, PastResult, Results, history_as_text, html, json, markdown, summary, table};
use serde_json::Value;
use units::si_with_interval;

use crate::{
    sliced::sliced,
    synthetic::{self, Plan},
};

/// Three combinations of three executions, with these rates.
fn results(limits_per_s: &[f64]) -> Results {
    let mut results = synthetic::asked();
    let template = results.runs.swap_remove(0);
    results.runs.clear();
    for (at, limit_per_s) in limits_per_s.iter().enumerate() {
        let clients = ["1", "2", "4"][at % 3];
        let mut record = synthetic::record(&Plan {
            run: at as u32 + 1,
            block: at as u32 / 3 + 1,
            combination: vec![("mix", "1:0".into()), ("connections", clients.into())],
            connections: clients.parse().unwrap(),
            limit_per_s: *limit_per_s,
            measured_s: 4,
            host: samples::Host::Both,
        });
        record.end.clone_from(&template.end);
        results.runs.push(record);
    }
    results.verdict = None;
    results.planned_runs = limits_per_s.len() as u32;
    results
}

/// The throughput of each combination as the JSON has it, in words.
fn figures(results: &Results) -> Vec<String> {
    let document: Value = serde_json::from_str(&json(results, Detail::Runs)).unwrap();
    let combinations = document["combinations"].as_array().unwrap();
    let throughput = |combination: &Value| {
        let metrics = combination["metrics"].as_array().unwrap();
        let found = metrics
            .iter()
            .find(|it| it["measure"] == "throughput")
            .unwrap();
        let number = |key: &str| found[key].as_f64().unwrap();
        si_with_interval(number("mean"), (number("low"), number("high")))
    };
    combinations.iter().map(throughput).collect()
}

#[test]
fn runs_side_by_side_have_the_interval_of_their_batches_in_the_history() {
    let mut results = sliced();
    results.verdict = None;
    let figures = figures(&results);
    let headline = verdict::headline(&results.runs).unwrap();
    assert!(headline.is_of_batches);
    // Four batches in each of two sessions.
    assert_eq!(
        (headline.at["flush"].as_str(), headline.executions),
        ("2", 8)
    );
    let in_history = si_with_interval(headline.mean, headline.bounds.unwrap());
    assert_eq!(in_history, figures[1]);
    let past = PastResult {
        headline: Some(headline),
        ..PastResult::default()
    };
    let list = history_as_text(&[past], 0, 0, 200);
    assert!(list.contains("(8 batches, "), "{list}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn a_figure_has_the_same_interval_wherever_it_is_written(
        limits_per_s in prop::collection::vec(800.0..40_000.0, 9),
    ) {
        let results = results(&limits_per_s);
        let figures = figures(&results);
        prop_assert_eq!(figures.len(), 3);
        let (terminal, markdown, page) = (table(&results, 1000), markdown(&results), html(&results));
        for figure in &figures {
            for output in [&terminal, &markdown, &page] {
                prop_assert!(output.contains(figure), "{figure}\n{output}");
            }
        }
        // The answer has the highest one.
        let answer = summary(&results, "results/x".as_ref(), 1000, &|_| None);
        let said = figures.iter().filter(|figure| answer.contains(*figure));
        prop_assert_eq!(said.count(), 1, "{}", answer);
        let headline = verdict::headline(&results.runs).unwrap();
        let in_history = si_with_interval(headline.mean, headline.bounds.unwrap());
        prop_assert!(answer.contains(&in_history), "{in_history}\n{answer}");
    }
}
