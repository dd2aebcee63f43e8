//! What a target asks and whether the measured interval answers it.

use std::fmt;

use stats::Interval;

/// Confidence of every interval here.
const CONFIDENCE: f64 = 0.95;

/// The bound of a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
    Within(f64, f64),
}

/// How a target stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The interval lies wholly on the right side.
    Met,
    /// The interval lies wholly on the wrong side.
    Missed,
    /// The interval lies astride the bound.
    Undecided,
    /// What had to hold for the figure to count did not.
    Void(String),
    /// Too few rounds gave a figure for an interval.
    NotMeasured,
}

impl Bound {
    /// The verdict on an interval.
    pub fn judge(self, interval: &Interval) -> Verdict {
        let (lowest, highest) = match self {
            Self::AtMost(bound) => (f64::NEG_INFINITY, bound),
            Self::AtLeast(bound) => (bound, f64::INFINITY),
            Self::Within(low, high) => (low, high),
        };
        if interval.low >= lowest && interval.high <= highest {
            Verdict::Met
        } else if interval.low > highest || interval.high < lowest {
            Verdict::Missed
        } else {
            Verdict::Undecided
        }
    }
}

/// The ratio of two paired series, one pair per round, as the geometric mean with its interval.
///
/// `None` for fewer than two rounds. Source: Student's t over the logarithms; a ratio's errors are
/// multiplicative, and the pairs of a round share what the machine did meanwhile.
pub fn paired_ratio(pairs: &[(f64, f64)]) -> Option<Interval> {
    let logarithms: Vec<f64> = pairs
        .iter()
        .map(|(ours, theirs)| (ours / theirs).ln())
        .collect();
    let interval = stats::mean_interval(&logarithms, CONFIDENCE)?;
    Some(Interval {
        estimate: interval.estimate.exp(),
        low: interval.low.exp(),
        high: interval.high.exp(),
    })
}

/// The median of values that stand alone, with its distribution-free interval: two order statistics that enclose the
/// true median in at least 95 % of all samples. Fewer than six values bound it on no side; `None` for no value.
///
/// A round that the whole machine disturbed counts no more than another. Source: the number of values below the true
/// median is binomial with 1/2.
pub fn median_interval(values: &[f64]) -> Option<Interval> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let middle = |at: usize| sorted.get(at).copied();
    let estimate = f64::midpoint(middle(count.checked_sub(1)? / 2)?, middle(count / 2)?);
    // Of the `rank`-th value from either end; P(Binomial(count, 1/2) <= below) grows term by term.
    let mut rank = 0;
    let mut term = 0.5_f64.powi(count as i32);
    let mut outside = 2.0 * term;
    while outside <= 1.0 - CONFIDENCE {
        rank += 1;
        term *= (count - rank + 1) as f64 / rank as f64;
        outside += 2.0 * term;
    }
    Some(match rank {
        0 => Interval {
            estimate,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        },
        _ => Interval {
            estimate,
            low: sorted[rank - 1],
            high: sorted[count - rank],
        },
    })
}

impl fmt::Display for Bound {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::AtMost(bound) => write!(out, "at most {}", digits(*bound)),
            Self::AtLeast(bound) => write!(out, "at least {}", digits(*bound)),
            Self::Within(low, high) => write!(out, "{} to {}", digits(*low), digits(*high)),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Met => write!(out, "met"),
            Self::Missed => write!(out, "**missed**"),
            Self::Undecided => write!(out, "undecided"),
            Self::Void(why) => write!(out, "void: {why}"),
            Self::NotMeasured => write!(out, "not measured"),
        }
    }
}

