//! What is wrong with rules for rows.

/// What is wrong with rules for rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// A table's keys.
    #[error("generate: table {table}: {problem}")]
    Table {
        /// The table.
        table: String,
        /// What is wrong.
        problem: String,
    },
    /// The rule of a column.
    #[error("generate: {table}.{column}: {problem}")]
    Column {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// What is wrong.
        problem: String,
    },
}

impl GenerateError {
    /// What is wrong with a table.
    pub fn table(table: &str, problem: impl Into<String>) -> Self {
        Self::Table {
            table: table.to_owned(),
            problem: problem.into(),
        }
    }

    /// What is wrong with a column.
    pub fn column(table: &str, column: &str, problem: impl Into<String>) -> Self {
        Self::Column {
            table: table.to_owned(),
            column: column.to_owned(),
            problem: problem.into(),
        }
    }
}
