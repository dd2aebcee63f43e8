//! What all actions on TPC-H's tables are told: in which database they are, and how big.

use protocol::Endpoint;
use runs::benchmarks::tpch::DATABASE;
use workload::tpch::ScaleFactor;

use crate::connection_options::ConnectionOptions;

/// Where the tables are, or will be.
pub(super) fn endpoint(connection: &ConnectionOptions) -> anyhow::Result<Endpoint> {
    let mut endpoint = connection.endpoint()?;
    // A private server's own database is for whoever names none; tables of a benchmark have one to themselves.
    let is_named = connection.database.is_some();
    if !is_named && (connection.server.is_some() || endpoint.database.is_none()) {
        endpoint.database = Some(DATABASE.to_owned());
    }
    Ok(endpoint)
}

/// For clap: a scale factor as it is typed.
pub(super) fn scale_factor(text: &str) -> Result<ScaleFactor, String> {
    text.parse()
        .map_err(|error: workload::tpch::NoScaleFactor| error.to_string())
}
