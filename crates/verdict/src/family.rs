//! Comparisons that are decided together: the only code that turns a comparison into a decision.
//!
//! The comparisons of a question's metric are one family: no other measure can change their decisions. The other
//! metrics are a family of their own, and so are the costs.

use std::collections::BTreeMap;

use stats::{Comparison, Design, Deviation, Side, StoppingDecision, UntilDecided, holm};

use crate::{
    decision::{CONFIDENCE, Decision, decide},
    measure_comparison::{Compared, confidence_of_look},
};

/// Decides the comparisons of the metric of a question; `margin` is the smallest difference that matters, as a share.
///
/// If executions were added until they decided, each comparison is decided by the first block that decides it and gets
/// its part of the allowed error.
pub(crate) fn decide_primary(margin: f64, compared: &mut [&mut Compared]) {
    decide_family(margin, compared);
    let of_each = (1.0 - CONFIDENCE) / compared.len().max(1) as f64;
    // The rule of each budget: its levels take more time than all else here.
    let mut rules: BTreeMap<usize, Option<UntilDecided>> = BTreeMap::new();
    for it in compared {
        // The first look would be as wrong as all others.
        let Some(most) = it.looked_at.filter(|_| it.short_slices.is_none()) else {
            continue;
        };
        let rule = rules
            .entry(most)
            .or_insert_with(|| UntilDecided::new(margin, most, of_each));
        if let Some(rule) = rule {
            decide_by_looks(rule, of_each, it);
            it.smallest_effect = match it.amount() {
                Some(_) => None,
                None => it.detectable(1.0 - of_each),
            };
        }
    }
}

/// Decides a comparison by the first block that decides it by a rule that allows an error in a share `alpha`.
pub(crate) fn decide_by_looks(rule: &UntilDecided, alpha: f64, it: &mut Compared) {
    let pairs = it.values.pairs();
    let standing = match it.values.batches() {
        Some(batches) => rule.judge_batches(batches),
        None => rule.judge(pairs),
    };
    let Some(standing) = standing.filter(|_| !pairs.is_empty()) else {
        return;
    };
    let mut looked = it.clone();
    looked.values.leave_out_unpaired();
    looked.means = looked.values.means(CONFIDENCE).unwrap_or(it.means);
    // Before the first analysis there is only the comparison of the executions themselves.
    looked.comparison = standing.comparison.or(it.comparison);
    looked.blocks = Some(standing.blocks);
    looked.executions_needed = None;
    looked.decision = decision_of(standing.step, it.measure.more_is_better());
    if let StoppingDecision::Continue { blocks_needed } = standing.step {
        looked.executions_needed = blocks_needed;
    }
    if let Some(comparison) = standing.comparison {
        let level = 1.0 - confidence_of_look(it.looked_at, standing.blocks, 1.0 - alpha);
        looked.p_value = Some((comparison.p_value * (1.0 - CONFIDENCE) / level).min(1.0));
    }
    *it = looked;
}

/// The decision after a block, about a measure of which more or less is better.
pub(crate) fn decision_of(step: StoppingDecision, more_is_better: bool) -> Decision {
    match step {
        StoppingDecision::Decided(Side::More) if more_is_better => Decision::Faster,
        StoppingDecision::Decided(Side::More) => Decision::Slower,
        StoppingDecision::Decided(Side::Less) if more_is_better => Decision::Slower,
        StoppingDecision::Decided(Side::Less) => Decision::Faster,
        StoppingDecision::Decided(Side::Equivalent) => Decision::Equivalent,
        StoppingDecision::Continue { .. } | StoppingDecision::Spent => Decision::Inconclusive,
    }
}

/// Decides several comparisons together: among many, some differ by chance.
pub(crate) fn decide_family(margin: f64, compared: &mut [&mut Compared]) {
    let with_numbers = compared
        .iter_mut()
        .filter_map(|compared| Some((compared.own_p_value()?, &mut **compared)));
    let compared: Vec<(f64, &mut Compared)> = with_numbers.collect();
    let corrected = corrected(&compared);
    for ((_, compared), corrected) in compared.into_iter().zip(corrected) {
        *compared = compared.at(corrected.confidence);
        if let Some(comparison) = compared.comparison {
            decide_one(margin, &comparison, &corrected, compared);
        }
    }
}

