//! How a condition compares a column, and with what.

use super::{Computation, JoinedColumn, Reading, TableUse, add, is_word, token::Token};

/// A comparison of a column.
#[derive(Default)]
pub(super) struct Comparison {
    /// Its kind, as of [`Token::comparison`], if an index can serve it.
    operator: Option<&'static str>,
    /// The column of another table on the other side.
    joined: Option<JoinedColumn>,
    is_number: bool,
    is_list: bool,
    is_wildcard: bool,
    is_not_null: bool,
}

impl Comparison {
    /// `c is null`.
    pub(super) fn with_null() -> Self {
        Self {
            operator: Some("="),
            ..Self::default()
        }
    }

    /// That of the column at a place, which is one of this table; `computation` is what the condition does with it.
    pub(super) fn at(
        reading: &Reading<'_>,
        at: usize,
        table: usize,
        computation: Option<Computation>,
    ) -> Self {
        let word = |distance: usize| is_word(reading.tokens.get(at + distance));
        let operator = [reading.tokens.get(at + 1), reading.before(at)]
            .into_iter()
            .flatten()
            .find_map(Token::comparison);
        let side = reading.compared_with(at);
        // No index finds the rows in which two columns of one table, or an expression and a value, are equal.
        let is_served_by_index = computation.is_none()
            && !reading.has_column_of(&side, table)
            && !reading.is_truth_test(at);
        let operator = operator.filter(|_| is_served_by_index);
        let joined = side.first().and_then(|other| reading.column(*other));
        let joined = joined.filter(|(of, _)| *of != table);
        let joined = joined.map(|it| reading.joined_column(it));
        Self {
            operator,
            joined,
            is_number: reading.is_number(&side),
            is_list: word(1) == Some("in"),
            is_wildcard: operator == Some("like") && reading.is_wildcard(&side),
            // `c is not null` is a range of nearly everything, and no equality.
            is_not_null: [word(1), word(2)] == [Some("is"), Some("not")],
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
            (Some("="), Some(other)) => {
                add(&mut table.joined, &column);
                table.joined_with.push((column, other));
            }
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
