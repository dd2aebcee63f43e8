//! `dbdyno tpcc cleanup`: the tables and stored procedures away, and nothing else.

use std::process::ExitCode;

use runs::{Purpose, benchmarks::tpcc::database, known_tables::droppable};
use workload::tpcc::{drop_procedures, drop_statements, known_tables};

use crate::connection_options::ConnectionOptions;

#[derive(Debug, clap::Args)]
pub(crate) struct DropArgs {
    #[command(flatten)]
    connection: ConnectionOptions,
}

pub(super) fn run(args: DropArgs) -> anyhow::Result<ExitCode> {
    let endpoint = super::target::endpoint(&args.connection)?;
    droppable(&endpoint, &known_tables(), "TPC-C")?;
    Purpose::Change.control(&endpoint, async |connection| {
        for sql in drop_statements().into_iter().chain(drop_procedures()) {
            connection.query(sql.as_bytes()).await?;
        }
        Ok(())
    })?;
    eprintln!(
        "dropped the tables of TPC-C in database {}; the database itself stays",
        database::name(&endpoint)
    );
    Ok(ExitCode::SUCCESS)
}
