//! The rounds of an elimination, driven by decisions.

use stats::Interval;

use super::*;

/// Decisions of a world in which the speed of a configuration is known exactly; differences below 3 % are none.
fn measured(round: &Round, speed: &dyn Fn(&Parts) -> f64) -> Vec<ComparedConfiguration> {
    let baseline = speed(&round.baseline);
    let others = round.others.iter().map(|other| {
        let ratio = speed(other) / baseline;
        ComparedConfiguration {
            parts: other.clone(),
            decision: match ratio {
                ratio if ratio > 1.03 => Decision::Faster,
                ratio if ratio < 0.97 => Decision::Slower,
                _ => Decision::Equivalent,
            },
            ratio: Some(Interval {
                estimate: ratio,
                low: ratio * 0.99,
                high: ratio * 1.01,
            }),
            executions: 5,
            smallest: Some(0.04),
        }
    });
    others.collect()
}

/// Runs an elimination to its end.
fn eliminate(count: usize, pinned: &[usize], speed: &dyn Fn(&Parts) -> f64) -> Elimination {
    let mut elimination = Elimination::new(count, &pinned.iter().copied().collect(), 0.03);
    for _ in 0..20 {
        let Some(round) = elimination.round().cloned() else {
            return elimination;
        };
        elimination.take(&measured(&round, speed));
    }
    panic!("no end: {elimination:?}");
}

fn fates(elimination: &Elimination) -> Vec<PartStatus> {
    elimination.parts().iter().map(|part| part.fate).collect()
}

fn parts<const N: usize>(parts: [usize; N]) -> Parts {
    parts.into_iter().collect()
}

/// The speed by factors of single parts.
fn product(factors: &[f64]) -> impl Fn(&Parts) -> f64 {
    move |parts| parts.iter().map(|part| factors[*part]).product()
}

#[test]
fn what_helps_stays_and_what_harms_is_named() {
    use PartStatus::{Harms, Helps, NoEffect};
    let found = eliminate(4, &[], &product(&[1.5, 1.0, 0.8, 1.2]));
    assert_eq!(fates(&found), [Helps, NoEffect, Harms, Helps]);
    assert_eq!(*found.shortest(), parts([0, 3]));
    assert!(found.is_finished());
    let purposes: Vec<Purpose> = found.rounds().iter().map(|round| round.purpose).collect();
    assert_eq!(purposes, [Purpose::Screening, Purpose::Check]);
    let check = &found.rounds()[1];
    let whole = parts([0, 1, 2, 3]);
    let expected = [parts([]), whole, parts([0, 1, 3]), parts([3]), parts([0])];
    assert_eq!(
        (&check.baseline, &check.others[..]),
        (&parts([0, 3]), &expected[..])
    );
    // The whole configuration against the shortest one.
    let check = found.check().unwrap();
    assert_eq!(check.decision, Decision::Slower);
    let effect = found.parts()[0].effect.unwrap();
    assert!((effect.estimate - 1.5).abs() < 1e-9, "{effect:?}");
    assert!(effect.low < effect.estimate && effect.estimate < effect.high);
    assert!(found.parts()[1].is_equivalent);
}

#[test]
fn nothing_is_measured_twice() {
    // One part: the whole configuration without it is the base.
    let one = Elimination::new(1, &Parts::new(), 0.03);
    assert_eq!(one.round().unwrap().others, [parts([])]);
    // Nothing helps: the screening has compared the base with the whole.
    let none = eliminate(2, &[], &product(&[1.0, 1.0]));
    assert_eq!((none.rounds().len(), none.shortest().len()), (1, 0));
    assert_eq!(none.check().unwrap().parts, parts([0, 1]));
    // All helps: there is nothing to check.
    let all = eliminate(2, &[], &product(&[1.2, 1.3]));
    assert_eq!((all.rounds().len(), all.shortest().len()), (1, 2));
    assert!(all.check().is_none() && all.is_finished());
}

#[test]
fn a_pinned_part_is_in_every_file_but_the_base() {
    let found = eliminate(3, &[1], &product(&[1.3, 0.5, 1.0]));
    assert_eq!(
        fates(&found),
        [PartStatus::Helps, PartStatus::Pinned, PartStatus::NoEffect]
    );
    assert_eq!(*found.shortest(), parts([0, 1]));
    let others = found.rounds().iter().flat_map(|round| &round.others);
    assert!(
        others
            .clone()
            .all(|other| other.is_empty() || other.contains(&1))
    );
}

#[test]
fn of_parts_that_replace_each_other_one_comes_back() {
    let redundant = |set: &Parts| {
        let either = set.contains(&0) || set.contains(&1);
        if either { 2.0 } else { 1.0 }
    };
    let found = eliminate(3, &[], &redundant);
    let purposes: Vec<Purpose> = found.rounds().iter().map(|round| round.purpose).collect();
    let expected = [Purpose::Screening, Purpose::AddingBack, Purpose::Check];
    assert_eq!(purposes, expected);
    assert_eq!(found.shortest().len(), 1);
    assert!(!found.shortest().contains(&2) && found.is_finished());
    let effect = found.parts()[*found.shortest().first().unwrap()]
        .effect
        .unwrap();
    assert!((effect.estimate - 2.0).abs() < 1e-9);
}

