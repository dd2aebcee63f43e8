//! One measure of two sides: their means, what they are compared to, and what is decided.

use stats::{Comparison, Difference, Interval, level_of_look};

use crate::{
    decision::{CONFIDENCE, Decision},
    measure::Measure,
    side::Execution,
    values::{BlockValue, Values},
};

/// One measure of both sides.
#[derive(Debug, Clone)]
pub struct Compared {
    /// What is compared.
    pub measure: Measure,
    /// The means over the executions of each side that are compared (of pairs, those that have one), see
    /// [`stats::execution_mean`].
    pub means: [f64; 2],
    /// The sides whose percentile is marked, for it rests on few operations; see [`Metric::is_thin`].
    ///
    /// [`Metric::is_thin`]: crate::Metric::is_thin
    pub thin: [bool; 2],
    /// What is decided; of a cost, faster means less and slower more.
    pub decision: Decision,
    /// The numbers; `None` where a side has fewer than two executions. Once it is decided, the interval is that of the
    /// decision: as wide as the correction for the comparisons that are decided together makes it.
    pub comparison: Option<Comparison>,
    /// B less A in the measure's unit, at the confidence of the comparison; `None` where that is.
    pub difference: Option<Difference>,
    /// The comparison's probability after the correction for the number of comparisons that are decided together and,
    /// where the executions were looked at after every block, for the looks.
    pub p_value: Option<f64>,
    /// Executions a side that would tell a difference of `effect` in four of five cases; only of an inconclusive one.
    /// Where the executions were looked at after every block: those that would decide it if what was seen is the truth.
    pub executions_needed: Option<usize>,
    /// The difference that was found, or the margin where that is larger, as a share.
    pub effect: f64,
    /// The smallest difference that so many executions find in four of five cases, as a share.
    pub smallest_effect: Option<f64>,
    /// Blocks after which it was decided, or all that there are, where the executions were looked at after every block.
    pub blocks: Option<usize>,
    /// True where it is equivalent because the difference is next to nothing, whatever the ratio.
    pub(crate) is_equivalent_by_amount: bool,
    /// A difference that is none, in the measure's unit.
    pub(crate) negligible: f64,
    /// See [`crate::Side::looked_at`].
    pub(crate) looked_at: Option<usize>,
    pub(crate) values: Values,
}

impl Compared {
    /// One that nothing decided yet.
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
            values,
        }
    }

    /// One that no execution is behind.
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

    /// True where every execution of the smaller side has one of the other in its block.
    pub fn is_paired(&self) -> bool {
        self.values.is_paired()
    }

    /// By how much B has more than A, in the measure's unit, where that speaks and not the ratio: a side has less than what is
    /// no difference, or the whole interval lies within that.
    pub fn amount(&self) -> Option<Interval> {
        let [a, b] = self.means;
        let speaks = a.min(b) < self.negligible || self.is_equivalent_by_amount;
        let amount = self.difference?.amount;
        speaks.then_some(amount)
    }

    /// The executions of A and of B, in the measure's unit, as far as they are compared.
    pub fn of_sides(&self) -> &[Vec<f64>; 2] {
        self.values.measured()
    }

    /// The comparison's own probability, of the ratio or of the amount.
    pub(crate) fn own_p_value(&self) -> Option<f64> {
        match self.amount() {
            Some(_) => Some(self.difference?.p_value),
            None => Some(self.comparison?.p_value),
        }
    }

    /// True where the whole interval of the difference lies within what is none.
    pub(crate) fn is_negligible(&self) -> bool {
        self.difference
            .is_some_and(|it| it.amount.high.max(-it.amount.low) < self.negligible)
    }

    /// The same at another confidence, as far as executions are compared.
    pub(crate) fn at(&self, confidence: f64) -> Self {
        let executions = self.values.executions();
        let confidence = confidence_of_look(self.looked_at, executions, confidence);
        Self {
            comparison: self.values.compare(confidence).or(self.comparison),
            difference: self.values.subtract(confidence).or(self.difference),
            ..self.clone()
        }
    }

    /// True where the interval of the ratio, or of the amount, leaves out no difference.
    pub(crate) fn is_apart(&self) -> bool {
        match (self.amount(), self.comparison) {
            (Some(amount), _) => amount.low > 0.0 || amount.high < 0.0,
            (None, Some(it)) => it.ratio.low > 1.0 || it.ratio.high < 1.0,
            (None, None) => false,
        }
    }

    /// By how much the means differ, in the measure's unit.
    pub(crate) fn shift(&self) -> f64 {
        self.means[1] - self.means[0]
    }

    /// The same with B as A and A as B.
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

/// The confidence of one look after so many blocks, where all looks together are to have this confidence; `looked_at` is
/// the most blocks that there could have been, and `None` where there is one look.
pub(crate) fn confidence_of_look(looked_at: Option<usize>, blocks: usize, confidence: f64) -> f64 {
    let level = looked_at.and_then(|most| level_of_look(blocks.min(most), most, 1.0 - confidence));
    level.map_or(confidence, |level| 1.0 - level)
}

/// A measure that every execution of both sides has; `None` where one lacks it, for the others are another set than that
/// of the measures beside it.
pub(crate) fn compared(
    measure: Measure,
    a: &[&Execution<'_>],
    b: &[&Execution<'_>],
    looked_at: Option<usize>,
) -> Option<Compared> {
    let of_sides = [measure.of_all(a)?, measure.of_all(b)?];
    let placed = |side: &[&Execution<'_>], values: &[f64]| {
        let values = side
            .iter()
            .zip(values)
            .map(|(execution, value)| BlockValue {
                results: execution.results,
                block: execution.record.header.block,
                value: *value,
                comparable: measure.comparable(execution, *value),
            });
        values.collect::<Vec<_>>()
    };
    let values = Values::of(&placed(a, &of_sides[0]), &placed(b, &of_sides[1]));
    let negligible = a.iter().chain(b).map(|it| measure.negligible(it));
    Some(Compared {
        negligible: negligible.fold(0.0, f64::max),
        thin: [a, b].map(|side| measure.is_thin(side)),
        ..Compared::new(measure, values.means(CONFIDENCE)?, values, looked_at)
    })
}
