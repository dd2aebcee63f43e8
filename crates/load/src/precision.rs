//! The precision of a quantile of the response times so far.

use samples::Histogram;

use crate::rules::Precision;

/// Minimum number of values beyond the quantile in a part of the measurement for its own quantile to be usable.
const BEYOND: f64 = 10.0;

/// The response times so far, divided into consecutive parts.
#[derive(Debug, Default)]
pub(crate) struct Precise {
    all: Histogram,
    /// The part that does not have enough values yet.
    open: Histogram,
    /// The quantile of every complete part, nanoseconds.
    parts: Vec<f64>,
}

impl Precise {
    /// Adds the response times of one more interval.
    pub(crate) fn add(&mut self, precision: &Precision, responses: &Histogram) {
        self.all.add(responses);
        self.open.add(responses);
        if self.open.count() as f64 * (1.0 - precision.quantile) < BEYOND {
            return;
        }
        if let Some(ns) = self.open.quantile_ns(precision.quantile) {
            self.parts.push(ns as f64);
        }
        self.open.clear();
    }

    /// Half the width of the quantile's interval, as a share of the quantile; `None` while it is unknown.
    pub(crate) fn half_width(&self, precision: &Precision) -> Option<f64> {
        let quantile = self.all.quantile_ns(precision.quantile)? as f64;
        Some((precision.half_width)(quantile, &self.parts)? / quantile)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn parts_are_as_long_as_the_quantile_needs() {
        let precision = Precision {
            quantile: 0.9,
            within: 0.05,
            half_width: |quantile, parts| Some(quantile / parts.len() as f64),
            at_most: Duration::from_secs(60),
        };
        let mut precise = Precise::default();
        assert_eq!(precise.half_width(&precision), None);
        let mut responses = Histogram::new();
        (0..60).for_each(|_| responses.record(1_000));
        let parts: Vec<_> = (0..5)
            .map(|_| {
                precise.add(&precision, &responses);
                precise.parts.len()
            })
            .collect();
        assert_eq!(parts, [0, 1, 1, 2, 2], "100 values make a part");
        assert_eq!(precise.half_width(&precision), Some(0.5));
    }
}
