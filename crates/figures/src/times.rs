//! Times of one kind: count, mean, extremes and percentiles.

use samples::{Durations, Histogram};
use stats::effective_events;

use crate::percentile::{BEYOND, Percentile, QUANTILES, interval_ns};

/// From this quantile on, slow operations lie on the thinner side.
const MEDIAN: f64 = 0.5;

/// Times of one kind in nanoseconds: response times count from the scheduled start.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    /// Number of times.
    pub count: u64,
    /// Arithmetic mean.
    pub mean_ns: f64,
    /// Exact minimum.
    pub min_ns: u64,
    /// Exact maximum.
    pub max_ns: u64,
    /// Percentiles in the requested order.
    pub percentiles: Vec<Percentile>,
}

impl Times {
    /// The figures of durations that are all independent; `None` without durations.
    pub fn of(durations: &Durations, quantiles: &[f64]) -> Option<Self> {
        let mut times = Self::in_bursts(durations, quantiles, &[])?;
        for percentile in &mut times.percentiles {
            percentile.independent = percentile.beyond;
            let all = durations.count as f64;
            percentile.interval_ns = interval_ns(&durations.histogram, percentile.quantile, all);
        }
        Some(times)
    }

    /// As [`Self::of`], for slow operations that may come in bursts; `intervals` holds the durations by interval. The
    /// usual lower percentiles count even if they are not requested, so that a percentile has one figure everywhere.
    ///
    /// Source: L. Kish, Survey Sampling (1965), section 5.4, by [`stats::effective_events`]; the plain number with
    /// fewer than ten intervals, which do not show bursts.
    pub(crate) fn in_bursts(
        durations: &Durations,
        quantiles: &[f64],
        intervals: &[Vec<&Histogram>],
    ) -> Option<Self> {
        let mean_ns = durations.mean_ns()?;
        let total: Vec<f64> = intervals
            .iter()
            .map(|it| sum(it, Histogram::count))
            .collect();
        let lowest_ns = durations.min_ns.min(durations.max_ns);
        let highest = quantiles.iter().copied().fold(0.0, f64::max);
        let lower = QUANTILES
            .iter()
            .filter(|it| **it < highest && !quantiles.contains(it));
        let tails: Vec<Tail> = quantiles
            .iter()
            .chain(lower)
            .map(|quantile| Tail::of(durations, *quantile, &total, intervals))
            .collect();
        let percentiles = tails.iter().take(quantiles.len()).map(|tail| {
            let share = thinner_share(tail.quantile);
            let independent = tail.independent_among(&tails);
            let worth = if share > 0.0 {
                independent / share
            } else {
                0.0
            };
            Percentile {
                quantile: tail.quantile,
                // No percentile may exceed the exact maximum.
                ns: tail.edge_ns.clamp(lowest_ns, durations.max_ns),
                beyond: durations.count as f64 * share,
                independent,
                interval_ns: interval_ns(&durations.histogram, tail.quantile, worth),
            }
        });
        Some(Self {
            count: durations.count,
            mean_ns,
            min_ns: durations.min_ns,
            max_ns: durations.max_ns,
            percentiles: percentiles.collect(),
        })
    }

    /// One of the requested percentiles.
    pub fn percentile(&self, quantile: f64) -> Option<&Percentile> {
        let mut percentiles = self.percentiles.iter();
        percentiles.find(|it| it.quantile.total_cmp(&quantile).is_eq())
    }

    /// The value of a percentile, nanoseconds; `None` also if no operation lies beyond it.
    pub fn measured_ns(&self, quantile: f64) -> Option<u64> {
        self.percentile(quantile)?.measured_ns()
    }

    /// Magnitude of a percentile, nanoseconds, for the threshold of a rule: also if its operations come in bursts;
    /// `None` with fewer than ten operations beyond it.
    pub fn magnitude_ns(&self, quantile: f64) -> Option<u64> {
        let percentile = self.percentile(quantile)?;
        (percentile.beyond >= BEYOND).then_some(percentile.ns)
    }
}

/// A quantile, and the operations beyond it by themselves.
struct Tail {
    quantile: f64,
    /// The upper edge of its bucket: HDR returns no other value.
    edge_ns: u64,
    /// Independent operations beyond it, by the bursts of these operations alone.
    independent: f64,
}

