//! EXPLAIN FORMAT=JSON by query blocks: MySQL 5.6 and later (version 1 of its format), MariaDB 10.1 and later, and
//! MariaDB's ANALYZE FORMAT=JSON.
//!
//! A member is a fact of its node or a node below it, by its name alone: the names of both families do not collide, and
//! every version nests them a little differently. An unknown name stays a fact, or a node of its own if it holds an object.

use crate::{
    flag::Flag,
    json::Json,
    node::{Fact, Node},
    operation::{Access, JoinKind, Operation},
};

/// Members whose node holds the rows of another query.
const MATERIALISED_QUERIES: [&str; 3] = [
    "materialized_from_subquery",
    "materialized",
    "materialization",
];
/// Names that say no more than another one, or are for the server's developers.
const KNOWN_FACTS: &[&str] = &[
    "buffer_size",
    "buffer_type",
    "cacheable",
    "data_read_per_join",
    "definition_position",
    "filesort_key",
    "frame_buffer",
    "functions",
    "join_type",
    "lookups",
    "mrr_type",
    "name",
    "operation",
    "pages_accessed",
    "pages_read_count",
    "pages_read_time_ms",
    "pages_updated",
    "r_buffer_size",
    "r_effective_rows",
    "r_hit_ratio",
    "r_icp_filtered",
    "r_index_rows",
    "r_limit",
    "r_output_rows",
    "r_sort_mode",
    "r_sort_passes",
    "r_strategy",
    "r_table_loops",
    "r_used_priority_queue",
    "rows_produced_per_join",
    "schema_name",
    "selectivity_pct",
    "state",
    "table_function",
    "temporary_table",
    "unique",
    "used_columns",
];

/// Reads a document whose members include `query_block`; `None` for another.
pub(crate) fn plan_of(document: &Json) -> Option<Node> {
    let block = document.get("query_block")?;
    let mut root = Node::new(Operation::Query(None), "query");
    read_members(&mut root, block);
    for (name, value) in document.members() {
        if name == "query_optimization" {
            let ms = value.get("r_total_time_ms").cloned();
            root.rest.extend(ms.map(|value| Fact {
                name: "query_optimization_ms".to_owned(),
                value,
                known: true,
            }));
        } else if name != "query_block" {
            read_member(&mut root, name, value);
        }
    }
    settle(&mut root);
    Some(root)
}

fn read_members(node: &mut Node, object: &Json) {
    for (name, value) in object.members() {
        read_member(node, name, value);
    }
}

fn read_member(node: &mut Node, name: &str, value: &Json) {
    if read_scalar(node, name, value)
        || read_measured(node, name, value)
        || read_flag(node, name, value)
    {
        return;
    }
    match value {
        Json::Object(_) => read_object(node, name, value),
        Json::List(elements) if elements.iter().any(Json::is_compound) => {
            read_list(node, name, elements);
        }
        _ => node.rest.push(Fact {
            name: name.to_owned(),
            value: value.clone(),
            known: KNOWN_FACTS.contains(&name),
        }),
    }
}

