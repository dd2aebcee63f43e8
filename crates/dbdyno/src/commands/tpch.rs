//! `dbdyno tpch`: the data of TPC-H, prepared, checked and cleaned up.

use std::process::ExitCode;

use workload::tpch::known_tables;

mod check;
mod load;
mod target;

use runs::{Purpose, known_tables::droppable};
use target::endpoint;

use crate::connection_options::ConnectionOptions;

/// The eight tables of TPC-H with dbgen's rows. Results of what runs on them are TPC-H-like, never TPC-H results.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dbdyno tpch prepare --server one --scale-factor 0.1
  dbdyno tpch prepare --server one --scale-factor 1 --keys foreign --key-time before --checks on
  dbdyno tpch check --server one
  dbdyno tpch cleanup --server one")]
pub(crate) struct TpchArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make the tables and fill them
    #[command(name = "prepare", visible_alias = "load")]
    Load(load::LoadArgs),
    /// Compare the tables with dbgen's data and check all references
    Check(check::CheckArgs),
    /// Remove the tables
    #[command(name = "cleanup", visible_alias = "drop")]
    Drop(DropArgs),
}

#[derive(Debug, clap::Args)]
struct DropArgs {
    #[command(flatten)]
    connection: ConnectionOptions,
}

pub(crate) fn run(args: TpchArgs) -> anyhow::Result<ExitCode> {
    match args.action {
        Action::Load(args) => load::run(&args),
        Action::Check(args) => check::run(&args),
        Action::Drop(args) => drop_tables(&args),
    }
}

/// Removes those of the eight tables that are there; a table of that name with other columns is somebody else's.
fn drop_tables(args: &DropArgs) -> anyhow::Result<ExitCode> {
    let endpoint = endpoint(&args.connection)?;
    // Those that refer to others come first.
    let names = droppable(&endpoint, &known_tables(), "TPC-H")?;
    let database = endpoint.database.as_deref().unwrap_or_default();
    if names.is_empty() {
        println!("{database}: no tables of TPC-H");
        return Ok(ExitCode::SUCCESS);
    }
    let sql = format!("drop table {}", names.join(", "));
    Purpose::Change.control(&endpoint, async |connection| {
        connection.query(sql.as_bytes()).await
    })?;
    println!("{database}: dropped {}", names.join(", "));
    Ok(ExitCode::SUCCESS)
}
