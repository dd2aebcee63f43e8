//! What differs between two plans of a statement: how each table is read, the order of the tables, the work around them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    flag::Flag,
    node::Node,
    operation::{JoinKind, Operation},
};

/// A difference between two plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A table is read in another way.
    Access {
        /// Name or alias of the table.
        table: String,
        /// How it was read; `None` if it was not.
        before: Option<String>,
        /// How it is read; `None` if it is not.
        after: Option<String>,
    },
    /// The tables are read in another order.
    Order {
        before: Vec<String>,
        after: Vec<String>,
    },
    /// Some work happens more or less often.
    Work {
        /// The work: `sort`, `temporary table`.
        what: String,
        /// Number of nodes before.
        before: usize,
        /// Number of nodes after.
        after: usize,
    },
}

impl Change {
    /// The change in words: `p: whole table -> index range page_len`.
    pub fn sentence(&self) -> String {
        match self {
            Self::Access {
                table,
                before,
                after,
            } => {
                let words = |access: &Option<String>| {
                    access.clone().unwrap_or_else(|| "not read".to_owned())
                };
                format!("{table}: {} -> {}", words(before), words(after))
            }
            Self::Order { before, after } => {
                format!(
                    "order of tables: {} -> {}",
                    before.join(", "),
                    after.join(", ")
                )
            }
            Self::Work {
                what,
                before: 0,
                after: 1,
            } => format!("new: {what}"),
            Self::Work { what, after: 0, .. } => format!("gone: {what}"),
            Self::Work {
                what,
                before,
                after,
            } => format!("{what}: {before} -> {after} nodes"),
        }
    }
}

/// The differences of two plans, of the tables first. Estimates and measurements are no differences.
///
/// Tables are matched by their name or alias; if one has several nodes, in their order.
pub fn changes(before: &Node, after: &Node) -> Vec<Change> {
    let (was, is) = (accesses(before), accesses(after));
    let mut found = Vec::new();
    let mut tables: Vec<&(String, usize)> = was.iter().map(|it| &it.0).collect();
    tables.extend(
        is.iter()
            .map(|it| &it.0)
            .filter(|it| !was.iter().any(|was| was.0 == **it)),
    );
    for table in &tables {
        let of = |all: &[((String, usize), String)]| {
            let mut all = all.iter();
            all.find(|it| it.0 == **table).map(|it| it.1.clone())
        };
        let (before, after) = (of(&was), of(&is));
        if before != after {
            found.push(Change::Access {
                table: table.0.clone(),
                before,
                after,
            });
        }
    }
    let order = |all: &[((String, usize), String)], others: &[((String, usize), String)]| {
        let common = all
            .iter()
            .filter(|it| others.iter().any(|other| other.0 == it.0));
        common.map(|it| it.0.0.clone()).collect::<Vec<_>>()
    };
    let (before_order, after_order) = (order(&was, &is), order(&is, &was));
    if before_order != after_order {
        found.push(Change::Order {
            before: before_order,
            after: after_order,
        });
    }
    let (was, is) = (work(before), work(after));
    let mut kinds: Vec<&str> = was.keys().chain(is.keys()).copied().collect();
    kinds.sort_unstable();
    kinds.dedup();
    for what in kinds {
        let of = |all: &BTreeMap<&str, usize>| all.get(what).copied().unwrap_or(0);
        if of(&was) != of(&is) {
            found.push(Change::Work {
                what: what.to_owned(),
                before: of(&was),
                after: of(&is),
            });
        }
    }
    found
}

/// Whether two plans have no differences, and their nodes the same used lengths of indexes, lookups and remarks, so that a
/// server executes both in the same way.
pub fn is_same_plan(before: &Node, after: &Node) -> bool {
    changes(before, after).is_empty() && details(before) == details(after)
}

/// What a server shows of each node and [`changes`] leaves out in part.
fn details(root: &Node) -> Vec<(Option<&str>, &[String], &[Flag])> {
    let nodes = root.all().into_iter();
    let details = nodes.map(|it| {
        let key_bytes = it.key_bytes.as_deref();
        (key_bytes, it.lookup.as_slice(), it.flags.as_slice())
    });
    details.collect()
}

/// How each table is read, in the order of the plan; the second node of a table has number 1.
fn accesses(root: &Node) -> Vec<((String, usize), String)> {
    let mut found: Vec<((String, usize), String)> = Vec::new();
    for node in root.all() {
        let (Some(table), true) = (&node.table, is_read(node)) else {
            continue;
        };
        let number = found.iter().filter(|it| it.0.0 == *table).count();
        found.push(((table.clone(), number), access(node)));
    }
    found
}

/// Whether the node reads rows of a table and does not write them.
fn is_read(node: &Node) -> bool {
    node.access.is_some() || matches!(node.operation, Operation::Access | Operation::IndexMerge)
}

