//! A table of a rewritten statement with its columns.

/// What a condition does with a column before it compares the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Computation {
    /// It adds or subtracts, which can be done with the other side instead.
    Shift,
    /// It reads a part of a JSON document.
    Json,
    /// Its expression depends on the time of execution, so that no generated column can store it.
    Clock,
    /// Anything else.
    Other,
}

/// A column of another table that a column is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedColumn {
    /// The name that the other table has in the statement.
    pub alias: String,
    pub column: String,
}

/// A table of a statement with the columns that it uses, each once, in the order of their first use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableUse {
    pub schema: String,
    pub table: String,
    /// The name that its columns and its plan node have.
    pub alias: String,
    /// Columns compared by equality with a value.
    pub equal: Vec<String>,
    /// Those of them that are compared with a list of values: an index has no order of what stands behind one.
    pub listed: Vec<String>,
    /// Columns compared by equality with a column of another table.
    pub joined: Vec<String>,
    /// The same columns, each with the columns that it is compared with.
    pub joined_with: Vec<(String, JoinedColumn)>,
    /// Columns whose conditions select a range.
    pub range: Vec<String>,
    /// Those of them that are searched by a pattern, which is a range of a text only.
    pub pattern: Vec<String>,
    /// Columns that must not be NULL, which seldom drops most rows.
    pub not_null: Vec<String>,
    /// Columns of an OR over several columns of this table, each compared by itself: an index of each serves it.
    pub either: Vec<String>,
    /// Columns of GROUP BY, or else of ORDER BY, if all are plain columns of this table in one direction.
    pub order: Vec<String>,
    /// All columns.
    pub used: Vec<String>,
    /// Columns within a function in a condition, with the function.
    pub wrapped: Vec<(String, String)>,
    /// Columns of conditions on an expression of no other column, with its kind: an index of the column serves none of them.
    pub computed: Vec<(Computation, String)>,
    /// Columns compared with a number.
    pub with_number: Vec<String>,
    /// Columns searched by a pattern that begins with a wildcard.
    pub wildcard: Vec<String>,
    /// Whether the statement changes its rows.
    pub is_changed: bool,
    /// Whether it is the inner table of an outer join or of an anti-join, so that no plan begins with it.
    pub is_never_first: bool,
}

impl TableUse {
    /// Adds a column that is compared by equality with one of another table.
    pub(super) fn add_joined(&mut self, column: String, other: JoinedColumn) {
        add(&mut self.joined, &column);
        self.joined_with.push((column, other));
    }
}

/// Adds a column, unless it is there.
pub(super) fn add(columns: &mut Vec<String>, column: &str) {
    if !columns.iter().any(|known| known == column) {
        columns.push(column.to_owned());
    }
}