fn decide_one(
    margin: f64,
    comparison: &Comparison,
    corrected: &Corrected,
    compared: &mut Compared,
) {
    let p_value = corrected.p_value;
    compared.p_value = Some(p_value);
    let ratio = comparison.ratio;
    let is_within = ratio.low >= 1.0 / (1.0 + margin) && ratio.high <= 1.0 + margin;
    compared.is_equivalent_by_amount = !is_within && compared.is_negligible();
    let (is_equivalent, is_more) = match compared.amount() {
        Some(amount) => (compared.is_negligible(), amount.estimate > 0.0),
        None => (is_within, ratio.estimate > 1.0),
    };
    let is_better = is_more == compared.measure.more_is_better();
    compared.decision = match compared.short_slices {
        Some(_) => Decision::Inconclusive,
        None => decide(comparison.executions, is_equivalent, p_value, is_better),
    };
    let found = comparison.ratio.estimate.ln().abs();
    compared.effect = if found > margin.ln_1p() {
        (comparison.ratio.estimate - 1.0).abs()
    } else {
        margin
    };
    let design = Design {
        paired: compared.is_paired(),
        level: 1.0 - corrected.confidence,
    };
    let freedom = design.freedom(comparison.executions as f64);
    // For a comparison by its absolute difference, the deviation and the effect to detect are in that unit.
    let (deviation, effect) = match (compared.amount(), compared.difference) {
        (Some(amount), Some(it)) => (it.deviation, amount.estimate.abs().max(compared.negligible)),
        _ => {
            compared.smallest_effect = compared.detectable(corrected.confidence);
            (comparison.deviation, found.max(margin.ln_1p()))
        }
    };
    if compared.decision == Decision::Inconclusive && compared.short_slices.is_none() {
        let deviation = Deviation::estimated(deviation, freedom);
        let needed = design.executions_needed(deviation, effect);
        compared.executions_needed = needed.map(|needed| needed.max(comparison.executions + 1));
    }
}

/// A comparison's correction for those that are decided together with it.
struct Corrected {
    p_value: f64,
    /// The confidence of the corresponding interval: it excludes 1 exactly if the adjusted p-value is below 5 %. At
    /// least [`CONFIDENCE`], so that no interval contradicts the decision beside it.
    confidence: f64,
}

/// The adjusted p-values: for the number of comparisons and, if they were analysed after every block, for the interim
/// analyses.
///
/// A comparison with interim analyses gets its part of the total error (Bonferroni), spent over the analyses in the
/// same way as the rule that stopped the experiment.
fn corrected(compared: &[(f64, &mut Compared)]) -> Vec<Corrected> {
    let p_values: Vec<f64> = compared.iter().map(|(p_value, _)| *p_value).collect();
    let alpha = 1.0 - CONFIDENCE;
    if compared.iter().all(|(_, it)| it.looked_at.is_none()) {
        let raised = holm(&p_values).into_iter().zip(&p_values);
        let corrected = raised.map(|(raised, p_value)| {
            let times = if *p_value > 0.0 {
                raised / p_value
            } else {
                p_values.len() as f64
            };
            Corrected {
                p_value: raised,
                confidence: 1.0 - alpha / times,
            }
        });
        return corrected.collect();
    }
    let part = 1.0 - alpha / compared.len().max(1) as f64;
    let mut levels: BTreeMap<(Option<usize>, usize), f64> = BTreeMap::new();
    let mut raised = |it: &Compared, p_value: f64| {
        let look = (it.looked_at, it.values.executions());
        let level = levels
            .entry(look)
            .or_insert_with(|| 1.0 - confidence_of_look(look.0, look.1, part));
        (p_value * alpha / *level).min(1.0)
    };
    compared
        .iter()
        .zip(p_values)
        .map(|((_, it), p_value)| Corrected {
            p_value: raised(it, p_value),
            // `Compared::at` spends it over the analyses.
            confidence: part,
        })
        .collect()
}
