//! What a candidate saves by the plan, as a share of the statement's time.
//!
//! These are rough figures for one purpose: the order in which candidates are tried. What a candidate saves is measured.

use plans::{Flag, Node, Operation, Plan, TableUse, shares};

use super::{RewordingKind, Subject, UNKNOWN_SAVING, read_rows, rows_of};

/// What a row costs that is found by an index, in rows of a scan.
pub(super) const ROW_BY_INDEX: f64 = 5.0;
/// What an entry of an index costs that has every column, in rows of a scan.
const ENTRY: f64 = 0.5;
/// Share of a table's work that the larger entries of a covering index cost, so that of two equal ones the smaller index is
/// tried first.
const LARGER_ENTRIES: f64 = 0.02;
/// What is measurable is tried before what saves nothing.
pub(super) const SAVING_AT_LEAST: f64 = 0.01;

impl Subject<'_> {
    /// By an index for the conditions of a table and for its order: rows that the conditions drop are not read, and a sort is
    /// not needed. Without conditions an index helps where only the first rows are read.
    pub(super) fn saving_by_index(&self, table: &TableUse, is_covering: bool) -> f64 {
        let of_table = table_share(self.plan, &table.alias);
        let row = if is_covering { ENTRY } else { ROW_BY_INDEX };
        let has_order = !table.order.is_empty();
        let has_conditions = [&table.equal, &table.joined, &table.range, &table.either]
            .iter()
            .any(|columns| !columns.is_empty())
            || !table.wrapped.is_empty();
        let ends_early = self.statement.has_word("limit") && has_order;
        let kept = if ends_early && !has_conditions {
            0.0
        } else {
            kept_share(self.plan, &table.alias)
        };
        let sorts = if has_order {
            own_share(self.plan, is_sort)
        } else {
            0.0
        };
        let larger = if is_covering { LARGER_ENTRIES } else { 0.0 };
        // Without a measurement it is a guess what the conditions keep: of a range MySQL expects a third of the rows, and
        // MariaDB all of them.
        let is_guess =
            !self.plan.root.is_measured() && (!table.equal.is_empty() || !table.range.is_empty());
        let work = if is_guess {
            (kept * row).min(UNKNOWN_SAVING)
        } else {
            kept * row
        };
        let saving = of_table * (1.0 - work - larger) + sorts;
        saving.clamp(SAVING_AT_LEAST, 1.0)
    }

    /// By another text of this kind: the work that it replaces, where the plan shows it.
    pub(super) fn saving_by_text(&self, kind: RewordingKind) -> f64 {
        let found = match kind {
            RewordingKind::Join => whole_share(self.plan, |node| {
                node.operation == Operation::Subquery || node.flags.contains(&Flag::Dependent)
            }),
            RewordingKind::Merged => whole_share(self.plan, |node| {
                matches!(node.operation, Operation::Derived | Operation::Materialise)
            }),
            RewordingKind::Range
            | RewordingKind::Quoted
            | RewordingKind::Union
            | RewordingKind::Unforced => 0.0,
        };
        or_unknown(found)
    }

    /// By a buffer that sorts fit into: their work, where the plan shows it.
    pub(super) fn saving_by_sort_buffer(&self) -> f64 {
        or_unknown(own_share(self.plan, is_sort))
    }
}

/// A share of the work; 0 is one that the plan does not show.
fn or_unknown(share: f64) -> f64 {
    if share > 0.0 { share } else { UNKNOWN_SAVING }
}

/// The share of the nodes of a kind.
fn own_share(plan: &Plan, is_meant: impl Fn(&Node) -> bool) -> f64 {
    let shares = shares(&plan.root);
    if shares.is_empty() {
        return UNKNOWN_SAVING;
    }
    let found = shares.iter().filter(|(node, _)| is_meant(node));
    found.map(|(_, share)| share).sum()
}

/// The share of the nodes that read a table, with its filters.
pub(super) fn table_share(plan: &Plan, alias: &str) -> f64 {
    own_share(plan, |node| is_of_table(node, alias))
}

/// The share of the nodes of a kind with all below them.
fn whole_share(plan: &Plan, is_meant: impl Fn(&Node) -> bool) -> f64 {
    let tops = plan.root.all().into_iter().filter(|node| is_meant(node));
    let meant: Vec<&Node> = tops.flat_map(Node::all).collect();
    own_share(plan, |node| meant.iter().any(|it| std::ptr::eq(*it, node)))
}

/// Whether a node reads a table, or filters what it reads.
fn is_of_table(node: &Node, alias: &str) -> bool {
    let reads = |node: &Node| node.access.is_some() && node.table.as_deref() == Some(alias);
    reads(node) || node.operation == Operation::Filter && node.children.first().is_some_and(reads)
}

fn is_sort(node: &Node) -> bool {
    node.operation == Operation::Sort
}