/// `index range page_len, covering index`.
fn access(node: &Node) -> String {
    let mut words = vec![
        node.access
            .map_or_else(|| node.title.clone(), |access| access.words().to_owned()),
    ];
    words.extend(node.index.clone());
    if !node.key_parts.is_empty() {
        words.push(format!("({})", node.key_parts.join(", ")));
    }
    let mut access = words.join(" ");
    for flag in &node.flags {
        let matters = matches!(
            flag,
            Flag::Covering
                | Flag::IndexCondition
                | Flag::MultiRangeRead
                | Flag::JoinBuffer(_)
                | Flag::IndexForGroupBy
                | Flag::RangePerRow(_)
                | Flag::RowidFilter(_)
                | Flag::BackwardScan
        );
        if matters {
            access.push_str(", ");
            access.push_str(&flag.words());
        }
    }
    access
}

/// Number of nodes by the work that they do besides reading tables.
fn work(root: &Node) -> BTreeMap<&'static str, usize> {
    let mut found = BTreeMap::new();
    for node in root.all() {
        let mut kinds = Vec::new();
        match node.operation {
            Operation::Sort => kinds.push("sort"),
            Operation::Aggregate => kinds.push("aggregation"),
            Operation::Window => kinds.push("window functions"),
            Operation::Distinct => kinds.push("removal of duplicates"),
            Operation::Materialise | Operation::Derived => kinds.push("materialised rows"),
            Operation::Subquery => kinds.push("subquery"),
            Operation::Hash => kinds.push("hash table"),
            Operation::Join(JoinKind::Buffered) => kinds.push("hash or buffered join"),
            Operation::Join(JoinKind::Semi) => kinds.push("semi-join"),
            Operation::Join(JoinKind::Anti) => kinds.push("anti-join"),
            _ => {}
        }
        for flag in &node.flags {
            match flag {
                Flag::Temporary => kinds.push("temporary table"),
                Flag::Filesort => kinds.push("sort"),
                Flag::FirstMatch(_) => kinds.push("end at the first match"),
                Flag::Dependent => kinds.push("work for each row outside"),
                _ => {}
            }
        }
        // A sort that says so twice is one.
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            *found.entry(kind).or_insert(0) += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Plan;

    fn sentences(before: &str, after: &str) -> Vec<String> {
        let plan = |text: &str| {
            let plan = if text.starts_with('{') {
                Plan::of_json(text)
            } else {
                Plan::of_tree(text)
            };
            plan.unwrap()
        };
        let changes = changes(&plan(before).root, &plan(after).root);
        changes.iter().map(Change::sentence).collect()
    }

    #[test]
    fn changes_of_tables_their_order_and_the_work_around_them_are_found() {
        let before = "-> Sort: p.a  (cost=9 rows=9)\n    \
                      -> Nested loop inner join  (cost=1 rows=5)\n        \
                      -> Table scan on p  (cost=1 rows=5)\n        \
                      -> Single-row index lookup on r using PRIMARY (id=p.r)  (cost=1 rows=1)\n";
        let after = "-> Nested loop inner join  (cost=3 rows=5)\n    \
                     -> Covering index lookup on r using k (a=0)  (cost=1 rows=1)\n    \
                     -> Table scan on p  (cost=1 rows=5)\n";
        assert_eq!(
            sentences(before, after),
            [
                "r: one row by index PRIMARY -> rows by index k, covering index",
                "order of tables: p, r -> r, p",
                "gone: sort"
            ]
        );
        let costlier = before
            .replace("rows=5", "rows=50")
            .replace("cost=1", "cost=7");
        assert!(sentences(before, &costlier).is_empty());
    }

    #[test]
    fn a_table_that_is_no_longer_read_is_named() {
        let one = r#"{"query_block":{"select_id":1,"table":{"table_name":"a","access_type":"ALL","rows":9}}}"#;
        let none = r#"{"query_block":{"select_id":1,"message":"Impossible WHERE"}}"#;
        assert_eq!(sentences(one, none), ["a: whole table -> not read"]);
        assert_eq!(sentences(none, one), ["a: not read -> whole table"]);
    }

    #[test]
    fn plans_differ_in_what_no_change_tells() {
        let plan = |members: &str| {
            let table = format!(r#""table_name":"t","access_type":"ref","key":"k",{members}"#);
            let text = format!(r#"{{"query_block":{{"select_id":1,"table":{{{table}}}}}}}"#);
            Plan::of_json(&text).unwrap().root
        };
        let before = plan(r#""key_length":"4","ref":["const"],"rows":9"#);
        for (after, expected) in [
            (r#""key_length":"4","ref":["const"],"rows":900"#, true),
            (r#""key_length":"8","ref":["const"],"rows":9"#, false),
            (r#""key_length":"4","ref":["s.u.x"],"rows":9"#, false),
            (
                r#""key_length":"4","ref":["const"],"rows":9,"not_exists":true"#,
                false,
            ),
        ] {
            assert!(changes(&before, &plan(after)).is_empty(), "{after}");
            assert_eq!(is_same_plan(&before, &plan(after)), expected, "{after}");
        }
    }
}
