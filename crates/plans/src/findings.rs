//! What a plan says at a glance: the worst misestimate and the dearest node.

use crate::{
    flag::Flag,
    node::Node,
    operation::{Access, JoinKind, Operation},
};

/// A difference between estimate and measurement below this factor is normal.
pub const MISESTIMATE_FROM: f64 = 2.0;

/// Rows of a node over all its loops below which no misestimate is reported: it would change nothing.
const ROWS_AT_LEAST: f64 = 10.0;

/// Rows that were estimated far from the measured ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Misestimate<'a> {
    pub node: &'a Node,
    /// Estimated rows each time the node runs.
    pub estimated: f64,
    /// Measured rows each time it ran.
    pub actual: f64,
    /// Whether the rows are those that its conditions keep, and not those that it reads.
    pub is_of_kept_rows: bool,
    /// Whether the node ends before its last row, below a LIMIT, a semi-join and the like.
    pub is_cut_short: bool,
}

/// The node that costs most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostliestNode<'a> {
    pub node: &'a Node,
    /// Its own part.
    pub own: f64,
    /// The whole plan's.
    pub total: f64,
    /// The unit of both.
    pub measure: Measure,
}

/// In what a node is dear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Measured time, milliseconds.
    Time,
    /// Estimated cost, in the optimizer's unit.
    Cost,
    /// Estimated rows, where the server gives nothing else.
    Rows,
}

impl Misestimate<'_> {
    /// How far apart both are, a factor from 1 on; rows below one count as one.
    pub fn factor(&self) -> f64 {
        let (estimated, actual) = (self.estimated.max(1.0), self.actual.max(1.0));
        (estimated / actual).max(actual / estimated)
    }
}

/// The node whose rows were estimated worst, by [`MISESTIMATE_FROM`] or more; `None` without measurements.
///
/// A node that stops early reads fewer rows than estimated without a mistake of the optimizer: below a LIMIT, a semi-join
/// and the like only too low an estimate counts.
pub fn worst_misestimate(root: &Node) -> Option<Misestimate<'_>> {
    let mut found = Vec::new();
    collect(root, false, &mut found);
    let far = found
        .into_iter()
        .filter(|it| it.factor() >= MISESTIMATE_FROM);
    far.fold(None, |worst: Option<Misestimate<'_>>, it| match worst {
        Some(worst) if worst.factor() >= it.factor() => Some(worst),
        _ => Some(it),
    })
}

fn collect<'a>(node: &'a Node, is_cut_short: bool, found: &mut Vec<Misestimate<'a>>) {
    let stops = |flag: &Flag| {
        matches!(
            flag,
            Flag::FirstMatch(_) | Flag::NotExists | Flag::Distinct | Flag::LooseScan | Flag::Limit
        )
    };
    // A query block runs to an end of its own.
    let is_cut_short = is_cut_short && !matches!(node.operation, Operation::Query(_))
        || node.flags.iter().any(stops);
    let loops = node.actual.and_then(|actual| actual.loops).unwrap_or(1.0);
    let mut add = |estimated: f64, actual: f64, is_of_kept_rows| {
        let matters = estimated.max(actual) * loops >= ROWS_AT_LEAST && loops > 0.0;
        if matters && (actual >= estimated || !is_cut_short) {
            found.push(Misestimate {
                node,
                estimated,
                actual,
                is_of_kept_rows,
                is_cut_short,
            });
        }
    };
    if let Some(actual) = node.actual
        && let (Some(estimated), Some(rows)) = (node.estimate.rows, actual.rows)
    {
        add(estimated, rows, false);
        let shares = node.estimate.filtered_percent.zip(actual.filtered_percent);
        if let Some((expected, kept)) = shares {
            add(estimated * expected / 100.0, rows * kept / 100.0, true);
        }
    }
    let ends_early = matches!(
        node.operation,
        Operation::Limit | Operation::Join(JoinKind::Semi | JoinKind::Anti)
    );
    // What is sorted or kept is read to its end, whatever stops above.
    let reads_all = matches!(
        node.operation,
        Operation::Sort | Operation::Materialise | Operation::Aggregate | Operation::Hash
    );
    let below = (is_cut_short && !reads_all) || ends_early;
    for child in &node.children {
        collect(child, below, found);
    }
}

