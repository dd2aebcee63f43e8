//! The size of tables on disk.

use blame::Blamed;
use protocol::Endpoint;

use crate::control::{Purpose, backticked, number, quoted};

/// Bytes of tables and their indexes, as the server counts its pages; `None` if the server does not report them.
pub fn disk_bytes<'t>(
    tables: impl Iterator<Item = &'t str>,
    endpoint: &Endpoint,
) -> Result<Option<u64>, Blamed> {
    let tables: Vec<&str> = tables.collect();
    Purpose::Work.control(endpoint, async |connection| {
        // Otherwise the sizes are those of an earlier moment of the load.
        let spelled: Vec<String> = tables.iter().map(|table| backticked(table)).collect();
        let analyze = format!("analyze table {}", spelled.join(", "));
        connection.rows(&analyze).await?;
        let names: Vec<String> = tables.iter().map(|table| quoted(table)).collect();
        let sql = format!(
            "select cast(sum(data_length + index_length) as unsigned) from information_schema.tables \
             where table_schema = database() and table_name in ({})",
            names.join(", ")
        );
        number(connection, &sql).await
    })
}