#[test]
fn parts_that_matter_only_together_stay_together() {
    // Each alone is worth 2 %, which is not seen; all three are.
    let found = eliminate(4, &[], &product(&[1.02, 1.02, 1.02, 0.5]));
    let jointly = PartStatus::Jointly;
    assert_eq!(
        fates(&found),
        [jointly, jointly, jointly, PartStatus::Harms]
    );
    assert!(found.is_finished());
    assert_eq!(*found.shortest(), parts([0, 1, 2]));
}

#[test]
fn a_part_that_helped_only_beside_a_harmful_one_goes_in_the_check() {
    // Part 1 heals what part 0 breaks.
    let healed = |set: &Parts| match (set.contains(&0), set.contains(&1)) {
        (true, false) => 0.5,
        (true, true) => 0.9,
        _ => 1.0,
    };
    let found = eliminate(3, &[], &healed);
    assert_eq!(
        fates(&found),
        [
            PartStatus::Harms,
            PartStatus::NoEffect,
            PartStatus::NoEffect
        ]
    );
    assert!(found.shortest().is_empty() && found.is_finished());
}

#[test]
fn a_round_that_is_too_short_decides_nothing() {
    let mut elimination = Elimination::new(2, &Parts::new(), 0.03);
    let round = elimination.round().unwrap().clone();
    let mut found = measured(&round, &product(&[1.5, 1.0]));
    found[1].executions = 2;
    assert!(elimination.take(&found).is_none());
    assert!(!elimination.is_finished());
    assert_eq!(fates(&elimination), [PartStatus::Untested; 2]);
    assert_eq!(elimination.shortest().len(), 2);
}

/// What a round of few executions finds: intervals of this width, so that smaller differences are not decided.
fn vague(round: &Round, speed: &dyn Fn(&Parts) -> f64, width: f64) -> Vec<ComparedConfiguration> {
    let mut found = measured(round, speed);
    for it in &mut found {
        let estimate = it.ratio.unwrap().estimate;
        let (low, high) = (estimate / width, estimate * width);
        it.ratio = Some(Interval {
            estimate,
            low,
            high,
        });
        it.decision = if low > 1.0 {
            Decision::Faster
        } else if high < 1.0 {
            Decision::Slower
        } else {
            Decision::Inconclusive
        };
    }
    found
}

#[test]
fn no_difference_seen_is_not_taken_for_none() {
    // A buffer pool worth 90 %, and executions that show only more than 100 %.
    let speed = product(&[1.9, 1.0]);
    let mut elimination = Elimination::new(2, &Parts::new(), 0.03);
    while let Some(round) = elimination.round().cloned() {
        elimination.take(&vague(&round, &speed, 2.0));
    }
    assert!(!elimination.is_finished());
    let open = elimination.possible_loss().unwrap();
    assert_eq!(open.parts, parts([0, 1]));
    let loss = open.loss_of_baseline().unwrap();
    assert!((loss - (1.0 - 1.0 / 3.8)).abs() < 1e-9, "{loss}");
    let purposes: Vec<Purpose> = elimination.rounds().iter().map(|it| it.purpose).collect();
    assert_eq!(purposes, [Purpose::Screening, Purpose::Check]);
}

#[test]
fn a_gain_over_a_harmful_line_does_not_hide_a_loss() {
    // Without the harmful line the shortest one is faster than the whole, but may lose 20 % of what it could have.
    let speed = product(&[1.0, 0.4]);
    let mut elimination = Elimination::new(2, &Parts::new(), 0.03);
    while let Some(round) = elimination.round().cloned() {
        elimination.take(&vague(&round, &speed, 1.25));
    }
    assert!(!elimination.is_finished());
    assert_eq!(elimination.check().unwrap().decision, Decision::Slower);
    assert_eq!(elimination.possible_loss().unwrap().parts, parts([0]));
}

#[test]
fn an_undecided_comparison_within_the_margin_is_enough() {
    let speed = product(&[1.0, 1.0]);
    let mut elimination = Elimination::new(2, &Parts::new(), 0.03);
    while let Some(round) = elimination.round().cloned() {
        elimination.take(&vague(&round, &speed, 1.029));
    }
    assert!(elimination.is_finished() && elimination.possible_loss().is_none());
}

#[test]
fn a_check_that_decides_nothing_leaves_the_evidence_of_the_screening() {
    let speed = product(&[1.5, 1.0]);
    let mut elimination = Elimination::new(2, &Parts::new(), 0.03);
    let screening = elimination.round().unwrap().clone();
    elimination.take(&measured(&screening, &speed));
    let before = elimination.parts()[0].clone();
    assert_eq!(before.round, Some(1));
    let check = elimination.round().unwrap().clone();
    elimination.take(&vague(&check, &speed, 2.0));
    assert_eq!(elimination.parts()[0], before);
}

#[test]
fn parts_that_are_not_told_apart_are_not_called_joint() {
    let redundant = |set: &Parts| {
        let either = set.contains(&0) || set.contains(&1);
        if either { 2.0 } else { 1.0 }
    };
    let mut elimination = Elimination::new(2, &Parts::new(), 0.03);
    let screening = elimination.round().unwrap().clone();
    elimination.take(&measured(&screening, &redundant));
    let adding = elimination.round().unwrap().clone();
    assert_eq!(adding.purpose, Purpose::AddingBack);
    elimination.take(&vague(&adding, &redundant, 4.0));
    assert_eq!(fates(&elimination), [PartStatus::Unresolved; 2]);
    assert!(elimination.round().is_none() && !elimination.is_finished());
}
