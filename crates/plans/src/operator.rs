//! The operators of MySQL's FORMAT=TREE in its own words, which version 2 of its FORMAT=JSON has, too.
//!
//! `Covering index range scan on p using page_len over (page_len < 20)` becomes table, index, access and remark.

use crate::{
    flag::Flag,
    node::Node,
    operation::{Access, JoinForm, JoinKind, Operation},
};

/// The whole answer where the server has no tree for a statement.
pub(crate) const NO_TREE: &str = "<not executable by iterator executor>";

/// Beginnings of an operator that reads a table, with the access that they mean; the first that fits counts.
const ACCESSES: &[(&str, Access)] = &[
    ("Table scan on ", Access::All),
    ("Sample scan on ", Access::All),
    ("Scan new records on ", Access::All),
    ("Single-row index lookup on ", Access::EqRef),
    ("Single-row covering index lookup on ", Access::EqRef),
    ("Multi-range index lookup on ", Access::Ref),
    ("Index lookup on ", Access::Ref),
    ("Covering index lookup on ", Access::Ref),
    ("Index range scan on ", Access::Range),
    ("Covering index range scan on ", Access::Range),
    ("Index skip scan", Access::Range),
    ("Covering index skip scan", Access::Range),
    ("Index scan on ", Access::Index),
    ("Covering index scan on ", Access::Index),
    ("Full-text index search on ", Access::Fulltext),
    ("Full-text covering index search on ", Access::Fulltext),
    ("Constant row from ", Access::Const),
];

/// Beginnings of the other operators; the first that fits counts.
const OPERATORS: &[(&str, Operation)] = &[
    ("Nested loop semijoin", Operation::Join(JoinKind::Semi)),
    ("Nested loop antijoin", Operation::Join(JoinKind::Anti)),
    ("Nested loop ", Operation::Join(JoinKind::NestedLoop)),
    ("Hash semijoin", Operation::Join(JoinKind::Semi)),
    ("Hash antijoin", Operation::Join(JoinKind::Anti)),
    ("Inner hash join", Operation::Join(JoinKind::Buffered)),
    ("Left hash join", Operation::Join(JoinKind::Buffered)),
    ("Full hash join", Operation::Join(JoinKind::Buffered)),
    ("Batched key access", Operation::Join(JoinKind::Buffered)),
    ("Hash", Operation::Hash),
    ("Filter", Operation::Filter),
    ("Sort-deduplicate by row ID", Operation::Distinct),
    ("Sort", Operation::Sort),
    ("Window", Operation::Window),
    ("Aggregate", Operation::Aggregate),
    ("Group aggregate", Operation::Aggregate),
    ("Group (", Operation::Aggregate),
    ("Group", Operation::Aggregate),
    ("Limit", Operation::Limit),
    ("Offset", Operation::Limit),
    ("Union materialize", Operation::Union),
    ("Except materialize", Operation::Union),
    ("Intersect materialize", Operation::Union),
    ("Append", Operation::Union),
    ("Materialize", Operation::Materialise),
    ("Temporary table", Operation::Materialise),
    ("Stream results", Operation::Other),
    ("Deduplicate rows sorted by row ID", Operation::IndexMerge),
    ("Intersect rows sorted by row ID", Operation::IndexMerge),
    ("Remove duplicate", Operation::Distinct),
    ("Weedout", Operation::Distinct),
    ("Select #", Operation::Subquery),
    ("Update ", Operation::Update),
    ("Delete from ", Operation::Delete),
    ("Insert into ", Operation::Insert),
    ("Replace into ", Operation::Insert),
    ("Zero rows", Operation::Nothing),
    ("Zero input rows", Operation::Nothing),
    ("Rows fetched before execution", Operation::Nothing),
    ("Repeat until convergence", Operation::Other),
    ("Alternative plans for IN subquery", Operation::Other),
    ("Invalidate materialized tables", Operation::Other),
    ("Count rows in ", Operation::Aggregate),
    ("Queue", Operation::Other),
    ("Stored procedure", Operation::Other),
];

