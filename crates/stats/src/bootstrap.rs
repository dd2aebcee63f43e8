//! Bootstrap intervals of any statistic, by resampling executions and the intervals within them.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::{mean_interval::Interval, random::Random, spread::Spread};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resampling {
    /// Number of resamples; 2,000 keep the ends of a 95 % interval stable to a percent of its width.
    pub resamples: usize,
    /// Seed of the resampling; equal seeds give equal intervals.
    pub seed: u64,
}

/// A statistic averaged over executions, with its interval at `confidence`: executions are drawn with replacement, then
/// the values of each.
///
/// The values of an execution are those of its intervals (a second's throughput) or of its operations. The statistic
/// may be a mean, a median or a percentile, and may reorder the values. The interval reflects the spread between
/// executions: a hundred seconds of two executions count as two values. With three executions the interval is a rough
/// guide; from five its coverage is as stated.
///
/// `None` for fewer than two executions, an empty one, no resamples, a confidence outside of 0 to 1, and a statistic
/// that is not finite.
///
/// Source: two-level bootstrap: A. C. Davison and D. V. Hinkley, "Bootstrap methods and their application" (1997),
/// section 3.8, applied to executions by Kalibera and Jones, ISMM 2013; widened for few executions: T. C. Hesterberg,
/// "What teachers should know about the bootstrap", The American Statistician 69 (2015), the expanded percentile
/// interval.
pub fn bootstrap_interval(
    executions: &[Vec<f64>],
    statistic: impl Fn(&mut [f64]) -> f64,
    confidence: f64,
    resampling: Resampling,
) -> Option<Interval> {
    let mut drawer = Drawer::new(executions, resampling.seed)?;
    let estimate = drawer.estimate(&statistic);
    let mut draws: Vec<f64> = (0..resampling.resamples)
        .map(|_| drawer.draw(&statistic))
        .collect();
    ends(estimate, &mut draws, executions.len(), confidence)
}

/// B's statistic divided by A's with its interval at `confidence`, both sides drawn as by [`bootstrap_interval`]; 1.05
/// is 5 % more.
///
/// `None` as for [`bootstrap_interval`], and if a statistic of a side is not positive.
pub fn bootstrap_ratio(
    a: &[Vec<f64>],
    b: &[Vec<f64>],
    statistic: impl Fn(&mut [f64]) -> f64,
    confidence: f64,
    resampling: Resampling,
) -> Option<Interval> {
    let mut drawer_a = Drawer::new(a, resampling.seed)?;
    let mut drawer_b = Drawer::new(b, resampling.seed ^ u64::MAX)?;
    let estimate = drawer_b.estimate(&statistic).ln() - drawer_a.estimate(&statistic).ln();
    let mut draws: Vec<f64> = (0..resampling.resamples)
        .map(|_| drawer_b.draw(&statistic).ln() - drawer_a.draw(&statistic).ln())
        .collect();
    let found = ends(estimate, &mut draws, a.len().min(b.len()), confidence)?;
    Some(Interval {
        estimate: found.estimate.exp(),
        low: found.low.exp(),
        high: found.high.exp(),
    })
}

/// The interval of a statistic at `confidence` from its values in resamples of `executions` executions that the caller
/// drew: the standard deviation of the draws times Student's t.
///
/// With few executions the quantiles of the draws are too narrow: no draw is beyond the most extreme execution. Values
/// above 0 vary by a factor, so their interval is that of the logarithms. If the estimate or a draw is 0, the interval
/// is that of the values, and ends at 0.
///
/// `None` for fewer than two executions or draws, a value that is negative or not finite, and a confidence outside of 0
/// to 1.
///
/// Source: Student's t with the bootstrap's standard error: B. Efron and R. J. Tibshirani, "An Introduction to the
/// Bootstrap" (1993), chapters 6 and 12. Resamples of n executions spread less than samples by the factor
/// √((n - 1) / n): Hesterberg, as for [`bootstrap_interval`].
pub fn interval_of_draws(
    estimate: f64,
    draws: &[f64],
    executions: usize,
    confidence: f64,
) -> Option<Interval> {
    let in_range = confidence > 0.0 && confidence < 1.0;
    let mut all = draws.iter().chain([&estimate]);
    if executions < 2 || !in_range || !all.all(|it| it.is_finite() && *it >= 0.0) {
        return None;
    }
    let reach = reach(executions, confidence)?;
    if estimate > 0.0 && draws.iter().all(|it| *it > 0.0) {
        let logs: Vec<f64> = draws.iter().map(|it| it.ln()).collect();
        let factor = (reach * Spread::of(&logs)?.variance.sqrt()).exp();
        return Some(Interval {
            estimate,
            low: estimate / factor,
            high: estimate * factor,
        });
    }
    let half_width = reach * Spread::of(draws)?.variance.sqrt();
    Some(Interval {
        estimate,
        low: (estimate - half_width).max(0.0),
        high: estimate + half_width,
    })
}

