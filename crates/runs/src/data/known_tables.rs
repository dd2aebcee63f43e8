//! Detection of a benchmark's tables in a database, by their columns and not by their names.

use dataset::KnownTable;
use protocol::Connection;

use crate::control::quoted;

/// A table in the connection's database that has the name of a benchmark's table.
pub struct NamesakeTable {
    /// The name in the benchmark's spelling.
    pub name: String,
    /// True if it has the benchmark's columns.
    pub is_known: bool,
    pub columns: Vec<String>,
}

/// The tables of these names in the connection's database, in the order of `known`.
pub async fn taken(
    connection: &mut Connection,
    known: &[KnownTable],
) -> Result<Vec<NamesakeTable>, protocol::Error> {
    let names: Vec<_> = known.iter().map(|table| quoted(&table.name)).collect();
    // A table whose columns are hidden from this account counts as unrelated.
    let sql = format!(
        "select t.table_name, @@lower_case_table_names, c.column_name from information_schema.tables t \
         left join information_schema.columns c on c.table_schema = t.table_schema and c.table_name = t.table_name \
         where t.table_schema = database() and t.table_name in ({})",
        names.join(", ")
    );
    let text =
        |value: Option<Vec<u8>>| value.map(|value| String::from_utf8_lossy(&value).into_owned());
    let sets = connection.rows(&sql).await?;
    let mut columns: Vec<Option<Vec<String>>> = vec![None; known.len()];
    for row in sets.into_iter().flat_map(|set| set.rows) {
        let mut row = row.into_iter().map(text);
        let (table, case, column) = (row.next(), row.next(), row.next());
        let (Some(Some(table)), Some(Some(case))) = (table, case) else {
            continue;
        };
        // The server compares names case-insensitively, unless lower_case_table_names is 0.
        let is_it = |known: &KnownTable| match case.as_str() {
            "0" => known.name == table,
            _ => known.name.eq_ignore_ascii_case(&table),
        };
        if let Some(at) = known.iter().position(is_it) {
            let found = columns[at].get_or_insert_default();
            found.extend(column.flatten());
        }
    }
    let both = known.iter().zip(columns);
    let taken = both.filter_map(|(known, columns)| {
        let columns = columns?;
        Some(NamesakeTable {
            name: known.name.clone(),
            is_known: known.has_layout(&columns),
            columns,
        })
    });
    Ok(taken.collect())
}
