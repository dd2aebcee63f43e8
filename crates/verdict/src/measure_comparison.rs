//! One measure of two sides: their means, the comparison and the decision.

use stats::{Comparison, Design, Deviation, Difference, Interval, level_of_look};

use crate::{
    decision::{CONFIDENCE, Decision},
    measure::Measure,
    short_slices::ShortSlices,
    side::Execution,
    values::{BlockValue, Values},
};

/// One measure of both sides.
#[derive(Debug, Clone)]
pub struct Compared {
    pub measure: Measure,
    /// The means over the compared executions of each side (of pairs, only those that have one), see
    /// [`stats::execution_mean`].
    pub means: [f64; 2],
    /// The sides whose percentile is marked because it is based on few operations; see [`Metric::is_thin`].
    ///
    /// [`Metric::is_thin`]: crate::Metric::is_thin
    pub thin: [bool; 2],
    /// The decision; for a cost, faster means less and slower means more.
    pub decision: Decision,
    /// The numbers; `None` if a side has fewer than two executions. After the decision, the interval is that of the
    /// decision: widened by the correction for the comparisons that are decided together.
    pub comparison: Option<Comparison>,
    /// B minus A in the measure's unit, at the confidence of the comparison; `None` if `comparison` is.
    pub difference: Option<Difference>,
    /// The comparison's p-value after the correction for the number of comparisons that are decided together and, if
    /// the executions were analysed after every block, for the interim analyses.
    pub p_value: Option<f64>,
    /// Executions per side that would detect a difference of `effect` with 80 % power; only of an inconclusive
    /// comparison. If the executions were analysed after every block: those that would decide it if the observed
    /// difference is the true one.
    pub executions_needed: Option<usize>,
    /// The observed difference, or the margin if that is larger, as a share.
    pub effect: f64,
    /// The smallest difference that this number of executions detects with 80 % power, as a share.
    pub smallest_effect: Option<f64>,
    /// Blocks after which it was decided, or all blocks so far, if the executions were analysed after every block.
    pub blocks: Option<usize>,
    /// True if it is equivalent because the absolute difference is negligible, whatever the ratio.
    pub(crate) is_equivalent_by_amount: bool,
    /// The largest difference that is negligible, in the measure's unit.
    pub(crate) negligible: f64,
    /// See [`crate::Side::looked_at`].
    pub(crate) looked_at: Option<usize>,
    /// The slices of a side, if they hold too few operations: nothing is then decided.
    pub short_slices: Option<ShortSlices>,
    pub(crate) values: Values,
}

impl Compared {
    /// A comparison before the decision.
    pub(crate) fn new(
        measure: Measure,
        means: [f64; 2],
        values: Values,
        looked_at: Option<usize>,
    ) -> Self {
        let confidence = confidence_of_look(looked_at, values.executions(), CONFIDENCE);
        Self {
            measure,
            means,
            thin: [false; 2],
            decision: Decision::Inconclusive,
            comparison: values.compare(confidence),
            difference: values.subtract(confidence),
            p_value: None,
            executions_needed: None,
            effect: 0.0,
            smallest_effect: None,
            blocks: None,
            is_equivalent_by_amount: false,
            negligible: 0.0,
            looked_at,
            short_slices: None,
            values,
        }
    }

    /// A comparison without executions.
    #[cfg(test)]
    pub(crate) fn made(
        measure: Measure,
        means: [f64; 2],
        decision: Decision,
        comparison: Option<Comparison>,
    ) -> Self {
        Self {
            decision,
            comparison,
            ..Self::new(measure, means, Values::default(), None)
        }
    }

    /// True if every execution of the smaller side has one of the other in its block.
    pub fn is_paired(&self) -> bool {
        self.values.is_paired()
    }

    /// The difference B minus A in the measure's unit, where it decides instead of the ratio: a side has less than a
    /// negligible difference, or the whole interval is within it.
    pub fn amount(&self) -> Option<Interval> {
        let [a, b] = self.means;
        let speaks = a.min(b) < self.negligible || self.is_equivalent_by_amount;
        let amount = self.difference?.amount;
        speaks.then_some(amount)
    }

    /// The compared executions of A and of B, in the measure's unit.
    pub fn of_sides(&self) -> &[Vec<f64>; 2] {
        self.values.measured()
    }

    /// The comparison's own p-value, of the ratio or of the difference.
    pub(crate) fn own_p_value(&self) -> Option<f64> {
        match self.amount() {
            Some(_) => Some(self.difference?.p_value),
            None => Some(self.comparison?.p_value),
        }
    }

