//! The numbers of a workload, by sysbench's names.

use super::distribution::RandType;

/// The numbers of a workload, by sysbench's names.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Number of tables.
    pub tables: u32,
    /// Rows of a table.
    pub table_size: u64,
    /// Rows of a range.
    pub range_size: u64,
    /// Point selects of a transaction.
    pub point_selects: u32,
    /// Whether a transaction has range selects.
    pub range_selects: bool,
    /// Range selects of a transaction, by kind.
    pub simple_ranges: u32,
    /// The same.
    pub sum_ranges: u32,
    /// The same.
    pub order_ranges: u32,
    /// The same.
    pub distinct_ranges: u32,
    /// Updates of `k` of a transaction.
    pub index_updates: u32,
    /// Updates of `c` of a transaction.
    pub non_index_updates: u32,
    /// Deletes of a transaction, each with an insert of the same id.
    pub delete_inserts: u32,
    /// The statements of a transaction stand alone.
    pub skip_trx: bool,
    /// Ids come from AUTO_INCREMENT.
    pub auto_inc: bool,
    /// A secondary index takes the place of the primary key.
    pub secondary: bool,
    /// The column `k` gets an index.
    pub create_secondary: bool,
    /// Storage engine; empty for the server's default.
    pub engine: String,
    /// What else stands behind CREATE TABLE.
    pub create_table_options: String,
    /// Values of a select_random_points.
    pub random_points: u32,
    /// Ranges of a select_random_ranges.
    pub number_of_ranges: u32,
    /// Width of such a range.
    pub delta: u64,
    /// Distribution of ids, and of `k` when rows are made.
    pub rand_type: RandType,
    /// Statements are prepared once and executed; otherwise each is sent as text.
    pub is_prepared: bool,
    /// Connections of the run.
    pub connections: u32,
    /// Everything random comes from it.
    pub seed: u64,
}

impl Default for Settings {
    /// sysbench's, for one connection, with ids drawn evenly.
    fn default() -> Self {
        Self {
            tables: 1,
            table_size: 10_000,
            range_size: 100,
            point_selects: 10,
            range_selects: true,
            simple_ranges: 1,
            sum_ranges: 1,
            order_ranges: 1,
            distinct_ranges: 1,
            index_updates: 1,
            non_index_updates: 1,
            delete_inserts: 1,
            skip_trx: false,
            auto_inc: true,
            secondary: false,
            create_secondary: true,
            engine: "innodb".to_owned(),
            create_table_options: String::new(),
            random_points: 10,
            number_of_ranges: 10,
            delta: 5,
            rand_type: RandType::Uniform,
            is_prepared: true,
            connections: 1,
            seed: 1,
        }
    }
}