/// The half width of an interval in standard deviations of the draws: Student's t, widened because resamples spread less
/// than samples.
fn reach(executions: usize, confidence: f64) -> Option<f64> {
    let count = executions as f64;
    let student = StudentsT::new(0.0, 1.0, count - 1.0).ok()?;
    Some((count / (count - 1.0)).sqrt() * student.inverse_cdf(0.5 + confidence / 2.0))
}

struct Drawer<'a> {
    executions: &'a [Vec<f64>],
    random: Random,
    drawn: Vec<f64>,
}

impl<'a> Drawer<'a> {
    fn new(executions: &'a [Vec<f64>], seed: u64) -> Option<Self> {
        if executions.len() < 2 || executions.iter().any(Vec::is_empty) {
            return None;
        }
        Some(Self {
            executions,
            random: Random::new(seed),
            drawn: Vec::new(),
        })
    }

    /// The statistic of the measured values.
    fn estimate(&mut self, statistic: impl Fn(&mut [f64]) -> f64) -> f64 {
        let all = self.executions.iter().map(|execution| {
            self.drawn.clone_from(execution);
            statistic(&mut self.drawn)
        });
        all.sum::<f64>() / self.executions.len() as f64
    }

    /// The statistic of one resample.
    fn draw(&mut self, statistic: impl Fn(&mut [f64]) -> f64) -> f64 {
        let all = (0..self.executions.len()).map(|_| {
            let execution = &self.executions[self.random.below(self.executions.len())];
            let values = execution.iter();
            self.drawn.clear();
            self.drawn
                .extend(values.map(|_| execution[self.random.below(execution.len())]));
            statistic(&mut self.drawn)
        });
        all.sum::<f64>() / self.executions.len() as f64
    }
}

