//! What a node of a plan does.

use serde::Serialize;

/// The kind of work of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A query block, with its number where the server gives one.
    Query(Option<u32>),
    /// Rows of one table; see [`crate::Access`].
    Access,
    /// Rows of two or more inputs are combined.
    Join(JoinKind),
    /// The build side of a hash join.
    Hash,
    /// Rows that fail a condition are dropped.
    Filter,
    Sort,
    /// Groups or a total are computed.
    Aggregate,
    Window,
    /// Duplicates are removed.
    Distinct,
    /// Only the first rows are passed on.
    Limit,
    /// Rows are kept in a temporary table.
    Materialise,
    /// Rows of several queries follow each other: UNION, EXCEPT or INTERSECT.
    Union,
    /// A subquery within an expression.
    Subquery,
    /// A derived table or a common table expression.
    Derived,
    IndexMerge,
    /// Rows are inserted or replaced.
    Insert,
    Update,
    Delete,
    /// No row is read; the reason is in the title.
    Nothing,
    /// Any other work; the title has the server's words.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JoinKind {
    /// For each row of one input, the rows of the next are read.
    NestedLoop,
    /// Rows of one input are put into a hash table or a join buffer.
    Buffered,
    /// A join that ends at the first match of each row.
    Semi,
    /// A join that keeps rows without a match.
    Anti,
}

/// The form of a join, as MySQL's operators say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinForm {
    /// A nested loop, and not a hash join or a batched one.
    pub is_nested_loop: bool,
    /// A left join: it keeps rows of its first input without a match.
    pub is_left: bool,
}

/// How a table is read, from the cheapest to the dearest: the names of EXPLAIN's column `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// A table of one row.
    System,
    /// At most one row, read before execution.
    Const,
    /// At most one row for each row outside.
    EqRef,
    /// All rows with a value of an index.
    Ref,
    /// The same, and rows with NULL.
    RefOrNull,
    Fulltext,
    IndexMerge,
    /// A lookup in a unique index for IN (subquery).
    UniqueSubquery,
    /// A lookup in an index for IN (subquery).
    IndexSubquery,
    Range,
    /// The whole index.
    Index,
    /// The whole table.
    All,
}

impl Access {
    /// Reads the name of EXPLAIN's column `type`; MariaDB adds the index of a row-id filter: `ref|filter`, and names how the
    /// rows of a hash join are read: `hash_ALL` reads the whole table. `None` for another name.
    pub fn of_type(name: &str) -> Option<Self> {
        let name = name.split('|').next().unwrap_or(name);
        Some(match name.to_ascii_lowercase().as_str() {
            "system" => Self::System,
            "const" => Self::Const,
            "eq_ref" => Self::EqRef,
            "ref" => Self::Ref,
            "ref_or_null" => Self::RefOrNull,
            "fulltext" => Self::Fulltext,
            "index_merge" | "hash_index_merge" => Self::IndexMerge,
            "unique_subquery" => Self::UniqueSubquery,
            "index_subquery" => Self::IndexSubquery,
            "range" | "hash_range" => Self::Range,
            "index" | "hash_index" => Self::Index,
            "all" | "hash_all" => Self::All,
            _ => return None,
        })
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::System => "table of one row",
            Self::Const => "one row, read beforehand",
            Self::EqRef => "one row by index",
            Self::Ref => "rows by index",
            Self::RefOrNull => "rows or NULLs by index",
            Self::Fulltext => "full-text search",
            Self::IndexMerge => "index merge",
            Self::UniqueSubquery => "unique index lookup for IN",
            Self::IndexSubquery => "index lookup for IN",
            Self::Range => "index range",
            Self::Index => "whole index",
            Self::All => "whole table",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_mariadb_are_read() {
        for (name, expected) in [
            ("ref|filter", Some(Access::Ref)),
            ("hash_ALL", Some(Access::All)),
            ("hash_index", Some(Access::Index)),
            ("hash_range", Some(Access::Range)),
            ("new", None),
        ] {
            assert_eq!(Access::of_type(name), expected, "{name}");
        }
    }
}
