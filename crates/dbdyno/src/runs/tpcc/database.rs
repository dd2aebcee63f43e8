//! The database of a TPC-C command.

use protocol::Endpoint;

use super::super::Purpose;
use crate::{
    blame::{Blame, Blamed},
    connection_options::ConnectionOptions,
};

/// The database of who names none.
pub(super) const DATABASE: &str = "tpcc";

/// Where to connect, with the database that was named, or tpcc.
pub(crate) fn endpoint(connection: &ConnectionOptions) -> anyhow::Result<Endpoint> {
    let mut endpoint = connection.endpoint()?;
    endpoint.database = connection
        .database
        .clone()
        .or_else(|| Some(DATABASE.to_owned()));
    Ok(endpoint)
}

/// Makes the database where it is not there yet.
pub(crate) fn create(endpoint: &Endpoint) -> Result<(), Blamed> {
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
pub(crate) fn name(endpoint: &Endpoint) -> &str {
    endpoint.database.as_deref().unwrap_or(DATABASE)
}

/// An error about what is in a database.
pub(crate) fn conflict(endpoint: &Endpoint, what: impl std::fmt::Display) -> Blamed {
    Blamed::new(Blame::Input, format!("database {}: {what}", name(endpoint)))
}
