//! The ways of a trace that the plan uses all the same.

use super::{Rejected, Trace};
use crate::{
    node::{Node, Plan},
    operation::Access,
};

impl Trace {
    /// Leaves out of the ways that were not taken those by which a plan reads its tables: behind the choice of the join
    /// order, the optimizer may still change to another index, such as one that has the rows in the order of ORDER BY.
    pub fn leave_out_used(&mut self, plan: &Plan) {
        let nodes = plan.root.all();
        for block in &mut self.blocks {
            block
                .rejected
                .retain(|it| !nodes.iter().any(|node| it.is_way_of(node)));
        }
    }
}

impl Rejected {
    fn is_way_of(&self, node: &Node) -> bool {
        // `customer c`, and of MariaDB only `c`.
        let is_table = |alias: &str| {
            let before = self.table.strip_suffix(alias);
            before.is_some_and(|it| it.is_empty() || it.ends_with(' '))
        };
        if !node.table.as_deref().is_some_and(is_table) {
            return false;
        }
        match (&self.index, self.access.as_deref()) {
            (Some(index), _) => {
                // Merged indexes: `union(a,b)`.
                let mut used = node.index.iter().flat_map(|it| it.split(['(', ')', ',']));
                node.index.as_ref() == Some(index) || used.any(|it| it.trim() == index)
            }
            (None, Some("scan")) => node.access == Some(Access::All),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(plan: &str) -> Vec<String> {
        let text = r#"{"steps":[{"join_optimization":{"select#":1,"steps":[{"rows_estimation":[
            {"table":"`orders` `o`","range_analysis":{"potential_range_indexes":[
                {"index":"PRIMARY","usable":false,"cause":"not_applicable"},
                {"index":"day","usable":false,"cause":"not_applicable"}]}},
            {"table":"`customer`","range_analysis":{"potential_range_indexes":[
                {"index":"PRIMARY","usable":false,"cause":"not_applicable"}]}}]}]}}]}"#;
        let mut trace = Trace::parse(text).unwrap();
        trace.leave_out_used(&Plan::of_tree(plan).unwrap());
        let rejected = trace.blocks[0].rejected.iter();
        rejected
            .map(|it| format!("{} {}", it.table, it.way()))
            .collect()
    }

    #[test]
    fn an_index_that_the_plan_reads_is_not_among_the_unused_ones() {
        let by = |index: &str, table: &str| {
            format!("-> Index scan on {table} using {index}  (cost=1 rows=5)\n")
        };
        let [primary, day, other] = [
            "orders o index PRIMARY",
            "orders o index day",
            "customer index PRIMARY",
        ];
        assert_eq!(sentences(&by("PRIMARY", "o")), [day, other]);
        assert_eq!(sentences(&by("day", "o")), [primary, other]);
        assert_eq!(sentences(&by("PRIMARY", "customer")), [primary, day]);
        // Another table whose name ends in the same way.
        assert_eq!(sentences(&by("day", "tomer")), [primary, day, other]);
    }
}
