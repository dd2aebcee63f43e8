//! The database that all actions on TPC-C's tables use.

use protocol::Endpoint;
use runs::benchmarks::tpcc::database::DATABASE;

use crate::connection_options::ConnectionOptions;

/// Where to connect, with the database that was named, or that of the benchmark.
pub(super) fn endpoint(connection: &ConnectionOptions) -> anyhow::Result<Endpoint> {
    let mut endpoint = connection.endpoint()?;
    let named = connection.database.clone();
    endpoint.database = named.or_else(|| Some(DATABASE.to_owned()));
    Ok(endpoint)
}
