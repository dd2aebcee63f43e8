//! Flushes of the log per operation as a function of concurrency.

/// Flushes per operation at each measured concurrency, rising.
///
/// Transactions that commit at the same time share a flush (group commit), so that an operation needs fewer flushes the more
/// connections commit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FlushCurve(Vec<(f64, f64)>);

impl FlushCurve {
    /// The curve through these points of concurrency and flushes per operation; `None` without points.
    pub(crate) fn new(mut points: Vec<(f64, f64)>) -> Option<Self> {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        (!points.is_empty()).then_some(Self(points))
    }

    /// Flushes per operation: on a straight line over the logarithm of the concurrency between two measured points, constant
    /// beyond the last ones.
    pub(crate) fn at(&self, concurrency: f64) -> f64 {
        let above = self.0.partition_point(|(at, _)| *at <= concurrency);
        match (self.0[..above].last(), self.0.get(above)) {
            (Some(lower), Some(upper)) => {
                let weight = (concurrency / lower.0).ln() / (upper.0 / lower.0).ln();
                lower.1 + weight * (upper.1 - lower.1)
            }
            (Some(end), None) | (None, Some(end)) => end.1,
            (None, None) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flushes_are_interpolated_between_concurrencies() {
        let curve = FlushCurve::new(vec![(16.0, 0.2), (1.0, 1.0), (4.0, 0.6)]).unwrap();
        for (concurrency, expected) in [
            (0.5, 1.0),
            (1.0, 1.0),
            // Half of the way from 1 to 4, and from 4 to 16.
            (2.0, 0.8),
            (8.0, 0.4),
            (16.0, 0.2),
            (100.0, 0.2),
        ] {
            let found = curve.at(concurrency);
            assert!((found - expected).abs() < 1e-12, "{concurrency}: {found}");
        }
        assert_eq!(FlushCurve::new(Vec::new()), None);
    }
}
