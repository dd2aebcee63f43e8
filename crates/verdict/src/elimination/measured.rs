//! A configuration compared with the baseline of its round.

use stats::{Design, Deviation, EXECUTIONS_AT_LEAST, Interval};

use crate::{
    answer::Answer,
    decision::{CONFIDENCE, Decision},
    elimination::parts::Parts,
    measure_comparison::confidence_of_look,
};

/// A configuration compared with the baseline of its round.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedConfiguration {
    /// The configuration.
    pub parts: Parts,
    /// The decision about it, against the baseline.
    pub decision: Decision,
    /// Its metric over the baseline's, with the interval of the decision; `None` with fewer than two pairs.
    pub ratio: Option<Interval>,
    /// Executions of each side.
    pub executions: usize,
    /// The smallest difference that these executions show with 80 % power, as a share; `None` without a spread.
    pub smallest: Option<f64>,
}

impl ComparedConfiguration {
    /// A configuration by the answer about it; `comparisons` is the number of answers of its round.
    pub fn of(parts: Parts, answer: &Answer, comparisons: usize) -> Self {
        let executions = answer.comparison.map_or(0, |it| it.executions);
        let looked_at = answer.looks.map(|looks| looks.blocks_at_most);
        let of_each = 1.0 - (1.0 - CONFIDENCE) / comparisons.max(1) as f64;
        let design = Design {
            paired: answer.paired,
            level: 1.0 - confidence_of_look(looked_at, executions, of_each),
        };
        let smallest = answer.comparison.and_then(|it| {
            let freedom = design.freedom(it.executions as f64);
            design.smallest_effect(Deviation::estimated(it.deviation, freedom), it.executions)
        });
        Self {
            parts,
            decision: answer.decision,
            ratio: answer.comparison.map(|it| it.ratio),
            executions,
            smallest: smallest.map(f64::exp_m1),
        }
    }

    /// Whether there are enough executions for any decision.
    pub fn can_be_decided(&self) -> bool {
        self.executions >= EXECUTIONS_AT_LEAST
    }

    /// Whether it is certain not to be faster than the baseline by more than the margin, a share.
    pub fn is_at_most_faster_by(&self, margin: f64) -> bool {
        let is_decided = matches!(self.decision, Decision::Slower | Decision::Equivalent);
        self.can_be_decided() && (is_decided || self.most() <= 1.0 + margin)
    }

    /// The most that it can be over the baseline; infinite without an interval.
    pub(super) fn most(&self) -> f64 {
        self.ratio.map_or(f64::INFINITY, |ratio| ratio.high)
    }

    /// The share that the baseline may lose against this configuration; `None` without an interval.
    pub fn loss_of_baseline(&self) -> Option<f64> {
        self.of_baseline().map(|ratio| 1.0 - ratio.low)
    }

    /// The baseline's metric over this configuration's.
    pub fn of_baseline(&self) -> Option<Interval> {
        self.ratio.map(inverse)
    }

    /// The baseline, with these parts, against this configuration.
    pub(super) fn reversed(&self, baseline: Parts) -> Self {
        Self {
            parts: baseline,
            decision: self.decision.reversed(),
            ratio: self.ratio.map(inverse),
            ..self.clone()
        }
    }
}

/// The ratio with its sides exchanged.
pub(super) fn inverse(ratio: Interval) -> Interval {
    Interval {
        estimate: 1.0 / ratio.estimate,
        low: 1.0 / ratio.high,
        high: 1.0 / ratio.low,
    }
}
