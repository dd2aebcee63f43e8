//! Tests of contrasts of fabricated sides.

use super::*;
use crate::{
    Decision, Outcome, Tolerance, checks,
    measure_comparison::confidence_of_look,
    testing::{RecordBuilder, record},
};

/// Executions in blocks 1, 2, …, with slightly different values.
fn records(made: &RecordBuilder, factors: &[f64]) -> Vec<Record> {
    let blocks = (1..).zip(factors);
    blocks
        .map(|(block, factor)| {
            record(&RecordBuilder {
                block,
                per_s: (made.per_s as f64 * factor) as u64,
                ..made.clone()
            })
        })
        .collect()
}

fn side<'a>(
    name: &str,
    levels: &[(&str, &str)],
    records: &'a [Record],
    results: usize,
) -> Side<'a> {
    let levels = levels
        .iter()
        .map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned()));
    Side {
        name: name.to_owned(),
        levels: levels.collect(),
        executions: records
            .iter()
            .map(|it| Execution::of(it, results))
            .collect(),
        looked_at: None,
    }
}

const NOISE: [f64; 5] = [1.0, 1.5, 0.8, 1.2, 0.9];

fn shifted(by: f64) -> Vec<f64> {
    let wobble = [1.0, 1.01, 0.99, 1.005, 0.995];
    NOISE
        .iter()
        .zip(wobble)
        .map(|(noise, wobble)| noise * wobble * by)
        .collect()
}

fn of<'c>(place: &'c SharedCombination, name: &str) -> &'c Compared {
    let mut all = place.metrics.iter().chain(&place.costs);
    all.find(|it| it.measure.name() == name).unwrap()
}

#[test]
fn executions_of_the_same_blocks_are_compared_in_pairs_and_others_as_lists() {
    let made = RecordBuilder {
        per_s: 10_000,
        ..RecordBuilder::default()
    };
    let (a, b) = (records(&made, &NOISE), records(&made, &shifted(1.2)));
    let paired = contrast(
        &side("a", &[], &a, 1),
        &side("b", &[], &b, 1),
        &ComparisonParameters::of(0.02),
    );
    let place = &paired.places[0];
    assert!(place.paired);
    let throughput = of(place, "throughput");
    assert_eq!(throughput.decision, Decision::Faster);
    assert!((throughput.comparison.unwrap().ratio.estimate - 1.2).abs() < 0.01);
    let apart = contrast(
        &side("a", &[], &a, 1),
        &side("b", &[], &b, 2),
        &ComparisonParameters::of(0.02),
    );
    let place = &apart.places[0];
    assert!(!place.paired);
    let throughput = of(place, "throughput");
    assert_eq!(throughput.decision, Decision::Inconclusive);
    assert!(throughput.executions_needed.unwrap() > 5);
    assert!(throughput.smallest_effect.unwrap() > 0.2);
}

#[test]
fn the_means_are_those_of_the_pairs() {
    let made = RecordBuilder {
        per_s: 10_000,
        ..RecordBuilder::default()
    };
    // Blocks 4 and 5, twice as fast, have no execution of B.
    let a = records(&made, &[1.0, 1.0, 1.0, 2.0, 2.0]);
    let b = records(&made, &[1.1; 3]);
    let found = contrast(
        &side("a", &[], &a, 1),
        &side("b", &[], &b, 1),
        &ComparisonParameters::of(0.02),
    );
    let place = &found.places[0];
    assert!(place.paired);
    let throughput = of(place, "throughput");
    let ratio = throughput.means[1] / throughput.means[0];
    assert!((ratio - 1.1).abs() < 0.001, "{ratio}");
    assert!((throughput.comparison.unwrap().ratio.estimate - ratio).abs() < 1e-9);
}