/// Reads a fact of the node; false if the name is none.
fn read_scalar(node: &mut Node, name: &str, value: &Json) -> bool {
    match name {
        "select_id" => {
            let number = value.number().map(|number| number as u32);
            if let Operation::Query(known) = &mut node.operation {
                *known = number;
                if let Some(number) = number {
                    node.title = format!("query {number}");
                }
            }
        }
        "table_name" => {
            node.table = value.text();
        }
        "access_type" => match value
            .text()
            .as_deref()
            .map(|text| (text, Access::of_type(text)))
        {
            Some((_, Some(access))) => node.access = Some(access),
            Some((text, None)) => node.rest.push(Fact {
                name: name.to_owned(),
                value: Json::Text(text.to_owned()),
                known: false,
            }),
            None => return false,
        },
        "partitions" => node.partitions = value.texts(),
        "possible_keys" => node.possible_indexes = value.texts(),
        "key" => node.index = value.text(),
        "used_key_parts" => node.key_parts = value.texts(),
        "key_length" => node.key_bytes = value.text(),
        "ref" => node.lookup = value.texts(),
        "rows_examined_per_scan" | "rows" => node.estimate.rows = value.number(),
        "filtered" => node.estimate.filtered_percent = value.number(),
        "loops" => node.estimate.loops = value.number(),
        "cost" if matches!(node.operation, Operation::Query(_)) => {
            node.estimate.total_cost = value.number()
        }
        "cost" => node.estimate.own_cost = value.number(),
        "query_cost" | "prefix_cost" => {
            // The cost up to here: of a table it includes the tables before it, which are not below it.
            if name == "query_cost" {
                node.estimate.total_cost = value.number();
            }
        }
        "read_cost" | "eval_cost" | "sort_cost" => {
            let own = node.estimate.own_cost.unwrap_or(0.0) + value.number().unwrap_or(0.0);
            node.estimate.own_cost = Some(own);
        }
        "attached_condition" => add_condition(node, "where", value),
        "index_condition" | "pushed_index_condition" => {
            node.add_flag(Flag::IndexCondition);
            add_condition(node, "index condition", value);
        }
        "having_condition" => add_condition(node, "having", value),
        "const_condition" => add_condition(node, "constant condition", value),
        "outer_ref_condition" => add_condition(node, "outer condition", value),
        "pushed_condition" => add_condition(node, "pushed condition", value),
        "sort_key" => add_condition(node, "by", value),
        "message" => {
            node.operation = match node.operation {
                Operation::Access => Operation::Nothing,
                ref other => other.clone(),
            };
            match (&node.operation, value.text()) {
                (Operation::Nothing, Some(text)) => node.title = text,
                (_, Some(text)) => {
                    node.children.push(Node::new(Operation::Nothing, text));
                }
                (_, None) => return false,
            }
        }
        _ => return false,
    }
    true
}

/// Reads what MariaDB measured; false if the name is none of these.
fn read_measured(node: &mut Node, name: &str, value: &Json) -> bool {
    let Some(number) = value.number().or((*value == Json::Null).then_some(0.0)) else {
        return false;
    };
    match name {
        "r_loops" => node.measured().loops = Some(number),
        "r_rows" => node.measured().rows = (*value != Json::Null).then_some(number),
        "r_filtered" => node.measured().filtered_percent = (*value != Json::Null).then_some(number),
        "r_table_time_ms" | "r_other_time_ms" | "r_unpack_time_ms" => {
            let own = node.measured().own_ms.unwrap_or(0.0) + number;
            node.measured().own_ms = Some(own);
        }
        // Before MariaDB 10.3 the time of a table in the storage engine had this name, too.
        "r_total_time_ms" if node.operation == Operation::Access => {
            node.measured().own_ms = Some(number);
        }
        "r_total_time_ms" => node.measured().total_ms = Some(number),
        "r_output_rows" => {
            node.measured().rows = Some(number);
        }
        "r_total_filtered" | "r_optimization_time_ms" => {}
        _ => return false,
    }
    true
}

/// Reads a remark; false if the name is none.
fn read_flag(node: &mut Node, name: &str, value: &Json) -> bool {
    let flag = match name {
        "using_temporary_table" => Flag::Temporary,
        "using_filesort" => Flag::Filesort,
        "using_index" => Flag::Covering,
        "using_MRR" => Flag::MultiRangeRead,
        "using_index_for_group_by" => Flag::IndexForGroupBy,
        "backward_index_scan" => Flag::BackwardScan,
        "distinct" => Flag::Distinct,
        "not_exists" => Flag::NotExists,
        "loosescan" => Flag::LooseScan,
        "start_temporary" => Flag::StartTemporary,
        "end_temporary" => Flag::EndTemporary,
        "dependent" => Flag::Dependent,
        "recursive" => Flag::Recursive,
        "first_match" => Flag::FirstMatch(value.text().unwrap_or_default()),
        "using_join_buffer" => Flag::JoinBuffer(value.text().unwrap_or_default()),
        "mrr_type" => {
            node.add_flag(Flag::MultiRangeRead);
            return false;
        }
        "cacheable" if *value == Json::Bool(false) => Flag::Uncacheable,
        "range_checked_for_each_record" => Flag::RangePerRow(value.text().unwrap_or_default()),
        "insert" | "replace" | "update" | "delete" if !value.is_compound() => {
            let (operation, title) = match name {
                "insert" => (Operation::Insert, "insert into"),
                "replace" => (Operation::Insert, "replace into"),
                "update" => (Operation::Update, "update"),
                _ => (Operation::Delete, "delete from"),
            };
            if value.is_set() {
                node.operation = operation;
                title.clone_into(&mut node.title);
            }
            return true;
        }
        _ => return false,
    };
    let is_named = matches!(
        flag,
        Flag::FirstMatch(_) | Flag::JoinBuffer(_) | Flag::RangePerRow(_)
    );
    if value.is_set() || is_named || flag == Flag::Uncacheable {
        node.add_flag(flag);
    }
    true
}

