//! The table of results by version.

use std::fmt;

/// Result of one check on one version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cell {
    /// The requirement is met.
    Ok,
    /// Does not apply to this build, with the reason.
    Skipped(String),
    /// Panicked; the fault was printed then.
    Failed,
}

/// A column per version, a row per check.
pub(crate) struct Results {
    checks: Vec<&'static str>,
    columns: Vec<(String, Vec<Cell>)>,
}

impl Results {
    pub(crate) fn new(checks: Vec<&'static str>) -> Self {
        Self {
            checks,
            columns: Vec::new(),
        }
    }

    /// Adds a version. A version that could not be started has only one cell.
    pub(crate) fn add(&mut self, version: String, cells: Vec<Cell>) {
        self.columns.push((version, cells));
    }

    pub(crate) fn versions(&self) -> Vec<&str> {
        self.columns
            .iter()
            .map(|(version, _)| version.as_str())
            .collect()
    }

    /// Panics with all checks that failed.
    #[track_caller]
    pub(crate) fn must_be_good(&self) {
        assert!(!self.columns.is_empty(), "no server is installed");
        let mut bad = Vec::new();
        for (version, cells) in &self.columns {
            for (check, cell) in self.checks.iter().zip(cells) {
                if *cell == Cell::Failed {
                    bad.push(format!("{version}: {check}"));
                }
            }
        }
        assert!(bad.is_empty(), "failed:\n  {}", bad.join("\n  "));
    }

    /// Panics if a check applied to no version at all.
    #[track_caller]
    pub(crate) fn every_check_must_apply_somewhere(&self) {
        let nowhere = |index: &usize| {
            let mut cells = self.columns.iter().map(|(_, cells)| &cells[*index]);
            cells.all(|cell| *cell != Cell::Ok)
        };
        let idle: Vec<&str> = (0..self.checks.len())
            .filter(nowhere)
            .map(|index| self.checks[index])
            .collect();
        assert!(idle.is_empty(), "skipped on every version: {idle:?}");
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut reasons: Vec<&str> = Vec::new();
        let mut rows = vec![vec![String::new()]];
        rows[0].extend(self.columns.iter().map(|(version, _)| version.clone()));
        for (index, check) in self.checks.iter().enumerate() {
            let mut row = vec![(*check).to_owned()];
            for (_, cells) in &self.columns {
                row.push(match cells.get(index) {
                    None => "not started".to_owned(),
                    Some(Cell::Ok) => "ok".to_owned(),
                    Some(Cell::Failed) => "FAILED".to_owned(),
                    Some(Cell::Skipped(reason)) => {
                        let known = reasons.iter().position(|other| *other == reason.as_str());
                        let number = known.unwrap_or_else(|| {
                            reasons.push(reason);
                            reasons.len() - 1
                        });
                        format!("skipped {}", number + 1)
                    }
                });
            }
            rows.push(row);
        }
        let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..=self.columns.len()).map(width).collect();
        writeln!(f)?;
        for row in &rows {
            let cells = row.iter().zip(&widths);
            let cells: Vec<String> = cells
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
        }
        for (index, reason) in reasons.iter().enumerate() {
            writeln!(f, "skipped {}: {reason}", index + 1)?;
        }
        Ok(())
    }
}
