//! The highest rate that keeps a limit on the response time, as a search on the measured machine found it.

use stats::Interval;
use verdict::MaxRate;

/// The answer of a search for the highest rate.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchedRate {
    /// The limited percentile as a share: 0.99.
    pub quantile: f64,
    /// The response time that it stays below, nanoseconds.
    pub limit_ns: u64,
    /// `p99 < 20 ms up to 4.12k/s (3.98k/s to 4.20k/s)`
    pub in_words: String,
    /// Operations per second with a 95 % interval; `None` if the search found no rate.
    pub per_s: Option<Interval>,
    /// Whether it is the highest rate that was tried, so that a higher one may keep the limit, too.
    pub is_at_least: bool,
    /// Share of the data that the buffer pool could hold; `None` if it is not known.
    pub share: Option<f64>,
}

impl SearchedRate {
    /// The answer of a search with this share of the data in memory.
    pub(crate) fn of(found: &MaxRate, share: Option<f64>) -> Self {
        let rate = found.rate();
        Self {
            quantile: found.question.quantile,
            limit_ns: found.question.limit_ns,
            in_words: found.in_words(),
            per_s: rate.map(|(estimate, bounds)| {
                let (low, high) = bounds.unwrap_or((estimate, estimate));
                Interval {
                    estimate,
                    low,
                    high,
                }
            }),
            is_at_least: rate.is_some_and(|(_, bounds)| bounds.is_none()),
            share,
        }
    }
}