#[test]
fn lists_whose_runs_all_have_block_one_make_no_pairs() {
    let made = RecordBuilder::default();
    let all = |count: usize| (0..count).map(|_| record(&made)).collect::<Vec<_>>();
    let (a, b) = (all(3), all(3));
    let found = contrast(
        &side("a", &[], &a, 1),
        &side("b", &[], &b, 1),
        &ComparisonParameters::of(0.02),
    );
    assert!(!found.places[0].paired);
    assert_eq!(
        of(&found.places[0], "throughput").decision,
        Decision::Equivalent
    );
}

#[test]
fn a_cost_that_appears_from_nothing_is_told_and_a_tiny_one_is_not() {
    let with = |fsyncs, misses| RecordBuilder {
        counters: vec![
            ("Innodb_data_fsyncs", fsyncs),
            ("Innodb_buffer_pool_reads", misses),
        ],
        ..RecordBuilder::default()
    };
    let (a, b) = (
        records(&with(100.0, 0.0), &[1.0; 4]),
        records(&with(0.0, 0.5), &[1.0; 4]),
    );
    let found = contrast(
        &side("a", &[], &a, 1),
        &side("b", &[], &b, 1),
        &ComparisonParameters::of(0.02),
    );
    let place = &found.places[0];
    assert_eq!(of(place, "fsyncs").decision, Decision::Faster);
    assert_eq!(of(place, "fsyncs").means, [1.0, 0.0]);
    assert_eq!(of(place, "misses").decision, Decision::Equivalent);
    assert!(place.not_observed.contains(&Cost::DiskReads));
    assert_eq!(place.causes[0].rule, "fsyncs");
}

/// Executions whose server counted this number of fsyncs per 100 operations.
fn with_fsyncs(per_hundred: [f64; 5]) -> Vec<Record> {
    (1..)
        .zip(per_hundred)
        .map(|(block, fsyncs)| {
            record(&RecordBuilder {
                block,
                counters: vec![("Innodb_data_fsyncs", fsyncs)],
                ..RecordBuilder::default()
            })
        })
        .collect()
}

#[test]
fn next_to_nothing_is_judged_by_its_amount() {
    let outcome = |a: [f64; 5], b: [f64; 5]| {
        let (a, b) = (with_fsyncs(a), with_fsyncs(b));
        let found = contrast(
            &side("a", &[], &a, 1),
            &side("b", &[], &b, 2),
            &ComparisonParameters::of(0.02),
        );
        let tolerance = Tolerance::parse("fsyncs +5%").unwrap();
        let check = checks(&found, &[tolerance]).remove(0);
        let fsyncs = of(&found.places[0], "fsyncs");
        assert!(fsyncs.comparison.unwrap().ratio.high > 1.05);
        (fsyncs.decision, fsyncs.amount().is_some(), check.outcome)
    };
    let few = [0.1, 0.01, 0.3, 0.02, 0.1];
    assert_eq!(
        outcome(few, [0.02, 0.1, 0.1, 0.3, 0.03]),
        (Decision::Equivalent, true, Outcome::Held),
        "a hundredth of an fsync at most"
    );
    // The means are as close to each other as above, the executions are not.
    assert_eq!(
        outcome(few, [0.0, 4.0, 0.0, 0.0, 0.0]),
        (Decision::Inconclusive, true, Outcome::Undecided)
    );
    assert_eq!(
        outcome(few, [90.0, 95.0, 100.0, 91.0, 93.0]),
        (Decision::Slower, true, Outcome::Broken)
    );
    // Clearly above zero, but negligible all the same.
    assert_eq!(
        outcome([4.0, 4.2, 3.8, 4.1, 3.9], [4.1, 4.3, 3.9, 4.2, 4.0]),
        (Decision::Equivalent, true, Outcome::Held)
    );
}

