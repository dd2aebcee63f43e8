//! A percentile of one run, the number of operations behind it, and its display (rule M09).

use samples::Histogram;
use stats::percentile_range;

/// The quantiles in every output.
pub const QUANTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

/// Independent operations beyond a percentile below which it is thin: the next run may differ widely (rule M09).
pub const BEYOND: f64 = 10.0;

/// Confidence of a percentile's interval.
const CONFIDENCE: f64 = 0.95;

/// A percentile of one run, with the number of operations behind it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentile {
    /// The quantile: 0.99 for the 99th percentile.
    pub quantile: f64,
    /// Its value, nanoseconds, even if too few operations support it.
    pub ns: u64,
    /// Operations beyond it, on its thinner side.
    pub beyond: f64,
    /// Independent operations beyond it: a burst of slow ones counts as little more than one.
    pub independent: f64,
    /// Its 95 % interval within the run, nanoseconds, by order statistics; `None` for an end that lies beyond all
    /// operations.
    pub interval_ns: (Option<u64>, Option<u64>),
}

impl Percentile {
    /// Its value, nanoseconds; `None` if no operation lies beyond it, because it is then simply the maximum.
    pub fn measured_ns(&self) -> Option<u64> {
        (self.is_end() || self.beyond >= 1.0 - ROUNDING).then_some(self.ns)
    }

    /// True if too few operations support it, so that it is marked.
    pub fn is_thin(&self) -> bool {
        are_thin([self])
    }

    /// The minimum and the maximum are exact for any number of operations.
    fn is_end(&self) -> bool {
        self.quantile <= 0.0 || self.quantile >= 1.0
    }
}

/// Tolerance for floating point: exactly ten of 200 values lie beyond the 95th percentile.
const ROUNDING: f64 = 1e-9;

/// Whether a percentile of these runs, or of a single run, is marked as thin; every output uses this function. It is
/// not thin if each run has ten operations beyond it, and all runs together ten independent ones: bursts make the
/// operations of one run dependent, but not those of different runs.
pub fn are_thin<'p>(runs: impl IntoIterator<Item = &'p Percentile>) -> bool {
    let mut independent = 0.0;
    for run in runs {
        if run.is_end() {
            return false;
        }
        if !are_enough(run.beyond) {
            return true;
        }
        independent += run.independent;
    }
    !are_enough(independent)
}

fn are_enough(beyond: f64) -> bool {
    beyond >= BEYOND - ROUNDING
}

/// The 95 % interval of a quantile of times with this number of independent ones.
pub(crate) fn interval_ns(
    times: &Histogram,
    quantile: f64,
    independent: f64,
) -> (Option<u64>, Option<u64>) {
    let Some(range) = percentile_range(quantile, independent, CONFIDENCE) else {
        return (None, None);
    };
    let at = |quantile: f64| times.quantile_ns(quantile);
    (range.low.and_then(at), range.high.and_then(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percentile(quantile: f64, values: f64, independent: f64) -> Percentile {
        Percentile {
            quantile,
            ns: 7,
            beyond: values * quantile.min(1.0 - quantile),
            independent,
            interval_ns: (None, None),
        }
    }

    #[test]
    fn below_ten_beyond_it_is_thin_and_below_one_it_is_left_out() {
        for (values, quantile, is_measured, is_thin) in [
            (200.0, 0.95, true, false),
            (199.0, 0.95, true, true),
            (199.0, 0.05, true, true),
            (20.0, 0.95, true, true),
            (19.0, 0.95, false, true),
            (20.0, 0.5, true, false),
            (19.0, 0.5, true, true),
            (2.0, 0.5, true, true),
            (1.0, 0.5, false, true),
            (1.0, 1.0, true, false),
            (1.0, 0.0, true, false),
        ] {
            let found = percentile(quantile, values, 10.0);
            assert_eq!(
                (found.measured_ns().is_some(), found.is_thin()),
                (is_measured, is_thin),
                "{values} {quantile}"
            );
        }
    }

    #[test]
    fn bursts_of_several_runs_add_up() {
        let burst = percentile(0.95, 1_000.0, 4.0);
        assert!(burst.is_thin() && burst.measured_ns().is_some());
        assert!(are_thin([&burst, &burst]));
        assert!(!are_thin([&burst, &burst, &burst]));
        let short = percentile(0.95, 100.0, 5.0);
        assert!(
            are_thin([&burst, &burst, &burst, &short]),
            "one run has too few"
        );
        assert!(are_thin([]));
    }

    #[test]
    fn the_interval_ends_where_the_operations_do() {
        let mut times = Histogram::new();
        (1..=100).for_each(|ms| times.record(ms * 1_000_000));
        let ms = |ns: Option<u64>| ns.map(|ns| (ns as f64 / 1e6).round());
        let of = |quantile, independent| {
            let (low, high) = interval_ns(&times, quantile, independent);
            (ms(low), ms(high))
        };
        // By the binomial distribution: between the 40th and the 61st of a hundred.
        assert_eq!(of(0.5, 100.0), (Some(40.0), Some(61.0)));
        assert_eq!(of(0.99, 100.0), (Some(97.0), None));
        assert_eq!(of(0.5, 2.0), (None, None));
        assert_eq!(of(0.5, 0.0), (None, None));
    }
}
