//! Tests of decisions with fabricated executions.

use samples::{Record, SideBySide};
use stats::{Design, Deviation};

use super::*;
use crate::{
    metric::Metric,
    question::Budget,
    testing::{RecordBuilder, record},
};

fn levels(levels: &[(&str, &str)]) -> BTreeMap<String, String> {
    let owned = levels
        .iter()
        .map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned()));
    owned.collect()
}

fn question(metric: Metric) -> Question {
    Question {
        metric,
        baseline: vec![("fs".to_owned(), "ext4".to_owned())],
        min_effect: 0.02,
        until_decided: None,
    }
}

/// Executions of combinations in their blocks; each with a value that every metric returns.
fn runs(combinations: &[(BTreeMap<String, String>, &[f64])]) -> Vec<(Record, f64)> {
    let of = |(levels, values): &(BTreeMap<String, String>, &[f64])| {
        let mut made = record(&RecordBuilder {
            per_s: 1,
            ..RecordBuilder::default()
        });
        made.header.combination = levels.clone();
        made.loaded = Some(samples::Loaded::new("t", 1, 1, 1.0));
        let blocks = (1..).zip(values.iter());
        let runs = blocks.map(move |(block, value)| {
            (made.header.run, made.header.block) = (block, block);
            (made.clone(), *value)
        });
        runs.collect::<Vec<_>>()
    };
    combinations.iter().flat_map(of).collect()
}

fn judge(question: &Question, runs: &[(Record, f64)]) -> Vec<Answer> {
    let executions = runs.iter().map(|(record, value)| {
        let mut execution = Execution::of(record, 1);
        let figures = &mut execution.figures;
        figures.throughput_per_s = Some(*value);
        figures.measured_s = *value;
        for percentile in &mut figures.response.as_mut().unwrap().percentiles {
            percentile.ns = (*value * 1e6) as u64;
            (percentile.beyond, percentile.independent) = (100.0, 100.0);
        }
        execution
    });
    answers(question, &executions.collect::<Vec<_>>())
}

/// The decisions over the executions of each filesystem, one per block.
fn decisions(metric: Metric, ext4: &[f64], others: &[(&str, &[f64])]) -> Vec<Decision> {
    let sides = [("ext4", ext4)];
    let all: Vec<_> = sides
        .iter()
        .chain(others)
        .map(|(fs, values)| (levels(&[("fs", fs)]), *values))
        .collect();
    let answers = judge(&question(metric), &runs(&all));
    answers.into_iter().map(|answer| answer.decision).collect()
}

/// The answer for blocks of two filesystems, of an experiment that runs until decided.
fn looked_at(metric: Metric, ext4: &[f64], xfs: &[f64]) -> Answer {
    let question = Question {
        until_decided: Some(Budget {
            blocks: 10,
            time_is_spent: false,
        }),
        ..question(metric)
    };
    let sides = [
        (levels(&[("fs", "ext4")]), ext4),
        (levels(&[("fs", "xfs")]), xfs),
    ];
    let mut answers = judge(&question, &runs(&sides));
    assert_eq!(answers.len(), 1);
    answers.remove(0)
}

/// Pairs of which the ratios have these logarithms.
fn with_logarithms(logarithms: &[f64]) -> Vec<f64> {
    logarithms.iter().map(|it| 100.0 * it.exp()).collect()
}

#[test]
fn the_smallest_effect_has_the_deviation_and_the_level_of_the_interval() {
    let base = [100.0; 5];
    // Squares that add up to 0.0018: a variance of 0.00045 of differences, and of 0.000225 of one execution.
    let logarithms = [0.01, -0.02, 0.03, 0.0, -0.02];
    let other = with_logarithms(&logarithms);
    let by_hand = |level: f64, deviation: f64| {
        let design = Design {
            paired: true,
            level,
        };
        let deviation = Deviation::estimated(deviation, 4.0);
        design.smallest_effect(deviation, 5).unwrap().exp_m1()
    };
    let sides = [
        (levels(&[("fs", "ext4")]), &base[..]),
        (levels(&[("fs", "xfs")]), &other[..]),
    ];
    let answers = judge(&question(Metric::Throughput), &runs(&sides));
    let found = answers[0].smallest_effect.unwrap();
    assert!((found - by_hand(0.05, 0.015)).abs() < 1e-6, "{found}");
    // After five of ten looks, an analysis has less than the whole error.
    let answer = looked_at(Metric::Throughput, &base, &other);
    assert_eq!(answer.looks.unwrap().blocks, 5);
    let level = stats::level_of_look(5, 10, 0.05).unwrap();
    let of_look = answer.smallest_effect.unwrap();
    assert!((of_look - by_hand(level, 0.015)).abs() < 1e-6, "{of_look}");
    assert!(of_look > found, "{of_look}");
}

