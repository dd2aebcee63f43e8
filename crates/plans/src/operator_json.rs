//! EXPLAIN FORMAT=JSON by operators: version 2 of MySQL's format, from 8.3 on, also of EXPLAIN ANALYZE.

use crate::{
    error::Error,
    flag::Flag,
    json::Json,
    node::{Fact, Node},
    operator,
};

const FORM: &str = "EXPLAIN FORMAT=JSON, version 2";

/// Names whose content is in the operator's words, or says no more than another one.
const KNOWN_FACTS: &[&str] = &[
    "access_type",
    "actual_first_row_ms",
    "alias",
    "cacheable",
    "condition",
    "covering",
    "cte",
    "deduplication",
    "dependent",
    "estimated_first_row_cost",
    "except",
    "filter_columns",
    "functions",
    "group_by",
    "hash_condition",
    "heading",
    "index_access_type",
    "intersect",
    "join_algorithm",
    "join_columns",
    "join_type",
    "limit",
    "limit_offset",
    "lookup_condition",
    "per_chunk_limit",
    "pushed_index_condition",
    "ranges",
    "recursive",
    "reverse",
    "rollup",
    "schema_name",
    "semijoin_strategy",
    "sort_fields",
    "subquery",
    "subquery_location",
    "tables",
    "temp_table",
    "union",
    "used_columns",
    "zero_rows_cause",
    "row_ids",
    "multi_range_read",
    "buffer_type",
    "window_functions",
    "windows",
    "multi_pass",
    "buffering",
    "full_text_query",
];

/// Reads a document with a member `query_plan`, or with the plan as its members.
///
/// # Errors
/// [`Error::NoPlan`] without a member `operation` or `query_plan`.
pub(crate) fn plan_of(document: &Json) -> Result<Node, Error> {
    let plan = document.get("query_plan").unwrap_or(document);
    let operation = plan.get("operation").and_then(Json::text);
    if operation.is_none_or(|words| words == operator::NO_TREE) {
        return Err(Error::NoPlan { form: FORM });
    }
    Ok(node_of(plan))
}

fn node_of(plan: &Json) -> Node {
    let words = plan
        .get("operation")
        .and_then(Json::text)
        .unwrap_or_default();
    let mut node = operator::node_of(&words);
    if !operator::is_known(&words) {
        node.rest.push(Fact {
            name: "operation".to_owned(),
            value: Json::Text(words),
            known: false,
        });
    }
    let number = |name: &str| plan.get(name).and_then(Json::number);
    node.estimate.rows = number("estimated_rows");
    node.estimate.total_cost = number("estimated_total_cost");
    if let Some(loops) = number("actual_loops") {
        let actual = node.measured();
        actual.loops = Some(loops);
        actual.rows = number("actual_rows");
        actual.total_ms = number("actual_last_row_ms").map(|ms| ms * loops);
    }
    for (name, value) in plan.members() {
        read_member(&mut node, name, value);
    }
    match plan.get("heading").and_then(Json::text) {
        // A part of an expression, which has a line of its own in the tree.
        Some(heading) => {
            let mut part = operator::node_of(&heading);
            part.children.push(node);
            part
        }
        None => node,
    }
}

fn read_member(node: &mut Node, name: &str, value: &Json) {
    match name {
        "operation"
        | "estimated_rows"
        | "estimated_total_cost"
        | "actual_loops"
        | "actual_rows"
        | "actual_last_row_ms"
        | "table_name" => {
            // The alias is in the operator's words; a table without one is named here.
            if name == "table_name" && node.table.is_none() {
                node.table = value.text();
            }
        }
        "index_name" => node.index = value.text(),
        "key_columns" => node.key_parts = value.texts(),
        "partitions" => node.partitions = value.texts(),
        "lookup_references" => node.lookup = value.texts(),
        "covering" if value.is_set() => node.add_flag(Flag::Covering),
        "temp_table" if value.is_set() => node.add_flag(Flag::Temporary),
        "inputs" => node.children.extend(value.elements().iter().map(node_of)),
        _ if name.starts_with("inputs_") => {
            node.children.extend(value.elements().iter().map(node_of));
        }
        _ => node.rest.push(Fact {
            name: name.to_owned(),
            value: value.clone(),
            known: KNOWN_FACTS.contains(&name),
        }),
    }
}
