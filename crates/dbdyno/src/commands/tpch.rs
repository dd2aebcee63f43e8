//! `dbdyno tpch`: the data of TPC-H, loaded, checked and dropped.

use std::process::ExitCode;

use protocol::{Connection, Endpoint};
use workload::tpch::{ScaleFactor, Table};

use crate::{
    blame::{Blame, Blamed},
    connection_options::ConnectionOptions,
    runs::{Purpose, control, quoted, tpch_data::DATABASE},
};

mod check;
mod load;

/// The eight tables of TPC-H with dbgen's rows. Results of what runs on them are TPC-H-like, never TPC-H results.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dbdyno tpch load --server one --scale-factor 0.1
  dbdyno tpch load --server one --scale-factor 1 --keys foreign --key-time before --checks on
  dbdyno tpch check --server one
  dbdyno tpch drop --server one")]
pub(crate) struct TpchArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make the tables and fill them
    Load(load::LoadArgs),
    /// Compare the tables with what dbgen makes, and see that all references hold
    Check(check::CheckArgs),
    /// Remove the tables
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

/// Where the tables are, or will be.
fn endpoint(connection: &ConnectionOptions) -> anyhow::Result<Endpoint> {
    let mut endpoint = connection.endpoint()?;
    // A private server's own database is for whoever names none; tables of a benchmark have one to themselves.
    let is_named = connection.database.is_some();
    if !is_named && (connection.server.is_some() || endpoint.database.is_none()) {
        endpoint.database = Some(DATABASE.to_owned());
    }
    Ok(endpoint)
}

/// Removes those of the eight tables that are there; a table of that name with other columns is somebody else's.
fn drop_tables(args: &DropArgs) -> anyhow::Result<ExitCode> {
    let endpoint = endpoint(&args.connection)?;
    let found = control(&endpoint, async |connection| tables(connection).await)?;
    let database = endpoint.database.as_deref().unwrap_or_default();
    if let Some(other) = found.iter().find(|found| !found.is_ours) {
        let name = other.table.name();
        let message = format!("{database}.{name}: its columns are not those of TPC-H");
        return Err(Blamed::new(Blame::Input, message)
            .hint("name the right database with --database; nothing was dropped".to_owned())
            .into());
    }
    if found.is_empty() {
        println!("{database}: no tables of TPC-H");
        return Ok(ExitCode::SUCCESS);
    }
    // Those that refer to others come first.
    let names: Vec<_> = found.iter().map(|found| found.table.name()).collect();
    let sql = format!("drop table {}", names.join(", "));
    Purpose::Change.control(&endpoint, async |connection| {
        connection.query(sql.as_bytes()).await
    })?;
    println!("{database}: dropped {}", names.join(", "));
    Ok(ExitCode::SUCCESS)
}

/// A table of one of the eight names.
struct Found {
    table: Table,
    /// It has TPC-H's columns.
    is_ours: bool,
}

/// Which of the eight names are taken in the connection's database.
async fn tables(connection: &mut Connection) -> Result<Vec<Found>, protocol::Error> {
    let names: Vec<_> = Table::ALL
        .iter()
        .map(|table| quoted(table.name()))
        .collect();
    let sql = format!(
        "select table_name, group_concat(column_name order by ordinal_position separator ', ') \
         from information_schema.columns where table_schema = database() and table_name in ({}) group by table_name",
        names.join(", ")
    );
    let text =
        |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
    let sets = connection.rows(&sql).await?;
    let mut found: Vec<Found> = sets
        .into_iter()
        .flat_map(|set| set.rows)
        .filter_map(|row| {
            let mut row = row.into_iter();
            let table = Table::named(&text(row.next()?))?;
            let is_ours = text(row.next()?).to_lowercase() == table.column_list();
            Some(Found { table, is_ours })
        })
        .collect();
    found.sort_by_key(|found| found.table);
    Ok(found)
}

/// For clap: a scale factor as it is typed.
fn scale_factor(text: &str) -> Result<ScaleFactor, String> {
    text.parse()
        .map_err(|error: workload::tpch::NoScaleFactor| error.to_string())
}
