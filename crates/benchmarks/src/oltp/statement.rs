//! The family's statements, with sysbench's SQL text.

use super::settings::Settings;

/// One kind of statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Begin,
    PointSelect,
    SimpleRange,
    SumRange,
    OrderRange,
    DistinctRange,
    IndexUpdate,
    NonIndexUpdate,
    Delete,
    Insert,
    Commit,
    /// Sent before a transaction is retried: sysbench omits it, and its next BEGIN commits the work done so far.
    Rollback,
    RandomPoints,
    RandomRanges,
    BulkInsert,
}

impl Kind {
    pub(super) const COUNT: usize = 15;

    /// Name in reports: sysbench's name of the group.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::PointSelect => "point_selects",
            Self::SimpleRange => "simple_ranges",
            Self::SumRange => "sum_ranges",
            Self::OrderRange => "order_ranges",
            Self::DistinctRange => "distinct_ranges",
            Self::IndexUpdate => "index_updates",
            Self::NonIndexUpdate => "non_index_updates",
            Self::Delete => "deletes",
            Self::Insert => "inserts",
            Self::Commit => "commit",
            Self::Rollback => "rollback",
            Self::RandomPoints => "random_points",
            Self::RandomRanges => "random_ranges",
            Self::BulkInsert => "bulk_inserts",
        }
    }

    /// Whether the statement has a separate text for each table.
    pub(super) fn is_of_a_table(self) -> bool {
        !matches!(
            self,
            Self::Begin | Self::Commit | Self::Rollback | Self::RandomPoints | Self::RandomRanges
        )
    }

    /// The statement for the table with this number (from 1), with `?` for its values.
    pub(super) fn sql(self, table: u32, settings: &Settings) -> String {
        match self {
            Self::Begin => "BEGIN".to_owned(),
            Self::Commit => "COMMIT".to_owned(),
            Self::Rollback => "ROLLBACK".to_owned(),
            Self::PointSelect => format!("SELECT c FROM sbtest{table} WHERE id=?"),
            Self::SimpleRange => format!("SELECT c FROM sbtest{table} WHERE id BETWEEN ? AND ?"),
            Self::SumRange => format!("SELECT SUM(k) FROM sbtest{table} WHERE id BETWEEN ? AND ?"),
            Self::OrderRange => {
                format!("SELECT c FROM sbtest{table} WHERE id BETWEEN ? AND ? ORDER BY c")
            }
            Self::DistinctRange => {
                format!("SELECT DISTINCT c FROM sbtest{table} WHERE id BETWEEN ? AND ? ORDER BY c")
            }
            Self::IndexUpdate => format!("UPDATE sbtest{table} SET k=k+1 WHERE id=?"),
            Self::NonIndexUpdate => format!("UPDATE sbtest{table} SET c=? WHERE id=?"),
            Self::Delete => format!("DELETE FROM sbtest{table} WHERE id=?"),
            Self::Insert => {
                format!("INSERT INTO sbtest{table} (id, k, c, pad) VALUES (?, ?, ?, ?)")
            }
            Self::RandomPoints => {
                let places = vec!["?"; settings.random_points as usize].join(", ");
                format!("SELECT id, k, c, pad FROM sbtest1 WHERE k IN ({places})")
            }
            Self::RandomRanges => {
                let ranges = vec!["k BETWEEN ? AND ?"; settings.number_of_ranges as usize];
                format!("SELECT count(k) FROM sbtest1 WHERE {}", ranges.join(" OR "))
            }
            Self::BulkInsert => format!("INSERT INTO sbtest{table} VALUES"),
        }
    }
}
