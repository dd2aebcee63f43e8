//! The answer clause by clause: the same lines in every output, from decisions that are made once.

use report::{Clause, Detail, Results, html, json, markdown, summary, table};
use samples::Record;
use serde_json::Value;

use crate::synthetic;

fn clause(name: &str, filter: &[(&str, &[&str])], compared: Option<verdict::Question>) -> Clause {
    let levels = |levels: &[&str]| levels.iter().map(|it| (*it).to_owned()).collect();
    Clause {
        name: name.to_owned(),
        filter: filter
            .iter()
            .map(|(factor, of)| ((*factor).to_owned(), levels(of)))
            .collect(),
        compared,
    }
}

/// Two mixes at several connection counts, asked whether the mix matters, in four clauses.
fn results() -> Results {
    let mut results = synthetic::asked();
    let asked = results.verdict.clone().unwrap();
    let p95 = verdict::Question {
        metric: verdict::Metric::P95,
        ..asked.clone()
    };
    results.clauses = vec![
        clause("Mixed", &[], Some(asked.clone())),
        clause(
            "Mixed, few clients",
            &[("connections", &["1"])],
            Some(asked),
        ),
        clause("Latency", &[("connections", &["8"])], Some(p95)),
        clause("Reads", &[("mix", &["1:0"])], None),
    ];
    results
}

fn said(results: &Results) -> Vec<String> {
    let json: Value = serde_json::from_str(&json(results, Detail::Runs)).unwrap();
    let clauses = json["summary"]["clauses"].as_array().unwrap();
    let text = |clause: &Value, key: &str| clause[key].as_str().unwrap().to_owned();
    clauses
        .iter()
        .map(|it| format!("{}: {}", text(it, "name"), text(it, "sentence")))
        .collect()
}

#[test]
fn each_clause_is_a_line() {
    insta::assert_snapshot!(said(&results()).join("\n"));
}

