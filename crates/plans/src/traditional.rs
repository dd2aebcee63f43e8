//! EXPLAIN as rows, which every version has: one row per table, from MySQL 5.5 to 9 and MariaDB, also of ANALYZE.

use crate::{
    error::Error,
    extra,
    flag::Flag,
    node::Node,
    operation::{Access, JoinKind, Operation},
};

/// The result of EXPLAIN as rows; a value is `None` where it is NULL.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Names of the columns, as the server gives them.
    pub columns: &'a [String],
    /// The rows, each with one value per column.
    pub rows: &'a [Vec<Option<String>>],
}

/// A row with its place in the statement.
struct Line {
    /// Number of its query block; `None` for the result of a union.
    id: Option<u32>,
    /// EXPLAIN's `select_type`.
    kind: String,
    node: Node,
}

/// A query block with its rows.
struct Block {
    id: Option<u32>,
    kind: String,
    lines: Vec<Node>,
}

/// Reads the rows into a tree.
///
/// The rows do not say in which expression a subquery stands: it is placed below the outermost query.
///
/// # Errors
/// [`Error::NoPlan`] if there are no rows, or none with a column `id` and `select_type`.
pub(crate) fn plan_of(rows: Rows<'_>) -> Result<Node, Error> {
    let column = |name: &str| {
        let mut names = rows.columns.iter();
        names.position(|column| column.eq_ignore_ascii_case(name))
    };
    if rows.rows.is_empty() || column("id").is_none() || column("select_type").is_none() {
        return Err(Error::NoPlan {
            form: "EXPLAIN's rows",
        });
    }
    let lines = rows.rows.iter().map(|row| {
        let value = |name: &str| column(name).and_then(|at| row.get(at)?.as_deref());
        line_of(&value)
    });
    let mut blocks: Vec<Block> = Vec::new();
    for line in lines {
        match blocks.last_mut() {
            Some(block) if block.id == line.id && line.id.is_some() => block.lines.push(line.node),
            _ => blocks.push(Block {
                id: line.id,
                kind: line.kind,
                lines: vec![line.node],
            }),
        }
    }
    Ok(tree_of(blocks))
}

fn line_of<'a>(value: &impl Fn(&str) -> Option<&'a str>) -> Line {
    let kind = value("select_type").unwrap_or_default().to_owned();
    let table = value("table").map(str::to_owned);
    let (operation, title) = match kind.as_str() {
        "INSERT" | "REPLACE" => (Operation::Insert, format!("{} into", kind.to_lowercase())),
        "UPDATE" => (Operation::Update, "update".to_owned()),
        "DELETE" => (Operation::Delete, "delete from".to_owned()),
        _ if table.is_none() => (Operation::Nothing, "nothing".to_owned()),
        _ => (Operation::Access, "table".to_owned()),
    };
    let mut node = Node::new(operation, title);
    node.table = table;
    let list = |name| -> Vec<String> {
        let values = value(name).into_iter().flat_map(|text| text.split(','));
        values.map(|text| text.trim().to_owned()).collect()
    };
    let number = |name| value(name).and_then(|text| text.trim().parse::<f64>().ok());
    if let Some(name) = value("type") {
        node.access = Access::of_type(name);
        if node.access.is_none() {
            node.add_flag(Flag::Other(format!("access type {name}")));
        }
    }
    node.partitions = list("partitions");
    node.possible_indexes = list("possible_keys");
    node.index = value("key").map(str::to_owned);
    node.key_bytes = value("key_len").map(str::to_owned);
    node.lookup = list("ref");
    node.estimate.rows = number("rows");
    node.estimate.filtered_percent = number("filtered");
    if let Some(rows) = number("r_rows") {
        node.measured().rows = Some(rows);
        node.measured().filtered_percent = number("r_filtered");
    }
    extra::read(&mut node, value("Extra").unwrap_or_default());
    if node
        .flags
        .iter()
        .any(|flag| matches!(flag, Flag::JoinBuffer(_)))
    {
        node.operation = Operation::Join(JoinKind::Buffered);
        "buffered join with".clone_into(&mut node.title);
    }
    Line {
        id: value("id").and_then(|id| id.trim().parse().ok()),
        kind,
        node,
    }
}

/// Hangs the blocks below the rows that read them: `<derived2>`, `<subquery3>`, `<union1,2>`.
fn tree_of(mut blocks: Vec<Block>) -> Node {
    let outermost = blocks.remove(0);
    // A union has no row of its own above its first query: its result is the last row, and reads all of them.
    let is_result = |block: &Block| block.id.is_none() || block.kind.ends_with(" RESULT");
    let mut unions = Vec::new();
    let mut others = Vec::new();
    for block in blocks {
        if is_result(&block) {
            unions.push(block)
        } else {
            others.push(block)
        }
    }
    let first_id = outermost.id;
    let mut pool = others;
    let mut root = query_of(outermost, &mut pool, &mut unions);
    if let Some(at) = unions.iter().position(|union| {
        let read = union.lines.first().map(members_of).unwrap_or_default();
        first_id.is_some_and(|id| read.contains(&id))
    }) {
        let union = unions.remove(at);
        root = union_of(union, Some(root), &mut pool, &mut unions);
    }
    // Queries of a union without a result row of its own follow the first one.
    let mut union_parts = Vec::new();
    while let Some(at) = pool.iter().position(|block| is_union_part(&block.kind)) {
        let block = pool.remove(at);
        union_parts.push(query_of(block, &mut pool, &mut unions));
    }
    if !union_parts.is_empty() {
        let mut union = Node::new(Operation::Union, "union");
        union.children.push(root);
        union.children.append(&mut union_parts);
        root = union;
    }
    let mut subqueries = Vec::new();
    while !pool.is_empty() {
        let block = pool.remove(0);
        subqueries.push(subquery_of(block, &mut pool, &mut unions));
    }
    for union in unions {
        subqueries.push(union_of(union, None, &mut Vec::new(), &mut Vec::new()));
    }
    root.children.append(&mut subqueries);
    root
}

