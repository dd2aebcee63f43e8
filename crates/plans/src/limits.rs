//! The LIMITs of a statement: MariaDB's plans do not show them, and what one stops reads fewer rows than estimated.

use crate::{
    flag::Flag,
    node::{Node, Plan},
    operation::Operation,
};

/// Which query blocks of a statement end at a LIMIT of their own; that of a UNION stops none of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    pub outermost: bool,
    /// Any within it, or a part of a UNION: which one is not known.
    pub inner: bool,
}

impl Plan {
    /// Notes the LIMITs of the statement at the query blocks.
    pub fn note_limits(&mut self, limits: Limits) {
        note(&mut self.root, limits, true);
    }
}

fn note(node: &mut Node, limits: Limits, is_outermost: bool) {
    let is_block = matches!(node.operation, Operation::Query(_));
    let is_limited = if is_outermost {
        limits.outermost
    } else {
        limits.inner
    };
    if is_block && is_limited {
        node.add_flag(Flag::Limit);
    }
    for child in &mut node.children {
        note(child, limits, is_outermost && !is_block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::worst_misestimate;

    /// The table with the worst estimate in MariaDB's plan of these blocks.
    fn worst(plan: &str, limits: Limits) -> Option<String> {
        let mut plan = Plan::of_json(plan).unwrap();
        plan.note_limits(limits);
        worst_misestimate(&plan.root)?.node.table.clone()
    }

    const OUTERMOST: Limits = Limits {
        outermost: true,
        inner: false,
    };
    const INNER: Limits = Limits {
        outermost: false,
        inner: true,
    };

    #[test]
    fn what_a_limit_stops_is_no_misestimate() {
        // MariaDB 11.8: SELECT page_title FROM page ORDER BY page_random LIMIT 3
        let stopped = r#"{"query_block":{"select_id":1,"r_loops":1,"nested_loop":[{"table":{"table_name":"page",
            "access_type":"index","key":"page_random","r_loops":1,"rows":1000,"r_rows":3,"filtered":100,"r_filtered":100}}]}}"#;
        let page = Some("page".to_owned());
        assert_eq!(worst(stopped, Limits::default()), page);
        assert_eq!(worst(stopped, INNER), page);
        assert_eq!(worst(stopped, OUTERMOST), None);
        // Too low an estimate stays one, and what is sorted is read to its end.
        let low = stopped.replace("\"rows\":1000", "\"rows\":1");
        assert_eq!(
            worst(&low.replace("\"r_rows\":3", "\"r_rows\":90"), OUTERMOST),
            page
        );
        let sorted = stopped
            .replace(
                "\"nested_loop\":[{\"table\"",
                "\"nested_loop\":[{\"read_sorted_file\":{\"filesort\":{\"sort_key\":\"a\",\"table\"",
            )
            .replace("}}]}}", "}}}}]}}");
        assert_eq!(worst(&sorted, OUTERMOST), page);
    }

    #[test]
    fn a_limit_stops_its_own_block_alone() {
        // MariaDB 10.11: SELECT * FROM (SELECT page_id FROM page ORDER BY page_random LIMIT 3) t JOIN revision r ON ..., shortened.
        let derived = r#"{"query_block":{"select_id":1,"nested_loop":[
            {"table":{"table_name":"<derived2>","access_type":"ALL","r_loops":1,"rows":3,"r_rows":3,"materialized":{
                "query_block":{"select_id":2,"nested_loop":[{"table":{"table_name":"page","access_type":"index","r_loops":1,
                    "rows":1000,"r_rows":3}}]}}}},
            {"table":{"table_name":"r","access_type":"ref","r_loops":3,"rows":2,"r_rows":4}}]}}"#;
        let page = Some("page".to_owned());
        assert_eq!(worst(derived, OUTERMOST), page);
        // The worst one that is left.
        assert_eq!(worst(derived, INNER), Some("r".to_owned()));
        let union = r#"{"query_block":{"union_result":{"query_specifications":[
            {"query_block":{"select_id":1,"nested_loop":[{"table":{"table_name":"page","access_type":"ref","r_loops":1,
                "rows":333,"r_rows":3}}]}}]}}}"#;
        assert_eq!(worst(union, INNER), None);
        assert_eq!(worst(union, OUTERMOST), page);
    }
}