/// The share of the rows of a table that its conditions and joins keep; 1 where the plan does not show it.
pub(super) fn kept_share(plan: &Plan, alias: &str) -> f64 {
    let mut least = None;
    kept_rows(&plan.root, alias, None, &mut least);
    let read = plan
        .root
        .all()
        .into_iter()
        .filter(|node| is_of_table(node, alias) && node.access.is_some())
        .map(read_rows)
        .fold(0.0, f64::max);
    match least {
        Some(kept) if read > 0.0 => (kept / read).clamp(0.0, 1.0),
        _ => 1.0,
    }
}

/// Finds the fewest rows that are left of a table: by its own conditions, by the filter above it, and by the joins in which
/// it stands. `above` is the fewest so far.
fn kept_rows(node: &Node, alias: &str, above: Option<f64>, found: &mut Option<f64>) {
    let fewest = |one: Option<f64>, other: Option<f64>| match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    if is_of_table(node, alias) && node.access.is_some() {
        let share = match node.actual {
            Some(actual) => actual.filtered_percent,
            None => node.estimate.filtered_percent,
        };
        let own = read_rows(node) * share.unwrap_or(100.0) / 100.0;
        *found = fewest(*found, fewest(Some(own), above));
    }
    // What is sorted, grouped or kept in a table has another number of rows, which says nothing of those below.
    let above = match node.operation {
        Operation::Filter | Operation::Join(_) if node.access.is_none() => {
            fewest(above, rows_of(node))
        }
        _ => None,
    };
    for child in &node.children {
        kept_rows(child, alias, above, found);
    }
}

#[cfg(test)]
mod tests {
    use sqltext::statements_of;

    use super::*;
    use crate::advise::candidate::Buffers;

    fn plan(tree: &str) -> Plan {
        Plan::of_tree(tree).unwrap()
    }

    const FILTERED: &str = "-> Aggregate: count(0)  (cost=9 rows=1) (actual time=0..100 rows=1 loops=1)\n    \
         -> Filter: (t.a = 1)  (cost=9 rows=9) (actual time=0..98 rows=50 loops=1)\n        \
         -> Table scan on t  (cost=9 rows=9) (actual time=0..80 rows=10000 loops=1)\n";

    #[test]
    fn the_work_of_a_table_is_its_scan_and_its_filter() {
        let plan = plan(FILTERED);
        let share = table_share(&plan, "t");
        assert!((share - 0.98).abs() < 1e-9, "{share}");
        assert_eq!(kept_share(&plan, "t"), 0.005);
        assert_eq!(table_share(&plan, "u"), 0.0);
        let share = whole_share(&plan, |node| node.operation == Operation::Filter);
        assert!((share - 0.98).abs() < 1e-9, "{share}");
    }

    #[test]
    fn a_guess_of_the_optimizer_rules_out_no_index() {
        let statements = statements_of("x", b"delete from t where a > 1".to_vec()).unwrap();
        let plan = Plan::of_json(
            r#"{"query_block":{"select_id":1,"table":{"table_name":"t","access_type":"ALL","rows":1000,"filtered":33.33}}}"#,
        )
        .unwrap();
        let subject = Subject {
            statement: &statements[0],
            number: 1,
            has_hints: false,
            has_order_hints: false,
            has_hash_join: false,
            plan: &plan,
            rewritten: None,
            uses: &[],
            facts: &[],
            costs: &[],
            buffers: Buffers::default(),
        };
        for (range, expected) in [(&["a"][..], UNKNOWN_SAVING), (&[], SAVING_AT_LEAST)] {
            let table = TableUse {
                alias: "t".to_owned(),
                range: range.iter().map(|it| (*it).to_owned()).collect(),
                ..TableUse::default()
            };
            assert_eq!(subject.saving_by_index(&table, false), expected);
        }
    }

    #[test]
    fn a_join_keeps_few_rows_of_a_table_without_conditions() {
        let joined = plan(
            "-> Inner hash join (u.k = n.id)  (cost=9 rows=1) (actual time=0..9 rows=100 loops=1)\n    \
             -> Table scan on u  (cost=9 rows=9) (actual time=0..8 rows=20000 loops=1)\n    \
             -> Hash\n        \
             -> Index range scan on n using PRIMARY over (id < 100)  (cost=1 rows=1) (actual time=0..1 rows=100 loops=1)\n",
        );
        assert_eq!(kept_share(&joined, "u"), 0.005);
        // An estimate without a measurement has a share, too.
        let estimated = Plan::of_json(
            r#"{"query_block":{"select_id":1,"table":{"table_name":"t","access_type":"ALL","rows":1000,"filtered":10}}}"#,
        )
        .unwrap();
        assert_eq!(kept_share(&estimated, "t"), 0.1);
    }
}
