//! `dbdyno tpcc prepare`: makes the tables and fills them, as fast as the server takes rows.

use std::process::ExitCode;

use clap::ValueEnum;
use protocol::Endpoint;
use runs::{
    Blame, Blamed,
    benchmarks::tpcc::{
        database,
        population::{load_all, look},
    },
    redo_log::switched_off::RedoLogOff,
};
use workload::tpcc::{ExistingSchema, LoadPlan, Notes, Population, Table, WAREHOUSES_MAX};

use crate::{connection_options::ConnectionOptions, terminal};

#[derive(Debug, clap::Args)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    connection: ConnectionOptions,
    /// Warehouses: the scale of the database, about 100 MB each
    #[arg(long, short, value_name = "W", value_parser = clap::value_parser!(u32).range(1..=WAREHOUSES_MAX as i64))]
    warehouses: u32,
    /// Seed of the rows: the same seed, the same rows
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// When secondary indexes are made
    #[arg(long, value_enum, default_value = "after")]
    keys: Keys,
    /// Whether foreign keys are made [default: on, with --keys none off]
    #[arg(long, value_enum, value_name = "WHETHER")]
    foreign_keys: Option<Switch>,
    /// Connections that load at the same time [default: one per CPU, at most 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    parallel: Option<u32>,
    /// InnoDB's redo log while it loads. Off, a crash loses all data of the server; it is on again afterwards. MySQL
    /// from 8.0.21 on
    #[arg(long, value_enum, value_name = "STATE", default_value = "on")]
    redo_log: Switch,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Keys {
    /// With the tables
    Before,
    /// When a table's rows are in
    After,
    /// Never
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

pub(super) fn run(args: LoadArgs) -> anyhow::Result<ExitCode> {
    let plan = plan(&args)?;
    let context = terminal::context()?;
    let endpoint = super::target::endpoint(&args.connection)?;
    database::create(&endpoint)?;
    let (found, noted) = look(&endpoint)?;
    refuse_what_is_there(
        &endpoint,
        &found,
        noted.as_ref(),
        args.warehouses,
        args.seed,
    )?;
    let fill = || load_all(&endpoint, &plan, &found, args.parallel, &context);
    let loaded = match args.redo_log {
        Switch::On => fill()?,
        Switch::Off => {
            let off = RedoLogOff::switch_off(&endpoint, &context)?;
            let loaded = fill()?;
            off.switch_on()?;
            loaded
        }
    };
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

fn plan(args: &LoadArgs) -> Result<LoadPlan, Blamed> {
    let keys = match args.keys {
        Keys::Before => workload::tpcc::Keys::Before,
        Keys::After => workload::tpcc::Keys::After,
        Keys::None => workload::tpcc::Keys::None,
    };
    let without = keys == workload::tpcc::Keys::None;
    if without && args.foreign_keys == Some(Switch::On) {
        let message = "--keys none and --foreign-keys on: a foreign key needs its index";
        return Err(Blamed::new(Blame::Input, message).hint("leave out one of both".to_owned()));
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

/// Refuses a database with rows that are not the beginning of this very load.
fn refuse_what_is_there(
    endpoint: &Endpoint,
    found: &ExistingSchema,
    noted: Option<&Notes>,
    warehouses: u32,
    seed: u64,
) -> Result<(), Blamed> {
    let drop_hint =
        || "dbdyno tpcc cleanup, with the same connection options, removes it".to_owned();
    if let Some(notes) = noted
        && !found.filled.is_empty()
    {
        if notes.is_complete {
            let what = format!("it is loaded already, with {} warehouses", notes.warehouses);
            return Err(database::conflict(endpoint, what).hint(drop_hint()));
        }
        if (notes.warehouses, notes.seed) != (warehouses, seed) {
            let what = format!(
                "a load of {} warehouses with seed {} was interrupted there",
                notes.warehouses, notes.seed
            );
            let go_on = format!(
                "--warehouses {} --seed {} continues it",
                notes.warehouses, notes.seed
            );
            return Err(database::conflict(endpoint, what)
                .hint(go_on)
                .hint(drop_hint()));
        }
    }
    if let Some(table) = found.unexplained().next() {
        let what = format!("table {} has rows of another loader", table.name());
        return Err(database::conflict(endpoint, what).hint(drop_hint()));
    }
    if !found.loaded.is_empty() {
        eprintln!("going on with a load that was interrupted");
    }
    Ok(())
}
