//! The columns and keys of tables as the server describes them.

use blame::Blamed;
use dataset::own_data::generate::{ColumnInfo, ForeignKey, ParentKeys, TableInfo, UniqueKey};
use protocol::{Connection, Endpoint};
use runs::{Purpose, backticked, control, number, quoted};

/// Rows of a table that is not generated, to which generated ones may refer, at most; its keys are kept in memory.
const PARENT_ROWS_AT_MOST: u64 = 1_000_000;

/// The tables of these names that are in the database.
pub(super) fn read(endpoint: &Endpoint, names: &[String]) -> Result<Vec<TableInfo>, Blamed> {
    Purpose::Work.control(endpoint, async |connection| {
        let mut tables = Vec::new();
        for name in names {
            let table = table(connection, name).await?;
            if !table.columns.is_empty() {
                tables.push(table);
            }
        }
        Ok(tables)
    })
}

async fn table(connection: &mut Connection, name: &str) -> Result<TableInfo, protocol::Error> {
    let mut columns = columns(connection, name).await?;
    if connection.server_version().contains("MariaDB") && !columns.is_empty() {
        let sql = format!("show create table {}", backticked(name));
        let created = texts(connection, &sql).await?.into_iter().next();
        let created = created.and_then(|row| row.into_iter().nth(1)?);
        name_json(&mut columns, &created.unwrap_or_default());
    }
    Ok(TableInfo {
        name: name.to_owned(),
        columns,
        foreign_keys: foreign_keys(connection, name).await?,
        unique_keys: unique_keys(connection, name).await?,
    })
}

async fn columns(
    connection: &mut Connection,
    table: &str,
) -> Result<Vec<ColumnInfo>, protocol::Error> {
    let sql = format!(
        "select column_name, data_type, column_type, is_nullable, character_maximum_length, numeric_precision, \
         numeric_scale, extra from information_schema.columns \
         where table_schema = database() and table_name = {} order by ordinal_position",
        quoted(table)
    );
    let rows = texts(connection, &sql).await?.into_iter();
    let columns = rows.map(|row| {
        let text = |at: usize| row.get(at).cloned().flatten().unwrap_or_default();
        let number = |at: usize| text(at).parse::<u32>().ok();
        let extra = text(7).to_lowercase();
        let is_computed = |word: &&str| extra.contains(*word);
        ColumnInfo {
            name: text(0),
            data_type: text(1).to_lowercase(),
            column_type: text(2),
            is_nullable: text(3) == "YES",
            characters: text(4).parse().ok(),
            digits: number(5).map(|digits| (digits, number(6).unwrap_or(0))),
            is_auto_increment: extra.contains("auto_increment"),
            // DEFAULT_GENERATED is a default that is an expression.
            is_generated: ["virtual", "stored", "persistent"].iter().any(is_computed),
        }
    });
    Ok(columns.collect())
}

/// Names the type of the columns that MariaDB made of JSON: a LONGTEXT with a check.
/// Source: MariaDB's documentation, "JSON Data Type".
fn name_json(columns: &mut [ColumnInfo], created: &str) {
    for column in columns.iter_mut().filter(|it| it.data_type == "longtext") {
        if created.contains(&format!("json_valid({})", backticked(&column.name))) {
            column.data_type = "json".to_owned();
        }
    }
}

async fn unique_keys(
    connection: &mut Connection,
    table: &str,
) -> Result<Vec<UniqueKey>, protocol::Error> {
    let sql = format!(
        "select index_name, column_name from information_schema.statistics \
         where table_schema = database() and table_name = {} and non_unique = 0 \
         order by index_name = 'PRIMARY' desc, index_name, seq_in_index",
        quoted(table)
    );
    let mut keys: Vec<UniqueKey> = Vec::new();
    for row in texts(connection, &sql).await? {
        let [Some(name), Some(column)] = &row[..] else {
            continue;
        };
        match keys.last_mut().filter(|key| key.name == *name) {
            Some(key) => key.columns.push(column.clone()),
            None => keys.push(UniqueKey {
                name: name.clone(),
                columns: vec![column.clone()],
            }),
        }
    }
    Ok(keys)
}

