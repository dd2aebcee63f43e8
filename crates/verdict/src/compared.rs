//! One measure of two sides: their means, what they are compared to, and what is decided.

use stats::{
    Comparison, EXECUTIONS_AT_LEAST, compare, compare_pairs, executions_needed, holm,
    smallest_effect,
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
    /// The comparison's probability after Holm's correction, over all metrics or all costs of the contrast.
    pub p_value: Option<f64>,
    /// Executions a side that would tell a difference of `effect` in four of five cases; only of an inconclusive one.
    pub executions_needed: Option<usize>,
    /// The difference that was found, or the margin where that is larger, as a share.
    pub effect: f64,
    /// The smallest difference that so many executions find in four of five cases, as a share.
    pub smallest_effect: Option<f64>,
    /// A difference that is none, in the measure's unit.
    pub(crate) negligible: f64,
    values: Values,
}

/// What was compared, kept for another confidence.
#[derive(Debug, Clone, PartialEq)]
enum Values {
    Pairs(Vec<(f64, f64)>),
    Lists(Vec<f64>, Vec<f64>),
}

impl Values {
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
            values: Values::Pairs(Vec::new()),
        }
    }

    /// The comparison at another confidence.
    pub(crate) fn at(&self, confidence: f64) -> Option<Comparison> {
        self.values.compare(confidence)
    }

    /// By how much the means differ, in the measure's unit.
    pub(crate) fn shift(&self) -> f64 {
        self.means[1] - self.means[0]
    }
}

/// A measure that every execution of both sides has.
pub(crate) fn compared(
    measure: Measure,
    a: &[&Execution<'_>],
    b: &[&Execution<'_>],
    pairs: Option<&[(&Execution<'_>, &Execution<'_>)]>,
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
        comparison: values.compare(CONFIDENCE),
        p_value: None,
        executions_needed: None,
        effect: 0.0,
        smallest_effect: None,
        negligible: executions
            .map(|execution| measure.negligible(execution))
            .fold(0.0, f64::max),
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
    let p_values: Vec<f64> = compared.iter().map(|(it, _)| it.p_value).collect();
    for ((comparison, compared), p_value) in compared.into_iter().zip(holm(&p_values)) {
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