#[test]
fn until_decided_the_first_block_that_decides_counts() {
    let base = [100.0; 10];
    let faster = [150.0, 151.0, 149.0, 150.0, 150.0, 10.0];
    let answer = looked_at(Metric::Throughput, &base, &faster);
    assert_eq!(answer.decision, Decision::Faster);
    assert_eq!(
        answer.looks,
        Some(InterimAnalyses {
            blocks: 3,
            blocks_at_most: 10,
            time_is_spent: false,
        })
    );
    // The same for response times; and a block of only one side does not count.
    let answer = looked_at(Metric::P99, &base[..4], &faster);
    assert_eq!(answer.decision, Decision::Slower);
    assert_eq!(answer.looks.unwrap().blocks, 3);
    let same = looked_at(Metric::Throughput, &base, &[100.1, 100.0, 99.9]);
    assert_eq!(same.decision, Decision::Equivalent);
}

#[test]
fn until_decided_it_goes_on_or_ends_inconclusive() {
    let base = [100.0; 10];
    let noise = [
        110.0, 90.0, 108.0, 93.0, 104.0, 96.0, 111.0, 90.0, 106.0, 95.0,
    ];
    for blocks in [1, 2, 5, 10] {
        let answer = looked_at(Metric::Throughput, &base, &noise[..blocks]);
        assert_eq!(answer.decision, Decision::Inconclusive, "{blocks}");
        assert_eq!(answer.looks.unwrap().blocks, blocks);
        assert_eq!(answer.comparison.is_some(), blocks >= 2, "{blocks}");
    }
}

#[test]
fn the_four_decisions() {
    let base = [100.0, 130.0, 80.0, 110.0];
    let times = |factors: [f64; 4]| -> Vec<f64> {
        base.iter()
            .zip(factors)
            .map(|(value, factor)| value * factor)
            .collect()
    };
    let cases = [
        (times([1.09, 1.11, 1.10, 1.12]), Decision::Faster),
        (times([0.91, 0.90, 0.92, 0.89]), Decision::Slower),
        (times([1.001, 0.999, 1.002, 1.0]), Decision::Equivalent),
        // Certainly different, but by less than the margin.
        (times([1.005, 1.006, 1.005, 1.004]), Decision::Equivalent),
        (times([1.3, 0.8, 1.1, 0.9]), Decision::Inconclusive),
    ];
    for (values, expected) in &cases {
        let found = decisions(Metric::Throughput, &base, &[("xfs", values)]);
        assert_eq!(found, [*expected], "{values:?}");
    }
    let (faster, slower) = (&cases[0].0, &cases[1].0);
    assert_eq!(
        decisions(Metric::P99, &base, &[("xfs", faster)]),
        [Decision::Slower]
    );
    assert_eq!(
        decisions(Metric::Elapsed, &base, &[("xfs", slower)]),
        [Decision::Faster]
    );
}

#[test]
fn two_executions_decide_nothing() {
    let found = decisions(
        Metric::Throughput,
        &[100.0, 100.1],
        &[("xfs", &[300.0, 300.1])],
    );
    assert_eq!(found, [Decision::Inconclusive]);
    let found = decisions(Metric::Throughput, &[100.0], &[("xfs", &[300.0])]);
    assert_eq!(found, [Decision::Inconclusive]);
}

#[test]
fn among_many_comparisons_a_weak_one_is_not_believed() {
    let base = [100.0, 100.0, 100.0, 100.0];
    // p = 0.02 alone, 0.04 as one of two, more than 0.05 as one of three.
    let weak: Vec<f64> = [0.02, 0.10, 0.06, 0.10]
        .map(f64::exp)
        .map(|r| r * 100.0)
        .to_vec();
    let noise: Vec<f64> = [1.3, 0.8, 1.1, 0.9].map(|r| r * 100.0).to_vec();
    let alone = decisions(Metric::Throughput, &base, &[("xfs", &weak)]);
    assert_eq!(alone, [Decision::Faster]);
    let among = decisions(
        Metric::Throughput,
        &base,
        &[("xfs", &weak), ("zfs", &noise), ("btrfs", &noise)],
    );
    assert_eq!(among, [Decision::Inconclusive; 3]);
}

