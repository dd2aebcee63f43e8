//! Fresh statistics of tables, by which the optimizer chooses its plans.

use protocol::Endpoint;
use runs::{Blamed, backticked};
use workload::sql_script::SqlStatement;

use super::session::{Failure, Session};

/// The tables of users, with their schemas.
const TABLES: &str = "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' \
    AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema')";

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
    let found = session.rows(TABLES).await;
    let found = found.map_err(|failure| blamed(failure, endpoint, TABLES.to_owned()))?;
    let text = |value: &Option<Vec<u8>>| {
        backticked(&String::from_utf8_lossy(
            value.as_deref().unwrap_or_default(),
        ))
    };
    let rows = found.iter().flat_map(|set| &set.rows);
    let tables: Vec<String> = rows
        .filter_map(|row| match row.as_slice() {
            [schema, table] => Some(format!("{}.{}", text(schema), text(table))),
            _ => None,
        })
        .collect();
    analyze(session, endpoint, &tables).await
}

fn blamed(failure: Failure, endpoint: &Endpoint, sql: String) -> Blamed {
    let statement = SqlStatement::of_line("statistics", 1, sql.into_bytes());
    failure.blamed_of_work(endpoint, &statement)
}
