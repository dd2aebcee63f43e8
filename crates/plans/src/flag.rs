//! What a server notes about a node besides its access: a temporary table, a sort, an index that is enough.

use serde::Serialize;

/// A remark of the server about how it executes a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// Rows pass through a temporary table.
    Temporary,
    /// Rows are sorted, and not read in an index's order.
    Filesort,
    /// The storage engine checks a condition on the index before it reads the row.
    IndexCondition,
    /// Rows are read in the order of the disk.
    MultiRangeRead,
    /// The index has every column that is needed.
    Covering,
    /// Rows of the tables before are collected in a buffer, with the algorithm where the server names it.
    JoinBuffer(String),
    /// A condition is applied to the rows read.
    Where,
    /// The search for a row ends at the first match.
    Distinct,
    /// The search of an outer join ends at the first match.
    NotExists,
    /// A semi-join ends at the first match, jumping back to the named table.
    FirstMatch(String),
    /// A semi-join reads one row of each group of an index.
    LooseScan,
    /// Rows of a semi-join are made distinct by a temporary table that begins here.
    StartTemporary,
    /// The temporary table of a semi-join ends here.
    EndTemporary,
    /// For each row of the tables before, an index is chosen anew.
    RangePerRow(String),
    /// One entry per group is read from an index.
    IndexForGroupBy,
    BackwardScan,
    IndexMerge(String),
    /// Another index filters the row ids first (MariaDB).
    RowidFilter(String),
    /// The part runs again for each row outside.
    Dependent,
    /// Its result may change from row to row and is not kept.
    Uncacheable,
    /// It reads its own earlier rows.
    Recursive,
    /// It ends at the statement's LIMIT.
    Limit,
    /// Any other remark, in the server's words.
    Other(String),
}

impl Flag {
    pub fn words(&self) -> String {
        let plain = match self {
            Self::Temporary => "temporary table",
            Self::Filesort => "filesort",
            Self::IndexCondition => "index condition",
            Self::MultiRangeRead => "multi-range read",
            Self::Covering => "covering index",
            Self::Where => "filtered after reading",
            Self::Distinct => "distinct",
            Self::NotExists => "not exists",
            Self::LooseScan => "loose scan",
            Self::StartTemporary => "semi-join's temporary table begins",
            Self::EndTemporary => "semi-join's temporary table ends",
            Self::IndexForGroupBy => "index for GROUP BY",
            Self::BackwardScan => "backwards",
            Self::Dependent => "runs for each row outside",
            Self::Uncacheable => "result not kept",
            Self::Recursive => "recursive",
            Self::Limit => "ends at its LIMIT",
            Self::JoinBuffer(kind) if kind.is_empty() => "join buffer",
            Self::FirstMatch(table) if table.is_empty() => "first match",
            Self::JoinBuffer(kind) => return format!("join buffer ({kind})"),
            Self::FirstMatch(table) => return format!("first match, back to {table}"),
            Self::RangePerRow(indexes) => return format!("index chosen for each row ({indexes})"),
            Self::IndexMerge(indexes) => return format!("index merge: {indexes}"),
            Self::RowidFilter(index) => return format!("row ids filtered by {index}"),
            Self::Other(words) => return words.clone(),
        };
        plain.to_owned()
    }

    /// One remark of the column `Extra`, such as `Using join buffer (hash join)`.
    pub(crate) fn of_extra(remark: &str) -> Self {
        let inner = |start: &str| {
            let rest = remark.strip_prefix(start)?.trim();
            let inside = rest
                .strip_prefix('(')
                .map(|rest| rest.trim_end_matches(')'));
            Some(inside.unwrap_or(rest).to_owned())
        };
        match remark {
            "Using temporary" => return Self::Temporary,
            "Using filesort" => return Self::Filesort,
            "Using index condition" => return Self::IndexCondition,
            "Using MRR" => return Self::MultiRangeRead,
            "Using index" => return Self::Covering,
            "Using where" => return Self::Where,
            "Distinct" => return Self::Distinct,
            "Not exists" => return Self::NotExists,
            "LooseScan" => return Self::LooseScan,
            "Start temporary" => return Self::StartTemporary,
            "End temporary" => return Self::EndTemporary,
            "Backward index scan" => return Self::BackwardScan,
            "Recursive" => return Self::Recursive,
            _ => {}
        }
        if remark.starts_with("Using index for group-by") {
            return Self::IndexForGroupBy;
        }
        if let Some(kind) = inner("Using join buffer") {
            return Self::JoinBuffer(kind);
        }
        if let Some(table) = inner("FirstMatch") {
            return Self::FirstMatch(table);
        }
        if let Some(indexes) = inner("Range checked for each record") {
            return Self::RangePerRow(indexes);
        }
        let merges = ["Using union", "Using sort_union", "Using intersect"];
        if merges.iter().any(|merge| remark.starts_with(merge)) {
            return Self::IndexMerge(remark["Using ".len()..].to_owned());
        }
        if let Some(index) = inner("Using rowid filter") {
            return Self::RowidFilter(index);
        }
        Self::Other(remark.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_read() {
        for (remark, flag) in [
            ("Using index for group-by (scanning)", Flag::IndexForGroupBy),
            (
                "Using join buffer (flat, BNL join)",
                Flag::JoinBuffer("flat, BNL join".into()),
            ),
            ("Using join buffer", Flag::JoinBuffer(String::new())),
            ("FirstMatch(p)", Flag::FirstMatch("p".into())),
            (
                "Range checked for each record (index map: 0x3)",
                Flag::RangePerRow("index map: 0x3".into()),
            ),
            (
                "Using sort_union(a,b)",
                Flag::IndexMerge("sort_union(a,b)".into()),
            ),
            ("Zero limit", Flag::Other("Zero limit".into())),
        ] {
            assert_eq!(Flag::of_extra(remark), flag, "{remark}");
        }
    }
}