#[test]
fn combinations_are_compared_with_the_baseline_beside_them() {
    let combination = |fs, connections| levels(&[("fs", fs), ("connections", connections)]);
    let all = [
        combination("xfs", "16"),
        combination("ext4", "16"),
        combination("ext4", "2"),
        combination("xfs", "2"),
        // Its baseline was never run.
        combination("xfs", "64"),
    ];
    let values = [200.0, 100.0, 10.0, 10.0, 5.0];
    let values = values.map(|value| [1.001, 1.002, 1.003, 1.004].map(|noise| value * noise));
    let all: Vec<_> = all
        .into_iter()
        .zip(values.iter().map(|it| it.as_slice()))
        .collect();
    let answers = judge(&question(Metric::Throughput), &runs(&all));
    let found: Vec<_> = answers
        .iter()
        .map(|answer| {
            (
                answer.within[0].1.as_str(),
                answer.levels[0].1.as_str(),
                answer.decision,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("2", "xfs", Decision::Equivalent),
            ("16", "xfs", Decision::Faster)
        ]
    );
}

/// The differing levels are those of a trial: pool and flush together gained 170 %, of which flush alone gained 9 %.
#[test]
fn differences_of_one_factor_come_before_those_of_several() {
    let combination = |pool, flush| levels(&[("pool", pool), ("flush", flush)]);
    let all = [
        (combination("256M", "2"), 270.0),
        (combination("24M", "2"), 109.0),
        (combination("24M", "1"), 100.0),
        (combination("256M", "1"), 190.0),
    ];
    let values = all
        .each_ref()
        .map(|(_, value)| [1.001, 1.002, 1.003].map(|noise| value * noise));
    let all: Vec<_> = all
        .into_iter()
        .zip(&values)
        .map(|((levels, _), values)| (levels, values.as_slice()))
        .collect();
    let question = Question {
        baseline: [("pool", "24M"), ("flush", "1")]
            .map(|(factor, level)| (factor.to_owned(), level.to_owned()))
            .to_vec(),
        ..question(Metric::Throughput)
    };
    let answers = judge(&question, &runs(&all));
    let subjects: Vec<String> = answers
        .iter()
        .map(|answer| crate::subject(&question, answer))
        .collect();
    assert_eq!(
        subjects,
        [
            "pool 24M, flush 2 against 1",
            "pool 256M against 24M, flush 1",
            "pool 256M against 24M, flush 2 against 1"
        ]
    );
    let changed = answers
        .iter()
        .map(|answer| question.changed_factors(&answer.levels));
    assert_eq!(changed.collect::<Vec<_>>(), [1, 1, 2]);
}

#[test]
fn the_first_comparison_that_found_a_difference_is_explained() {
    let base = [100.0, 100.0, 100.1];
    let (same, faster) = ([100.0, 100.1, 100.0], [150.0, 151.0, 152.0]);
    let sides = [
        (levels(&[("fs", "ext4")]), &base[..]),
        (levels(&[("fs", "btrfs")]), &same[..]),
        (levels(&[("fs", "xfs")]), &faster[..]),
    ];
    let answers = judge(&question(Metric::Throughput), &runs(&sides));
    let explained = |answers: &[Answer]| explained_answer(answers).map(|it| it.levels[0].1.clone());
    assert_eq!(explained(&answers).as_deref(), Some("xfs"));
    assert_eq!(explained(&answers[..1]).as_deref(), Some("btrfs"));
    assert_eq!(explained(&[]), None);
}

#[test]
fn an_inconclusive_comparison_says_how_many_executions_would_do() {
    let sides = [
        (
            levels(&[("fs", "ext4")]),
            &[100.0, 120.0, 90.0, 105.0, 98.0][..],
        ),
        (
            levels(&[("fs", "xfs")]),
            &[108.0, 101.0, 99.0, 111.0, 95.0][..],
        ),
    ];
    let answers = judge(&question(Metric::Throughput), &runs(&sides));
    assert_eq!(answers[0].decision, Decision::Inconclusive);
    assert!(answers[0].paired);
    assert!(answers[0].executions_needed.unwrap() > 5);
}

#[test]
fn an_execution_without_the_metric_leaves_nothing_to_compare() {
    let sides = [
        (levels(&[("fs", "ext4")]), &[100.0, 101.0, 102.0][..]),
        (levels(&[("fs", "xfs")]), &[200.0, 201.0, 0.0][..]),
    ];
    let answers = judge(&question(Metric::Throughput), &runs(&sides));
    assert_eq!((answers[0].means, answers[0].comparison), (None, None));
    let said = crate::sentence(&question(Metric::Throughput), &answers[0]);
    assert_eq!(
        said,
        "fs xfs against ext4: inconclusive, because throughput was not measured in every execution."
    );
}

/// Batches of slices of a filesystem, each with four slices of a second in which about these numbers of operations end.
fn batches(fs: &'static str, ended: &[u64]) -> Vec<Record> {
    let batches = ended.iter().zip(1..).map(|(per_s, number)| {
        let mut batch = record(&RecordBuilder {
            block: number,
            levels: vec![("fs", fs)],
            per_s: *per_s,
            ..RecordBuilder::default()
        });
        batch.batch = Some(number);
        batch.side_by_side = Some(SideBySide {
            slice_s: 1.0,
            settle_s: 0.1,
            slices_per_batch: 4,
            slices_at_most: 48,
            ..SideBySide::default()
        });
        for (interval, slice) in batch.intervals.iter_mut().zip(4 * number - 3..) {
            interval.slice = Some(slice);
            // Without a difference between the slices of a batch there is no interval.
            interval.operations[0].count += u64::from(slice) * per_s % 7 * per_s / 100;
        }
        batch
    });
    batches.collect()
}

#[test]
fn the_smallest_effect_of_batches_has_the_error_of_their_interval() {
    let many = [100, 103, 98, 101, 102, 99];
    let twice = many.map(|ended| 2 * ended + ended % 3);
    let records = [batches("ext4", &many), batches("xfs", &twice)].concat();
    let executions: Vec<_> = records.iter().map(|it| Execution::of(it, 1)).collect();
    let answers = answers(&question(Metric::Throughput), &executions);
    let comparison = answers[0].comparison.unwrap();
    let design = Design {
        paired: true,
        level: 0.05,
    };
    // The error of a mean of six differences, each with the variances of two executions.
    let deviation = Deviation::estimated(comparison.error * 3.0_f64.sqrt(), comparison.freedom);
    let by_hand = design.smallest_effect(deviation, 6).unwrap().exp_m1();
    let found = answers[0].smallest_effect.unwrap();
    assert!((found - by_hand).abs() < 1e-6, "{found} {by_hand}");
    // It also has the lasting difference of two servers, which is no part of the spread.
    assert!(comparison.error * 3.0_f64.sqrt() > 1.01 * comparison.deviation);
}

#[test]
fn nothing_is_decided_on_slices_of_a_few_operations() {
    let answers = |until_decided, ext4: &[u64], xfs: &[u64]| {
        let records = [batches("ext4", ext4), batches("xfs", xfs)].concat();
        let executions: Vec<_> = records.iter().map(|it| Execution::of(it, 1)).collect();
        let question = Question {
            until_decided,
            ..question(Metric::Throughput)
        };
        super::answers(&question, &executions)
    };
    let many = [100, 103, 98, 101, 102, 99];
    let twice = many.map(|ended| 2 * ended + ended % 3);
    let few = [4, 3, 4, 4, 3, 4];
    let budget = Some(Budget {
        blocks: 12,
        time_is_spent: false,
    });
    for until_decided in [None, budget] {
        let long = answers(until_decided, &many, &twice);
        assert_eq!(long[0].decision, Decision::Faster, "{long:?}");
        assert_eq!(undecidable_slices(&long), None);
        // One side suffices.
        let short = answers(until_decided, &many, &few);
        assert_eq!(short[0].decision, Decision::Inconclusive);
        assert_eq!(short[0].executions_needed, None);
        let slices = undecidable_slices(&short).unwrap();
        assert_eq!((slices.operations, slices.enough_s), (4, Some(6.0)));
    }
    // A metric of which nothing is known does not hide the reason.
    let empty = answers(None, &many, &[0; 6]);
    assert_eq!(undecidable_slices(&empty).map(|it| it.operations), Some(0));
    assert_eq!(undecidable_slices(&[]), None);
}
