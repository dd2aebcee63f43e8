//! One measure of two sides: their means, what they are compared to, and what is decided.

use std::collections::BTreeMap;

use stats::{
    Comparison, EXECUTIONS_AT_LEAST, compare, compare_pairs, executions_needed, holm,
    level_of_look, smallest_effect,
};

use crate::{
    decision::{CONFIDENCE, Decision, decide},
    measure::Measure,
    side::Execution,
};

/// One measure of both sides.
#[derive(Debug, Clone)]
pub struct Compared {
    /// What is compared.
    pub measure: Measure,
    /// The means over the executions of each side, geometric where all are above 0.
    pub means: [f64; 2],
    /// What is decided; of a cost, faster means less and slower more.
    pub decision: Decision,
    /// The numbers; `None` where a side has fewer than two executions.
    pub comparison: Option<Comparison>,
    /// The comparison's probability after Holm's correction, over all metrics or all costs of the contrast; where the
    /// executions were looked at after every block, after the correction for looks and for the number of comparisons.
    pub p_value: Option<f64>,
    /// Executions a side that would tell a difference of `effect` in four of five cases; only of an inconclusive one.
    pub executions_needed: Option<usize>,
    /// The difference that was found, or the margin where that is larger, as a share.
    pub effect: f64,
    /// The smallest difference that so many executions find in four of five cases, as a share.
    pub smallest_effect: Option<f64>,
    /// A difference that is none, in the measure's unit.
    pub(crate) negligible: f64,
    /// See [`crate::Side::looked_at`].
    looked_at: Option<usize>,
    values: Values,
}

/// What was compared, kept for another confidence.
#[derive(Debug, Clone, PartialEq)]
enum Values {
    Pairs(Vec<(f64, f64)>),
    Lists(Vec<f64>, Vec<f64>),
}

impl Values {
    /// Executions of the smaller side.
    fn executions(&self) -> usize {
        match self {
            Self::Pairs(pairs) => pairs.len(),
            Self::Lists(a, b) => a.len().min(b.len()),
        }
    }

    fn compare(&self, confidence: f64) -> Option<Comparison> {
        match self {
            Self::Pairs(pairs) => compare_pairs(pairs, confidence),
            Self::Lists(a, b) => compare(a, b, confidence),
        }
    }
}

impl Compared {
    /// One that no execution is behind.
    #[cfg(test)]
    pub(crate) fn made(
        measure: Measure,
        means: [f64; 2],
        decision: Decision,
        comparison: Option<Comparison>,
    ) -> Self {
        Self {
            measure,
            means,
            decision,
            comparison,
            p_value: None,
            executions_needed: None,
            effect: 0.0,
            smallest_effect: None,
            negligible: 0.0,
            looked_at: None,
            values: Values::Pairs(Vec::new()),
        }
    }

    /// The comparison at another confidence.
    pub(crate) fn at(&self, confidence: f64) -> Option<Comparison> {
        let executions = self.values.executions();
        self.values
            .compare(confidence_of_look(self.looked_at, executions, confidence))
    }

    /// By how much the means differ, in the measure's unit.
    pub(crate) fn shift(&self) -> f64 {
        self.means[1] - self.means[0]
    }
}

/// The confidence of one look after so many blocks, where all looks together are to have this confidence; `looked_at` is
/// the most blocks that there could have been, and `None` where there is one look.
pub(crate) fn confidence_of_look(looked_at: Option<usize>, blocks: usize, confidence: f64) -> f64 {
    let level = looked_at.and_then(|most| level_of_look(blocks.min(most), most, 1.0 - confidence));
    level.map_or(confidence, |level| 1.0 - level)
}

/// How a measure is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// See [`crate::Side::looked_at`].
    pub(crate) looked_at: Option<usize>,
    /// The confidence of this look.
    pub(crate) confidence: f64,
}

