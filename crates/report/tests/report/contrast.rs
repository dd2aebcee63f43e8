//! Tests of two results compared: text, Markdown and JSON of fabricated runs as snapshots.

use audit::{Assessment, Audit, Finding, Grade, Judgement, Level, MachineState, Scope, SidesAudit};
use report::{
    MeasureSelection, Results, contrast_as_html, contrast_as_json, contrast_as_markdown,
    contrast_as_text, contrast_summary,
};
use verdict::{
    Check, ComparisonParameters, Contrast, Decision, Execution, Levels, Side, Tolerance,
};

use crate::{page::markup, synthetic::asked};

/// The runs of one mix.
fn side<'r>(results: &'r Results, mix: &str, only: Option<&str>) -> Side<'r> {
    let runs = results.runs.iter().filter(|run| {
        let combination = &run.header.combination;
        combination["mix"] == mix
            && only.is_none_or(|clients| combination["connections"] == clients)
    });
    Side {
        name: format!("results/asked-1:mix={mix}"),
        levels: Levels::from([("mix".to_owned(), mix.to_owned())]),
        executions: runs.map(|run| Execution::of(run, 1)).collect(),
        looked_at: None,
    }
}

/// Sets whether the log is synced at every commit, with the resulting InnoDB counters.
fn set_synced(run: &mut samples::Record, is_synced: bool) {
    for second in 0..7 {
        run.server_status.push(samples::ServerStatus {
            t_s: f64::from(second),
            length_s: 1.0,
            counters: [
                ("Innodb_data_fsyncs", 4_000.0),
                ("Innodb_row_lock_waits", 0.0),
            ]
            .map(|(name, grown)| (name.to_owned(), if is_synced { grown } else { 0.0 }))
            .into(),
            ..samples::ServerStatus::default()
        });
    }
    let flush = if is_synced { "1" } else { "2" };
    for server in &mut run.servers {
        let name = "innodb_flush_log_at_trx_commit".to_owned();
        server.variables.insert(name, flush.to_owned());
    }
}

/// The cheaper mix with a log that is synced at every commit, compared with the other.
fn found() -> (Contrast, Vec<Check>) {
    let mut results = asked();
    for run in &mut results.runs {
        let is_synced = run.header.combination["mix"] == "1:0";
        set_synced(run, is_synced);
    }
    let (a, b) = (
        side(&results, "1:0", Some("8")),
        side(&results, "5:1", None),
    );
    let found = verdict::contrast(&a, &b, &ComparisonParameters::of(0.02));
    let tolerances = ["throughput -3%", "fsyncs +5%", "p99 +900%"];
    let tolerances = tolerances.map(|text| Tolerance::parse(text).expect("it is one"));
    let checks = verdict::checks(&found, &tolerances);
    (found, checks)
}

/// The audit of sides that differ in two respects, the second measured after the first.
pub(super) fn audited() -> SidesAudit {
    let judgement = |id, level, evidence: &str| Judgement {
        rule: audit::rule(id).expect("there is such a rule"),
        outcome: Ok(Finding {
            level,
            evidence: evidence.to_owned(),
            figures: [("differences".to_owned(), 2.0)].into(),
            runs: Vec::new(),
        }),
    };
    let side = |grade, machine, judgements| Audit {
        assessment: Assessment {
            machine,
            scope: Scope::Claim,
            method: Some(grade),
        },
        judgements,
    };
    let neighbours = judgement(
        "H14",
        Level::Invalid,
        "other programs used 37.0 % of the CPU",
    );
    SidesAudit {
        sides: [
            side(Grade::B, MachineState::Quiet, Vec::new()),
            side(Grade::C, MachineState::Busy, vec![neighbours]),
        ],
        together: vec![judgement(
            "C02",
            Level::Invalid,
            "2 things differ: connections: 8 in A, 1 in B, sync_binlog: 0 in A, 1 in B",
        )],
        first: Some(0),
    }
}

#[test]
fn as_text() {
    let (found, checks) = found();
    insta::assert_snapshot!(contrast_as_text(
        &found,
        &checks,
        &audited(),
        MeasureSelection::All,
        110
    ));
}

#[test]
fn without_what_did_not_move() {
    let (found, checks) = found();
    let text = contrast_as_text(&found, &checks, &audited(), MeasureSelection::Moved, 110);
    insta::assert_snapshot!(text);
}

#[test]
fn the_answer_has_a_dozen_lines() {
    let (found, checks) = found();
    for width in [60, 80, 110, 200] {
        let text = contrast_summary(&found, &checks, &audited(), width);
        assert!(text.lines().count() <= 12, "{text}");
        // A command to paste is not broken.
        for line in text.lines().filter(|it| !it.starts_with("next")) {
            assert!(
                line.chars().count() <= usize::from(width),
                "{width}: {line}"
            );
        }
    }
    insta::assert_snapshot!(contrast_summary(&found, &checks, &audited(), 110));
}

