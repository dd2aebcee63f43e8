//! Simulated experiments with a look after every block.

use proptest::prelude::*;

use super::*;
use crate::noise::Noise;

fn rule(margin: f64, blocks_at_most: usize) -> UntilDecided {
    UntilDecided::new(margin, blocks_at_most, 0.05).unwrap()
}

/// Blocks of executions that differ by `deviation`, with B higher by `effect`.
fn blocks(noise: &mut Noise, count: usize, deviation: f64, effect: f64) -> Vec<(f64, f64)> {
    (0..count)
        .map(|_| {
            let block = 0.2 * noise.normal();
            let mut one = |level: f64| (level + block + deviation * noise.normal()).exp();
            (one(10.0), one(10.0 + effect))
        })
        .collect()
}

#[test]
fn clear_cases_are_decided_early() {
    let mut noise = Noise::new(121);
    let rule = rule(0.02, 30);
    let slower = blocks(&mut noise, 30, 0.01, -0.3);
    let standing = rule.judge(&slower).unwrap();
    assert_eq!(standing.step, StoppingDecision::Decided(Side::Less));
    assert!(standing.blocks <= 4, "{standing:?}");
    let faster: Vec<_> = slower.iter().map(|(a, b)| (*b, *a)).collect();
    assert_eq!(
        rule.judge(&faster).unwrap().step,
        StoppingDecision::Decided(Side::More)
    );
    let same = rule.judge(&blocks(&mut noise, 30, 0.005, 0.0)).unwrap();
    assert_eq!(same.step, StoppingDecision::Decided(Side::Equivalent));
    // Blocks after the decision change nothing.
    let turned = [&slower[..standing.blocks], &faster[..10]].concat();
    assert_eq!(rule.judge(&turned), Some(standing));
}

#[test]
fn until_then_it_goes_on_and_says_how_long() {
    let mut noise = Noise::new(122);
    let rule = rule(0.02, 40);
    let pairs = blocks(&mut noise, 40, 0.04, 0.01);
    let nothing = rule.judge(&[]).unwrap();
    assert_eq!(
        nothing.step,
        StoppingDecision::Continue {
            blocks_needed: None
        }
    );
    assert_eq!(nothing.comparison, None);
    let standing = rule.judge(&pairs[..8]).unwrap();
    assert!(
        matches!(standing.step, StoppingDecision::Continue { .. }),
        "{standing:?}"
    );
    assert_eq!(standing.blocks, 8);
    // Undecidable: noise of 4 %, and a difference of half the margin of 2 %.
    assert_eq!(rule.judge(&pairs).unwrap().step, StoppingDecision::Spent);
    assert_eq!(
        rule.judge(&[pairs.clone(), pairs.clone()].concat()),
        rule.judge(&pairs)
    );
}

#[test]
fn undefined_is_none() {
    for (margin, blocks, alpha) in [
        (0.0, 10, 0.05),
        (f64::NAN, 10, 0.05),
        (0.02, 2, 0.05),
        (0.02, 10, 1.0),
    ] {
        assert_eq!(UntilDecided::new(margin, blocks, alpha), None);
    }
    assert_eq!(rule(0.02, 10).judge(&[(1.0, 0.0)]), None);
    // Without noise the first look decides.
    let same = rule(0.02, 10).judge(&[(5.0, 5.0); 3]).unwrap();
    assert_eq!(same.step, StoppingDecision::Decided(Side::Equivalent));
}

/// The estimate of the remaining blocks is of the right magnitude.
#[test]
fn the_estimate_is_kept_mostly() {
    let mut noise = Noise::new(123);
    let rule = rule(0.01, 200);
    let (mut foretold, mut needed) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        let pairs = blocks(&mut noise, 200, 0.03, 0.03);
        let standing = rule.judge(&pairs[..10]).unwrap();
        if let StoppingDecision::Continue {
            blocks_needed: Some(blocks),
        } = standing.step
        {
            foretold.push(blocks as f64);
            needed.push(rule.judge(&pairs).unwrap().blocks as f64);
        }
    }
    let (foretold, needed) = (
        crate::trend::median(&foretold),
        crate::trend::median(&needed),
    );
    assert!(
        (0.5..=2.0).contains(&(foretold / needed)),
        "{foretold} {needed}"
    );
}

