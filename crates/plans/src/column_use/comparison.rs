//! How a condition compares a column, and with what.

use super::table_use::{JoinedColumn, TableUse, add};

#[derive(Default)]
pub(super) struct Comparison {
    /// Its kind, as of [`Token::comparison`](super::token::Token::comparison), if an index can serve it.
    pub(super) operator: Option<&'static str>,
    /// The column of another table on the other side.
    pub(super) joined: Option<JoinedColumn>,
    pub(super) is_number: bool,
    pub(super) is_list: bool,
    pub(super) is_wildcard: bool,
    pub(super) is_not_null: bool,
}

impl Comparison {
    /// `c is null`.
    pub(super) fn with_null() -> Self {
        Self {
            operator: Some("="),
            ..Self::default()
        }
    }

    /// Whether an index can serve it.
    pub(super) fn is_served(&self) -> bool {
        self.operator.is_some() && !self.is_wildcard
    }

    /// Whether the other side is a number.
    pub(super) fn is_with_number(&self) -> bool {
        self.operator.is_some() && self.is_number
    }

    /// Adds the column to those of its kind. An OR over one column is a list of values.
    pub(super) fn add_to(self, table: &mut TableUse, column: String, is_of_or: bool) {
        match (self.operator, self.joined) {
            (Some("="), _) if self.is_not_null => add(&mut table.not_null, &column),
            (Some("="), Some(other)) => table.add_joined(column, other),
            (Some("="), None) => {
                add(&mut table.equal, &column);
                if self.is_list || is_of_or {
                    add(&mut table.listed, &column);
                }
            }
            (Some(_), _) if self.is_wildcard => add(&mut table.wildcard, &column),
            (Some(operator), _) => {
                add(&mut table.range, &column);
                if operator == "like" {
                    add(&mut table.pattern, &column);
                }
            }
            (None, _) => {}
        }
    }
}
