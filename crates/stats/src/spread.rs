//! Mean and variance of some values.

/// Mean and variance of some values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) count: f64,
    pub(crate) mean: f64,
    /// Of the values, not of the mean; over n - 1.
    pub(crate) variance: f64,
}

impl Spread {
    /// `None` for fewer than two values.
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
