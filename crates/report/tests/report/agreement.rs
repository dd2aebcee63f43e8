//! Tests that every output reports the same decision, mean and interval for the same records.

use std::collections::BTreeMap;

use audit::{AuditedRun, Preregistration, Subject};
use proptest::prelude::*;
use report::{
    Detail, Factor, MeasureSelection, Results, contrast_as_json, contrast_as_markdown,
    contrast_as_text,
};
use samples::{Host, Record};
use serde_json::Value;
use verdict::{
    Answer, ComparisonParameters, Contrast, Execution, Levels, Outcome, Question, Side, Tolerance,
};

use crate::synthetic::{self, Plan};

mod run_figures;

use run_figures::assert_runs_agree;

const CONNECTIONS: [u32; 3] = [1, 4, 16];

/// An experiment of filesystems at three numbers of connections, with the deviation of each execution.
#[derive(Debug, Clone)]
struct Made {
    filesystems: Vec<&'static str>,
    /// By block, filesystem and connections: a factor.
    factors: Vec<f64>,
    blocks: u32,
    min_effect: f64,
    until_decided: bool,
}

fn made() -> impl Strategy<Value = Made> {
    let shapes = (2_usize..=3, 2_u32..=5, any::<bool>());
    shapes.prop_flat_map(|(filesystems, blocks, until_decided)| {
        let executions = filesystems * blocks as usize * CONNECTIONS.len();
        let noise = prop_oneof![Just(0.002), Just(0.05), Just(0.5)];
        let shift = prop_oneof![Just(0.0), Just(0.05), Just(0.6)];
        let factors = (
            prop::collection::vec(-1.0..1.0_f64, executions),
            noise,
            shift,
        );
        (factors, 0.01..0.1).prop_map(move |((noises, noise, shift), min_effect)| Made {
            filesystems: ["ext4", "xfs", "zfs"][..filesystems].to_vec(),
            factors: noises
                .iter()
                .enumerate()
                .map(|(at, it)| {
                    let filesystem = (at / CONNECTIONS.len()) % filesystems;
                    (noise * it + shift * filesystem as f64).exp()
                })
                .collect(),
            blocks,
            min_effect,
            until_decided,
        })
    })
}

impl Made {
    fn results(&self) -> Results {
        let mut runs = Vec::new();
        for block in 1..=self.blocks {
            for filesystem in &self.filesystems {
                for connections in CONNECTIONS {
                    let at = runs.len();
                    // With the most connections the throughput collapses, for which the audit has a rule.
                    let collapse = if connections == 16 { 0.3 } else { 1.0 };
                    runs.push(synthetic::record(&Plan {
                        run: at as u32 + 1,
                        block,
                        combination: vec![
                            ("fs", (*filesystem).to_owned()),
                            ("connections", connections.to_string()),
                        ],
                        connections,
                        limit_per_s: 20_000.0 * self.factors[at] * collapse,
                        measured_s: 2,
                        host: Host::Both,
                    }));
                }
            }
        }
        let budget = verdict::Budget {
            blocks: 8,
            time_is_spent: false,
        };
        let levels = |name: &str, levels: &[String]| Factor {
            name: name.to_owned(),
            levels: levels.to_vec(),
        };
        Results {
            name: "agreement".to_owned(),
            question: String::new(),
            experiment_text: String::new(),
            factors: vec![
                levels(
                    "fs",
                    &self
                        .filesystems
                        .iter()
                        .map(ToString::to_string)
                        .collect::<Vec<_>>(),
                ),
                levels("connections", &CONNECTIONS.map(|it| it.to_string())),
            ],
            chart: None,
            clauses: Vec::new(),
            expectations: Vec::new(),
            searches: Vec::new(),
            verdict: Some(Question {
                metric: verdict::Metric::Throughput,
                baseline: vec![("fs".to_owned(), "ext4".to_owned())],
                min_effect: self.min_effect,
                until_decided: self.until_decided.then_some(budget),
            }),
            planned_runs: runs.len() as u32,
            runs,
            parts: Default::default(),
            disturbances: report::Disturbances::default(),
            audit: None,
        }
    }
}

