//! Mean and variance of a list of values.

/// Mean and variance of a list of values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) count: f64,
    pub(crate) mean: f64,
    /// Variance of the values, not of their mean; divided by n - 1.
    pub(crate) variance: f64,
}

impl Spread {
    /// The spread of the values; `None` for fewer than two.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        if values.len() < 2 {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            count,
            mean,
            variance: squares / (count - 1.0),
        })
    }
}
