//! The tables of a workload: made, brought into memory, checked, dropped.

use std::{
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use benchmarks::oltp::{OltpTables, Prewarm, Script, check::check as faults_of, drop_statement};
use blame::{Blame, Blamed};
use dataset::{PopulateEvent, Progress};
use protocol::Endpoint;
use runs::{Context, Purpose, database, droppable, signals};

use crate::{
    commands::oltp::options::{Format, Options},
    progress::Step,
    terminal,
};

/// Exit code of tables that are not as `prepare` makes them.
const NOT_AS_PREPARED: u8 = 1;
/// Number of tables whose fault is reported.
const FAULTS_TOLD: usize = 4;
/// Connections that fill tables: one for each CPU keeps the server busy, more wait for each other.
const STREAMS_MIN: usize = 2;

/// Makes the tables and their rows.
pub(super) fn prepare(options: &Options, script: Script) -> anyhow::Result<ExitCode> {
    let endpoint = options.endpoint()?;
    let tables = tables(options, script)?;
    super::title::print_title(options);
    if options.may_create_database() {
        database::create(&endpoint)?;
    }
    let context = terminal::context()?;
    let format = options.report.format;
    if format == Format::Sysbench {
        println!("Initializing worker threads...\n");
    }
    let streams = streams(options);
    let reached = tables
        .prepare(&endpoint, streams, &context, &mut |event| {
            if format == Format::Sysbench {
                print_event(event);
            }
        })
        .map_err(|error| hinted(error, script))?;
    // BLACKHOLE keeps no row.
    let is_kept = !tables.settings.engine.eq_ignore_ascii_case("blackhole");
    if is_kept && let Some(faults) = faults(&endpoint, &tables, &context)? {
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

/// What is wrong with the tables: `2 of 4 tables not as prepared: sbtest1 is missing; sbtest2 is missing`.
fn faults(
    endpoint: &Endpoint,
    tables: &OltpTables,
    context: &Context,
) -> Result<Option<String>, Blamed> {
    let faults = faults_of(endpoint, tables, context)?;
    if faults.is_empty() {
        return Ok(None);
    }
    let told: Vec<&str> = faults
        .iter()
        .take(FAULTS_TOLD)
        .map(String::as_str)
        .collect();
    let more = match faults.len().saturating_sub(FAULTS_TOLD) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    Ok(Some(format!(
        "{} of {} tables not as prepared: {}{more}",
        faults.len(),
        tables.count(),
        told.join("; ")
    )))
}

/// As many as were asked for, at least one for each CPU.
fn streams(options: &Options) -> u32 {
    let cpus = thread::available_parallelism().map_or(STREAMS_MIN, usize::from);
    options.load.connections.max(cpus.min(16) as u32)
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
    let settings = options.settings(options.rows_seed())?;
    if matches!(script, Script::BulkInsert) {
        let message = "bulk_insert has nothing to prewarm: its tables begin empty";
        return Err(Blamed::new(Blame::Input, message).into());
    }
    super::title::print_title(options);
    let prewarm = Prewarm {
        table_size: settings.table_size,
    };
    let session: Vec<String> = Prewarm::SESSION.map(str::to_owned).into();
    let jobs = (1..=settings.tables).map(|table| Job {
        says: format!("Prewarming table sbtest{table}"),
        statements: prewarm.statements(table).into(),
    });
    in_parallel(options, &endpoint, &session, jobs.collect())
}

/// Drops the tables.
pub(super) fn cleanup(options: &Options, script: Script) -> anyhow::Result<ExitCode> {
    let endpoint = options.endpoint()?;
    super::title::print_title(options);
    let tables = tables(options, script)?;
    droppable(&tables, &endpoint)?;
    let jobs = (1..=tables.count()).map(|table| Job {
        says: format!("Dropping table 'sbtest{table}'..."),
        statements: vec![drop_statement(table)],
    });
    in_parallel(options, &endpoint, &[], jobs.collect())
}

/// Statements on one table, and what is said before them.
struct Job {
    says: String,
    statements: Vec<String>,
}

/// Runs the jobs over the connections that were asked for; the first error ends all of them.
fn in_parallel(
    options: &Options,
    endpoint: &Endpoint,
    session: &[String],
    jobs: Vec<Job>,
) -> anyhow::Result<ExitCode> {
    let says = options.report.format == Format::Sysbench;
    let threads = (options.load.connections as usize).clamp(1, jobs.len().max(1));
    let interrupt = signals::interrupt()?;
    let next = AtomicUsize::new(0);
    let step = (!says).then(|| Step::bar("tables", jobs.len() as u64));
    let work = || -> Result<(), Blamed> {
        Purpose::Work.control(endpoint, async |connection| {
            for sql in session {
                connection.query(sql.as_bytes()).await?;
            }
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(index).filter(|_| !interrupt.is_raised()) else {
                    return Ok(());
                };
                if says {
                    println!("{}", job.says);
                }
                for sql in &job.statements {
                    connection.query(sql.as_bytes()).await?;
                }
                if let Some(step) = &step {
                    step.reach(index as u64 + 1);
                }
            }
        })
    };
    let results = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect::<Vec<_>>()
    });
    for result in results {
        result?;
    }
    if interrupt.is_raised() {
        return Err(Blamed::new(Blame::Interrupted, "interrupted").into());
    }
    Ok(ExitCode::SUCCESS)
}
