//! `dbdyno tables`: the tables of a server by their size, and how much of them fits into the buffer pool.

use std::process::ExitCode;

use report::TableList;
use telemetry::table_sizes;

use crate::{
    connection_options::ConnectionOptions,
    runs::{Purpose, number},
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --database only its tables are shown. allMB, dMB and iMB are data and indexes, data, and indexes in MiB, rounded
down; 'of pool' sets the table against the InnoDB buffer pool.

Example: dbdyno tables --server demo")]
pub(crate) struct TablesArgs {
    #[command(flatten)]
    connection: ConnectionOptions,
    /// How the list is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// A table
    Text,
    /// One object
    Json,
    /// Comma-separated values with a header
    Csv,
}

pub(crate) fn run(args: TablesArgs) -> anyhow::Result<ExitCode> {
    let endpoint = args.connection.endpoint()?;
    let list = Purpose::Work.control(&endpoint, async |connection| {
        Ok(TableList {
            tables: table_sizes(connection, endpoint.database.as_deref()).await?,
            buffer_pool_bytes: number(connection, "SELECT @@innodb_buffer_pool_size").await?,
            database: endpoint.database.clone(),
        })
    })?;
    print!(
        "{}",
        match args.format {
            Format::Text => list.text(),
            Format::Json => list.json(),
            Format::Csv => list.csv(),
        }
    );
    Ok(ExitCode::SUCCESS)
}
