//! Notes of a load for the run, in two small tables of dbdyno's own beside those of the specification.

use std::{collections::BTreeMap, ops::Range};

use protocol::Connection;

use super::tables::Table;

/// Table of names and values of the notes; it is kept.
const NOTES: &str = "dbdyno_tpcc";
/// Table of the row ranges loaded into each table; it is dropped when all rows are loaded.
const PARTS: &str = "dbdyno_tpcc_parts";

/// Names and columns of dbdyno's own tables.
pub(super) const OWN_TABLES: [(&str, &[&str]); 2] = [
    (NOTES, &["name", "value"]),
    (PARTS, &["table_name", "first_unit", "end_unit"]),
];

/// Notes of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notes {
    /// The seed of the rows.
    pub seed: u64,
    /// C-Load of C_LAST.
    pub last_name_at_load: u32,
    /// Number of warehouses; 0 for a load in parts, which does not know the total.
    pub warehouses: u32,
    /// Whether all rows and keys are loaded.
    pub is_complete: bool,
}

impl Notes {
    /// Creates both tables, where they do not exist yet, and writes the notes.
    pub async fn write(&self, connection: &mut Connection) -> Result<(), protocol::Error> {
        for sql in [
            format!(
                "create table if not exists {NOTES} (name varchar(32) not null primary key, \
                 value varchar(32) not null) engine=InnoDB"
            ),
            format!(
                "create table if not exists {PARTS} (table_name varchar(32) not null, first_unit bigint not null, \
                 end_unit bigint not null, primary key (table_name, first_unit)) engine=InnoDB"
            ),
            format!(
                "replace into {NOTES} (name, value) values ('seed', '{}'), ('c_last', '{}'), ('warehouses', '{}'), \
                 ('complete', '{}')",
                self.seed,
                self.last_name_at_load,
                self.warehouses,
                u8::from(self.is_complete)
            ),
        ] {
            connection.query(sql.as_bytes()).await?;
        }
        Ok(())
    }

    /// Reads the notes of the current database; `None` if there are none.
    pub async fn read(connection: &mut Connection) -> Result<Option<Self>, protocol::Error> {
        if !exists(connection, NOTES).await? {
            return Ok(None);
        }
        let rows = texts(connection, &format!("select name, value from {NOTES}")).await?;
        let values: BTreeMap<String, String> = rows
            .into_iter()
            .filter_map(|row| Some((row.first()?.clone(), row.get(1)?.clone())))
            .collect();
        let number = |name: &str| values.get(name)?.parse::<u64>().ok();
        let notes = || {
            Some(Self {
                seed: number("seed")?,
                last_name_at_load: number("c_last")?.try_into().ok()?,
                warehouses: number("warehouses")?.try_into().ok()?,
                is_complete: number("complete")? != 0,
            })
        };
        Ok(notes())
    }
}

/// The statement that records the rows of these units as loaded into a table.
pub(super) fn part_sql(table: Table, units: &Range<u64>) -> String {
    format!(
        "insert into {PARTS} (table_name, first_unit, end_unit) values ('{}', {}, {})",
        table.name(),
        units.start,
        units.end
    )
}

/// Units that are recorded as loaded into a table, in ascending order.
pub(super) async fn parts(
    connection: &mut Connection,
    table: Table,
) -> Result<Vec<Range<u64>>, protocol::Error> {
    if !exists(connection, PARTS).await? {
        return Ok(Vec::new());
    }
    let sql = format!(
        "select first_unit, end_unit from {PARTS} where table_name = '{}' order by first_unit",
        table.name()
    );
    let rows = texts(connection, &sql).await?;
    let part = |row: Vec<String>| Some(row.first()?.parse().ok()?..row.get(1)?.parse().ok()?);
    Ok(rows.into_iter().filter_map(part).collect())
}

/// Drops the record of loaded rows.
pub(super) async fn forget_parts(connection: &mut Connection) -> Result<(), protocol::Error> {
    let sql = format!("drop table if exists {PARTS}");
    connection.query(sql.as_bytes()).await.map(drop)
}

async fn exists(connection: &mut Connection, table: &str) -> Result<bool, protocol::Error> {
    let sql = format!(
        "select 1 from information_schema.tables where table_schema = database() and table_name = '{table}'"
    );
    Ok(!texts(connection, &sql).await?.is_empty())
}

/// The rows of a statement as text; NULL is empty.
pub(super) async fn texts(
    connection: &mut Connection,
    sql: &str,
) -> Result<Vec<Vec<String>>, protocol::Error> {
    let text = |value: Option<Vec<u8>>| {
        String::from_utf8_lossy(value.as_deref().unwrap_or_default()).into_owned()
    };
    let sets = connection.rows(sql).await?;
    let rows = sets.into_iter().flat_map(|set| set.rows);
    Ok(rows
        .map(|row| row.into_iter().map(text).collect())
        .collect())
}