/// A number with three digits that count, in full.
pub fn digits(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 100.0 || value == 0.0 {
        return format!("{value:.0}");
    }
    let before_point = magnitude.log10().floor() as i32 + 1;
    let decimals = usize::try_from(3 - before_point).unwrap_or(0).min(4);
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, high: f64) -> Interval {
        Interval {
            estimate: f64::midpoint(low, high),
            low,
            high,
        }
    }

    #[test]
    fn an_interval_is_below_above_or_astride() {
        let cases = [
            (Bound::AtMost(1.0), interval(0.8, 1.0), Verdict::Met),
            (Bound::AtMost(1.0), interval(0.9, 1.1), Verdict::Undecided),
            (Bound::AtMost(1.0), interval(1.01, 1.1), Verdict::Missed),
            (Bound::AtLeast(1.0), interval(1.0, 1.1), Verdict::Met),
            (Bound::AtLeast(1.0), interval(0.9, 1.1), Verdict::Undecided),
            (Bound::AtLeast(1.0), interval(0.8, 0.99), Verdict::Missed),
            (Bound::Within(-5.0, 5.0), interval(-4.0, 5.0), Verdict::Met),
            (
                Bound::Within(-5.0, 5.0),
                interval(-6.0, 5.0),
                Verdict::Undecided,
            ),
            (
                Bound::Within(-5.0, 5.0),
                interval(-7.0, 7.0),
                Verdict::Undecided,
            ),
            (
                Bound::Within(-5.0, 5.0),
                interval(5.1, 7.0),
                Verdict::Missed,
            ),
            (
                Bound::Within(-5.0, 5.0),
                interval(-8.0, -5.1),
                Verdict::Missed,
            ),
        ];
        for (bound, interval, verdict) in cases {
            assert_eq!(bound.judge(&interval), verdict, "{bound} {interval:?}");
        }
    }

    #[test]
    fn a_ratio_is_paired_by_round() {
        // The machine slows down threefold; the ratio of each pair stays one half, so that the interval is a point.
        let pairs = [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)];
        let ratio = paired_ratio(&pairs).unwrap();
        for value in [ratio.estimate, ratio.low, ratio.high] {
            assert!((value - 0.5).abs() < 1e-12, "{ratio:?}");
        }
        assert_eq!(paired_ratio(&pairs[..1]), None);
    }

    #[test]
    fn a_ratio_and_its_inverse_agree() {
        let pairs = [(1.0, 2.0), (1.0, 3.0), (1.0, 5.0)];
        let swapped: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
        let (ratio, inverse) = (
            paired_ratio(&pairs).unwrap(),
            paired_ratio(&swapped).unwrap(),
        );
        assert!((ratio.estimate * 30_f64.cbrt() - 1.0).abs() < 1e-12);
        assert!(
            (ratio.low * inverse.high - 1.0).abs() < 1e-9,
            "{ratio:?} {inverse:?}"
        );
        assert!(
            (ratio.high * inverse.low - 1.0).abs() < 1e-9,
            "{ratio:?} {inverse:?}"
        );
    }

    #[test]
    fn the_median_s_interval_is_that_of_the_sign_test() {
        let (none, all) = (f64::NEG_INFINITY, f64::INFINITY);
        // Ranks as in the tables of the sign test at 5 %, two-sided.
        let cases = [
            (1, 1.0, none, all),
            (5, 3.0, none, all),
            (6, 3.5, 1.0, 6.0),
            (8, 4.5, 1.0, 8.0),
            (9, 5.0, 2.0, 8.0),
            (10, 5.5, 2.0, 9.0),
            (20, 10.5, 6.0, 15.0),
            (30, 15.5, 10.0, 21.0),
        ];
        for (count, estimate, low, high) in cases {
            let values: Vec<f64> = (1..=count).rev().map(f64::from).collect();
            let found = median_interval(&values).unwrap();
            let found = (found.estimate, found.low, found.high);
            assert_eq!(found, (estimate, low, high), "{count}");
        }
        assert_eq!(median_interval(&[]), None);
    }

    #[test]
    fn a_disturbed_round_moves_nothing() {
        let mut lags = vec![9.0, 8.5, 10.0, 9.5, 8.0, 9.2, 8.8, 9.7, 9.1, 9.9];
        lags[3] = 9_300.0;
        let found = median_interval(&lags).unwrap();
        assert!(found.low >= 8.0 && found.high <= 10.0, "{found:?}");
    }

    #[test]
    fn three_digits() {
        let cases = [
            (0.0, "0"),
            (1.0 / 3.0, "0.333"),
            (0.0123, "0.0123"),
            (1.3, "1.30"),
            (25.0, "25.0"),
            (99.96, "100.0"),
            (123_456.7, "123457"),
            (-4.5, "-4.50"),
        ];
        for (value, text) in cases {
            assert_eq!(digits(value), text);
        }
    }
}