/// Nodes whose estimate comes from the statistics of their table and is off by [`MISESTIMATE_FROM`] or more: of a whole
/// table or index, and of the rows of a value in an index. Empty without measurements.
///
/// The share of rows that conditions keep is a guess, on which the rows depend that are read up to a LIMIT; and the rows of a
/// range are counted in the index. Fresh statistics change none of these.
pub fn stale_statistics(root: &Node) -> Vec<Misestimate<'_>> {
    let mut found = Vec::new();
    collect(root, false, &mut found);
    found.retain(|it| {
        let is_of_statistics = matches!(
            it.node.access,
            Some(Access::All | Access::Index | Access::Ref | Access::RefOrNull)
        );
        // The engine itself drops rows, which are not measured.
        let drops_rows = |flag: &Flag| matches!(flag, Flag::IndexCondition | Flag::RowidFilter(_));
        let is_less_by_conditions =
            it.actual < it.estimated && it.node.flags.iter().any(drops_rows);
        is_of_statistics
            && !it.is_of_kept_rows
            && !it.is_cut_short
            && !is_less_by_conditions
            && it.factor() >= MISESTIMATE_FROM
    });
    found
}

/// The node that takes most by itself: of the measured time, else of the estimated cost, else of the rows; `None` if
/// the plan has none of these.
pub fn dearest(root: &Node) -> Option<CostliestNode<'_>> {
    let (measure, parts) = parts(root)?;
    let total: f64 = parts.iter().map(|(_, own)| own).sum();
    let (node, own) = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(CostliestNode {
        node,
        own,
        total,
        measure,
    })
}

/// The nodes with their own shares of the plan's time, cost or rows, as [`dearest`] takes them; they add up to 1. Empty if
/// the plan has none of these.
pub fn shares(root: &Node) -> Vec<(&Node, f64)> {
    let Some((_, parts)) = parts(root) else {
        return Vec::new();
    };
    let total: f64 = parts.iter().map(|(_, own)| own).sum();
    let shares = parts.into_iter().map(|(node, own)| (node, own / total));
    shares.collect()
}