/// Whether an operator is one of the known words.
pub(crate) fn is_known(words: &str) -> bool {
    let accesses = ACCESSES.iter().map(|(start, _)| *start);
    let mut all = accesses.chain(OPERATORS.iter().map(|(start, _)| *start));
    all.any(|start| words.starts_with(start))
}

/// An operator's words as a node without estimates and children.
pub(crate) fn node_of(words: &str) -> Node {
    let words = words.trim();
    for (start, access) in ACCESSES {
        if words.starts_with(start) {
            return access_of(words, *access);
        }
    }
    let found = OPERATORS.iter().find(|(start, _)| words.starts_with(start));
    let operation = found.map_or(Operation::Other, |(_, operation)| operation.clone());
    let mut node = Node::new(operation, words);
    match node.operation {
        Operation::Filter | Operation::Join(_) => {
            if let Some((title, condition)) = split_condition(words) {
                node.title = title;
                let kind = if node.operation == Operation::Filter {
                    "where"
                } else {
                    "join"
                };
                node.add_condition(kind, condition);
            }
            if matches!(node.operation, Operation::Join(_)) {
                node.join_form = Some(JoinForm {
                    is_nested_loop: words.starts_with("Nested loop"),
                    is_left: node.title.to_lowercase().contains("left"),
                });
            }
        }
        Operation::Update | Operation::Delete | Operation::Insert => {
            let table = words
                .split_whitespace()
                .nth(if words.starts_with("Update") { 1 } else { 2 });
            node.table = table.map(str::to_owned);
            node.title = match node.operation {
                Operation::Update => "update",
                Operation::Delete => "delete from",
                _ if words.starts_with("Replace") => "replace into",
                _ => "insert into",
            }
            .to_owned();
        }
        Operation::Materialise if words.starts_with("Temporary") => node.add_flag(Flag::Temporary),
        Operation::Materialise => node.holds_query = true,
        Operation::Aggregate if words.contains("using temporary table") => {
            node.add_flag(Flag::Temporary)
        }
        Operation::Sort => node.add_flag(Flag::Filesort),
        Operation::Subquery if words.contains("dependent") => node.add_flag(Flag::Dependent),
        _ => {}
    }
    node
}

/// Works out each node's own cost, over all its loops: the server gives the cost of one run of the node with all below
/// it, and the inner side of a nested loop runs once for each row of the outer one.
pub(crate) fn settle_costs(node: &mut Node, loops: f64) {
    let is_loop = node.join_form.is_some_and(|form| form.is_nested_loop);
    let outer_rows = node.children.first().and_then(|outer| outer.estimate.rows);
    let mut below = 0.0;
    for (at, child) in node.children.iter_mut().enumerate() {
        let runs = if is_loop && at == 1 {
            outer_rows.unwrap_or(1.0).max(1.0)
        } else {
            1.0
        };
        below += runs * child.estimate.total_cost.unwrap_or(0.0);
        settle_costs(child, loops * runs);
    }
    let own = node
        .estimate
        .total_cost
        .map(|total| loops * (total - below).max(0.0));
    node.estimate.own_cost = own;
}

/// `Filter: (a = 1)` and `Inner hash join (a = b)` as title and condition.
fn split_condition(words: &str) -> Option<(String, String)> {
    let at = words.find([':', '('])?;
    let (title, rest) = words.split_at(at);
    let condition = rest.trim_start_matches(':').trim();
    Some((title.trim().to_owned(), condition.to_owned()))
}

fn access_of(words: &str, access: Access) -> Node {
    let mut node = Node::new(Operation::Access, "table");
    node.access = Some(access);
    if words.starts_with("Covering") || words.contains(" covering ") {
        node.add_flag(Flag::Covering);
    }
    if words.contains("skip scan for grouping") {
        node.add_flag(Flag::IndexForGroupBy);
    } else if words.contains("skip scan") {
        node.add_flag(Flag::Other("skip scan".to_owned()));
    }
    let marker = if access == Access::Const {
        " from "
    } else {
        " on "
    };
    let rest = words.split_once(marker).map_or(words, |(_, rest)| rest);
    let (table, rest) = token(rest);
    node.table = Some(table.to_owned());
    if table.starts_with('<') {
        table.clone_into(&mut node.title);
    }
    let mut rest = rest.trim_start();
    if let Some(after) = rest.strip_prefix("using ") {
        let (index, after) = token(after);
        node.index = Some(index.to_owned());
        rest = after.trim_start();
    }
    read_end(&mut node, rest);
    node
}

