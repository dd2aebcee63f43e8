//! Other texts of a statement that give the same result, or are meant to: the comparison checks it.

mod alternatives;
mod conditions;
mod tables;

use plans::TableUse;
use runs::backticked;

pub(super) use self::tables::{has_outer_join, has_table, with_table_first};
use self::{
    alternatives::with_union_for_or,
    conditions::{with_quoted_numbers, with_range_for_function},
    tables::{with_join_for_in, with_merged_derived, without_hints},
};
use super::table_facts::TableFacts;
use crate::statement_text::{ColumnName, StatementText, TableColumn};

/// Another text with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rewording {
    pub(super) kind: RewordingKind,
    pub(super) text: String,
    pub(super) reason: String,
    /// The condition that it makes of another one.
    pub(super) condition: Option<NewCondition>,
}

/// What another text has in place of the statement's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RewordingKind {
    /// A range of a column in place of a condition on a function of it.
    Range,
    /// A number in quotation marks.
    Quoted,
    /// A UNION in place of an OR.
    Union,
    /// The statement without what forces a part of its plan.
    Unforced,
    /// A join in place of the subquery of an IN.
    Join,
    /// A table in place of a derived table with all its rows.
    Merged,
}

impl RewordingKind {
    /// The kind in the name of a variant: `union`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Range => "range",
            Self::Quoted => "quoted",
            Self::Union => "union",
            Self::Unforced => "unforced",
            Self::Join => "join",
            Self::Merged => "merged",
        }
    }
}

/// A condition that an index can serve, in place of one that none serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewCondition {
    pub(super) column: String,
    /// Whether it compares for equality; else it is a range.
    pub(super) is_equality: bool,
}

/// What the server and its plan show about the statement, which a rewrite needs as its reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RewriteEvidence<'a> {
    /// The statement as the optimizer rewrote it, where the server shows it.
    pub(super) rewritten: Option<&'a str>,
    /// The server follows hints in comments.
    pub(super) has_hints: bool,
    /// A subquery runs for each row outside.
    pub(super) is_dependent: bool,
    /// A derived table is kept in a temporary table.
    pub(super) is_materialised: bool,
}

impl RewriteEvidence<'_> {
    /// Whether the server looks for the value of an IN in its subquery for each row, as far as it shows that.
    fn has_dependent_in(&self) -> bool {
        // An IN that became a join, and an EXISTS of the statement, have no such mark.
        let is_marked = self.rewritten.is_none_or(|it| it.contains("<exists>("));
        self.is_dependent && is_marked
    }

    /// Whether a derived table is kept, and not merged into the query, as far as the server shows that.
    fn is_kept(&self, alias: &str) -> bool {
        let derived = format!(") {}", backticked(alias));
        self.is_materialised && self.rewritten.is_none_or(|it| it.contains(&derived))
    }
}

/// Other texts for conditions on a table that its indexes do not serve; those of functions and numbers may need an index
/// that does not exist yet. `is_shared` says of a column whether another table has one of its name.
pub(super) fn of_conditions(
    text: &StatementText<'_>,
    table: &TableUse,
    facts: &TableFacts,
    is_shared: impl Fn(&str) -> bool,
) -> Vec<Rewording> {
    let mut found = Vec::new();
    for (function, column) in &table.wrapped {
        let of_table = column_of(table, column, is_shared(column));
        let rewritten = with_range_for_function(text, &of_table, facts);
        // So the server writes DATE() itself.
        let function = if function == "cast" { "date" } else { function };
        let reason = if facts.is_first_of_index(column) {
            format!(
                "{}.{column} has an index, which a condition on {function}() of it does not use; a range of {column} does",
                table.alias
            )
        } else {
            format!(
                "a condition on {function}() of {}.{column} cannot use an index; a range of {column} can",
                table.alias
            )
        };
        found.extend(rewritten.map(|text| Rewording {
            kind: RewordingKind::Range,
            text,
            reason,
            condition: Some(NewCondition {
                column: column.clone(),
                is_equality: false,
            }),
        }));
    }
    let of_text = table.with_number.iter();
    let of_text = of_text.filter(|it| facts.is_converted_by_number(table, it));
    for column in of_text {
        let rewritten = with_quoted_numbers(text, &column_of(table, column, is_shared(column)));
        found.extend(rewritten.map(|text| Rewording {
            kind: RewordingKind::Quoted,
            text,
            reason: format!(
                "{}.{column} is text and is compared with a number, which converts every row; a quoted value must \
                 be spelled exactly as in the column",
                table.alias
            ),
            condition: Some(NewCondition {
                column: column.clone(),
                is_equality: true,
            }),
        }));
    }
    let has_indexes = table.either.iter().all(|it| facts.is_first_of_index(it));
    if !table.either.is_empty() && has_indexes {
        found.extend(with_union_for_or(text).map(|text| Rewording {
            kind: RewordingKind::Union,
            text,
            reason: format!(
                "an OR over {} of {}, each with an index: each part of a UNION can use its own",
                table.either.join(" and "),
                table.alias
            ),
            condition: None,
        }));
    }
    found
}

fn column_of<'a>(table: &'a TableUse, column: &'a str, is_shared: bool) -> TableColumn<'a> {
    TableColumn {
        table: &table.alias,
        column,
        is_shared,
    }
}

/// Other texts by what the plan shows and what the statement forces. `are_alike` says of two columns whether the server
/// compares their values in one way.
pub(super) fn of_plan(
    text: &StatementText<'_>,
    signs: RewriteEvidence<'_>,
    are_alike: impl Fn([ColumnName; 2]) -> bool,
) -> Vec<Rewording> {
    let mut found = Vec::new();
    let mut add = |kind, text: Option<String>, reason: String| {
        found.extend(text.map(|text| Rewording {
            kind,
            text,
            reason,
            condition: None,
        }));
    };
    if let Some((text, forced)) = without_hints(text, signs.has_hints) {
        let reason = format!(
            "the statement forces a part of its plan: {}",
            forced.join(", ")
        );
        add(RewordingKind::Unforced, Some(text), reason);
    }
    if signs.has_dependent_in() {
        let reason =
            "the subquery of IN runs for each row outside; as a derived table it runs once";
        add(
            RewordingKind::Join,
            with_join_for_in(text, are_alike),
            reason.to_owned(),
        );
    }
    let reason = "a derived table with all rows of its table is kept in a temporary table, without the table's indexes";
    let merged = with_merged_derived(text, |alias| signs.is_kept(alias));
    add(RewordingKind::Merged, merged, reason.to_owned());
    found
}

#[cfg(test)]
mod tests;
