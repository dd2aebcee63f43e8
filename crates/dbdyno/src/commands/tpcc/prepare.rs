//! `dbdyno tpcc prepare`: makes the tables and fills them, as fast as the server takes rows.

use std::process::ExitCode;

use benchmarks::tpcc::{
    DATABASE, LoadPlan, Population, Table, WAREHOUSES_MAX,
    consistency::require_after_load,
    loading::{Loading, prepare},
};
use blame::{Blame, Blamed};
use clap::ValueEnum;
use runs::database;

use crate::{connection_options::ConnectionOptions, terminal};

#[derive(Debug, clap::Args)]
pub(crate) struct PrepareArgs {
    /// Number of warehouses, about 100 MB each
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=WAREHOUSES_MAX as i64))]
    warehouses: u32,
    /// Random seed for the rows; the same seed always generates the same rows
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// When to create the secondary indexes
    #[arg(long, value_enum, default_value = "after")]
    keys: Keys,
    /// Whether to create foreign keys [default: on; with --keys none, off]
    #[arg(long, value_enum, value_name = "ON|OFF")]
    foreign_keys: Option<Switch>,
    /// Number of connections that load the rows [default: one per CPU, up to 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    parallel: Option<u32>,
    /// Whether InnoDB's redo log is on during the load. The value off needs MySQL 8.0.21 or later. With off, a server
    /// crash during the load destroys all of the server's data. After the load, dbdyno switches the redo log on again
    #[arg(long, value_enum, value_name = "STATE", default_value = "on")]
    redo_log: Switch,
    /// Skip the consistency check after the load
    #[arg(long)]
    no_check: bool,
    #[command(flatten)]
    connection: ConnectionOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Keys {
    /// Create them with the tables, before the rows are loaded
    Before,
    /// Create them after the table's rows are loaded
    After,
    /// Do not create them
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

pub(super) fn run(args: PrepareArgs) -> anyhow::Result<ExitCode> {
    let plan = plan(&args)?;
    let context = terminal::context()?;
    let endpoint = args.connection.endpoint_of_tables(DATABASE)?;
    let loading = Loading {
        parallel: args.parallel,
        redo_log: args.redo_log == Switch::On,
    };
    let loaded = prepare(&endpoint, &plan, loading, &context)?;
    if !args.no_check {
        let hint = "all rows are loaded: dbdyno tpcc check --after-load checks them again, dbdyno tpcc cleanup \
             drops them";
        require_after_load(&endpoint, &context).map_err(|error| error.hint(hint.to_owned()))?;
    }
    let name = database::name(&endpoint);
    println!(
        "database {name}: {} warehouses; {} rows, {} in {} ({} rows/s, {}), indexes and keys included",
        args.warehouses,
        loaded.rows,
        units::bytes(loaded.bytes),
        units::elapsed(loaded.elapsed),
        units::si(loaded.rows_per_s()),
        units::bytes_per_s(loaded.bytes_per_s()),
    );
    Ok(ExitCode::SUCCESS)
}

fn plan(args: &PrepareArgs) -> Result<LoadPlan, Blamed> {
    let keys = match args.keys {
        Keys::Before => benchmarks::tpcc::Keys::Before,
        Keys::After => benchmarks::tpcc::Keys::After,
        Keys::None => benchmarks::tpcc::Keys::None,
    };
    let without = keys == benchmarks::tpcc::Keys::None;
    if without && args.foreign_keys == Some(Switch::On) {
        let message = "--keys none and --foreign-keys on: a foreign key needs its index";
        return Err(Blamed::new(Blame::Input, message).hint("leave out one of them".to_owned()));
    }
    Ok(LoadPlan {
        population: Population { seed: args.seed },
        warehouses: 1..args.warehouses + 1,
        tables: Table::ALL.to_vec(),
        keys,
        foreign_keys: args
            .foreign_keys
            .map_or(!without, |switch| switch == Switch::On),
    })
}
