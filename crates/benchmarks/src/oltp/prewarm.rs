//! Statements that load a table into memory.

/// The statements of a prewarm, as sysbench 1.0.20 sends them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prewarm {
    /// Rows of a table.
    pub(super) table_size: u64,
}

impl Prewarm {
    /// Session variables to set first: the rows pass through a temporary table.
    pub(super) const SESSION: [&'static str; 2] = [
        "SET tmp_table_size=2*1024*1024*1024",
        "SET max_heap_table_size=2*1024*1024*1024",
    ];

    /// The statements for the table with this number (from 1).
    pub(super) fn statements(self, table: u32) -> [String; 3] {
        let rows = self.table_size;
        [
            format!("ANALYZE TABLE sbtest{table}"),
            format!(
                "SELECT AVG(id) FROM (SELECT * FROM sbtest{table} FORCE KEY (PRIMARY) LIMIT {rows}) t"
            ),
            format!(
                "SELECT COUNT(*) FROM (SELECT * FROM sbtest{table} WHERE k LIKE '%0%' LIMIT {rows}) t"
            ),
        ]
    }
}