async fn foreign_keys(
    connection: &mut Connection,
    table: &str,
) -> Result<Vec<ForeignKey>, protocol::Error> {
    let sql = format!(
        "select constraint_name, column_name, referenced_table_name, referenced_column_name \
         from information_schema.key_column_usage \
         where table_schema = database() and table_name = {} and referenced_table_name is not null \
         order by constraint_name, ordinal_position",
        quoted(table)
    );
    let mut keys: Vec<(String, ForeignKey)> = Vec::new();
    for row in texts(connection, &sql).await? {
        let [Some(name), Some(column), Some(table), Some(parent)] = &row[..] else {
            continue;
        };
        match keys.last_mut().filter(|(last, _)| last == name) {
            Some((_, key)) => {
                key.columns.push(column.clone());
                key.parent_columns.push(parent.clone());
            }
            None => keys.push((
                name.clone(),
                ForeignKey {
                    columns: vec![column.clone()],
                    table: table.clone(),
                    parent_columns: vec![parent.clone()],
                },
            )),
        }
    }
    Ok(keys.into_iter().map(|(_, key)| key).collect())
}

/// The keys of tables that are not generated; of very many a sample, which `notes` gets.
pub(super) fn read_keys(
    endpoint: &Endpoint,
    needed: Vec<ParentKeys>,
    notes: &mut Vec<String>,
) -> Result<Vec<ParentKeys>, Blamed> {
    Purpose::Work.control(endpoint, async |connection| {
        let mut keys = Vec::new();
        for parent in needed {
            let columns: Vec<String> = parent.columns.iter().map(|it| backticked(it)).collect();
            let columns = columns.join(", ");
            let table = backticked(&parent.table);
            let sql = format!("select count(*) from (select distinct {columns} from {table}) k");
            let count = number(connection, &sql).await?.unwrap_or(0);
            let sampled = every_nth(count).map(|nth| {
                // By a hash of the key, so that the sample is spread over the whole table, and the same each time.
                format!("where crc32(md5(concat_ws(',', {columns}))) % {nth} = 0")
            });
            let is_sample = sampled.is_some();
            let sql = format!(
                "select distinct {columns} from {table} {} order by {columns} limit {PARENT_ROWS_AT_MOST}",
                sampled.unwrap_or_default()
            );
            let sets = connection.rows(&sql).await?;
            let rows: Vec<_> = sets.into_iter().flat_map(|set| set.rows).collect();
            if is_sample {
                notes.push(format!(
                    "generate: rows refer to {} of the {count} keys of {}, an even sample: at most {PARENT_ROWS_AT_MOST} are \
                     read",
                    rows.len(),
                    parent.table
                ));
            }
            keys.push(ParentKeys {
                rows,
                is_sample,
                ..parent
            });
        }
        Ok(keys)
    })
}

/// Of how many keys one is read; `None` for all. A share that is hashed has some more or fewer than its mean.
fn every_nth(count: u64) -> Option<u64> {
    (count > PARENT_ROWS_AT_MOST).then(|| count / (PARENT_ROWS_AT_MOST / 100 * 99) + 1)
}

/// Whether several statements may load a table whose key InnoDB counts.
pub(super) fn auto_increment_is_shared(endpoint: &Endpoint) -> Result<bool, Blamed> {
    let mode = control(endpoint, async |connection| {
        texts(connection, "show variables like 'innodb_autoinc_lock_mode'").await
    })?;
    let mode = mode
        .into_iter()
        .next()
        .and_then(|row| row.into_iter().nth(1)?);
    Ok(mode.as_deref() == Some("2"))
}

async fn texts(
    connection: &mut Connection,
    sql: &str,
) -> Result<Vec<Vec<Option<String>>>, protocol::Error> {
    let sets = connection.rows(sql).await?;
    let rows = sets.into_iter().flat_map(|set| set.rows);
    let text = |value: Vec<u8>| String::from_utf8_lossy(&value).into_owned();
    Ok(rows
        .map(|row| row.into_iter().map(|value| value.map(text)).collect())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tables_beyond_a_million_keys_are_sampled() {
        for (count, expected) in [
            (0, None),
            (1_000_000, None),
            (1_000_001, Some(2)),
            (1_999_999, Some(3)),
            (10_000_000, Some(11)),
        ] {
            assert_eq!(every_nth(count), expected, "{count}");
        }
    }
}