/// A measure that every execution of both sides has.
pub(crate) fn compared(
    measure: Measure,
    a: &[&Execution<'_>],
    b: &[&Execution<'_>],
    pairs: Option<&[(&Execution<'_>, &Execution<'_>)]>,
    look: Look,
) -> Option<Compared> {
    let all = |side: &[&Execution<'_>], of: fn(Measure, &Execution<'_>) -> Option<f64>| {
        side.iter()
            .map(|execution| of(measure, execution))
            .collect::<Option<Vec<f64>>>()
    };
    let (raw_a, raw_b) = (all(a, Measure::of)?, all(b, Measure::of)?);
    let values = match pairs {
        Some(pairs) => {
            let pairs = pairs
                .iter()
                .map(|(a, b)| Some((measure.comparable(a)?, measure.comparable(b)?)));
            Values::Pairs(pairs.collect::<Option<_>>()?)
        }
        None => Values::Lists(all(a, Measure::comparable)?, all(b, Measure::comparable)?),
    };
    let executions = a.iter().chain(b);
    Some(Compared {
        measure,
        means: [mean(&raw_a)?, mean(&raw_b)?],
        decision: Decision::Inconclusive,
        comparison: values.compare(look.confidence),
        p_value: None,
        executions_needed: None,
        effect: 0.0,
        smallest_effect: None,
        negligible: executions
            .map(|execution| measure.negligible(execution))
            .fold(0.0, f64::max),
        looked_at: look.looked_at,
        values,
    })
}

/// Geometric where all values are above 0, for that is what is compared.
fn mean(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    match values {
        [] => None,
        values if values.iter().all(|value| *value > 0.0) => {
            let logs: f64 = values.iter().map(|value| value.ln()).sum();
            Some((logs / count).exp())
        }
        values => Some(values.iter().sum::<f64>() / count),
    }
}

/// Decides several comparisons together: among many, some differ by chance.
pub(crate) fn decide_together<'c>(margin: f64, compared: impl Iterator<Item = &'c mut Compared>) {
    let compared = compared.filter_map(|compared| Some((compared.comparison?, compared)));
    let compared: Vec<(Comparison, &mut Compared)> = compared.collect();
    let p_values = corrected(&compared);
    for ((comparison, compared), p_value) in compared.into_iter().zip(p_values) {
        let more_is_better = compared.measure.more_is_better();
        compared.p_value = Some(p_value);
        compared.decision = decide(&comparison, p_value, margin, more_is_better);
        let is_enough = comparison.executions >= EXECUTIONS_AT_LEAST;
        let is_negligible = compared.shift().abs() < compared.negligible;
        if is_enough && is_negligible {
            compared.decision = Decision::Equivalent;
        }
        compared.smallest_effect =
            smallest_effect(comparison.deviation, comparison.executions).map(f64::exp_m1);
        let effect = comparison.ratio.estimate.ln().abs().max(margin.ln_1p());
        compared.effect = effect.exp_m1();
        if compared.decision == Decision::Inconclusive {
            compared.executions_needed = match is_negligible {
                true => Some(EXECUTIONS_AT_LEAST),
                false => executions_needed(comparison.deviation, effect)
                    .map(|needed| needed.max(comparison.executions + 1)),
            };
        }
    }
}

/// The probabilities, raised for the number of comparisons and, where they were looked at after every block, for that.
///
/// What is looked at often gets its part of what all may err (Bonferroni), spent over the looks as the rule that stopped
/// the experiment spends it.
fn corrected(compared: &[(Comparison, &mut Compared)]) -> Vec<f64> {
    let p_values: Vec<f64> = compared.iter().map(|(it, _)| it.p_value).collect();
    if compared.iter().all(|(_, it)| it.looked_at.is_none()) {
        return holm(&p_values);
    }
    let alpha = 1.0 - CONFIDENCE;
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
        .map(|((_, it), p_value)| raised(it, p_value))
        .collect()
}