#[test]
fn combinations_meet_without_the_levels_of_the_sides() {
    let at = |flush, connections| RecordBuilder {
        levels: vec![("flush", flush), ("connections", connections)],
        ..RecordBuilder::default()
    };
    let a = [at("1", "16"), at("1", "2")].map(|made| record(&made));
    let b = [at("2", "2"), at("2", "64"), at("2", "16")].map(|made| record(&made));
    let found = contrast(
        &side("a", &[("flush", "1")], &a, 1),
        &side("b", &[("flush", "2")], &b, 1),
        &ComparisonParameters::of(0.02),
    );
    let at: Vec<&str> = found
        .places
        .iter()
        .map(|it| it.within["connections"].as_str())
        .collect();
    assert_eq!(at, ["2", "16"], "numbers by their value");
    assert_eq!(found.alone[0], []);
    assert_eq!(found.alone[1][0]["connections"], "64");
    assert!(found.unlike.is_empty());
}

#[test]
fn what_was_done_otherwise_is_named() {
    let a = RecordBuilder {
        rows: Some(1000),
        levels: vec![("threads", "4")],
        ..RecordBuilder::default()
    };
    let b = RecordBuilder {
        rows: Some(2000),
        connections: 8,
        levels: vec![("threads", "8")],
        operation: "update",
        ..RecordBuilder::default()
    };
    let (a, b) = ([record(&a)], [record(&b)]);
    let found = contrast(
        &side("a", &[], &a, 1),
        &side("b", &[], &b, 2),
        &ComparisonParameters::of(0.02),
    );
    assert_eq!(
        found.unlike,
        [
            "operations: select against update",
            "connections: 4 against 8",
            "rows: 1000 against 2000",
            "threads: 4 against 8",
        ]
    );
    let few = of(&found.places[0], "throughput");
    assert_eq!(
        (few.decision, few.comparison),
        (Decision::Inconclusive, None)
    );
}

#[test]
fn variables_that_say_how_the_server_works_are_told() {
    let with = |flush, port| RecordBuilder {
        variables: vec![("innodb_flush_log_at_trx_commit", flush), ("port", port)],
        ..RecordBuilder::default()
    };
    let (a, b) = ([record(&with("1", "3306"))], [record(&with("2", "3307"))]);
    let found = contrast(
        &side("a", &[], &a, 1),
        &side("b", &[], &b, 2),
        &ComparisonParameters::of(0.02),
    );
    let told: Vec<&str> = found
        .differences
        .iter()
        .map(|it| it.what.as_str())
        .collect();
    assert_eq!(told, ["innodb_flush_log_at_trx_commit"]);
}

#[test]
fn a_tolerance_is_judged_by_its_interval() {
    let made = RecordBuilder {
        per_s: 10_000,
        ..RecordBuilder::default()
    };
    let (a, b) = (records(&made, &NOISE), records(&made, &shifted(0.9)));
    let found = contrast(
        &side("a", &[], &a, 1),
        &side("b", &[], &b, 1),
        &ComparisonParameters::of(0.02),
    );
    let outcome = |text: &str| {
        let tolerance = Tolerance::parse(text).unwrap();
        let found = checks(&found, &[tolerance]);
        found.first().map(|check| check.outcome)
    };
    assert_eq!(outcome("throughput -3%"), Some(Outcome::Broken));
    assert_eq!(outcome("throughput -10%"), Some(Outcome::Undecided));
    assert_eq!(outcome("throughput -20%"), Some(Outcome::Held));
    assert_eq!(outcome("disk_reads +5%"), None, "nobody looked");
    let few = contrast(
        &side("a", &[], &a[..2], 1),
        &side("b", &[], &b[..2], 1),
        &ComparisonParameters::of(0.02),
    );
    let check = checks(&few, &[Tolerance::parse("throughput -3%").unwrap()]);
    assert_eq!(check[0].outcome, Outcome::Undecided);
    let rare = RecordBuilder {
        per_s: 2,
        ..RecordBuilder::default()
    };
    let rare = records(&rare, &NOISE);
    let sides = ["a", "b"].map(|name| side(name, &[], &rare, 1));
    let found_rarely = contrast(&sides[0], &sides[1], &ComparisonParameters::of(0.02));
    // More operations would have one.
    let check = checks(&found_rarely, &[Tolerance::parse("p99 +5%").unwrap()]);
    assert_eq!(
        (check[0].outcome, check[0].ratio),
        (Outcome::Undecided, None)
    );
    let several = ["throughput -3%", "p99 +5%"].map(|text| Tolerance::parse(text).unwrap());
    // The other measures do not change the interval: the check uses the one of the comparison's decision.
    let of_table = of(&found.places[0], "throughput").comparison.unwrap().ratio;
    assert_eq!(checks(&found, &several)[0].ratio, Some(of_table));
}