/// Words only: outputs break and mark up their lines each in its way.
fn words(text: &str) -> String {
    let plain = text.replace(['\u{a0}', '*', '\\'], " ");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_output_says_the_same() {
    let results = results();
    let summary = summary(&results, "results/x".as_ref(), 1000, &|_| None);
    let terminal = table(&results, 1000);
    let markdown = markdown(&results);
    let page = html(&results)
        .replace("<strong>", "")
        .replace("</strong>", "");
    for line in said(&results) {
        let line = words(&line);
        assert!(words(&summary).contains(&line), "{line}\n{summary}");
        assert!(words(&terminal).contains(&line), "{line}\n{terminal}");
        assert!(words(&markdown).contains(&line), "{line}\n{markdown}");
        assert!(words(&page).contains(&line), "{line}");
    }
}

#[test]
fn several_sides_are_told_one_by_one_against_their_one_baseline() {
    let mut results = results();
    let by_connections = verdict::Question {
        baseline: vec![("connections".into(), "2".into())],
        ..results.verdict.clone().unwrap()
    };
    results.verdict = None;
    results.clauses = vec![clause("Reads", &[("mix", &["1:0"])], Some(by_connections))];
    insta::assert_snapshot!(said(&results).join("\n"));
}

#[test]
fn a_doubt_belongs_to_its_own_comparison() {
    let failed_at = |results: &mut Results, connections: &str| {
        let mut runs = results.runs.iter_mut();
        let is_there = |it: &&mut samples::Record| {
            let levels = &it.header.combination;
            levels["connections"] == connections && levels["mix"] == "1:0"
        };
        let run = runs.find(is_there).unwrap();
        run.errors.push(samples::ErrorCount {
            number: 1213,
            count: 1_000_000,
            in_measurement: 1_000_000,
            ..samples::ErrorCount::default()
        });
    };
    let mut results = results();
    failed_at(&mut results, "1");
    let lines = said(&results);
    assert!(!lines[0].contains("W10"), "{}", lines[0]);
    assert!(lines[1].ends_with(", but operations failed (W10)"));

    let by_connections = verdict::Question {
        baseline: vec![("connections".into(), "2".into())],
        ..results.verdict.clone().unwrap()
    };
    results.clauses = vec![clause("Reads", &[("mix", &["1:0"])], Some(by_connections))];
    let line = said(&results).remove(0);
    assert_eq!(line.matches("W10").count(), 1, "{line}");
    let of_one = line.split("slower 1 ").nth(1).unwrap();
    assert!(of_one.contains(", but operations failed (W10)"), "{line}");
}

#[test]
fn throughputs_of_different_work_are_not_ranked() {
    let mut results = results();
    results.clauses.clear();
    results.verdict = None;
    let is_mixed = |record: &samples::Record| record.header.combination["mix"] == "5:1";
    for record in results.runs.iter_mut().filter(|it| is_mixed(it)) {
        let intervals = record.intervals.iter_mut();
        for operation in intervals.flat_map(|it| &mut it.operations) {
            operation.operation = format!("{} of another script", operation.operation);
        }
    }
    let highest = |results: &Results| {
        let page = words(&html(results));
        let from = page.find("Highest throughput").unwrap();
        let sentence = page[from..].split("</p>").next().unwrap();
        sentence.matches("operations/s at").count()
    };
    assert_eq!(highest(&results), 2);
    // What is asked for is compared, whatever it does.
    results.verdict = synthetic::asked().verdict;
    assert_eq!(
        words(&summary(&results, "results/x".as_ref(), 1000, &|_| None))
            .matches("Highest:")
            .count(),
        1
    );
    let by_connections = vec![("connections".to_owned(), "1".to_owned())];
    results.verdict.as_mut().unwrap().baseline = by_connections;
    assert_eq!(
        words(&summary(&results, "results/x".as_ref(), 1000, &|_| None))
            .matches("Highest:")
            .count(),
        2
    );
}

#[test]
fn a_clause_has_the_decision_of_the_verdict() {
    let results = results();
    let document: Value = serde_json::from_str(&json(&results, Detail::Runs)).unwrap();
    let comparisons = document["verdict"]["comparisons"].as_array().unwrap();
    let few = comparisons
        .iter()
        .find(|it| it["levels"]["connections"] == "1")
        .unwrap();
    let line = &said(&results)[1];
    assert!(
        line.contains(few["decision"].as_str().unwrap()),
        "{line} {few}"
    );
    let low = units::change(few["ratio"]["low"].as_f64().unwrap());
    assert!(line.contains(&low), "{line} {few}");
}

#[test]
fn before_anything_is_measured_the_lines_say_so() {
    let mut results = results();
    results.runs.clear();
    assert!(said(&results)[0].ends_with("nothing can be compared yet"));
    assert!(said(&results)[3].ends_with("not measured yet"));
}

#[test]
fn a_difference_on_a_machine_that_others_used_is_doubtful() {
    let results_of = |is_disturbed: &dyn Fn(usize, &Record) -> bool| {
        let mut results = results();
        let runs = results.runs.iter_mut().enumerate();
        for (_, run) in runs.filter(|(at, run)| is_disturbed(*at, run)) {
            for sample in &mut run.telemetry {
                let machine = sample.machine.as_mut().expect("it was observed");
                machine.steal_s = 0.4;
            }
        }
        results
    };
    let doubt = ", but other programs used the machine (H14)";
    let are_doubtful = |is_disturbed: &dyn Fn(usize, &Record) -> bool| {
        let lines = said(&results_of(is_disturbed));
        lines.iter().any(|line| line.contains(doubt))
    };
    assert!(are_doubtful(&|_, _| true));
    // All runs of one side are half of the compared runs.
    for mix in ["1:0", "5:1"] {
        assert!(are_doubtful(&|_, run| run.header.combination["mix"] == mix));
    }
    assert!(!are_doubtful(&|at, _| at == 0));
    assert!(!are_doubtful(&|_, _| false));
}
