//! The tables of a workload: made, brought into memory, checked, dropped.

use std::process::ExitCode;

use benchmarks::oltp::{
    OltpTables, Script,
    check::faults,
    streams,
    table_statements::{TableListener, TableProgress},
};
use blame::{Blame, Blamed};
use dataset::{PopulateEvent, Progress};
use runs::{Context, database, droppable};

use crate::{
    commands::oltp::options::{Format, Options},
    progress::Step,
    terminal,
};

/// Exit code of tables that are not as `prepare` makes them.
const NOT_AS_PREPARED: u8 = 1;

/// Makes the tables and their rows.
pub(super) fn prepare(options: &Options, script: Script) -> anyhow::Result<ExitCode> {
    let endpoint = options.endpoint()?;
    let tables = tables(options, script)?;
    options.print_title();
    if options.may_create_database() {
        database::create(&endpoint)?;
    }
    let context = terminal::context()?;
    let format = options.report.format;
    if format == Format::Sysbench {
        println!("Initializing worker threads...\n");
    }
    let streams = streams(options.load.connections);
    let reached = tables
        .prepare(&endpoint, streams, &context, &mut |event| {
            if format == Format::Sysbench {
                print_event(event);
            }
        })
        .map_err(|error| hinted(error, script))?;
    if tables.keep_rows()
        && let Some(faults) = faults(&endpoint, &tables, &context)?
    {
        let message = format!(
            "right after their load, {}: {faults}",
            database::name(&endpoint)
        );
        return Err(hinted(Blamed::new(Blame::Server, message), script).into());
    }
    if options.report.format != Format::Sysbench {
        eprintln!("{}", in_words(&reached));
    }
    Ok(ExitCode::SUCCESS)
}

/// The tables as the options describe them.
fn tables(options: &Options, script: Script) -> Result<OltpTables, Blamed> {
    Ok(OltpTables {
        script,
        settings: options.settings(options.rows_seed())?,
    })
}

/// Compares the tables with what `prepare` makes by the same options.
pub(super) fn check(options: &Options, script: Script) -> anyhow::Result<ExitCode> {
    let endpoint = options.endpoint()?;
    let tables = tables(options, script)?;
    let faults = faults(&endpoint, &tables, &terminal::context()?)?;
    let place = database::name(&endpoint);
    if let Some(faults) = faults {
        println!("{place}: {faults}");
        return Ok(ExitCode::from(NOT_AS_PREPARED));
    }
    let count = tables.count();
    match tables.rows_each() {
        0 => println!("{place}: {count} tables as prepared, without rows"),
        rows => println!(
            "{place}: {count} tables as prepared, each with the ids 1 to {rows}, its columns and its indexes"
        ),
    }
    Ok(ExitCode::SUCCESS)
}

fn in_words(progress: &Progress) -> String {
    format!(
        "{} rows, {} in {} ({})",
        progress.rows,
        units::bytes(progress.bytes),
        units::elapsed(progress.elapsed),
        units::bytes_per_s(progress.bytes_per_s())
    )
}

/// sysbench's lines.
fn print_event(event: &PopulateEvent) {
    match event {
        PopulateEvent::Creating { table } => println!("Creating table '{table}'..."),
        PopulateEvent::Filling { table, units } => {
            println!("Inserting {units} records into '{table}'");
        }
        PopulateEvent::Finishing { table, .. } => {
            println!("Creating a secondary index on '{table}'...");
        }
        PopulateEvent::ByInsert { .. }
        | PopulateEvent::Adjusted { .. }
        | PopulateEvent::Ready { .. }
        | PopulateEvent::Progress(_) => {}
    }
}

/// Tables that are there already, or half made, are to be dropped first.
fn hinted(error: Blamed, script: Script) -> Blamed {
    let hint = format!("dbdyno oltp {} cleanup drops the tables", script.name());
    match error.blame {
        Blame::Server | Blame::Interrupted => error.hint(hint),
        _ => error,
    }
}

/// Reads the tables into the server's memory.
pub(super) fn prewarm(options: &Options, script: Script) -> anyhow::Result<ExitCode> {
    let endpoint = options.endpoint()?;
    let tables = tables(options, script)?;
    if matches!(script, Script::BulkInsert) {
        let message = "bulk_insert has nothing to prewarm: its tables begin empty";
        return Err(Blamed::new(Blame::Input, message).into());
    }
    options.print_title();
    let line = |table: u32| format!("Prewarming table sbtest{table}");
    show_progress(options, &tables, line, |context, listener| {
        tables.prewarm(&endpoint, options.load.connections, context, listener)
    })
}

/// Drops the tables.
pub(super) fn cleanup(options: &Options, script: Script) -> anyhow::Result<ExitCode> {
    let endpoint = options.endpoint()?;
    options.print_title();
    let tables = tables(options, script)?;
    droppable(&tables, &endpoint)?;
    let line = |table: u32| format!("Dropping table 'sbtest{table}'...");
    show_progress(options, &tables, line, |context, listener| {
        tables.drop_all(&endpoint, options.load.connections, context, listener)
    })
}

/// Executes statements on the tables, and shows their progress: by sysbench's lines or by a bar.
fn show_progress(
    options: &Options,
    tables: &OltpTables,
    line: impl Fn(u32) -> String + Sync,
    execute: impl FnOnce(&Context, TableListener<'_>) -> Result<(), Blamed>,
) -> anyhow::Result<ExitCode> {
    let context = terminal::context()?;
    let is_of_sysbench = options.report.format == Format::Sysbench;
    let step = (!is_of_sysbench).then(|| Step::bar("tables", tables.count().into()));
    execute(&context, &|progress| match (progress, &step) {
        (TableProgress::Begun(table), None) => println!("{}", line(table)),
        (TableProgress::Ended(tables), Some(step)) => step.reach(tables.into()),
        _ => {}
    })?;
    Ok(ExitCode::SUCCESS)
}