#[test]
fn what_was_looked_at_after_every_block_has_wider_intervals() {
    let made = RecordBuilder {
        per_s: 1000,
        ..RecordBuilder::default()
    };
    let (one, other) = (records(&made, &NOISE), records(&made, &shifted(1.03)));
    let at = |looked_at: Option<usize>| {
        let mut a = side("a", &[("x", "1")], &one, 1);
        let mut b = side("b", &[("x", "2")], &other, 1);
        (a.looked_at, b.looked_at) = (looked_at, looked_at);
        contrast(&a, &b, &ComparisonParameters::of(0.001))
    };
    let (once, often) = (at(None), at(Some(20)));
    assert_eq!((once.looked_at, often.looked_at), (None, Some(20)));
    let width = |it: &Contrast| {
        let ratio = of(&it.places[0], "throughput").comparison.unwrap().ratio;
        ratio.high - ratio.low
    };
    assert!(
        width(&often) > 1.2 * width(&once),
        "{} {}",
        width(&often),
        width(&once)
    );
    let p_value = |it: &Contrast| of(&it.places[0], "throughput").p_value.unwrap();
    assert!(p_value(&often) > p_value(&once));
    // The checks of a change also cover all interim analyses.
    let tolerance = [Tolerance::parse("throughput -50%").unwrap()];
    let low = |it: &Contrast| checks(it, &tolerance)[0].ratio.unwrap().low;
    assert!(low(&often) < low(&once));
}

/// Experiments that compare a subject with itself and end as soon as a side seems better: how often compare agrees.
#[test]
fn stopping_when_it_looks_decided_fools_nobody() {
    let mut random = 88_172_645_463_325_252_u64;
    let mut uniform = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random >> 11) as f64 / (1_u64 << 53) as f64
    };
    // Twelve uniform ones minus six are approximately normal.
    let mut noise = move || ((0..12).map(|_| uniform()).sum::<f64>() - 6.0) * 0.02;
    let (experiments, most) = (200, 12);
    let confidences: Vec<f64> = (0..=most)
        .map(|blocks| confidence_of_look(Some(most), blocks, 0.95))
        .collect();
    let (mut fooled_once, mut fooled_often) = (0, 0);
    for _ in 0..experiments {
        let factors: Vec<(f64, f64)> = (0..most).map(|_| (noise().exp(), noise().exp())).collect();
        // Until one analysis at the usual level calls it different.
        let stopped = (3..=most)
            .find(|blocks| {
                let found = stats::compare_pairs(&factors[..*blocks], 0.95);
                found.is_some_and(|it| it.p_value < 0.05)
            })
            .unwrap_or(most);
        let pairs = &factors[..stopped];
        let found = stats::compare_pairs(pairs, 0.95).unwrap();
        fooled_once += usize::from(found.p_value < 0.05);
        fooled_often += usize::from(found.p_value < 1.0 - confidences[stopped]);
    }
    assert!(fooled_once > experiments / 8, "{fooled_once}");
    assert!(fooled_often < experiments * 8 / 100, "{fooled_often}");
}