#[test]
fn the_mark_of_a_percentile_is_explained() {
    let (mut found, checks) = found();
    let all = |found: &Contrast| {
        [
            contrast_summary(found, &checks, &audited(), 110),
            contrast_as_text(found, &checks, &audited(), MeasureSelection::All, 110),
            contrast_as_markdown(found, &checks, &audited(), MeasureSelection::All),
            contrast_as_html(found, &checks, &audited(), MeasureSelection::All),
        ]
    };
    let is_explained = |text: &String| {
        let words = text.replace('\n', " ");
        words.contains("fewer than ten independent operations")
    };
    assert!(!all(&found).iter().any(is_explained));
    for compared in &mut found.places[0].metrics {
        compared.thin = [true, false];
    }
    let marked = all(&found);
    assert!(marked.iter().all(is_explained), "{marked:?}");
    assert!(marked[0].lines().count() <= 12, "{}", marked[0]);
}

#[test]
fn looks_after_every_block_are_told() {
    let (mut found, checks) = found();
    found.looked_at = Some(20);
    let text = contrast_as_text(&found, &checks, &audited(), MeasureSelection::All, 110);
    assert!(text.contains("20 blocks"), "{text}");
    let json = contrast_as_json(&found, &checks, &audited());
    assert!(json.contains("\"looked_at_blocks_at_most\": 20"), "{json}");
}

#[test]
fn as_markdown() {
    let (found, checks) = found();
    insta::assert_snapshot!(contrast_as_markdown(
        &found,
        &checks,
        &audited(),
        MeasureSelection::All
    ));
}

#[test]
fn a_name_is_no_markup() {
    let (mut found, checks) = found();
    found.names[0] = "a`b <img src=x>\n# **c**|d".to_owned();
    let text = contrast_as_markdown(&found, &checks, &audited(), MeasureSelection::All);
    let first = text.lines().next().unwrap();
    assert_eq!(first, "**A**: a\\`b &lt;img src=x> # \\*\\*c\\*\\*|d  ");
}

#[test]
fn as_a_page() {
    let (mut found, checks) = found();
    let page = contrast_as_html(&found, &checks, &audited(), MeasureSelection::Moved);
    insta::assert_snapshot!(markup(&page));
    found.names[0] = "<img src=x>".to_owned();
    let page = contrast_as_html(&found, &checks, &audited(), MeasureSelection::All);
    assert!(page.contains("default-src 'none'") && !page.contains("<img"));
}

#[test]
fn as_json() {
    let (found, checks) = found();
    insta::assert_snapshot!(contrast_as_json(&found, &checks, &audited()));
}

#[test]
fn a_cost_that_makes_no_difference_is_no_reason() {
    let (mut synced, mut other) = (asked(), asked());
    synced.runs.iter_mut().for_each(|run| set_synced(run, true));
    other.runs.iter_mut().for_each(|run| set_synced(run, false));
    let a = side(&synced, "1:0", Some("8"));
    let b = side(&other, "1:0", Some("8"));
    let found = verdict::contrast(&a, &b, &ComparisonParameters::of(0.02));
    let text = contrast_as_text(&found, &[], &audited(), MeasureSelection::All, 200);
    assert!(
        text.contains(
            "No metric differs significantly, but the cost of an operation does: fsyncs of InnoDB"
        ),
        "{text}"
    );
    assert!(!text.contains("Why:"), "{text}");
    // Behind its label, it is a part of a sentence.
    let answer = contrast_summary(&found, &[], &audited(), 200);
    let why = "\nwhy       only the cost of an operation differs: fsyncs of InnoDB";
    assert!(answer.contains(why), "{answer}");
}

#[test]
fn a_cause_names_its_combination_among_several() {
    let results = asked();
    let (a, b) = (side(&results, "1:0", None), side(&results, "5:1", None));
    let found = verdict::contrast(&a, &b, &ComparisonParameters::of(0.02));
    let answer = contrast_summary(&found, &[], &audited(), 200);
    assert!(answer.contains("\nwhy       connections 1: "), "{answer}");
}

#[test]
fn a_cause_names_the_metric_if_the_deciding_one_does_not_differ() {
    let (mut found, _) = found();
    found.places[0].metrics[0].decision = Decision::Inconclusive;
    let answer = contrast_summary(&found, &[], &audited(), 200);
    // Not "only p50": further metrics may differ, too.
    let why = "\nwhy       p50 differs significantly, throughput does not: ";
    assert!(answer.contains(why), "{answer}");
}
