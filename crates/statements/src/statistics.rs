//! Fresh statistics of tables, by which the optimizer chooses its plans.

use blame::Blamed;
use protocol::Endpoint;
use runs::backticked;
use sqltext::SqlStatement;

use super::session::{Failure, Session};

/// The tables of users, with their schemas.
const TABLES: &str = "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' \
    AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema')";

/// The tables that are empty by their persistent statistics, with their schemas; a partition has no statement of its own.
const EMPTY: &str = "SELECT database_name, table_name FROM mysql.innodb_table_stats WHERE n_rows = 0 \
    AND database_name NOT IN ('mysql', 'sys') AND table_name NOT LIKE '%#%'";

/// Refreshes the statistics of some tables; what the server says about single tables changes nothing here.
pub(super) async fn analyze(
    session: &mut Session,
    endpoint: &Endpoint,
    tables: &[String],
) -> Result<(), Blamed> {
    for table in tables {
        let sql = format!("ANALYZE TABLE {table}");
        match session.rows(&sql).await {
            Err(failure) if !failure.is_of_statement() => {
                return Err(blamed(failure, endpoint, sql));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The same for all tables of a server that was just filled: MySQL counts new rows some seconds later, so that a plan would
/// depend on when it is made.
pub(super) async fn analyze_all(session: &mut Session, endpoint: &Endpoint) -> Result<(), Blamed> {
    let tables = tables(session, endpoint, TABLES).await?;
    analyze(session, endpoint, &tables).await
}

/// Refreshes the statistics of the tables that have rows, and none by their statistics: a copy of a server that was stopped
/// soon after its data was loaded keeps those for ever. Returns the number of these tables.
pub(super) async fn analyze_filled(
    session: &mut Session,
    endpoint: &Endpoint,
) -> Result<usize, Blamed> {
    let mut filled = Vec::new();
    for table in tables(session, endpoint, EMPTY).await? {
        let sql = format!("SELECT 1 FROM {table} LIMIT 1");
        match session.rows(&sql).await {
            Ok(found) if found.iter().any(|set| !set.rows.is_empty()) => filled.push(table),
            Err(failure) if !failure.is_of_statement() => {
                return Err(blamed(failure, endpoint, sql));
            }
            _ => {}
        }
    }
    analyze(session, endpoint, &filled).await?;
    Ok(filled.len())
}

/// The names of the tables that a statement lists with their schemas.
async fn tables(
    session: &mut Session,
    endpoint: &Endpoint,
    sql: &str,
) -> Result<Vec<String>, Blamed> {
    let found = session.rows(sql).await;
    let found = found.map_err(|failure| blamed(failure, endpoint, sql.to_owned()))?;
    let text = |value: &Option<Vec<u8>>| {
        backticked(&String::from_utf8_lossy(
            value.as_deref().unwrap_or_default(),
        ))
    };
    let rows = found.iter().flat_map(|set| &set.rows);
    let named = rows.filter_map(|row| match row.as_slice() {
        [schema, table] => Some(format!("{}.{}", text(schema), text(table))),
        _ => None,
    });
    Ok(named.collect())
}

fn blamed(failure: Failure, endpoint: &Endpoint, sql: String) -> Blamed {
    let statement = SqlStatement::of_line("statistics", 1, sql.into_bytes());
    failure.blamed_of_work(endpoint, &statement)
}
