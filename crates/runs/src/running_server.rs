//! The variables and counters of a running server, read without changing anything.

use std::collections::BTreeMap;

use blame::Blamed;
use protocol::Endpoint;

use crate::control::{control, name_value_pairs, number, quoted, variables};

/// What a running server shows to any account.
#[derive(Debug)]
pub struct ShownServer {
    /// The result of SHOW GLOBAL VARIABLES.
    pub variables: BTreeMap<String, String>,
    /// The result of SHOW GLOBAL STATUS, or why the server refused it.
    pub status: Result<BTreeMap<String, String>, String>,
}

/// Reads variables and counters over one connection. A refused SHOW GLOBAL STATUS is no error, because the variables
/// alone can be judged.
pub fn shown_server(endpoint: &Endpoint) -> Result<ShownServer, Blamed> {
    control(endpoint, async |connection| {
        let variables = variables(connection).await?;
        let status = name_value_pairs(connection, "SHOW GLOBAL STATUS").await;
        let status = match status {
            Err(protocol::Error::Server(refusal)) => Err(refusal.to_string()),
            other => Ok(other?),
        };
        Ok(ShownServer { variables, status })
    })
}

/// Whether the time zone tables of a running server hold a zone of this name.
pub fn knows_time_zone(endpoint: &Endpoint, zone: &str) -> Result<bool, Blamed> {
    let sql = format!(
        "SELECT CONVERT_TZ('2026-01-01', '+00:00', {}) IS NOT NULL",
        quoted(zone)
    );
    let answer = control(endpoint, async |connection| number(connection, &sql).await)?;
    Ok(answer == Some(1))
}