/// Reads an object: facts about the node itself, or a node below it.
fn read_object(node: &mut Node, name: &str, value: &Json) {
    let nothing_but_facts = [
        "cost_info",
        "materialized_from_subquery_info",
        "r_engine_stats",
        "optimization",
    ];
    if nothing_but_facts.contains(&name) {
        return read_members(node, value);
    }
    let (operation, title) = match name {
        "table" => (Operation::Access, "table"),
        "query_block" => return read_block(node, value),
        "ordering_operation" => (Operation::Sort, "order"),
        "filesort" | "read_sorted_file" => (Operation::Sort, "sort"),
        "grouping_operation" => (Operation::Aggregate, "group"),
        "duplicates_removal" => (Operation::Distinct, "remove duplicates"),
        "windowing" | "window_functions_computation" => (Operation::Window, "window functions"),
        "buffer_result" | "temporary_table" => (Operation::Materialise, "temporary table"),
        "buffer" => (Operation::Materialise, "row buffer"),
        "union_result" | "unary_result" => (Operation::Union, "union"),
        "except_result" => (Operation::Union, "except"),
        "intersect_result" => (Operation::Union, "intersect"),
        "recursive_union" => (Operation::Union, "recursive union"),
        _ if MATERIALISED_QUERIES.contains(&name) => (Operation::Materialise, "materialise"),
        "sharing_temporary_table_with" => (Operation::Materialise, "temporary table of query"),
        "expression_cache" => (Operation::Subquery, "subquery with a cache"),
        "insert_from" => (Operation::Query(None), "rows to insert"),
        "block-nl-join" => (Operation::Join(JoinKind::Buffered), "buffered join"),
        "range-checked-for-each-record" => (Operation::Access, "index chosen for each row"),
        "rowid_filter" => (Operation::Filter, "row-id filter"),
        "index_merge" => (Operation::IndexMerge, "index merge"),
        "range" => (Operation::Access, "index range"),
        _ => (Operation::Other, name),
    };
    let mut child = Node::new(operation, title);
    child.holds_query = MATERIALISED_QUERIES.contains(&name);
    if name == "sharing_temporary_table_with" {
        let query = value.get("select_id").and_then(Json::text);
        child.title = format!("temporary table of query {}", query.unwrap_or_default());
        node.children.push(child);
        return;
    }
    if name == "range" {
        child.access = Some(Access::Range);
    }
    read_members(&mut child, value);
    // MariaDB wraps the materialisation of a semi-join into another one.
    if name == "materialized"
        && let [inner] = child.children.as_slice()
        && inner.operation == Operation::Materialise
    {
        child.children = child.children.remove(0).children;
    }
    // A sorted file and the sort that made it are one step.
    if name == "read_sorted_file"
        && let Some(sort) = child
            .children
            .pop_if(|sort| sort.operation == Operation::Sort)
    {
        child = sort;
    }
    node.children.push(child);
}

/// Reads a query block into the node that stands for it, or as one below it.
fn read_block(node: &mut Node, value: &Json) {
    let mut block = Node::new(Operation::Query(None), "query");
    read_members(&mut block, value);
    node.children.push(block);
}

fn read_list(node: &mut Node, name: &str, elements: &[Json]) {
    let (operation, title) = match name {
        "nested_loop" => (Operation::Join(JoinKind::NestedLoop), "nested loop"),
        "query_specifications" | "windows" | "sorts" => {
            for element in elements {
                read_element(node, name, element);
            }
            return;
        }
        "union" | "intersect" | "sort_union" => (Operation::IndexMerge, name),
        "subqueries"
        | "attached_subqueries"
        | "select_list_subqueries"
        | "having_subqueries"
        | "group_by_subqueries"
        | "order_by_subqueries"
        | "optimized_away_subqueries"
        | "update_value_subqueries" => {
            for element in elements {
                read_subquery(node, name, element);
            }
            return;
        }
        _ => (Operation::Other, name),
    };
    let mut child = Node::new(operation, title);
    for element in elements {
        read_members(&mut child, element);
    }
    // A loop over a single table, as MariaDB writes it, is that table.
    if name == "nested_loop" && child.children.len() == 1 && child.rest.is_empty() {
        node.children.append(&mut child.children);
    } else {
        node.children.push(child);
    }
}

