//! Whether a join could begin with a table that its plan reads later, and what that would save.

use plans::{Access, JoinedColumn, Node, TableUse};

use super::{
    Subject, read_rows,
    saving::{ROW_BY_INDEX, SAVING_AT_LEAST, kept_share, table_share},
};
use crate::advise::table_facts::TableFacts;

/// Rows of the first table at most for each of which another table without a fitting index is compared as a whole. The
/// optimizers count one such comparison as about a tenth of a lookup by an index.
/// Source: `row_evaluate_cost` (0.1) in MySQL's table `mysql.server_cost`, and `TIME_FOR_COMPARE` (5) in MariaDB's
/// `sql_const.h`, both with a lookup of about 1.
const COMPARED_ROWS_MAX: f64 = 10.0;

impl Subject<'_> {
    /// Whether the plan finds at most one row of a table for each row of the tables before it, and cannot begin with it.
    /// Then an index that does not begin with the join columns is of no use: `country` of a customer, where the order has
    /// no index on its customer.
    pub(super) fn is_only_looked_up(&self, table: &TableUse, facts: &TableFacts) -> bool {
        let node = self.node(table);
        let is_looked_up = node.is_some_and(|it| is_found_by_key(it) && is_repeated(it));
        is_looked_up && !self.can_be_first(table, facts)
    }

    /// Whether a join can begin with a table: an index finds the rows of a table that is read before it, or few rows of the
    /// table are left, so that the other one is read once for all of them.
    pub(super) fn can_be_first(&self, table: &TableUse, facts: &TableFacts) -> bool {
        let place = self.place(&table.alias);
        let partners = table.joined_with.iter().map(|(_, other)| other);
        let is_before = |alias: &str| self.place(alias).is_some_and(|it| Some(it) < place);
        let before: Vec<&JoinedColumn> = partners.filter(|it| is_before(&it.alias)).collect();
        let has_index = before.iter().any(|other| {
            let mut all = self.uses.iter().zip(self.facts);
            let joined = all.find(|(it, _)| it.alias == other.alias);
            // A temporary table gets the index that it needs.
            joined.is_none_or(|(_, facts)| {
                !facts.is_base_table() || facts.is_first_of_index(&other.column)
            })
        });
        before.is_empty() || has_index || self.kept_at_once(table, facts) <= COMPARED_ROWS_MAX
    }

    /// What an index of a join column saves of the table that the plan reads first: it makes another table with conditions
    /// the first one. That table is then read by its own conditions, and no longer for each row of this one.
    pub(super) fn saving_by_join(&self, table: &TableUse, is_covering: bool) -> f64 {
        let alone = self.saving_by_index(table, is_covering);
        let Some(node) = self.node(table).filter(|it| !is_repeated(it)) else {
            return alone;
        };
        let (place, rows) = (self.place(&table.alias), read_rows(node));
        let dropped = 1.0 - kept_share(self.plan, &table.alias);
        let is_partner = |it: &TableUse| {
            let mut joined = table.joined_with.iter();
            joined.any(|(_, other)| other.alias == it.alias)
                && !(it.equal.is_empty() && it.range.is_empty())
                && !it.is_never_first
                && self.place(&it.alias) > place
                && self.node(it).is_some_and(is_repeated)
        };
        let partners = self.uses.iter().zip(self.facts);
        let partners = partners.filter(|(it, _)| is_partner(it));
        let gains = partners.map(|(partner, facts)| {
            let lookups = table_share(self.plan, &partner.alias) * dropped;
            let mut columns = partner.equal.iter().chain(&partner.range);
            let read = if columns.any(|it| facts.is_first_of_index(it)) {
                self.kept_at_once(partner, facts) * ROW_BY_INDEX
            } else {
                self.rows_at_once(partner, facts)
            };
            lookups - table_share(self.plan, &table.alias) * (read / rows).min(1.0)
        });
        let gain = gains.reduce(f64::max).unwrap_or(0.0);
        (alone + gain).clamp(SAVING_AT_LEAST, 1.0)
    }

    /// Rows of a table that its conditions keep when it is read once, about.
    fn kept_at_once(&self, table: &TableUse, facts: &TableFacts) -> f64 {
        kept_share(self.plan, &table.alias) * self.rows_at_once(table, facts)
    }

    /// Rows of a table that is read once: no more than the plan reads in all.
    fn rows_at_once(&self, table: &TableUse, facts: &TableFacts) -> f64 {
        let read = self.node(table).map_or(0.0, read_rows);
        facts.rows.map_or(read, |rows| read.min(rows as f64))
    }

    /// The place of a table in the order in which the plan reads them; `None` if it does not read it.
    fn place(&self, alias: &str) -> Option<usize> {
        let nodes = self.plan.root.all();
        let mut nodes = nodes.iter();
        nodes.position(|it| it.access.is_some() && it.table.as_deref() == Some(alias))
    }
}

/// Whether a node finds at most one row each time.
pub(super) fn is_found_by_key(node: &Node) -> bool {
    matches!(
        node.access,
        Some(Access::EqRef | Access::Const | Access::System | Access::UniqueSubquery)
    )
}

/// Whether a node was executed for rows of other tables.
pub(super) fn is_repeated(node: &Node) -> bool {
    let loops = node.actual.and_then(|it| it.loops);
    loops.is_some_and(|loops| loops > 1.0)
}
