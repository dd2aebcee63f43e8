//! `dbdyno tables`: the tables of a server by size, and how much of them fits into the buffer pool.

use std::process::ExitCode;

use report::TableList;
use runs::{Purpose, number};
use telemetry::{Schemas, table_sizes};

use crate::connection_options::ConnectionOptions;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The list contains the tables of all schemas except the server's own (mysql, sys, performance_schema,
information_schema). --all adds the server's own schemas. --database restricts the list to one schema; a database that
an option file names does not restrict it.

Sizes are in MiB, rounded down. dMB is the size of the table's data, iMB is the size of its indexes, and allMB is the
sum of both. 'of pool' is the table's size relative to the InnoDB buffer pool.

Example: dbdyno tables --server demo")]
pub(crate) struct TablesArgs {
    /// Include the server's own schemas (mysql, sys, performance_schema, information_schema)
    #[arg(long, conflicts_with = "database")]
    all: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Table for a terminal
    Text,
    /// One JSON object
    Json,
    /// CSV with a header line
    Csv,
}

pub(crate) fn run(args: TablesArgs) -> anyhow::Result<ExitCode> {
    let mut endpoint = args.connection.endpoint()?;
    // The database of an option file or of a private server is only the default schema, not a filter.
    let database = args.connection.database.clone();
    endpoint.database.clone_from(&database);
    let schemas = match &database {
        Some(database) => Schemas::One(database),
        None if args.all => Schemas::All,
        None => Schemas::OfUsers,
    };
    let list = Purpose::Work.control(&endpoint, async |connection| {
        Ok(TableList {
            tables: table_sizes(connection, schemas).await?,
            buffer_pool_bytes: number(connection, "SELECT @@innodb_buffer_pool_size").await?,
            database: database.clone(),
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
