//! Compares sysbench's tables with what `prepare` makes: columns, indexes, and ids from 1 without a hole.

use blame::Blamed;
use protocol::{Connection, Endpoint};
use runs::{
    Context, Length, Purpose,
    known_tables::{NamesakeTable, taken},
    quoted,
};

use crate::oltp::{
    benchmark::OltpTables,
    table::{ExpectedTable, expected_tables},
};

struct FoundTable {
    rows: u64,
    /// The lowest, the highest and the number of different ids.
    ids: (u64, u64, u64),
    /// The primary key begins with the id.
    has_primary_key: bool,
    /// An index begins with k.
    has_index: bool,
}

/// Number of tables whose fault is reported.
const FAULTS_SHOWN: usize = 4;

/// What is wrong with the tables: `2 of 4 tables not as prepared: sbtest1 is missing; sbtest2 is missing`. `None` if they
/// are as `prepare` makes them.
pub fn faults(
    endpoint: &Endpoint,
    tables: &OltpTables,
    context: &Context,
) -> Result<Option<String>, Blamed> {
    let faults = check(endpoint, tables, context)?;
    if faults.is_empty() {
        return Ok(None);
    }
    let shown: Vec<&str> = faults
        .iter()
        .take(FAULTS_SHOWN)
        .map(String::as_str)
        .collect();
    let more = match faults.len().saturating_sub(FAULTS_SHOWN) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    Ok(Some(format!(
        "{} of {} tables not as prepared: {}{more}",
        faults.len(),
        tables.count(),
        shown.join("; ")
    )))
}

/// A text for each table that is not as `prepare` makes it.
fn check(
    endpoint: &Endpoint,
    tables: &OltpTables,
    context: &Context,
) -> Result<Vec<String>, Blamed> {
    let step = context.step("checking the tables", Length::Unknown);
    let expected = expected_tables(tables.script, &tables.settings);
    let known: Vec<_> = expected.iter().map(|table| table.known.clone()).collect();
    Purpose::Work.control(endpoint, async |connection| {
        let namesakes = taken(connection, &known).await?;
        let mut faults = Vec::new();
        for table in &expected {
            let name = &table.known.name;
            step.say(&format!("checking {name}"));
            let namesake = namesakes.iter().find(|found| found.name == *name);
            let fault = match namesake {
                None => Some("is missing".to_owned()),
                Some(NamesakeTable {
                    is_known: false,
                    columns,
                    ..
                }) => Some(format!("has the columns {}", columns.join(", "))),
                Some(_) => fault(table, &read(connection, name).await?),
            };
            faults.extend(fault.map(|fault| format!("{name} {fault}")));
        }
        Ok(faults)
    })
}

async fn read(connection: &mut Connection, name: &str) -> Result<FoundTable, protocol::Error> {
    let begins_with = |column: &str, also: &str| {
        format!(
            "(select count(*) from information_schema.statistics where table_schema = database() \
             and table_name = {} and column_name = '{column}' and seq_in_index = 1{also})",
            quoted(name)
        )
    };
    let primary = begins_with("id", " and index_name = 'PRIMARY'");
    let sql = format!("select {primary}, {}", begins_with("k", ""));
    let [primary, index] = numbers(connection, &sql).await?;
    // To count different values of a primary key takes a server long.
    let different = match primary {
        0 => "count(distinct id)",
        _ => "count(*)",
    };
    let sql = format!("select count(*), min(id), max(id), {different} from {name}");
    let [rows, lowest, highest, different] = numbers(connection, &sql).await?;
    Ok(FoundTable {
        rows,
        ids: (lowest, highest, different),
        has_primary_key: primary > 0,
        has_index: index > 0,
    })
}

/// The numbers of the first row; 0 for NULL.
async fn numbers<const COUNT: usize>(
    connection: &mut Connection,
    sql: &str,
) -> Result<[u64; COUNT], protocol::Error> {
    let sets = connection.rows(sql).await?;
    let row = sets.into_iter().flat_map(|set| set.rows).next();
    let mut values = row.into_iter().flatten().map(|value| {
        let text = String::from_utf8(value?).ok()?;
        text.parse().ok()
    });
    Ok([(); COUNT].map(|()| values.next().flatten().unwrap_or_default()))
}

/// The first thing that is wrong with a table.
fn fault(expected: &ExpectedTable, found: &FoundTable) -> Option<String> {
    let rows = expected.rows;
    if found.rows != rows {
        return Some(format!("has {} rows, not {rows}", found.rows));
    }
    let (lowest, highest, different) = found.ids;
    if rows > 0 && (lowest, highest, different) != (1, rows, rows) {
        return Some(format!(
            "has {different} ids from {lowest} to {highest}, not every id from 1 to {rows}"
        ));
    }
    match (expected.has_primary_key, found.has_primary_key) {
        (true, false) => return Some("has no primary key on id".to_owned()),
        (false, true) => return Some("has a primary key on id, and --secondary none".to_owned()),
        _ => {}
    }
    match (expected.has_index, found.has_index) {
        (true, false) => Some("has no index on k".to_owned()),
        (false, true) => Some("has an index on k, and prepare creates none here".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::oltp::{script::Script, settings::Settings};

    use super::*;

    fn expected(script: Script, settings: &Settings) -> ExpectedTable {
        expected_tables(script, settings).remove(0)
    }

    fn found(rows: u64, ids: (u64, u64, u64)) -> FoundTable {
        FoundTable {
            rows,
            ids,
            has_primary_key: true,
            has_index: true,
        }
    }

    #[test]
    fn a_table_as_prepared_has_no_fault_and_every_other_names_the_first() {
        let table = expected(Script::ReadWrite, &Settings::default());
        for (found, wrong) in [
            (found(10_000, (1, 10_000, 10_000)), None),
            (
                found(9_999, (1, 10_000, 9_999)),
                Some("has 9999 rows, not 10000"),
            ),
            (found(10_000, (2, 10_001, 10_000)), Some("from 2 to 10001")),
            (
                found(10_000, (1, 10_000, 9_999)),
                Some("has 9999 ids from 1 to 10000"),
            ),
            (
                FoundTable {
                    has_index: false,
                    ..found(10_000, (1, 10_000, 10_000))
                },
                Some("no index on k"),
            ),
            (
                FoundTable {
                    has_primary_key: false,
                    ..found(10_000, (1, 10_000, 10_000))
                },
                Some("no primary key"),
            ),
        ] {
            let fault = fault(&table, &found);
            match wrong {
                None => assert_eq!(fault, None),
                Some(wrong) => assert!(fault.is_some_and(|it| it.contains(wrong)), "{wrong}"),
            }
        }
    }

    #[test]
    fn what_is_expected_follows_the_workload_and_its_options() {
        let bulk = expected(Script::BulkInsert, &Settings::default());
        assert_eq!((bulk.rows, bulk.has_index), (0, false));
        assert_eq!(bulk.known.layouts, ["id, k"]);
        let settings = Settings {
            auto_inc: false,
            secondary: true,
            create_secondary: false,
            ..Settings::default()
        };
        let insert = expected(Script::Insert, &settings);
        assert_eq!((insert.rows, insert.has_index), (0, false));
        assert!(!insert.has_primary_key);
        assert_eq!(expected(Script::Delete, &settings).rows, 10_000);
    }
}
