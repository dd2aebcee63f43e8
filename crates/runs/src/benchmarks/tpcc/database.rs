//! The database of a TPC-C command.

use protocol::Endpoint;

use crate::{
    blame::{Blame, Blamed},
    control::Purpose,
};

/// The database of who names none.
pub const DATABASE: &str = "tpcc";

/// Makes the database where it is not there yet.
pub fn create(endpoint: &Endpoint) -> Result<(), Blamed> {
    let name = name(endpoint).replace('`', "``");
    let without = Endpoint {
        database: None,
        ..endpoint.clone()
    };
    Purpose::Change.control(&without, async |connection| {
        let sql = format!("create database if not exists `{name}`");
        match connection.query(sql.as_bytes()).await {
            // Who may not create a database may have one.
            Err(error) if error.server_number() == Some(1044) => Ok(()),
            result => result.map(drop),
        }
    })
}

/// Its name.
pub fn name(endpoint: &Endpoint) -> &str {
    endpoint.database.as_deref().unwrap_or(DATABASE)
}

/// An error about what is in a database.
pub fn conflict(endpoint: &Endpoint, what: impl std::fmt::Display) -> Blamed {
    Blamed::new(Blame::Input, format!("database {}: {what}", name(endpoint)))
}
