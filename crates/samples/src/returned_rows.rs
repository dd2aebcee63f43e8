//! Rows that statements returned: how many, and how unevenly.

use serde::{Deserialize, Serialize};

/// Rows of the statements that returned a set of rows, an empty one too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReturnedRows {
    /// Those statements.
    pub statements: u64,
    /// Rows of all of them.
    pub rows: u64,
    /// The squares of their numbers of rows, added up.
    pub squares: u64,
}

impl ReturnedRows {
    /// One more statement, which returned so many rows.
    pub fn record(&mut self, rows: u64) {
        self.statements += 1;
        self.rows = self.rows.saturating_add(rows);
        self.squares = self.squares.saturating_add(rows.saturating_mul(rows));
    }

    /// True where no statement returned rows, or nobody counted them.
    pub fn is_none(&self) -> bool {
        self.statements == 0
    }

    /// Rows per statement; `None` without a statement.
    pub fn mean(&self) -> Option<f64> {
        (self.statements > 0).then(|| self.rows as f64 / self.statements as f64)
    }

    /// Standard deviation of the rows per statement over their mean; `None` where none returned a row.
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
