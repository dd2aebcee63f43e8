//! Times of one kind: count, mean, extremes and percentiles.

use samples::{Durations, Histogram};
use stats::effective_events;

use crate::percentile::{BEYOND, Percentile, interval_ns};

/// Times of one kind in nanoseconds: response times count from the scheduled start.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
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

    /// As [`Self::of`], for slow operations that may come in bursts; `intervals` holds the durations by interval.
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
        let percentiles = quantiles.iter().map(|quantile| {
            // HDR returns the upper edge of a bucket; no percentile may exceed the exact maximum.
            let edge_ns = durations.histogram.quantile_ns(*quantile).unwrap_or(0);
            let share = (1.0 - quantile).min(*quantile);
            let beyond = durations.count as f64 * share;
            let simple = durations.histogram.count() as f64 * share;
            let worth = || {
                let slow = |it: &Vec<&Histogram>| sum(it, |one| one.count_above(edge_ns));
                let slow: Vec<f64> = intervals.iter().map(slow).collect();
                Some(effective_events(&total, &slow)? * (1.0 - quantile))
            };
            // Below the median, bursts lie on the thicker side.
            let independent = if *quantile >= 0.5 { worth() } else { None };
            let independent = independent.unwrap_or(simple).min(simple).min(beyond);
            let worth = if share > 0.0 {
                independent / share
            } else {
                0.0
            };
            Percentile {
                quantile: *quantile,
                ns: edge_ns.clamp(durations.min_ns.min(durations.max_ns), durations.max_ns),
                beyond,
                independent,
                interval_ns: interval_ns(&durations.histogram, *quantile, worth),
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