    /// The smallest difference that the executions detect with 80 % power, as a share, by the standard error and the
    /// confidence of the interval; `confidence` is that of all interim analyses together. `None` without a spread.
    pub(crate) fn detectable(&self, confidence: f64) -> Option<f64> {
        let comparison = self.comparison?;
        let executions = comparison.executions;
        let design = Design {
            paired: self.is_paired(),
            level: 1.0 - confidence_of_look(self.looked_at, executions, confidence),
        };
        let deviation = if design.paired {
            // Of the error of a mean of differences, each with the variances of two executions. Batches may be correlated:
            // their spread alone shows too little of it.
            let deviation = comparison.error * (executions as f64 / 2.0).sqrt();
            Deviation::estimated(deviation, comparison.freedom)
        } else {
            let freedom = design.freedom(executions as f64);
            Deviation::estimated(comparison.deviation, freedom)
        };
        let smallest = design.smallest_effect(deviation, executions);
        smallest.map(f64::exp_m1)
    }

    /// True if the whole interval of the difference is negligible.
    pub(crate) fn is_negligible(&self) -> bool {
        self.difference
            .is_some_and(|it| it.amount.high.max(-it.amount.low) < self.negligible)
    }

    /// The same at another confidence; unchanged if the executions cannot be compared.
    pub(crate) fn at(&self, confidence: f64) -> Self {
        let executions = self.values.executions();
        let confidence = confidence_of_look(self.looked_at, executions, confidence);
        Self {
            comparison: self.values.compare(confidence).or(self.comparison),
            difference: self.values.subtract(confidence).or(self.difference),
            ..self.clone()
        }
    }

    /// The absolute difference of the means, in the measure's unit.
    pub(crate) fn shift(&self) -> f64 {
        self.means[1] - self.means[0]
    }

    /// The same with A and B exchanged.
    pub(crate) fn reversed(&self) -> Self {
        let comparison = self.comparison.map(|mut comparison| {
            let ratio = comparison.ratio;
            comparison.ratio.estimate = 1.0 / ratio.estimate;
            (comparison.ratio.low, comparison.ratio.high) = (1.0 / ratio.high, 1.0 / ratio.low);
            comparison
        });
        let difference = self.difference.map(|difference| Difference {
            amount: Interval {
                estimate: -difference.amount.estimate,
                low: -difference.amount.high,
                high: -difference.amount.low,
            },
            ..difference
        });
        Self {
            means: [self.means[1], self.means[0]],
            thin: [self.thin[1], self.thin[0]],
            decision: self.decision.reversed(),
            comparison,
            difference,
            values: self.values.reversed(),
            ..self.clone()
        }
    }
}

/// The confidence of one analysis after this number of blocks, if all analyses together are to have this confidence;
/// `looked_at` is the maximum number of blocks, and `None` for a single analysis.
pub(crate) fn confidence_of_look(looked_at: Option<usize>, blocks: usize, confidence: f64) -> f64 {
    let level = looked_at.and_then(|most| level_of_look(blocks.min(most), most, 1.0 - confidence));
    level.map_or(confidence, |level| 1.0 - level)
}

/// A measure that every execution of both sides has; `None` if one lacks it, because the others are then a different
/// set of executions than that of the other measures.
pub(crate) fn compared(
    measure: Measure,
    a: &[&Execution<'_>],
    b: &[&Execution<'_>],
    looked_at: Option<usize>,
) -> Option<Compared> {
    let of_sides = [measure.of_all(a)?, measure.of_all(b)?];
    let [of_a, of_b] =
        [(a, &of_sides[0]), (b, &of_sides[1])].map(|(side, values)| placed(measure, side, values));
    let values = Values::of(&of_a, &of_b);
    let negligible = a.iter().chain(b).map(|it| measure.negligible(it));
    Some(Compared {
        negligible: negligible.fold(0.0, f64::max),
        thin: [a, b].map(|side| measure.is_thin(side)),
        short_slices: ShortSlices::of([a, b]),
        ..Compared::new(measure, values.means(CONFIDENCE)?, values, looked_at)
    })
}

fn placed<'e>(measure: Measure, side: &[&'e Execution<'_>], values: &[f64]) -> Vec<BlockValue<'e>> {
    let values = side
        .iter()
        .zip(values)
        .map(|(execution, value)| BlockValue {
            results: execution.results,
            block: execution.record.header.block,
            value: *value,
            comparable: measure.comparable(execution, *value),
            slices: execution.slices.as_ref(),
        });
    values.collect()
}