#[test]
fn a_look_at_another_measure_has_the_level_of_the_rule() {
    let rule = rule(0.1, 10);
    for blocks in 3..=10 {
        let level = level_of_look(blocks, 10, 0.05).unwrap();
        assert!((level - rule.levels[blocks]).abs() < 1e-15, "{blocks}");
        assert!(level < 0.05, "{blocks}");
    }
    assert_eq!(level_of_look(2, 10, 0.05), None);
    assert_eq!(level_of_look(11, 10, 0.05), None);
    assert_eq!(level_of_look(5, 10, 0.0), None);
}

/// Batches of five slices of one session, with B higher by `effect` and independent noise of 4 %.
fn batches(noise: &mut Noise, count: usize, effect: f64) -> Vec<Batch> {
    (0..count)
        .map(|_| {
            let slices = blocks(noise, 5, 0.04, effect);
            let sum = |(a, b): (f64, f64), slice: &(f64, f64)| (a + slice.0, b + slice.1);
            Batch {
                session: 1,
                pair: slices.iter().fold((0.0, 0.0), sum),
                slices,
            }
        })
        .collect()
}

#[test]
fn batches_are_decided_from_the_sixth_on() {
    let mut noise = Noise::new(124);
    let rule = rule(0.02, 30);
    let faster = batches(&mut noise, 30, 0.5);
    let early = rule.judge_batches(&faster[..BATCHES_AT_LEAST - 1]).unwrap();
    assert_eq!(
        (early.blocks, early.comparison, early.step),
        (
            5,
            None,
            StoppingDecision::Continue {
                blocks_needed: None
            }
        )
    );
    let standing = rule.judge_batches(&faster).unwrap();
    assert_eq!(standing.step, StoppingDecision::Decided(Side::More));
    assert!(standing.blocks <= 8, "{standing:?}");
    // A look at batches has the level of the same number of blocks.
    let level = level_of_look(standing.blocks, 30, 0.05).unwrap();
    assert_eq!(
        standing.comparison,
        compare_batches(&faster[..standing.blocks], 1.0 - level)
    );
    let mut broken = faster;
    broken[29].slices[4].0 = 0.0;
    assert_eq!(rule.judge_batches(&broken), None);
}

#[test]
fn a_difference_that_servers_may_have_by_themselves_favours_no_side() {
    let mut noise = Noise::new(125);
    let mut step = |effect: f64| {
        // With hardly any noise.
        let batches = (0..30).map(|_| {
            let slices = blocks(&mut noise, 5, 0.0005, effect);
            Batch {
                session: 1,
                pair: slices[0],
                slices,
            }
        });
        let batches: Vec<Batch> = batches.collect();
        rule(0.02, 30).judge_batches(&batches).unwrap().step
    };
    assert_eq!(step(0.01), StoppingDecision::Spent);
    assert_eq!(step(0.04), StoppingDecision::Decided(Side::More));
}

proptest! {
    #[test]
    fn never_panics_and_stays_decided(
        any in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 0..8),
        pairs in prop::collection::vec((0.5..2.0_f64, 0.5..2.0_f64), 0..12),
    ) {
        let rule = rule(0.1, 10);
        let _ = rule.judge(&any);
        let mut decided = None;
        for count in 0..=pairs.len() {
            let standing = rule.judge(&pairs[..count]).unwrap();
            if decided.is_some() {
                prop_assert_eq!(decided, Some(standing));
            } else if matches!(standing.step, StoppingDecision::Decided(_)) {
                decided = Some(standing);
            }
            if let Some(compared) = standing.comparison {
                prop_assert!(compared.ratio.low <= compared.ratio.estimate);
                prop_assert!(compared.ratio.estimate <= compared.ratio.high);
            }
        }
    }
}