fn is_union_part(kind: &str) -> bool {
    matches!(kind, "UNION" | "EXCEPT" | "INTERSECT" | "RECURSIVE UNION")
}

/// A block as a node: its rows as a join, and below each the blocks that it reads.
fn query_of(block: Block, pool: &mut Vec<Block>, unions: &mut Vec<Block>) -> Node {
    let title = match block.id {
        Some(id) => format!("query {id}"),
        None => "query".to_owned(),
    };
    let mut query = Node::new(Operation::Query(block.id), title);
    if block.kind.starts_with("DEPENDENT") {
        query.add_flag(Flag::Dependent);
    }
    if block.kind.starts_with("UNCACHEABLE") {
        query.add_flag(Flag::Uncacheable);
    }
    if block.kind == "RECURSIVE UNION" {
        query.add_flag(Flag::Recursive);
    }
    let mut lines = Vec::new();
    for mut line in block.lines {
        let read = line.table.as_deref().and_then(block_read);
        let position = read.and_then(|id| pool.iter().position(|block| block.id == Some(id)));
        if let Some(at) = position {
            let mut inner = materialised(pool.remove(at), pool, unions);
            line.operation = Operation::Derived;
            line.children.append(&mut inner);
        }
        lines.push(line);
    }
    // A temporary table and a sort are noted at the first row, and concern the whole block.
    if let [line] = lines.as_slice()
        && line.operation == Operation::Nothing
    {
        query.children = lines;
        return query;
    }
    // The table that rows are inserted into is no part of the join that makes them.
    if lines
        .first()
        .is_some_and(|line| line.operation == Operation::Insert)
    {
        query.children.push(lines.remove(0));
    }
    if lines.len() > 1 {
        let mut join = Node::new(Operation::Join(JoinKind::NestedLoop), "nested loop");
        join.children = lines;
        query.children.push(join);
    } else {
        query.children.append(&mut lines);
    }
    query
}

/// The queries that a derived table reads: one, or those of its union.
fn materialised(block: Block, pool: &mut Vec<Block>, unions: &mut Vec<Block>) -> Vec<Node> {
    let id = block.id;
    let mut first = query_of(block, pool, unions);
    let union = unions.iter().position(|union| {
        let read = union.lines.first().map(members_of).unwrap_or_default();
        id.is_some_and(|id| read.first() == Some(&id))
    });
    if let Some(at) = union {
        let union = unions.remove(at);
        first = union_of(union, Some(first), pool, unions);
        return vec![first];
    }
    // Without a row for the result, the parts follow directly.
    let mut parts = vec![first];
    let mut next = id;
    while let Some(at) = pool
        .iter()
        .position(|block| is_union_part(&block.kind) && block.id == next.map(|id| id + 1))
    {
        let block = pool.remove(at);
        next = block.id;
        parts.push(query_of(block, pool, unions));
    }
    parts
}

fn union_of(
    union: Block,
    first: Option<Node>,
    pool: &mut Vec<Block>,
    unions: &mut Vec<Block>,
) -> Node {
    let line = union.lines.into_iter().next();
    let mut node = line.unwrap_or_else(|| Node::new(Operation::Union, "union"));
    let members = members_of(&node);
    node.operation = Operation::Union;
    node.title = union
        .kind
        .strip_suffix(" RESULT")
        .unwrap_or("union")
        .to_lowercase();
    let has_first = first.is_some();
    node.children.extend(first);
    for id in members.into_iter().skip(usize::from(has_first)) {
        if let Some(at) = pool.iter().position(|block| block.id == Some(id)) {
            let block = pool.remove(at);
            node.children.push(query_of(block, pool, unions));
        }
    }
    node
}

fn subquery_of(block: Block, pool: &mut Vec<Block>, unions: &mut Vec<Block>) -> Node {
    let title = match block.kind.as_str() {
        "DERIVED" => "derived table",
        "LATERAL DERIVED" => "lateral derived table",
        "MATERIALIZED" => "materialised subquery",
        _ => "subquery",
    };
    let mut subquery = Node::new(Operation::Subquery, title);
    subquery.children = materialised(block, pool, unions);
    subquery
}

/// The number in `<derived2>` and `<subquery2>`.
fn block_read(table: &str) -> Option<u32> {
    let inside = table.strip_prefix('<')?.strip_suffix('>')?;
    let digits = inside
        .strip_prefix("derived")
        .or_else(|| inside.strip_prefix("subquery"))?;
    digits.parse().ok()
}

/// The numbers in `<union1,2>`; a server cuts a long list with dots.
fn members_of(result: &Node) -> Vec<u32> {
    let table = result.table.as_deref().unwrap_or_default();
    let inside = table
        .trim_matches(['<', '>'])
        .trim_start_matches(|letter: char| !letter.is_ascii_digit());
    inside
        .split(',')
        .filter_map(|id| id.trim().parse().ok())
        .collect()
}
