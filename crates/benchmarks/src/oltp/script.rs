//! The workloads of the OLTP family, under sysbench's names.

use std::str::FromStr;

/// One workload of the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// Select of one row by primary key.
    PointSelect,
    /// A transaction of point and range selects.
    ReadOnly,
    /// A transaction of point and range selects, updates, a delete and an insert.
    ReadWrite,
    /// The writing statements of `ReadWrite` alone.
    WriteOnly,
    /// Insert of one row.
    Insert,
    /// Inserts by multi-row statements of half a megabyte.
    BulkInsert,
    /// Delete of one row.
    Delete,
    /// An update of an indexed column.
    UpdateIndex,
    /// An update of a column that is not indexed.
    UpdateNonIndex,
    /// Select of rows by a list of indexed values.
    SelectRandomPoints,
    /// A row count over several ranges of indexed values.
    SelectRandomRanges,
}

impl Script {
    pub const ALL: [Self; 11] = [
        Self::PointSelect,
        Self::ReadOnly,
        Self::ReadWrite,
        Self::WriteOnly,
        Self::Insert,
        Self::BulkInsert,
        Self::Delete,
        Self::UpdateIndex,
        Self::UpdateNonIndex,
        Self::SelectRandomPoints,
        Self::SelectRandomRanges,
    ];

    /// Its name, such as `read_write`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PointSelect => "point_select",
            Self::ReadOnly => "read_only",
            Self::ReadWrite => "read_write",
            Self::WriteOnly => "write_only",
            Self::Insert => "insert",
            Self::BulkInsert => "bulk_insert",
            Self::Delete => "delete",
            Self::UpdateIndex => "update_index",
            Self::UpdateNonIndex => "update_non_index",
            Self::SelectRandomPoints => "select_random_points",
            Self::SelectRandomRanges => "select_random_ranges",
        }
    }

    /// Whether its event is a single select.
    pub fn is_one_read(self) -> bool {
        matches!(
            self,
            Self::PointSelect | Self::SelectRandomPoints | Self::SelectRandomRanges
        )
    }

    /// Whether its event is a transaction of several statements.
    pub fn is_transaction(self) -> bool {
        matches!(self, Self::ReadOnly | Self::ReadWrite | Self::WriteOnly)
    }
}

/// Error for an unknown workload name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown workload '{0}'")]
pub struct UnknownScript(String);

impl FromStr for Script {
    type Err = UnknownScript;

    /// Accepts `read_write`, and sysbench's forms `oltp_read_write` and `/usr/share/sysbench/oltp_read_write.lua`.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let file = name.strip_suffix(".lua");
        let file = file.map(|path| path.rsplit('/').next().unwrap_or(path));
        let plain = file.unwrap_or(name);
        let plain = plain.strip_prefix("oltp_").unwrap_or(plain);
        let known = Self::ALL.into_iter().find(|script| script.name() == plain);
        known.ok_or_else(|| UnknownScript(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_and_without_prefix() {
        for script in Script::ALL {
            assert_eq!(script.name().parse(), Ok(script));
            assert_eq!(format!("oltp_{}", script.name()).parse(), Ok(script));
        }
        for file in [
            "oltp_read_write.lua",
            "/usr/share/sysbench/oltp_read_write.lua",
        ] {
            assert_eq!(file.parse(), Ok(Script::ReadWrite));
        }
        let others = [
            "oltp_",
            "/usr/read_write",
            "mine.lua",
            "/oltp_read_write.lua/",
            ".lua",
        ];
        for other in others {
            assert!(other.parse::<Script>().is_err(), "{other}");
        }
        assert!("readwrite".parse::<Script>().is_err());
    }
}
