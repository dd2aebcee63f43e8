//! The database of a benchmark's tables.

use protocol::Endpoint;

use crate::{blame::Blamed, control::Purpose, exit_code::Blame};

/// Access to a database denied: an account that may not create one may still have it.
const DENIED: u16 = 1044;

/// Creates the database of an endpoint where it is missing.
pub fn create(endpoint: &Endpoint) -> Result<(), Blamed> {
    let name = name(endpoint).replace('`', "``");
    let without = Endpoint {
        database: None,
        ..endpoint.clone()
    };
    Purpose::Change.control(&without, async |connection| {
        let sql = format!("create database if not exists `{name}`");
        match connection.query(sql.as_bytes()).await {
            Err(error) if error.server_number() == Some(DENIED) => Ok(()),
            result => result.map(drop),
        }
    })
}

/// Its name.
pub fn name(endpoint: &Endpoint) -> &str {
    endpoint.database.as_deref().unwrap_or_default()
}

/// An error about what is in a database.
pub fn conflict(endpoint: &Endpoint, what: impl std::fmt::Display) -> Blamed {
    Blamed::new(Blame::Input, format!("database {}: {what}", name(endpoint)))
}
