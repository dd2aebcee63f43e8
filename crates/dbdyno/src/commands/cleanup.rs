//! `dbdyno NAME cleanup`: drops a benchmark's tables, and nothing else.

use std::process::ExitCode;

use runs::{PreparedTables, clean_up, database};

use crate::connection_options::ConnectionOptions;

#[derive(Debug, clap::Args)]
pub(crate) struct CleanupArgs {
    #[command(flatten)]
    connection: ConnectionOptions,
}

/// Drops the tables; they are in `database` unless another is named.
pub(crate) fn run(
    args: &CleanupArgs,
    tables: &dyn PreparedTables,
    database: &str,
) -> anyhow::Result<ExitCode> {
    let endpoint = args.connection.endpoint_of_tables(database)?;
    let dropped = clean_up(tables, &endpoint)?;
    let place = database::name(&endpoint);
    if dropped.is_empty() {
        println!("{place}: no tables of {}", tables.benchmark());
    } else {
        println!("{place}: dropped {}", dropped.join(", "));
    }
    Ok(ExitCode::SUCCESS)
}
