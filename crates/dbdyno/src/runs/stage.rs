//! What one run stands on: a server that answers, with its data in place.

use std::path::PathBuf;

use protocol::{Address, Connection, Endpoint};
use samples::{Dataset, Host, ServerIdentity};

use crate::blame::Blamed;

/// What one run stands on.
pub(crate) struct Stage {
    /// Where and as whom the clients connect.
    pub(crate) endpoint: Endpoint,
    /// The server's process, if it is on this machine and known.
    pub(crate) server_pid: Option<u32>,
    /// The server's data directory, if it is on this machine and known.
    pub(crate) datadir: Option<PathBuf>,
    /// True for a server that dbdyno started.
    pub(crate) private: bool,
    /// The data that the run meets.
    pub(crate) dataset: Option<Dataset>,
}

impl Stage {
    /// Which half of the run this machine carries.
    pub(crate) fn host(&self) -> Host {
        if self.server_pid.is_some() {
            Host::Both
        } else {
            Host::Client
        }
    }

    /// How the clients reach the server.
    pub(crate) fn transport(&self) -> &'static str {
        match &self.endpoint.address {
            Address::Unix(_) => "unix socket",
            Address::Tcp { host, .. } if is_loopback(host) => "tcp loopback",
            Address::Tcp { .. } => "tcp remote",
        }
    }

    /// Asks the server who it is; `at` is `start` or `end`.
    pub(crate) async fn identify(
        &self,
        connection: &mut Connection,
        at: &str,
    ) -> Result<ServerIdentity, protocol::Error> {
        let variables = variables(connection).await?;
        Ok(ServerIdentity {
            at: at.to_owned(),
            version: connection.server_version().to_owned(),
            version_comment: variables
                .get("version_comment")
                .cloned()
                .unwrap_or_default(),
            address: self.endpoint.address.to_string(),
            private: self.private,
            variables,
        })
    }
}

/// True for an address that cannot lie on another machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// SHOW GLOBAL VARIABLES.
pub(crate) async fn variables(
    connection: &mut Connection,
) -> Result<std::collections::BTreeMap<String, String>, protocol::Error> {
    let text =
        |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
    let sets = connection.rows("SHOW GLOBAL VARIABLES").await?;
    let rows = sets.into_iter().flat_map(|set| set.rows);
    Ok(rows
        .filter_map(|row| {
            let mut row = row.into_iter();
            Some((text(row.next()?), text(row.next()?)))
        })
        .collect())
}

/// Runs a future over control connections on an event loop of its own.
pub(crate) fn control<T>(
    future: impl Future<Output = Result<T, protocol::Error>>,
) -> Result<T, anyhow::Error> {
    let result = reactor::block_on(future)
        .map_err(|error| Blamed::new(crate::blame::Blame::Machine, error))?;
    Ok(result.map_err(Blamed::from)?)
}