impl Tail {
    /// `total` holds the operations of each interval.
    fn of(
        durations: &Durations,
        quantile: f64,
        total: &[f64],
        intervals: &[Vec<&Histogram>],
    ) -> Self {
        let edge_ns = durations.histogram.quantile_ns(quantile).unwrap_or(0);
        let share = thinner_share(quantile);
        let beyond = durations.count as f64 * share;
        let simple = durations.histogram.count() as f64 * share;
        let worth = || {
            let slow = |it: &Vec<&Histogram>| sum(it, |one| one.count_above(edge_ns));
            let slow: Vec<f64> = intervals.iter().map(slow).collect();
            Some(effective_events(total, &slow)? * (1.0 - quantile))
        };
        // Below the median, bursts lie on the thicker side.
        let independent = if quantile >= MEDIAN { worth() } else { None };
        Self {
            quantile,
            edge_ns,
            independent: independent.unwrap_or(simple).min(simple).min(beyond),
        }
    }

    /// The same number, at most that of each lower quantile: what lies beyond a quantile lies beyond the lower ones as
    /// well, so a higher percentile cannot be the firmer one. The lower number counts and not the higher one, because
    /// bursts can hide from a higher quantile: a backlog that ends after the last interval is in none of them.
    fn independent_among(&self, tails: &[Self]) -> f64 {
        let lower = tails
            .iter()
            .filter(|it| it.quantile >= MEDIAN && it.quantile < self.quantile);
        lower
            .map(|it| it.independent)
            .fold(self.independent, f64::min)
    }
}

/// The share of the operations on the thinner side of a quantile.
fn thinner_share(quantile: f64) -> f64 {
    (1.0 - quantile).min(quantile)
}

fn sum(histograms: &[&Histogram], of: impl Fn(&Histogram) -> u64) -> f64 {
    histograms.iter().map(|it| of(it) as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_in_bursts_is_worth_less_than_its_number() {
        let seconds = |slow: &dyn Fn(u64, u64) -> bool| {
            let mut all = Durations::default();
            let histograms: Vec<Histogram> = (0..120)
                .map(|second| {
                    let mut own = Durations::default();
                    (0..1_000).for_each(|index| {
                        let is_slow = slow(second, index);
                        own.record(if is_slow { 90_000_000 } else { 1_000_000 });
                    });
                    all.add(&own);
                    own.histogram
                })
                .collect();
            let intervals: Vec<Vec<&Histogram>> = histograms.iter().map(|it| vec![it]).collect();
            Times::in_bursts(&all, &[0.98], &intervals).unwrap()
        };
        // All slow operations occur in two of the 120 seconds.
        let burst = seconds(&|second, _| second == 60 || second == 61);
        assert!(burst.percentiles[0].independent < 10.0, "{burst:?}");
        assert!(burst.percentiles[0].is_thin());
        let spread = seconds(&|second, index| (index * 7 + second * 13) % 61 == 0);
        assert!(spread.percentiles[0].independent > 100.0, "{spread:?}");
        assert!(!spread.percentiles[0].is_thin());
    }

    #[test]
    fn a_higher_percentile_is_never_firmer_than_a_lower_one() {
        let mut all = Durations::default();
        let histograms: Vec<Histogram> = (0..120)
            .map(|second| {
                let mut own = Durations::default();
                (0..1_000).for_each(|index| {
                    own.record(match index {
                        // The slowest 0.8 % are spread evenly.
                        0..8 => 500_000_000,
                        // Another 4.1 %, which begin beyond the 95th percentile, are one burst.
                        8..992 if (60..65).contains(&second) => 90_000_000,
                        _ => 1_000_000,
                    });
                });
                all.add(&own);
                own.histogram
            })
            .collect();
        let intervals: Vec<Vec<&Histogram>> = histograms.iter().map(|it| vec![it]).collect();
        let of = |quantiles: &[f64], quantile: f64| {
            let times = Times::in_bursts(&all, quantiles, &intervals).unwrap();
            *times.percentile(quantile).unwrap()
        };
        let (p95, p99) = (of(&[0.95, 0.99], 0.95), of(&[0.95, 0.99], 0.99));
        assert!(p95.is_thin() && p99.is_thin(), "{p95:?} {p99:?}");
        assert!(p99.independent <= p95.independent, "{p95:?} {p99:?}");
        // Whatever else is requested.
        assert_eq!(of(&[0.99], 0.99), p99);
        assert_eq!(of(&QUANTILES, 0.99), p99);
        assert!(of(&QUANTILES, 0.999).independent <= p99.independent);
    }

    /// As in a damaged record.
    #[test]
    fn a_maximum_below_the_minimum_does_no_harm() {
        let mut times = Durations::default();
        (1..=40).for_each(|ms| times.record(ms * 1_000_000));
        (times.min_ns, times.max_ns) = (times.max_ns, times.min_ns);
        let found = Times::of(&times, &[0.5]).unwrap();
        assert_eq!(found.percentiles[0].ns, times.max_ns);
    }

    #[test]
    fn nothing_has_no_times() {
        assert_eq!(Times::of(&Durations::default(), &[0.5]), None);
    }
}
