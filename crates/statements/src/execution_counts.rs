//! How many times statements were executed, by the log or the server that they come from.

use std::collections::HashMap;

use sqltext::SqlStatement;

/// The executions of statements.
#[derive(Debug, Clone, Default)]
pub struct ExecutionCounts {
    /// By the place of a statement, which stays the same when the statement is reworded.
    by_place: HashMap<String, u64>,
}

impl ExecutionCounts {
    pub(crate) fn of(counts: impl Iterator<Item = (SqlStatement, u64)>) -> Self {
        let by_place = counts.map(|(statement, count)| (statement.place().to_string(), count));
        Self {
            by_place: by_place.collect(),
        }
    }

    /// The executions of a statement; 1 if they are not known, so that the statements of a file weigh the same.
    pub(crate) fn weight(&self, statement: &SqlStatement) -> f64 {
        let count = self.by_place.get(&statement.place().to_string());
        count.map_or(1.0, |count| *count as f64)
    }
}
