//! Tests of the decision about a candidate.

use std::time::Duration;

use protocol::RowsChecksum;
use verdict::TimedFamily;

use super::*;
use crate::{
    compare::{Comparison, ResultEquivalence, TrialParameters},
    execution::StatementResult,
};

/// A statement that the time did not suffice for.
fn undecided(statement: &str) -> Finding {
    let result = StatementResult {
        time_s: 1.0,
        rows: RowsChecksum::default(),
        changed: 0,
        warnings: 0,
    };
    Finding {
        statement: statement.to_owned(),
        variant: "index".to_owned(),
        texts: Default::default(),
        plans: [None, None],
        is_one_version: true,
        has_limit: false,
        changes_data: false,
        comparison: Comparison {
            statement: 0,
            side: 1,
            results: [result; 2],
            sameness: ResultEquivalence::Same,
            times_s: Vec::new(),
            compared: None,
            disturbed_by: None,
            costs: Default::default(),
        },
    }
}

/// The comparison of a side that takes `factor` times the baseline's time in each of 12 blocks, give or take 1 %.
fn compared(factor: f64) -> Compared {
    let mut family = TimedFamily::new(1, 0.05, 12, true).unwrap();
    for block in 0..12 {
        let noise = 1.0 + 0.01 * f64::from(block % 3 - 1);
        family.add(0, (1.0, factor * noise));
    }
    family.compared().remove(0).unwrap()
}

/// A statement that takes `factor` times as long.
fn finding(statement: &str, factor: f64) -> Finding {
    let mut finding = undecided(statement);
    finding.comparison.compared = Some(compared(factor));
    finding
}

/// A report about one side, with the sum of its statements.
fn report(findings: Vec<Finding>, total: Option<Compared>) -> Report {
    Report {
        version: "8.0.33".to_owned(),
        baseline: String::new(),
        copied: None,
        setup: None,
        versions: Vec::new(),
        terms: TrialParameters {
            blocks: 20,
            budget: Duration::ZERO,
            margin: 0.05,
            is_beyond_margin: true,
            seed: 1,
            family: 1,
        },
        blocks: 0,
        took: Duration::ZERO,
        findings,
        totals: vec![None, total],
        prices: vec![None, None],
        left_out: vec![None, None],
        failure: None,
        other_work: None,
        not_removed: None,
    }
}

fn measured(report: &Report) -> Measured {
    let proof = Proof::of(report, 1, &["Q1"]);
    proof.measured().cloned().unwrap()
}

#[test]
fn the_statements_that_were_measured_tell_whether_a_candidate_is_undecided() {
    for (names, expected) in [
        (&["Q1", "Q2"][..], &["Q1"][..]),
        // Its own statement was not executed, because it is not affected.
        (&["Q2"], &["Q2"]),
    ] {
        let findings = names.iter().map(|it| undecided(it)).collect();
        let measured = measured(&report(findings, None));
        assert_eq!(measured.outcome, Outcome::Undecided);
        let effects = measured.effects;
        let told: Vec<&str> = effects.iter().map(|it| it.statement.as_str()).collect();
        assert_eq!(told, expected);
        let verdict = Verdict::OfTime(Decision::Inconclusive);
        assert!(effects.iter().all(|it| it.verdict == verdict));
    }
}

#[test]
fn a_remedy_that_also_slows_a_statement_is_decided_by_their_sum() {
    for (factors, total, expected) in [
        ([0.1, 1.0], None, Outcome::Proved),
        ([0.1, 3.0], Some(0.5), Outcome::ProvedWithCost),
        ([0.1, 3.0], Some(1.0), Outcome::NotProved),
        // Without a block of both statements.
        ([0.1, 3.0], None, Outcome::NotProved),
        ([0.1, 3.0], Some(2.0), Outcome::Slower),
        ([1.0, 3.0], None, Outcome::Slower),
        ([3.0, 1.0], None, Outcome::Slower),
        ([1.0, 1.0], None, Outcome::NoEffect),
    ] {
        let findings = vec![finding("Q1", factors[0]), finding("Q2", factors[1])];
        let measured = measured(&report(findings, total.map(compared)));
        assert_eq!(measured.outcome, expected, "{factors:?} {total:?}");
        let together = measured.together.map(|it| it.statement);
        assert_eq!(together.is_some(), total.is_some());
        let is_mixed = factors == [0.1, 3.0];
        let is_of_both = measured.effects.len() == 2;
        assert!(is_of_both || !is_mixed, "{factors:?} {total:?}");
    }
}

#[test]
fn what_is_undecided_is_named_beside_what_is_proved() {
    for (factor, is_proved) in [(0.1, true), (3.0, false)] {
        // Faster, with a result that cannot be compared.
        let mut other = finding("Q4", 0.1);
        other.comparison.sameness = ResultEquivalence::Unknown;
        let all = vec![
            finding("Q1", factor),
            undecided("Q2"),
            finding("Q3", 1.0),
            other,
        ];
        let measured = measured(&report(all, None));
        assert_eq!(measured.outcome.is_proved(), is_proved);
        let undecided = measured.undecided.iter();
        let undecided: Vec<&str> = undecided.map(|it| it.statement.as_str()).collect();
        let expected: &[&str] = if is_proved { &["Q2", "Q4"] } else { &[] };
        assert_eq!(undecided, expected);
    }
}

#[test]
fn another_result_rejects_a_remedy_that_saves_time() {
    let mut other = undecided("Q2");
    other.comparison.sameness = ResultEquivalence::Different;
    let report = report(vec![finding("Q1", 0.1), other], None);
    assert_eq!(measured(&report).outcome, Outcome::AnotherResult);
}

#[test]
fn a_statement_without_rows_is_named_with_its_times() {
    for (changed, changes_data, expected) in [
        (0, false, " (returned no rows)"),
        (0, true, " (changed no rows)"),
        (1, true, ""),
    ] {
        let mut finding = finding("Q1", 0.5);
        finding.changes_data = changes_data;
        for result in &mut finding.comparison.results {
            result.changed = changed;
        }
        let effect = Effect::of(&finding);
        let times = format!("1.00 s to 500 ms{expected}");
        assert_eq!(effect.times(), Some(times.clone()));
        let start = format!("Q1: faster, {times}, -50");
        assert!(
            effect.sentence().starts_with(&start),
            "{}",
            effect.sentence()
        );
    }
}

#[test]
fn a_cost_is_a_factor_or_a_share() {
    let effect = |after_s| Effect {
        means_s: Some([0.004, after_s]),
        ..Effect::of(&undecided("4"))
    };
    for (after_s, expected) in [
        (0.0146, "takes 3.65 times as long"),
        (0.0046, "takes 15 % longer"),
    ] {
        assert_eq!(effect(after_s).longer().as_deref(), Some(expected));
    }
    assert_eq!(Effect::of(&undecided("4")).longer(), None);
}
