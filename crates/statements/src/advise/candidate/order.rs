//! The order of tables, where a later one drops most rows of the first.

use plans::{Node, Operation};
use runs::backticked;
use units::count;

use super::{Candidate, ROWS_AT_LEAST, Remedy, Subject};
use crate::{advise::rewording::with_tables_exchanged, statement_text::StatementText};

/// A later table drops most rows from this factor on.
const FACTOR_AT_LEAST: f64 = 10.0;

/// Rows of a table that its conditions keep, over all times that it is read.
struct Kept<'a> {
    alias: &'a str,
    rows: f64,
}

impl Subject<'_> {
    /// The statement with another table first, if conditions on that one keep few of the rows for which it is read.
    pub(super) fn order(&self, text: &StatementText<'_>) -> Option<Candidate> {
        if text.parts.iter().any(|part| part.is("straight_join")) {
            return None;
        }
        let mut kept = Vec::new();
        collect(&self.plan.root, None, &mut kept);
        let (first, later) = kept.split_first()?;
        let has_conditions = |alias: &str| {
            let mut tables = self.uses.iter();
            tables.any(|table| {
                table.alias == alias && !(table.equal.is_empty() && table.range.is_empty())
            })
        };
        let is_late = |it: &&Kept<'_>| {
            it.alias != first.alias
                && it.rows * FACTOR_AT_LEAST <= first.rows
                && has_conditions(it.alias)
        };
        let late = later.iter().find(is_late)?;
        if first.rows < ROWS_AT_LEAST {
            return None;
        }
        let text = if self.has_order_hints {
            let hint = format!("JOIN_PREFIX({})", backticked(late.alias));
            let hinted = self.statement.hinted(&hint)?;
            String::from_utf8_lossy(hinted.text()).into_owned()
        } else {
            with_tables_exchanged(text)?
        };
        Some(Candidate {
            reason: format!(
                "of the {} rows of {}, the conditions on {} leave {}: the other order may read fewer rows",
                count(first.rows),
                first.alias,
                late.alias,
                count(late.rows)
            ),
            // The other order costs something, too.
            saving: (1.0 - late.rows / first.rows) / 2.0,
            remedy: Remedy::of_text(format!("order_{}", self.number), text),
        })
    }
}

/// The tables in the order of their reading; a filter above a table has the rows that it keeps.
fn collect<'a>(node: &'a Node, filter: Option<&'a Node>, found: &mut Vec<Kept<'a>>) {
    if let (Some(alias), Some(actual)) = (&node.table, node.actual)
        && node.access.is_some()
    {
        let kept = filter.and_then(|it| it.actual).unwrap_or(actual);
        let share = kept.filtered_percent.unwrap_or(100.0) / 100.0;
        let rows = kept.rows.unwrap_or(0.0) * kept.loops.unwrap_or(1.0) * share;
        found.push(Kept { alias, rows });
    }
    let filter = (node.operation == Operation::Filter).then_some(node);
    for child in &node.children {
        collect(child, filter, found);
    }
}
