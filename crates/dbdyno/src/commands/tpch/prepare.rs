//! `dbdyno tpch prepare`: makes the eight tables and streams their rows into the server.

use std::process::ExitCode;

use benchmarks::tpch::{DATABASE, Filled, prepare};
use dataset::tpch::{KeyTime, Keys, LoadPlan, ScaleFactor};
use protocol::Endpoint;
use runs::{database, population::default_streams};
use serde_json::json;

use crate::{connection_options::ConnectionOptions, output::Format, terminal};

#[derive(Debug, clap::Args)]
pub(super) struct PrepareArgs {
    /// Scale factor of the data: 1 means about 1 GB of text and 8.7 million rows
    #[arg(long, value_name = "N", default_value = "1", value_parser = super::scale_factor::scale_factor)]
    scale_factor: ScaleFactor,
    /// Keys to create: primary (only primary keys), secondary (also an index for each reference) or foreign (also the
    /// foreign keys)
    #[arg(long, value_name = "KEYS", default_value = "foreign")]
    keys: Keys,
    /// When to create the indexes and foreign keys: before or after the rows are loaded
    #[arg(long, value_name = "WHEN", default_value = "after")]
    key_time: KeyTimeArg,
    /// Whether the server checks unique keys and foreign keys in the sessions that load the rows
    #[arg(long, value_name = "STATE", default_value = "off")]
    checks: State,
    /// Number of connections that load the rows [default: one per CPU]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    parallel: Option<u32>,
    /// Whether InnoDB's redo log is on during the load. The value off needs MySQL 8.0.21 or later. With off, a server
    /// crash during the load destroys all of the server's data. After the load, dbdyno switches the redo log on again
    #[arg(long, value_name = "STATE", default_value = "on")]
    redo_log: State,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum KeyTimeArg {
    Before,
    After,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum State {
    On,
    Off,
}

pub(super) fn run(args: &PrepareArgs) -> anyhow::Result<ExitCode> {
    let endpoint = args.connection.endpoint_of_tables(DATABASE)?;
    let plan = LoadPlan {
        scale_factor: args.scale_factor,
        keys: args.keys,
        key_time: match args.key_time {
            KeyTimeArg::Before => KeyTime::Before,
            KeyTimeArg::After => KeyTime::After,
        },
        checks: args.checks == State::On,
    };
    let streams = args.parallel.unwrap_or_else(default_streams);
    let redo_log = args.redo_log == State::On;
    let loaded = prepare(&endpoint, &plan, streams, redo_log, &terminal::context()?)?;
    print_summary(args, &endpoint, streams, &loaded);
    Ok(ExitCode::SUCCESS)
}

fn print_summary(args: &PrepareArgs, endpoint: &Endpoint, streams: u32, loaded: &Filled) {
    let database = database::name(endpoint);
    let took_s = (loaded.rows_took + loaded.foreign_keys_took).as_secs_f64();
    let per_s = |amount: u64| amount as f64 / took_s.max(1e-9);
    match args.format {
        Format::Json => println!(
            "{}",
            json!({
                "database": database,
                "scale_factor": args.scale_factor.value(),
                "keys": args.keys.name(),
                "connections": streams,
                "rows": loaded.rows,
                "bytes": loaded.bytes,
                "rows_s": loaded.rows_took.as_secs_f64(),
                "foreign_keys_s": loaded.foreign_keys_took.as_secs_f64(),
                "took_s": took_s,
            })
        ),
        Format::Text => println!(
            "{database}: {} rows, {} of text in {}: {} rows/s, {} over {streams} connections",
            loaded.rows,
            units::bytes(loaded.bytes),
            units::seconds(took_s),
            units::si(per_s(loaded.rows)),
            units::bytes_per_s(per_s(loaded.bytes)),
        ),
    }
}
