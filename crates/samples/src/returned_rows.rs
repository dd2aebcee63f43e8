//! Rows returned by statements: their number and variation.

use serde::{Deserialize, Serialize};

/// Rows of the statements that returned a result set, including empty ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReturnedRows {
    /// Number of those statements.
    pub statements: u64,
    /// Sum of their rows.
    pub rows: u64,
    /// Sum of the squares of their rows.
    pub squares: u64,
}

impl ReturnedRows {
    pub fn record(&mut self, rows: u64) {
        self.statements += 1;
        self.rows = self.rows.saturating_add(rows);
        self.squares = self.squares.saturating_add(rows.saturating_mul(rows));
    }

    /// True if no statement returned a result set, or rows were not counted.
    pub fn is_none(&self) -> bool {
        self.statements == 0
    }

    /// Rows per statement; `None` without a statement.
    pub fn mean(&self) -> Option<f64> {
        (self.statements > 0).then(|| self.rows as f64 / self.statements as f64)
    }

    /// Standard deviation of the rows per statement divided by their mean; `None` if no row was returned.
    pub fn variation(&self) -> Option<f64> {
        let mean = self.mean().filter(|mean| *mean > 0.0)?;
        let variance = self.squares as f64 / self.statements as f64 - mean * mean;
        Some(variance.max(0.0).sqrt() / mean)
    }
}

impl std::ops::AddAssign for ReturnedRows {
    fn add_assign(&mut self, more: Self) {
        self.statements += more.statements;
        self.rows = self.rows.saturating_add(more.rows);
        self.squares = self.squares.saturating_add(more.squares);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_unevenly() {
        let of = |all: &[u64]| {
            let mut rows = ReturnedRows::default();
            all.iter().for_each(|it| rows.record(*it));
            rows
        };
        assert_eq!(of(&[]).variation(), None);
        assert_eq!(of(&[0, 0]).variation(), None);
        assert_eq!(of(&[100; 7]).variation(), Some(0.0));
        // Mean 10, variance (81 + 81) / 2.
        assert!((of(&[1, 19]).variation().unwrap() - 0.9).abs() < 1e-12);
        let mut sum = of(&[1]);
        sum += of(&[19]);
        assert_eq!(sum, of(&[1, 19]));
        let most = of(&[u64::MAX, 1]);
        assert_eq!(most.squares, u64::MAX, "no overflow");
    }
}
