//! The tables of a workload: made, brought into memory, dropped.

use std::{
    process::ExitCode,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use load::{PopulateEvent, Population, Progress};
use protocol::{Connection, Endpoint};
use runs::{
    Blame, Blamed, Purpose, known_tables::droppable, population::fill_and_tell, signals, wait,
};
use workload::oltp::{Benchmark, Prewarm, drop_statement, known_tables};

use crate::{
    commands::oltp::options::{Format, Options},
    progress::Step,
    terminal,
};

/// Unknown database.
const NO_DATABASE: u16 = 1049;
/// Connections that fill tables: one for each CPU keeps the server busy, more wait for each other.
const STREAMS_MIN: usize = 2;

/// Makes the tables and their rows.
pub(super) fn prepare(options: &Options, benchmark: Benchmark) -> anyhow::Result<ExitCode> {
    let endpoint = options.endpoint()?;
    let settings = options.settings(options.rows_seed())?;
    super::title::print_title(options);
    if options.may_create_database() {
        create_database(&endpoint)?;
    }
    let tables = workload::oltp::tables(benchmark, &settings);
    let rows: u64 = tables
        .iter()
        .filter_map(|table| table.rows.as_ref())
        .map(|rows| rows.units())
        .sum();
    let population = Population {
        endpoint,
        streams: streams(options),
        tables,
        session: vec!["SET foreign_key_checks=0".to_owned()],
    };
    let context = terminal::context()?;
    let format = options.report.format;
    if format == Format::Sysbench {
        println!("Initializing worker threads...\n");
    }
    let what = format!("loading {rows} rows");
    let reached = fill_and_tell(&population, &what, &context, &mut |event| {
        if format == Format::Sysbench {
            print_event(event);
        }
    })
    .map_err(|error| hinted(error, benchmark))?;
    if options.report.format != Format::Sysbench {
        eprintln!("{}", in_words(&reached));
    }
    Ok(ExitCode::SUCCESS)
}

/// As many as were asked for, at least one for each CPU.
fn streams(options: &Options) -> u32 {
    let cpus = thread::available_parallelism().map_or(STREAMS_MIN, usize::from);
    options.load.connections.max(cpus.min(16) as u32)
}

/// Creates the database that nobody named, where it is missing.
fn create_database(endpoint: &Endpoint) -> anyhow::Result<()> {
    let Some(database) = endpoint.database.clone() else {
        return Ok(());
    };
    let opened = wait(Connection::open(endpoint))?;
    let Err(error) = opened else { return Ok(()) };
    if error.server_number() != Some(NO_DATABASE) {
        return Err(Blamed::of_server(&endpoint.address, error).into());
    }
    let outside = Endpoint {
        database: None,
        ..endpoint.clone()
    };
    Purpose::Change.control(&outside, async |connection| {
        let sql = format!("CREATE DATABASE {database}");
        connection.query(sql.as_bytes()).await
    })?;
    Ok(())
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
fn hinted(error: Blamed, benchmark: Benchmark) -> Blamed {
    let hint = format!("dbdyno oltp {} cleanup drops the tables", benchmark.name());
    match error.blame {
        Blame::Server | Blame::Interrupted => error.hint(hint),
        _ => error,
    }
}

/// Reads the tables into the server's memory.
pub(super) fn prewarm(options: &Options, benchmark: Benchmark) -> anyhow::Result<ExitCode> {
    let endpoint = options.endpoint()?;
    let settings = options.settings(options.rows_seed())?;
    if matches!(benchmark, Benchmark::BulkInsert) {
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
pub(super) fn cleanup(options: &Options, benchmark: Benchmark) -> anyhow::Result<ExitCode> {
    let endpoint = options.endpoint()?;
    super::title::print_title(options);
    let tables = match benchmark {
        Benchmark::BulkInsert => options.load.connections,
        _ => options.tables.tables,
    };
    droppable(&endpoint, &known_tables(tables), "sysbench")?;
    let jobs = (1..=tables).map(|table| Job {
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
