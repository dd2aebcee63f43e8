//! The highest rate that keeps a limit, in every output.

use std::{collections::BTreeMap, path::Path};

use report::{
    Detail, PastResult, Results, SearchAnswer, csv, history_as_text, html, json, junit, markdown,
    openmetrics, search_sentence, short_search_sentences, summary, table,
};
use samples::{Host, OfferedLoad, Record};
use serde_json::Value;
use stats::{Interval, RateAnswer};
use verdict::{Outcome, RateQuestion};

use crate::synthetic::{self, Plan};

const ANSWER: &str = "p99 < 20 s up to 200/s, the highest rate tried";

fn run(run: u32, rate_per_s: f64) -> Record {
    let mut record = synthetic::record(&Plan {
        run,
        block: run,
        combination: vec![("mix", "1:0".into()), ("rate", rate_per_s.to_string())],
        connections: 4,
        limit_per_s: 400.0,
        measured_s: 4,
        host: Host::Both,
    });
    record.offered = Some(OfferedLoad {
        process: "poisson".to_owned(),
        rate_per_s: Some(rate_per_s),
        ..OfferedLoad::of_closed_loop(10_000)
    });
    record
}

/// A search that keeps its limit at the highest rate that it tries.
fn results() -> Results {
    let mut results = synthetic::quickstart(Host::Both);
    let rates = [100.0, 200.0, 200.0, 200.0];
    results.runs = (1..).zip(rates).map(|(at, rate)| run(at, rate)).collect();
    results.planned_runs = 4;
    results.factors.truncate(1);
    results.factors[0].levels = vec!["1:0".to_owned()];
    results.factors.push(report::Factor {
        name: "rate".to_owned(),
        levels: vec!["100".to_owned(), "200".to_owned()],
    });
    answer_search(&mut results);
    results
}

/// Decides the answer of the runs.
fn answer_search(results: &mut Results) {
    let question = RateQuestion {
        combination: BTreeMap::from([("mix".to_owned(), "1:0".to_owned())]),
        limit: "p99 < 20 s".to_owned(),
        quantile: 0.99,
        limit_ns: 20_000_000_000,
        from_per_s: Some(100.0),
        to_per_s: Some(200.0),
        precision: 0.05,
        measured_s: 4.0,
        runs_at_most: 40,
        time_is_spent: false,
    };
    results.searches = vec![SearchAnswer::of(&question, &results.runs)];
}

/// Other programs use the machine in the first runs.
fn disturb(results: &mut Results, runs: usize) {
    for run in results.runs.iter_mut().take(runs) {
        for sample in &mut run.telemetry {
            let machine = sample.machine.as_mut().expect("it was observed");
            machine.steal_s = 0.4;
        }
    }
}

#[test]
fn every_output_has_the_answer() {
    let results = results();
    let answer = &results.searches[0];
    assert_eq!(search_sentence(&results, answer), ANSWER);
    assert_eq!(answer.found.outcome(), Outcome::Held);
    let short = summary(&results, Path::new("results/made-1"), 120, &|_| None);
    let lines: Vec<&str> = short.lines().collect();
    assert!(lines.contains(&ANSWER), "{short}");
    // The throughput of the highest rate is that rate, not what the server can do.
    assert!(!short.contains("Highest"), "{short}");
    assert!(table(&results, 120).contains(ANSWER));
    let text = markdown(&results);
    assert!(text.contains("up to 200/s, the highest rate tried"));
    assert!(!text.contains("Highest throughput"), "{text}");
    let page = html(&results);
    for of_a_peak in ["Throughput reached", "What limits it", "It is the highest"] {
        assert!(!page.contains(of_a_peak), "{of_a_peak}");
    }
    assert!(page.contains("p99 &lt; 20 s up to 200/s, the highest rate tried"));
    let document: Value = serde_json::from_str(&json(&results, Detail::Runs)).unwrap();
    let found = &document["summary"]["max_rates"][0];
    assert_eq!(found["levels"]["mix"], "1:0");
    assert_eq!(found["limit"], "p99 < 20 s");
    assert_eq!(found["answer"], "kept");
    assert_eq!(found["rate_per_s"], 200.0);
    assert!(found["low_per_s"].is_null() && found["limited_by"].is_null());
    assert_eq!(found["runs"], 4);
    assert_eq!(found["sentence"], ANSWER);
    assert_eq!(document["summary"]["answers"], Value::Array(Vec::new()));
    // The rate of each run is a column.
    let rows = csv(&results, Detail::Runs);
    let head = rows.lines().next().unwrap();
    assert!(head.contains(",mix,rate,"), "{head}");
}

#[test]
fn the_history_has_the_answer_instead_of_the_highest_throughput() {
    let mut results = results();
    let row = |results: &Results| {
        let past = PastResult {
            headline: verdict::headline(&results.runs),
            search_answers: short_search_sentences(&results.factors, &results.searches),
            ..PastResult::default()
        };
        history_as_text(&[past], 0, 0, 400)
    };
    let text = row(&results);
    assert!(
        text.contains(ANSWER) && !text.contains("throughput"),
        "{text}"
    );
    // Two combinations have a line each.
    results.factors[0].levels.push("0:1".to_owned());
    let mut other = results.searches[0].clone();
    let combination = &mut other.found.question.combination;
    combination.insert("mix".to_owned(), "0:1".to_owned());
    other.found.answer = Some(RateAnswer::Found(Interval {
        estimate: 4_120.0,
        low: 3_980.0,
        high: 4_200.0,
    }));
    results.searches.push(other);
    let text = row(&results);
    let lines = [
        "mix 1:0: p99 < 20 s up to 200/s",
        "mix 0:1: p99 < 20 s up to 4.12k/s (3.98k/s to 4.20k/s)",
    ];
    let found = lines.map(|line| text.lines().position(|it| it.contains(line)));
    assert!(found[0].is_some() && found[0] < found[1], "{text}");
    // Without a complete run there is no answer to show.
    let none = PastResult {
        search_answers: vec!["p99 < 20 s: not answered yet, after 0 runs".to_owned()],
        ..PastResult::default()
    };
    assert!(history_as_text(&[none], 0, 0, 400).contains("nothing complete"));
}

