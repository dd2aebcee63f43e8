//! The order of tables, where a later one drops most rows of the first.

use plans::{JoinKind, Node, Operation};
use runs::backticked;
use units::count;

use super::{Candidate, ROWS_AT_LEAST, Remedy, Subject};
use crate::{
    advise::rewording::{has_outer_join, has_table, with_table_first},
    statement_text::StatementText,
};

/// A later table drops most rows from this factor on.
const FACTOR_AT_LEAST: f64 = 10.0;

/// Rows of a table that its conditions keep, over all times that it is read.
struct FilteredTable<'a> {
    alias: &'a str,
    rows: f64,
    /// Whether it is read for rows of others only, as the inner table of an outer join or of a semi-join.
    is_inner: bool,
}

impl Subject<'_> {
    /// The statement with another table first, if conditions on that one keep few of the rows for which it is read.
    pub(super) fn order(&self, text: &StatementText<'_>) -> Option<Candidate> {
        let nodes = self.plan.root.all().into_iter();
        let mut forms = nodes.filter_map(|node| node.join_form);
        let shows_forms = forms.any(|form| form.is_nested_loop);
        let is_bound = has_outer_join(text) && !shows_forms;
        if is_bound || text.parts.iter().any(|part| part.is("straight_join")) {
            return None;
        }
        let mut kept = Vec::new();
        collect(&self.plan.root, None, false, &mut kept);
        let (first, later) = kept.split_first()?;
        let has_conditions = |alias: &str| {
            let mut tables = self.uses.iter();
            tables.any(|table| {
                table.alias == alias && !(table.equal.is_empty() && table.range.is_empty())
            })
        };
        // Without an index, the first table is read for each row of the other one.
        let can_be_first = |alias: &str| {
            let mut all = self.uses.iter().zip(self.facts);
            self.has_hash_join
                || all.any(|(it, facts)| it.alias == alias && self.can_be_first(it, facts))
        };
        let is_late = |it: &&FilteredTable<'_>| {
            it.alias != first.alias
                && !it.is_inner
                && has_table(text, it.alias)
                && it.rows * FACTOR_AT_LEAST <= first.rows
                && has_conditions(it.alias)
                && can_be_first(it.alias)
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
            with_table_first(text, late.alias)?
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

/// The tables of a query in the order of their reading; a filter above a table has the rows that it keeps.
fn collect<'a>(
    node: &'a Node,
    filter: Option<&'a Node>,
    is_inner: bool,
    found: &mut Vec<FilteredTable<'a>>,
) {
    if let (Some(alias), Some(actual)) = (&node.table, node.actual)
        && node.access.is_some()
    {
        let kept = filter.and_then(|it| it.actual).unwrap_or(actual);
        let share = kept.filtered_percent.unwrap_or(100.0) / 100.0;
        let rows = kept.rows.unwrap_or(0.0) * kept.loops.unwrap_or(1.0) * share;
        found.push(FilteredTable {
            alias,
            rows,
            is_inner,
        });
    }
    let filter = (node.operation == Operation::Filter).then_some(node);
    let is_outer = match node.operation {
        Operation::Join(JoinKind::Semi | JoinKind::Anti) => true,
        Operation::Join(_) => node.join_form.is_some_and(|form| form.is_left),
        _ => false,
    };
    for (at, child) in node.children.iter().enumerate() {
        if !is_other_query(child) {
            collect(child, filter, is_inner || is_outer && at > 0, found);
        }
    }
}

/// Whether the tables below a node are those of another query: a subquery, or one whose rows are kept in a table.
fn is_other_query(node: &Node) -> bool {
    match node.operation {
        Operation::Query(_) | Operation::Subquery | Operation::Union => true,
        // MariaDB keeps the rows of a query itself in a `temporary table`, too, before it groups them.
        Operation::Materialise => node.holds_query,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use plans::Plan;

    use super::*;

    #[test]
    fn only_tables_of_inner_joins_can_be_first() {
        let tree = "-> Nested loop left join  (cost=1 rows=1) (actual time=0..9 rows=9000 loops=1)\n    \
                    -> Nested loop inner join  (cost=1 rows=1) (actual time=0..9 rows=9000 loops=1)\n        \
                    -> Table scan on o  (cost=1 rows=9000) (actual time=0..5 rows=9000 loops=1)\n        \
                    -> Table scan on d  (cost=1 rows=1) (actual time=0..1 rows=1 loops=9000)\n            \
                    -> Materialize  (cost=1 rows=1) (actual time=0..1 rows=1 loops=1)\n                \
                    -> Table scan on i  (cost=1 rows=1) (actual time=0..1 rows=1 loops=1)\n    \
                    -> Filter: (c.k = 1)  (cost=1 rows=1) (actual time=0..1 rows=0.0002 loops=9000)\n        \
                    -> Single-row index lookup on c using PRIMARY (id=o.c)  (cost=1 rows=1) (actual time=0..1 rows=1 loops=9000)\n";
        let plan = Plan::of_tree(tree).unwrap();
        let mut found = Vec::new();
        collect(&plan.root, None, false, &mut found);
        let found: Vec<(&str, bool)> = found.iter().map(|it| (it.alias, it.is_inner)).collect();
        assert_eq!(found, [("o", false), ("d", false), ("c", true)]);
    }
}
