//! The database of a benchmark's tables.

use std::time::Duration;

use blame::{Blame, Blamed};
use protocol::Endpoint;

use crate::{
    control::{Purpose, backticked, control, number},
    data::{LoadResult, disk_bytes::disk_bytes},
};

/// Access to a database denied: an account that may not create one may still have it.
const DENIED: u16 = 1044;

/// Creates the database of an endpoint where it is missing.
pub fn create(endpoint: &Endpoint) -> Result<(), Blamed> {
    let name = backticked(name(endpoint));
    let without = Endpoint {
        database: None,
        ..endpoint.clone()
    };
    Purpose::Change.control(&without, async |connection| {
        let sql = format!("create database if not exists {name}");
        match connection.query(sql.as_bytes()).await {
            Err(error) if error.server_number() == Some(DENIED) => Ok(()),
            result => result.map(drop),
        }
    })
}

pub fn name(endpoint: &Endpoint) -> &str {
    endpoint.database.as_deref().unwrap_or_default()
}

/// An error about what is in a database.
pub fn conflict(endpoint: &Endpoint, what: impl std::fmt::Display) -> Blamed {
    Blamed::new(Blame::Input, format!("database {}: {what}", name(endpoint)))
}

/// The names of the tables that are in it, as it spells them; views are none.
pub fn base_tables(endpoint: &Endpoint) -> Result<Vec<String>, Blamed> {
    let sql = "select table_name from information_schema.tables \
               where table_schema = database() and table_type = 'BASE TABLE'";
    let sets = control(endpoint, async |connection| connection.rows(sql).await)?;
    let rows = sets.into_iter().flat_map(|set| set.rows);
    let names = rows.filter_map(|row| row.into_iter().next()?);
    Ok(names
        .map(|name| String::from_utf8_lossy(&name).into_owned())
        .collect())
}

/// What tables have now, by counting, after a load that took a time.
pub fn loaded(
    endpoint: &Endpoint,
    tables: &[String],
    took: Duration,
) -> Result<LoadResult, Blamed> {
    let rows = Purpose::Work.control(endpoint, async |connection| {
        let mut rows = 0;
        for table in tables {
            let sql = format!("select count(*) from {}", backticked(table));
            rows += number(connection, &sql).await?.unwrap_or(0);
        }
        Ok(rows)
    })?;
    let names = tables.iter().map(String::as_str);
    let disk_bytes = if tables.is_empty() {
        None
    } else {
        disk_bytes(names, endpoint)?
    };
    Ok(LoadResult {
        rows,
        disk_bytes,
        took,
    })
}
