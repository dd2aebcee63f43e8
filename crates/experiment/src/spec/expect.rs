//! `[expect]`: what the figures of every combination have to hold.

use settings::quantity;

use crate::{
    error::Error,
    file::section::Section,
    spec::verdict::{ELAPSED, METRICS},
};

/// A bound on a figure: `p99 = "< 5ms"`.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectSpec {
    /// `throughput`, `new_orders_per_min`, `p50`, `p95`, `p99` or `elapsed`.
    pub metric: String,
    /// Whether the figure has to be below the limit, not above it.
    pub is_below: bool,
    /// Operations per second, New-Orders per minute, nanoseconds of a percentile, or seconds that a load takes.
    pub limit: f64,
    /// The bound as the file has it.
    pub written: String,
}

impl ExpectSpec {
    /// Reads `[expect]`, in the order of the metrics.
    pub(crate) fn read_all(
        section: &Section<'_>,
        own: &[&'static str],
    ) -> Result<Vec<Self>, Error> {
        let metrics = [&METRICS[..], own].concat();
        section.allow(&metrics)?;
        let mut all = Vec::new();
        for metric in metrics {
            let expected = if is_rate(metric, own) {
                "a bound such as \"> 5000\" or \"> 20k\""
            } else {
                "a bound such as \"< 5ms\""
            };
            let read = section.parsed(metric, expected, |text| {
                let (is_below, limit) = bound(text, is_rate(metric, own), metric == ELAPSED)?;
                Some(Self {
                    metric: metric.to_owned(),
                    is_below,
                    limit,
                    written: text.to_owned(),
                })
            })?;
            all.extend(read);
        }
        Ok(all)
    }
}

fn is_rate(metric: &str, own: &[&'static str]) -> bool {
    metric == METRICS[0] || own.contains(&metric)
}

/// Whether the figure has to be below, and the limit.
fn bound(text: &str, is_rate: bool, is_seconds: bool) -> Option<(bool, f64)> {
    let text = text.trim();
    let is_below = text.starts_with('<');
    let limit = text.strip_prefix(['<', '>'])?.trim();
    let limit = if is_rate {
        quantity::rate(limit).or_else(|| quantity::count(limit).map(|count| count as f64))?
    } else {
        let time = quantity::duration(limit)?;
        if is_seconds {
            time.as_secs_f64()
        } else {
            time.as_nanos() as f64
        }
    };
    Some((is_below, limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_have_a_side_and_a_unit() {
        for (text, is_rate, is_seconds, expected) in [
            ("< 5ms", false, false, Some((true, 5e6))),
            ("> 20k", true, false, Some((false, 20_000.0))),
            (">0.5", true, false, Some((false, 0.5))),
            ("< 2m", false, true, Some((true, 120.0))),
            ("5ms", false, false, None),
            ("< 5", false, false, None),
            ("> 5ms", true, false, None),
            ("<", true, false, None),
        ] {
            assert_eq!(bound(text, is_rate, is_seconds), expected, "{text}");
        }
    }
}