fn read_element(node: &mut Node, list: &str, element: &Json) {
    match (list, element.get("query_block")) {
        ("query_specifications", Some(block)) => {
            read_block(node, block);
            if let Some(query) = node.children.last_mut() {
                for (name, value) in element.members() {
                    if name != "query_block" {
                        read_member(query, name, value);
                    }
                }
            }
        }
        ("windows", _) => {
            let mut window = Node::new(Operation::Window, "window");
            read_members(&mut window, element);
            let texts = |name: &str| element.get(name).map(|value| value.texts().join(", "));
            if let Some(functions) = texts("functions") {
                window.title = format!("window: {functions}");
            }
            if let Some(key) = texts("filesort_key") {
                window.add_condition("by", key);
            }
            node.children.push(window);
        }
        _ => read_members(node, element),
    }
}

/// Where a subquery stands, in words, by the name of its list.
fn read_subquery(node: &mut Node, list: &str, element: &Json) {
    let title = match list {
        "attached_subqueries" => "subquery in the condition",
        "select_list_subqueries" => "subquery in the select list",
        "having_subqueries" => "subquery in HAVING",
        "group_by_subqueries" => "subquery in GROUP BY",
        "order_by_subqueries" => "subquery in ORDER BY",
        "optimized_away_subqueries" => "subquery optimised away",
        "update_value_subqueries" => "subquery of a new value",
        _ => "subquery",
    };
    let mut subquery = Node::new(Operation::Subquery, title);
    read_members(&mut subquery, element);
    node.children.push(subquery);
}

fn add_condition(node: &mut Node, kind: &str, value: &Json) {
    node.add_condition(kind, value.texts().join(", "));
}

/// What follows from a node's members together.
fn settle(node: &mut Node) {
    for child in &mut node.children {
        settle(child);
    }
    // The tables of a join, which MariaDB before 10.9 lists without a node of their own.
    let is_table = |node: &Node| {
        matches!(
            node.operation,
            Operation::Access
                | Operation::Derived
                | Operation::Update
                | Operation::Delete
                | Operation::Join(JoinKind::Buffered)
        ) || node.operation == Operation::Sort
    };
    let is_join = matches!(node.operation, Operation::Join(JoinKind::NestedLoop));
    let tables = node.children.iter().filter(|child| is_table(child)).count();
    let holds_tables = matches!(
        node.operation,
        Operation::Query(_) | Operation::Materialise | Operation::Sort | Operation::Distinct
    );
    if !is_join && holds_tables && tables > 1 {
        let mut join = Node::new(Operation::Join(JoinKind::NestedLoop), "nested loop");
        let children = std::mem::take(&mut node.children);
        let at = children.iter().position(is_table).unwrap_or_default();
        let (tables, mut others): (Vec<Node>, Vec<Node>) = children.into_iter().partition(is_table);
        join.children = tables;
        others.insert(at.min(others.len()), join);
        node.children = others;
    }
    // MariaDB calls the result of each kind a union.
    if node.operation == Operation::Union
        && let Some(kind) = ["except", "intersect"].iter().find(|kind| {
            let table = node.table.as_deref().unwrap_or_default();
            table.starts_with(&format!("<{kind}"))
        })
    {
        (*kind).clone_into(&mut node.title);
    }
    if node.operation == Operation::Access
        && node
            .table
            .as_deref()
            .is_some_and(|table| table.starts_with('<'))
        && !node.children.is_empty()
    {
        node.operation = Operation::Derived;
    }
    // MariaDB measures a sort with the rows that it reads, and without them if they come from a temporary table.
    if node.operation == Operation::Sort
        && let Some(mut actual) = node.actual
        && let Some(total) = actual.total_ms
    {
        let below: f64 = node.children.iter().map(Node::total_ms).sum();
        if total < below {
            actual.own_ms = Some(total);
            actual.total_ms = None;
            node.actual = Some(actual);
        }
    }
}