/// The runs of one filesystem, as in `compare DIR:fs=NAME`.
fn side<'r>(results: &'r Results, filesystem: &str) -> Side<'r> {
    let runs = results.runs.iter();
    let own = runs.filter(|run| run.header.combination["fs"] == filesystem);
    Side {
        name: format!("results:fs={filesystem}"),
        levels: Levels::from([("fs".to_owned(), filesystem.to_owned())]),
        executions: own.map(|run| Execution::of(run, 1)).collect(),
        looked_at: results
            .verdict
            .as_ref()
            .unwrap()
            .until_decided
            .map(|it| it.blocks),
    }
}

/// Text without the markup of a page or a terminal.
fn plain(text: &str) -> String {
    let unbroken = text.replace(['\u{a0}', '\u{202f}'], " ");
    unbroken.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The means of throughput by filesystem and connections in the JSON, with their bounds.
fn means(json: &Value) -> BTreeMap<(String, String), [f64; 3]> {
    let combinations = json["combinations"].as_array().unwrap().iter();
    let all = combinations.map(|it| {
        let level = |name: &str| it["levels"][name].as_str().unwrap().to_owned();
        let metrics = it["metrics"].as_array().unwrap();
        let throughput = metrics.iter().find(|it| it["measure"] == "throughput");
        let bounds = ["mean", "low", "high"];
        (
            (level("fs"), level("connections")),
            bounds.map(|bound| throughput.unwrap()[bound].as_f64().unwrap()),
        )
    });
    all.collect()
}

/// The share of the peak in the audit's finding, the worst of all filesystems; `None` without a finding.
fn share_of_peak(runs: &[Record]) -> Option<f64> {
    let measured = runs.iter().map(|record| AuditedRun {
        record,
        limit: None,
        side: None,
    });
    let subject = Subject {
        runs: measured.collect(),
        declared: Preregistration {
            is_experiment: true,
            factors: vec!["fs".to_owned(), "connections".to_owned()],
            ..Preregistration::default()
        },
        ..Subject::default()
    };
    let outcome = audit::judge(audit::rule("H10").unwrap(), &subject);
    outcome.unwrap().figures.get("share_of_peak").copied()
}

/// Asserts that a number of a document is this one, up to the rounding of serde_json in the last digit.
fn assert_number(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap();
    assert!(
        (found - expected).abs() <= 1e-14 * expected.abs(),
        "{found} {expected}"
    );
}

/// Asserts that JSON, page and Markdown of a report contain one comparison.
fn assert_reported(answer: &Answer, json: &Value, texts: &[String], sentence: &str) {
    let comparisons = json["verdict"]["comparisons"].as_array().unwrap();
    let at = answer.within[0].1.as_str();
    let told = comparisons
        .iter()
        .find(|it| {
            it["levels"]["connections"] == at && it["compared"]["fs"] == answer.levels[0].1.as_str()
        })
        .unwrap();
    assert_eq!(told["decision"], answer.decision.word());
    assert_eq!(told["sentence"], sentence);
    let ratio = answer.comparison.unwrap().ratio;
    for (bound, expected) in [
        ("estimate", ratio.estimate),
        ("low", ratio.low),
        ("high", ratio.high),
    ] {
        assert_number(&told["ratio"][bound], expected);
    }
    let means = means(json);
    let filesystems = ["ext4", answer.levels[0].1.as_str()];
    let of_combinations = filesystems.map(|fs| means[&(fs.to_owned(), at.to_owned())][0]);
    let [baseline, compared] = answer.means.unwrap();
    for (name, expected) in [("baseline_mean", baseline), ("compared_mean", compared)] {
        assert_number(&told[name], expected);
    }
    for (found, expected) in of_combinations.iter().zip([baseline, compared]) {
        assert_number(&Value::from(*found), expected);
    }
    for text in texts {
        assert!(text.contains(&plain(sentence)), "{sentence}\n{text}");
    }
}

/// Asserts that no interval contradicts the decision beside it, for any metric or cost.
fn assert_intervals_say_what_is_decided(contrast: &Contrast, json: &Value) {
    for (place, told) in contrast
        .places
        .iter()
        .zip(json["combinations"].as_array().unwrap())
    {
        for (kind, all) in [("metrics", &place.metrics), ("costs", &place.costs)] {
            for (compared, told) in all.iter().zip(told[kind].as_array().unwrap()) {
                assert_eq!(told["measure"], compared.measure.name());
                assert_eq!(told["decision"], compared.decision.word());
                let Some(comparison) = compared.comparison else {
                    continue;
                };
                let (name, interval, none) = match compared.amount() {
                    Some(amount) => ("difference", amount, 0.0),
                    None => ("ratio", comparison.ratio, 1.0),
                };
                assert_number(&told[name]["low"], interval.low);
                assert_number(&told[name]["high"], interval.high);
                assert!(told["ratio"].is_null() || told["difference"].is_null());
                let is_apart = interval.low > none || interval.high < none;
                match compared.decision {
                    decision if decision.is_different() => assert!(is_apart, "{compared:?}"),
                    verdict::Decision::Inconclusive if comparison.executions >= 3 => {
                        assert!(!is_apart, "{compared:?}");
                    }
                    _ => {}
                }
            }
        }
    }
}

/// Asserts that `--fail-if` uses the comparisons of the table: the same interval, and no limit broken unless slower.
fn assert_checks_agree(contrast: &Contrast, margin: f64) {
    let tolerance = |name: &str, sign| format!("{name} {sign}{}%", margin * 100.0);
    for text in [tolerance("throughput", '-'), tolerance("p95", '+')] {
        let tolerance = Tolerance::parse(&text).unwrap();
        let measure = tolerance.measure;
        let checks = verdict::checks(contrast, &[tolerance]);
        for (check, place) in checks.iter().zip(&contrast.places) {
            let compared = place
                .metrics
                .iter()
                .find(|it| it.measure == measure)
                .unwrap();
            assert_eq!(check.within, place.within);
            assert_eq!(check.ratio, compared.comparison.map(|it| it.ratio));
            let is_worse = matches!(
                compared.decision,
                verdict::Decision::Slower | verdict::Decision::Equivalent
            );
            assert!(
                check.outcome != Outcome::Broken || is_worse,
                "{check:?} {compared:?}"
            );
        }
    }
}

/// Asserts that `compare` agrees for the same runs, whichever side is named first.
fn assert_contrasted(results: &Results, answers: &[Answer], filesystem: &str) {
    let question = results.verdict.as_ref().unwrap();
    let executions: Vec<Execution<'_>> =
        results.runs.iter().map(|it| Execution::of(it, 1)).collect();
    let terms = ComparisonParameters {
        margin: question.min_effect,
        primary: Some(question.metric),
        asked: Some((question, &executions)),
    };
    let sides = ["ext4", filesystem].map(|it| side(results, it));
    let contrast = verdict::contrast(&sides[0], &sides[1], &terms);
    let turned = verdict::contrast(&sides[1], &sides[0], &terms);
    let nothing = || audit::Audit {
        assessment: audit::Assessment {
            machine: audit::MachineState::Quiet,
            scope: audit::Scope::Claim,
            method: Some(audit::Grade::A),
        },
        judgements: Vec::new(),
    };
    let audit = audit::SidesAudit {
        sides: [nothing(), nothing()],
        together: Vec::new(),
        first: None,
    };
    let text = plain(&contrast_as_text(
        &contrast,
        &[],
        &audit,
        MeasureSelection::All,
        200,
    ));
    let markdown = plain(&contrast_as_markdown(
        &contrast,
        &[],
        &audit,
        MeasureSelection::All,
    ));
    let json: Value = serde_json::from_str(&contrast_as_json(&contrast, &[], &audit)).unwrap();
    assert!(contrast.is_asked && turned.is_asked);
    assert_intervals_say_what_is_decided(&contrast, &json);
    assert_checks_agree(&contrast, question.min_effect);
    assert_eq!(contrast.places.len(), CONNECTIONS.len());
    for (at, place) in contrast.places.iter().enumerate() {
        let connections = &place.within["connections"];
        let answer = answers
            .iter()
            .find(|it| it.within[0].1 == *connections && it.levels[0].1 == filesystem)
            .unwrap();
        let primary = contrast.primary_of(place).unwrap();
        assert_eq!(primary.decision, answer.decision);
        assert_eq!(primary.comparison, answer.comparison);
        assert_eq!(primary.p_value, answer.p_value);
        assert_eq!(Some(primary.means), answer.means);
        let told = &json["combinations"][at]["metrics"][0];
        assert_eq!(json["primary"], told["measure"]);
        assert_eq!(told["decision"], answer.decision.word());
        assert_number(&told["a"], primary.means[0]);
        assert_number(&told["ratio"]["low"], answer.comparison.unwrap().ratio.low);
        let said = match answer.decision {
            verdict::Decision::Equivalent => "A and B are equivalent:".to_owned(),
            verdict::Decision::Inconclusive => "inconclusive:".to_owned(),
            different => format!("B is {}:", different.word()),
        };
        let said = format!("connections {connections}: {said}");
        assert!(text.contains(&said), "{said}\n{text}");
        assert!(markdown.contains(&said), "{said}\n{markdown}");
        let turned = turned.primary_of(&turned.places[at]).unwrap();
        assert_eq!(
            turned.decision.is_different(),
            answer.decision.is_different()
        );
        assert_eq!(
            turned.decision == answer.decision,
            !answer.decision.is_different()
        );
        assert_eq!(turned.p_value, answer.p_value);
    }
}

proptest! {
    // Each case is a page, two documents and an audit of up to 45 runs.
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 20, ..ProptestConfig::default() })]

    #[test]
    fn every_output_says_the_same(made in made()) {
        let results = made.results();
        let question = results.verdict.as_ref().unwrap();
        let executions: Vec<Execution<'_>> =
            results.runs.iter().map(|it| Execution::of(it, 1)).collect();
        let answers = verdict::answers(question, &executions);
        prop_assert_eq!(answers.len(), (made.filesystems.len() - 1) * CONNECTIONS.len());
        let json: Value = serde_json::from_str(&report::json(&results, Detail::Runs)).unwrap();
        let markdown = plain(&report::markdown(&results));
        let terminal = plain(&report::table(&results, 1000));
        let page = plain(&report::html(&results));
        for answer in &answers {
            let sentence = verdict::sentence(question, answer);
            assert_reported(answer, &json, &[markdown.clone(), terminal.clone()], &sentence);
            // The page has more than six comparisons only in its table: there each is a row with its interval.
            let ratio = answer.comparison.unwrap().ratio;
            let [estimate, low, high] = units::changes([ratio.estimate, ratio.low, ratio.high]);
            let row = format!("<td>{}</td><td>{estimate} ({low} to {high})</td>", answer.decision.word());
            prop_assert!(page.contains(&row), "{}", row);
        }
        assert_runs_agree(&results, &json, &report::html(&results));
        for filesystem in &made.filesystems[1..] {
            assert_contrasted(&results, &answers, filesystem);
        }
        let means = means(&json);
        if let Some(found) = share_of_peak(&results.runs) {
            let of = |fs: &str, connections: u32| means[&(fs.to_owned(), connections.to_string())][0];
            let shares = made.filesystems.iter().map(|fs| {
                let peak = CONNECTIONS.map(|it| of(fs, it)).into_iter().fold(0.0, f64::max);
                of(fs, 16) / peak
            });
            let shares: Vec<f64> = shares.collect();
            prop_assert!(shares.iter().any(|share| (share - found).abs() < 1e-12), "{} {:?}", found, shares);
        }
    }
}