/// A search that ended with this answer.
fn answered(answer: Option<RateAnswer>) -> Results {
    let mut results = results();
    results.searches[0].found.answer = answer;
    results
}

#[test]
fn an_answer_is_a_test_of_a_ci_system() {
    const NAME: &str =
        "<testcase classname=\"quickstart\" name=\"highest rate with p99 &lt; 20 s\">";
    let case = |results: &Results, outcome: &str| {
        let text = junit(results);
        assert!(
            text.contains(&format!("{NAME}{outcome}</testcase>")),
            "{text}"
        );
        text
    };
    let counts = |failures: u32, skipped: u32| {
        format!(r#"tests="1" failures="{failures}" errors="0" skipped="{skipped}""#)
    };
    let kept = case(&results(), "");
    assert!(kept.contains(&counts(0, 0)), "{kept}");
    let never = answered(Some(RateAnswer::NeverKept { rate_per_s: 100.0 }));
    let message = "<failure message=\"p99 &lt; 20 s is not kept even at 100/s\"></failure>";
    let never = case(&never, message);
    assert!(never.contains(&counts(1, 0)), "{never}");
    let spent = answered(Some(RateAnswer::Spent(None)));
    let message = "<skipped message=\"p99 &lt; 20 s: no answer after 4 runs\"></skipped>";
    let spent = case(&spent, message);
    assert!(spent.contains(&counts(0, 1)), "{spent}");
    let mut open = answered(None);
    open.planned_runs = 40;
    let text = junit(&open);
    let error = "<error message=\"4 of 40 planned runs are complete\"></error>";
    assert!(text.contains(error), "{text}");
    let counts = r#"tests="2" failures="0" errors="1" skipped="1""#;
    assert!(text.contains(counts), "{text}");
    assert!(!junit(&synthetic::quickstart(Host::Both)).contains("<testcase"));
}

#[test]
fn a_rate_and_its_bounds_are_metrics() {
    let lines = |results: &Results| -> Vec<String> {
        let text = openmetrics(results);
        let lines = text.lines();
        let own = lines.filter(|line| line.starts_with("dbdyno_max_rate_"));
        own.map(str::to_owned).collect()
    };
    let labels = r#"experiment="quickstart",limit="p99 < 20 s",factor_mix="1:0""#;
    let rate = |bound: &str, value: &str| {
        format!(r#"dbdyno_max_rate_operations_per_second{{{labels},bound="{bound}"}} {value}"#)
    };
    let answer = |word: &str| format!(r#"dbdyno_max_rate_answer{{{labels},answer="{word}"}} 1"#);
    // A rate that was measured itself has no bounds.
    assert_eq!(lines(&results()), [rate("estimate", "200"), answer("kept")]);
    let interval = Interval {
        estimate: 4_120.0,
        low: 3_980.5,
        high: 4_200.0,
    };
    assert_eq!(
        lines(&answered(Some(RateAnswer::Found(interval)))),
        [
            rate("estimate", "4120"),
            rate("low", "3980.5"),
            rate("high", "4200"),
            answer("found"),
        ]
    );
    let never = answered(Some(RateAnswer::NeverKept { rate_per_s: 100.0 }));
    assert_eq!(lines(&never), [answer("never kept")]);
}

#[test]
fn an_answer_on_a_machine_that_others_used_is_doubtful() {
    let answer = |disturbed: usize| {
        let mut results = results();
        disturb(&mut results, disturbed);
        answer_search(&mut results);
        let answer = &results.searches[0];
        let is_doubtful = answer.remedy().contains("H14");
        (search_sentence(&results, answer), is_doubtful)
    };
    assert_eq!(answer(2), (ANSWER.to_owned(), false));
    let doubt = format!("{ANSWER}, but other programs used the machine (H14)");
    assert_eq!(answer(3), (doubt, true));
}

#[test]
fn the_outputs_do_not_decide_the_answer_anew() {
    let mut results = results();
    // The runs would make it doubtful if an output judged them again.
    disturb(&mut results, 4);
    let document: Value = serde_json::from_str(&json(&results, Detail::Runs)).unwrap();
    assert_eq!(document["summary"]["max_rates"][0]["sentence"], ANSWER);
    let short = summary(&results, Path::new("results/made-1"), 120, &|_| None);
    assert!(short.lines().any(|line| line == ANSWER), "{short}");
    assert!(markdown(&results).contains("the highest rate tried\n"));
}

#[test]
fn other_results_have_no_rates() {
    let document = json(&synthetic::quickstart(Host::Both), Detail::Runs);
    assert!(!document.contains("max_rates"));
    assert!(!openmetrics(&synthetic::quickstart(Host::Both)).contains("max_rate"));
}
