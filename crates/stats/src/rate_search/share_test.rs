//! Tests whether stages keep the limit: whether their share of operations over it is that which is allowed.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::stage::{Counts, RateStage};
use crate::{comparison::EXECUTIONS_AT_LEAST, mean_interval::Interval, sequential::level_of_look};

/// A sequential test of the stages of one search.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShareTest {
    /// The share of operations that may exceed the limit.
    pub(super) allowed: f64,
    pub(super) stages_at_most: usize,
    /// Share of the searches in which the test may be wrong.
    pub(super) alpha: f64,
}

impl ShareTest {
    /// Whether these stages together keep the limit; `None` if that is not decided.
    ///
    /// The error follows from the differences between the stages. Where no operation is over the limit, these are unknown,
    /// and the operations count as independent.
    pub(super) fn is_kept(&self, stages: &[RateStage]) -> Option<bool> {
        let level = level_of_look(stages.len(), self.stages_at_most, self.alpha)?;
        let operations: f64 = stages.iter().map(|it| it.operations as f64).sum();
        let over: f64 = stages.iter().map(|it| it.over as f64).sum();
        if over == 0.0 {
            let chance = (1.0 - self.allowed).powf(operations);
            return (chance <= level / 2.0).then_some(true);
        }
        let mean = over / operations;
        let residual = |it: &RateStage| it.over as f64 - it.operations as f64 * mean;
        let squares: f64 = stages.iter().map(|it| residual(it).powi(2)).sum();
        let freedom = stages.len() as f64 - 1.0;
        let correction = stages.len() as f64 / freedom;
        // If all operations are over the limit, both variances are 0, and their ratio is no number, which `max` leaves out.
        let dispersion = correction * squares / (operations * mean * (1.0 - mean));
        let counts = Counts::of(stages, self.allowed);
        let share = counts.over / counts.operations;
        let variance = dispersion.max(1.0) / (counts.operations * share * (1.0 - share));
        let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
        let distance = counts.log_odds(self.allowed);
        let is_decided = distance.abs() > student.inverse_cdf(1.0 - level / 2.0) * variance.sqrt();
        is_decided.then_some(distance < 0.0)
    }

    /// The rates around an estimate between which the limit is reached: of the stages next below it, as many as keep the
    /// limit together, and of those next above it, as many as exceed it together. `None` if a side is not decided.
    ///
    /// This assumes no curve, only that the share over the limit does not fall with the rate.
    pub(super) fn bounds(&self, stages: &[RateStage], estimate: f64) -> Option<Interval> {
        let (mut below, mut above): (Vec<RateStage>, Vec<RateStage>) =
            (stages.iter().copied()).partition(|it| it.rate_per_s <= estimate);
        below.sort_by(|a, b| b.rate_per_s.total_cmp(&a.rate_per_s));
        above.sort_by(|a, b| a.rate_per_s.total_cmp(&b.rate_per_s));
        let bound = |side: &[RateStage], is_kept: bool| {
            let mut counts = EXECUTIONS_AT_LEAST..=side.len();
            let count = counts.find(|count| self.is_kept(&side[..*count]) == Some(is_kept))?;
            Some(side[count - 1].rate_per_s)
        };
        Some(Interval {
            estimate,
            low: bound(&below, true)?,
            high: bound(&above, false)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: ShareTest = ShareTest {
        allowed: 0.01,
        stages_at_most: 40,
        alpha: 0.05,
    };

    fn stage(rate_per_s: f64, over: u64) -> RateStage {
        RateStage {
            rate_per_s,
            operations: 10_000,
            over,
            is_offered: true,
        }
    }

    #[test]
    fn clear_shares_are_decided() {
        let cases: [(&[u64], Option<bool>); 8] = [
            (&[0, 0, 0], Some(true)),
            (&[10_000, 10_000, 10_000], Some(false)),
            (&[9_000, 9_100, 8_900], Some(false)),
            (&[20, 22, 18, 21, 19, 20], Some(true)),
            (&[100, 90, 110, 95, 105], None),
            // Means far from the limit, but hardly known.
            (&[0, 0, 900, 0, 0], None),
            (&[0, 0], None),
            (&[], None),
        ];
        for (over, expected) in cases {
            let stages: Vec<RateStage> = over.iter().map(|over| stage(100.0, *over)).collect();
            assert_eq!(TEST.is_kept(&stages), expected, "{over:?}");
        }
        let short = RateStage {
            operations: 50,
            ..stage(5.0, 0)
        };
        assert_eq!(TEST.is_kept(&[short; 3]), None);
    }

    #[test]
    fn bounds_are_the_rates_of_as_many_stages_as_decide() {
        let kept = [900.0, 940.0, 960.0, 980.0, 990.0].map(|rate| stage(rate, 0));
        let exceeded = [1_010.0, 1_020.0, 1_040.0, 1_100.0].map(|rate| stage(rate, 9_000));
        let all = [&exceeded[..], &kept[..]].concat();
        let found = TEST.bounds(&all, 1_000.0).unwrap();
        assert_eq!((found.low, found.high), (960.0, 1_040.0));
        assert_eq!(TEST.bounds(&kept, 1_000.0), None);
        assert_eq!(TEST.bounds(&exceeded, 1_000.0), None);
    }
}