/// The own part of each node, by the first measure that has one.
fn parts(root: &Node) -> Option<(Measure, Vec<(&Node, f64)>)> {
    let all = root.all();
    let by = |measure, own: &dyn Fn(&Node) -> Option<f64>| {
        let parts: Vec<(&Node, f64)> = all
            .iter()
            .filter_map(|node| Some((*node, own(node)?)))
            .collect();
        let has_some = parts.iter().any(|(_, own)| *own > 0.0);
        has_some.then_some((measure, parts))
    };
    let rows = |node: &Node| node.access.and(node.estimate.rows);
    by(Measure::Time, &Node::own_ms)
        .or_else(|| by(Measure::Cost, &Node::own_cost))
        .or_else(|| by(Measure::Rows, &rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Plan;

    #[test]
    fn the_worst_misestimate_and_the_dearest_node_are_named() {
        let plan = Plan::of_tree(
            "-> Nested loop inner join  (cost=108 rows=33) (actual time=0.7..8 rows=30 loops=1)\n    \
             -> Index lookup on r using k (a=0)  (cost=38 rows=20) (actual time=0.1..5 rows=2000 loops=1)\n    \
             -> Table scan on p  (cost=50 rows=3) (actual time=0.001..0.001 rows=3 loops=2000)\n",
        )
        .unwrap();
        let worst = worst_misestimate(&plan.root).unwrap();
        assert_eq!(
            (worst.node.table.as_deref(), worst.factor()),
            (Some("r"), 100.0)
        );
        let dearest = dearest(&plan.root).unwrap();
        assert_eq!(dearest.node.table.as_deref(), Some("r"));
        assert_eq!(
            (dearest.own, dearest.total, dearest.measure),
            (5.0, 8.0, Measure::Time)
        );
    }

    #[test]
    fn the_shares_of_a_plan_add_up() {
        let plan = Plan::of_tree(
            "-> Filter: (t.a = 1)  (cost=9 rows=9) (actual time=0..8 rows=3 loops=1)\n    \
             -> Table scan on t  (cost=9 rows=9) (actual time=0..6 rows=9 loops=1)\n",
        )
        .unwrap();
        let shares: Vec<f64> = shares(&plan.root).iter().map(|it| it.1).collect();
        assert_eq!(shares, [0.25, 0.75]);
    }

    #[test]
    fn only_estimates_by_statistics_are_stale() {
        for (tree, expected) in [
            // 1 row by the statistics, and 200,000 in the table.
            (
                "-> Table scan on t  (cost=1 rows=1) (actual time=0..1 rows=200000 loops=1)",
                1,
            ),
            (
                "-> Index lookup on t using k (a=u.b)  (cost=1 rows=1) (actual time=0..1 rows=500 loops=9)",
                1,
            ),
            // The share that a condition keeps is no statistic.
            (
                "-> Filter: (t.a = 1)  (cost=1 rows=9000) (actual time=0..1 rows=2 loops=1)\n    \
                 -> Table scan on t  (cost=1 rows=90000) (actual time=0..1 rows=90000 loops=1)",
                0,
            ),
            // Rows of a range are estimated from the index itself.
            (
                "-> Index range scan on t using k over (a < 5)  (cost=1 rows=10) (actual time=0..1 rows=500 loops=1)",
                0,
            ),
            (
                "-> Index lookup on t using k (a=1), with index condition: (t.b = 2)  (cost=1 rows=500) \
                 (actual time=0..1 rows=3 loops=1)",
                0,
            ),
            (
                "-> Limit: 3 row(s)  (cost=1 rows=3) (actual time=0..1 rows=3 loops=1)\n    \
                 -> Table scan on t  (cost=1 rows=90000) (actual time=0..1 rows=3 loops=1)",
                0,
            ),
            // Expected up to the third row with this value.
            (
                "-> Limit: 3 row(s)  (cost=1 rows=3) (actual time=0..1 rows=3 loops=1)\n    \
                 -> Filter: (t.b = 7)  (cost=1 rows=3) (actual time=0..1 rows=3 loops=1)\n        \
                 -> Index scan on t using a (reverse)  (cost=1 rows=30) (actual time=0..1 rows=3000 loops=1)",
                0,
            ),
        ] {
            let plan = Plan::of_tree(tree).unwrap();
            assert_eq!(stale_statistics(&plan.root).len(), expected, "{tree}");
        }
    }

    #[test]
    fn a_node_below_a_limit_stops_early_without_a_misestimate() {
        let tree = |sort: &str| {
            format!(
                "-> Limit: 3 row(s)  (cost=1 rows=3) (actual time=0..1 rows=3 loops=1)\n{sort}        \
                 -> Table scan on p  (cost=50 rows=1000) (actual time=0..1 rows=3 loops=1)\n"
            )
        };
        let plan = Plan::of_tree(&tree("")).unwrap();
        assert_eq!(worst_misestimate(&plan.root), None);
        let plan =
            Plan::of_tree(&tree("    -> Sort: a  (actual time=0..1 rows=3 loops=1)\n")).unwrap();
        assert!(worst_misestimate(&plan.root).is_some());
    }

    #[test]
    fn without_measurements_cost_or_rows_decide() {
        let plan = Plan::of_json(
            r#"{"query_block":{"select_id":1,"nested_loop":[
                {"table":{"table_name":"a","access_type":"ALL","rows":9,"cost":0.5}},
                {"table":{"table_name":"b","access_type":"ref","rows":1,"cost":4.5}}]}}"#,
        )
        .unwrap();
        let found = dearest(&plan.root).unwrap();
        assert_eq!(
            (found.node.table.as_deref(), found.own, found.total),
            (Some("b"), 4.5, 5.0)
        );
        assert_eq!(worst_misestimate(&plan.root), None);
    }
}