/// What follows table and index: lookups, ranges, a pushed condition and remarks.
fn read_end(node: &mut Node, rest: &str) {
    let mut rest = rest;
    if let Some((before, condition)) = rest.split_once(", with index condition: ") {
        node.add_flag(Flag::IndexCondition);
        let (condition, _) = bracketed(condition).unwrap_or((condition, ""));
        node.add_condition("index condition", condition);
        rest = before;
    }
    for remark in ["(reverse)", "(Multi-Range Read)"] {
        if rest.contains(remark) {
            node.add_flag(if remark == "(reverse)" {
                Flag::BackwardScan
            } else {
                Flag::MultiRangeRead
            });
        }
    }
    if let Some(ranges) = rest.strip_prefix("over ") {
        node.add_condition("range", ranges.trim());
    } else if let Some((inside, _)) = bracketed(rest).filter(|(inside, _)| inside.contains('=')) {
        node.lookup = vec![
            inside
                .trim_start_matches('(')
                .trim_end_matches(')')
                .to_owned(),
        ];
    }
}

/// The first word, or a name in backticks with its spaces, and the rest.
fn token(text: &str) -> (&str, &str) {
    let mut in_quotes = false;
    let mut depth = 0_usize;
    let end = text.char_indices().find(|(_, letter)| {
        match letter {
            '`' => in_quotes = !in_quotes,
            '<' if !in_quotes => depth += 1,
            '>' if !in_quotes => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter.is_whitespace() && !in_quotes && depth == 0
    });
    let (name, rest) = text.split_at(end.map_or(text.len(), |(at, _)| at));
    (name.trim_matches('`'), rest)
}

/// The text from an opening bracket to its closing one, and the rest.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    if !text.starts_with('(') {
        return None;
    }
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') if depth == 1 => return Some(text.split_at(at + 1)),
            (None, ')') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_read() {
        let node = node_of(
            "Covering index range scan on p using page_len over (page_len < 20), with index condition: (p.a = ')')",
        );
        assert_eq!(node.table.as_deref(), Some("p"));
        assert_eq!(node.index.as_deref(), Some("page_len"));
        assert_eq!(node.access, Some(Access::Range));
        assert_eq!(node.flags, [Flag::Covering, Flag::IndexCondition]);
        let texts: Vec<&str> = node.conditions.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["(p.a = ')')", "(page_len < 20)"]);
        let node =
            node_of("Single-row index lookup on `odd name` using PRIMARY (page_id=r.rev_page)");
        assert_eq!(node.table.as_deref(), Some("odd name"));
        assert_eq!(node.lookup, ["page_id=r.rev_page"]);
        let node = node_of("Table scan on <union temporary>");
        assert_eq!(node.table.as_deref(), Some("<union temporary>"));
        let node = node_of("Index scan on page using page_random (reverse)");
        assert_eq!(node.flags, [Flag::BackwardScan]);
    }

    #[test]
    fn other_operators_are_read() {
        let node = node_of("Filter: ((p.a = 0) and (p.b = ':'))");
        assert_eq!(node.title, "Filter");
        assert_eq!(node.conditions[0].text, "((p.a = 0) and (p.b = ':'))");
        assert_eq!(node_of("Update p (immediate)").table.as_deref(), Some("p"));
        assert_eq!(
            node_of("Delete from p (buffered)").table.as_deref(),
            Some("p")
        );
        let unknown = node_of("Quantum scan on p");
        assert_eq!(
            (unknown.operation, unknown.title.as_str()),
            (Operation::Other, "Quantum scan on p")
        );
        assert!(!is_known("Quantum scan on p") && is_known("Inner hash join (a = b)"));
    }
}