#[test]
fn what_else_was_measured_does_not_change_what_the_primary_metric_decides() {
    // Only throughput decides; among 14 metrics and combinations it would not.
    let at = |level: &'static str, per_s, response_us| RecordBuilder {
        levels: vec![("flush", level)],
        per_s,
        response_us,
        ..RecordBuilder::default()
    };
    let (a, b) = (
        records(&at("1", 10_000, 500), &[1.0, 1.02, 0.98, 1.01]),
        records(&at("2", 10_600, 500), &[1.0, 0.99, 1.01, 1.0]),
    );
    let sides = [
        side("a", &[("flush", "1")], &a, 1),
        side("b", &[("flush", "2")], &b, 1),
    ];
    let found = contrast(&sides[0], &sides[1], &ComparisonParameters::of(0.02));
    let question = crate::Question {
        metric: Metric::Throughput,
        baseline: vec![("flush".to_owned(), "1".to_owned())],
        min_effect: 0.02,
        until_decided: None,
    };
    let all: Vec<Execution<'_>> = a.iter().chain(&b).map(|it| Execution::of(it, 1)).collect();
    let answers = crate::answers(&question, &all);
    let (primary, answer) = (&found.places[0].metrics[0], &answers[0]);
    assert_eq!(found.primary, Some(Metric::Throughput));
    assert_eq!(primary.decision, Decision::Faster);
    assert_eq!(primary.decision, answer.decision);
    assert_eq!(primary.comparison, answer.comparison);
    assert_eq!(primary.p_value, answer.p_value);
    assert_eq!(Some(primary.means), answer.means);
}

#[test]
fn among_the_comparisons_of_a_question_the_question_decides() {
    let at = |level: &'static str| RecordBuilder {
        levels: vec![("flush", level)],
        per_s: 10_000,
        ..RecordBuilder::default()
    };
    // p = 0.02 alone, more than 0.05 as one of three.
    let weak = [0.02_f64, 0.10, 0.06, 0.10].map(f64::exp);
    let base = records(&at("1"), &[1.0; 4]);
    let weak = records(&at("2"), &weak);
    let noise = ["0", "3"].map(|level| records(&at(level), &[1.3, 0.8, 1.1, 0.9]));
    let all = base.iter().chain(&weak).chain(noise.iter().flatten());
    let all: Vec<Execution<'_>> = all.map(|it| Execution::of(it, 1)).collect();
    let question = crate::Question {
        metric: Metric::Throughput,
        baseline: vec![("flush".to_owned(), "1".to_owned())],
        min_effect: 0.02,
        until_decided: None,
    };
    let a = side("a", &[("flush", "1")], &base, 1);
    let b = side("b", &[("flush", "2")], &weak, 1);
    let alone = contrast(&a, &b, &ComparisonParameters::of(0.02));
    assert_eq!(
        of(&alone.places[0], "throughput").decision,
        Decision::Faster
    );
    let terms = ComparisonParameters {
        asked: Some((&question, &all)),
        ..ComparisonParameters::of(0.02)
    };
    let asked = contrast(&a, &b, &terms);
    let answers = crate::answers(&question, &all);
    let answer = answers.iter().find(|it| it.levels[0].1 == "2").unwrap();
    let primary = of(&asked.places[0], "throughput");
    assert!(asked.is_asked && !alone.is_asked);
    assert_eq!(primary.decision, Decision::Inconclusive);
    assert_eq!(
        (primary.decision, primary.p_value),
        (answer.decision, answer.p_value)
    );
    // With the sides exchanged, the answer is the same.
    let turned = contrast(&b, &a, &terms);
    let turned = of(&turned.places[0], "throughput");
    assert_eq!(turned.p_value, answer.p_value);
    assert_eq!(turned.means, [primary.means[1], primary.means[0]]);
    // A part of a combination's runs is not one of the question's comparisons.
    let part = side("b", &[("flush", "2")], &weak[..3], 1);
    assert!(!contrast(&a, &part, &terms).is_asked);
}