/// The interval between two quantiles of the draws, widened for few executions; it contains the estimate.
fn ends(estimate: f64, draws: &mut [f64], executions: usize, confidence: f64) -> Option<Interval> {
    let in_range = confidence > 0.0 && confidence < 1.0;
    let finite = estimate.is_finite() && draws.iter().all(|draw| draw.is_finite());
    if draws.is_empty() || !in_range || !finite {
        return None;
    }
    let tail = Normal::standard().cdf(-reach(executions, confidence)?);
    draws.sort_by(f64::total_cmp);
    let last = draws.len() - 1;
    let at = |quantile: f64| draws[(quantile * last as f64).round() as usize];
    Some(Interval {
        estimate,
        low: at(tail).min(estimate),
        high: at(1.0 - tail).max(estimate),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::noise::Noise;

    const DRAWS: Resampling = Resampling {
        resamples: 400,
        seed: 7,
    };

    fn mean(values: &mut [f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    fn p95(values: &mut [f64]) -> f64 {
        let at = values.len() * 95 / 100;
        *values.select_nth_unstable_by(at, f64::total_cmp).1
    }

    #[test]
    fn without_spread_it_is_a_point_and_seeds_repeat_it() {
        let same = vec![vec![5.0; 10]; 4];
        let found = bootstrap_interval(&same, mean, 0.95, DRAWS).unwrap();
        assert_eq!((found.low, found.estimate, found.high), (5.0, 5.0, 5.0));
        let twice = vec![vec![10.0; 10]; 4];
        let ratio = bootstrap_ratio(&same, &twice, mean, 0.95, DRAWS).unwrap();
        assert!((ratio.low - 2.0).abs() < 1e-12 && (ratio.high - 2.0).abs() < 1e-12);
        let different: Vec<Vec<f64>> = (1..5).map(|at| vec![f64::from(at); 3]).collect();
        let again = || bootstrap_interval(&different, p95, 0.95, DRAWS);
        assert!(again().is_some());
        assert_eq!(again(), again());
    }

    #[test]
    fn draws_make_an_interval_with_students_t() {
        // t(4) at 95 % is 2.131847, widened by √(5 / 4); the logarithms of 1 and 4 deviate by ln 4 / √2 = 0.980258.
        let found = interval_of_draws(2.0, &[1.0, 4.0], 5, 0.9).unwrap();
        assert!((found.low - 0.193346).abs() < 1e-5, "{found:?}");
        assert!((found.high - 20.68834).abs() < 1e-3, "{found:?}");
        // t(1) is 6.313752, widened by √2; 0, 2 and 4 deviate by 2.
        let found = interval_of_draws(2.0, &[0.0, 2.0, 4.0], 2, 0.9).unwrap();
        assert_eq!(found.low, 0.0);
        assert!((found.high - 19.857987).abs() < 1e-4, "{found:?}");
        let point = interval_of_draws(0.0, &[0.0; 3], 3, 0.9).unwrap();
        assert_eq!((point.low, point.high), (0.0, 0.0));
        for (estimate, draws, executions, confidence) in [
            (2.0, &[1.0, 4.0][..], 1, 0.9),
            (2.0, &[1.0], 5, 0.9),
            (2.0, &[1.0, -4.0], 5, 0.9),
            (f64::INFINITY, &[1.0, 4.0], 5, 0.9),
            (2.0, &[1.0, 4.0], 5, 1.0),
        ] {
            let none = interval_of_draws(estimate, draws, executions, confidence);
            assert_eq!(none, None, "{estimate} {draws:?}");
        }
    }

    #[test]
    fn undefined_is_none() {
        let good = vec![vec![1.0, 2.0], vec![2.0, 3.0]];
        let none = Resampling {
            resamples: 0,
            ..DRAWS
        };
        for (executions, confidence, resampling) in [
            (&good[..1], 0.95, DRAWS),
            (&[vec![], vec![1.0]], 0.95, DRAWS),
            (&good, 1.0, DRAWS),
            (&good, 0.95, none),
            (&[vec![f64::NAN], vec![1.0]], 0.95, DRAWS),
        ] {
            assert_eq!(
                bootstrap_interval(executions, mean, confidence, resampling),
                None
            );
        }
        let negative = vec![vec![-1.0], vec![-2.0]];
        assert_eq!(bootstrap_ratio(&good, &negative, mean, 0.95, DRAWS), None);
    }

    /// Coverage of the intervals for the mean ratio and the 95th percentile of executions that differ by 5 %.
    #[test]
    fn ninety_five_percent_hold_the_truth() {
        const EXPERIMENTS: usize = 1_000;
        for (seed, executions) in [(71, 5), (72, 10)] {
            let mut noise = Noise::new(seed);
            let mut held = [0_usize; 2];
            for _ in 0..EXPERIMENTS {
                let mut side = |level: f64| -> Vec<Vec<f64>> {
                    (0..executions)
                        .map(|_| {
                            let level = level * (0.05 * noise.normal()).exp();
                            let errors = noise.autocorrelated(40, 0.5);
                            errors
                                .iter()
                                .map(|error| level * (1.0 + 0.05 * error))
                                .collect()
                        })
                        .collect()
                };
                let (a, b) = (side(1000.0), side(1100.0));
                let ratio = bootstrap_ratio(&a, &b, mean, 0.95, DRAWS).unwrap();
                held[0] += usize::from(ratio.low <= 1.1 && 1.1 <= ratio.high);
                // The level of an execution times the 95th percentile of its normal values.
                let truth = 1000.0 * 0.00125_f64.exp() * (1.0 + 1.6449 * 0.05);
                let found = bootstrap_interval(&a, p95, 0.95, DRAWS).unwrap();
                held[1] += usize::from(found.low <= truth && truth <= found.high);
            }
            let shares = held.map(|held| held as f64 / EXPERIMENTS as f64);
            assert!(
                (0.92..=0.98).contains(&shares[0]),
                "{shares:?} of {executions}"
            );
            assert!(
                (0.92..=0.99).contains(&shares[1]),
                "{shares:?} of {executions}"
            );
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_holds_its_estimate(
            executions in prop::collection::vec(prop::collection::vec(prop::num::f64::ANY, 0..5), 0..4),
        ) {
            if let Some(found) = bootstrap_interval(&executions, mean, 0.95, DRAWS) {
                prop_assert!(found.low <= found.estimate && found.estimate <= found.high);
            }
            let _ = bootstrap_ratio(&executions, &executions, p95, 0.9, DRAWS);
        }
    }
}
