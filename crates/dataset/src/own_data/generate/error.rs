//! What is wrong with rules for rows.

/// What is wrong with rules for rows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// A table's keys.
    #[error("generate: table {table}: {problem}")]
    Table { table: String, problem: String },
    /// The rule of a column.
    #[error("generate: {table}.{column}: {problem}")]
    Column {
        table: String,
        column: String,
        problem: String,
    },
}

impl GenerateError {
    pub fn table(table: &str, problem: impl Into<String>) -> Self {
        Self::Table {
            table: table.to_owned(),
            problem: problem.into(),
        }
    }

    pub fn column(table: &str, column: &str, problem: impl Into<String>) -> Self {
        Self::Column {
            table: table.to_owned(),
            column: column.to_owned(),
            problem: problem.into(),
        }
    }
}
