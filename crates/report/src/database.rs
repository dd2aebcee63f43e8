//! The summary of an experiment as a SQLite database that any SQL client can query.

mod columns;
mod load_stages;

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, Transaction, params};
use samples::{LOAD, Record};
use verdict::{Cost, Execution, Measure, run_stalls, run_state};

use crate::{
    results::Results,
    tables::{events::event_rows, factor_columns::free_names},
};
use columns::{integer, thin_percentiles, time_columns};

const SCHEMA: &str = include_str!("schema.sql");

/// Columns of the view `results` that every experiment has.
const FIXED_COLUMNS: [&str; 20] = [
    "run",
    "block",
    "complete",
    "connections",
    "dataset_rows",
    "count",
    "errors",
    "throughput_per_s",
    "mean_us",
    "p50_us",
    "p95_us",
    "p99_us",
    "max_us",
    "class",
    "server_percent",
    "client_percent",
    "rest_percent",
    "iowait_percent",
    "steal_percent",
    "idle_percent",
];

/// An error of writing the summary.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// SQLite returned an error.
    #[error("cannot write results database {}: {source}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        source: rusqlite::Error,
    },
    /// The file could not be created or renamed.
    #[error("cannot write results database {}: {source}", path.display())]
    Io {
        /// The database.
        path: PathBuf,
        source: io::Error,
    },
    /// Two records have the same run number, and are not those of two loads.
    #[error("two records are run {run} of the plan")]
    DuplicateRun {
        /// Position in the plan, with the load of one of several.
        run: String,
    },
}

impl Error {
    /// What the user can do; `None` if there is nothing.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Database { path, .. } | Self::Io { path, .. } => {
                let directory = directory_of(path);
                Some(format!(
                    "check that {} exists, is writable and has free space",
                    directory.display()
                ))
            }
            Self::DuplicateRun { .. } => {
                Some("keep one of the two record files in the result directory".to_owned())
            }
        }
    }
}

/// Writes the summary of `results` to `path`; an older file is replaced atomically.
pub fn write_summary(results: &Results, path: &Path) -> Result<(), Error> {
    let mut known = BTreeSet::new();
    for header in results.runs.iter().map(|record| &record.header) {
        if !known.insert((header.run, header.combination.get(LOAD))) {
            let run = header.number_in_words();
            return Err(Error::DuplicateRun { run });
        }
    }
    let io = |source| Error::Io {
        path: path.to_owned(),
        source,
    };
    let failed = |error: files::Error| io(error.into());
    let file = files::Replacement::begin(path).map_err(failed)?;
    fill(results, file.path()).map_err(|source| Error::Database {
        path: path.to_owned(),
        source,
    })?;
    file.commit().map_err(failed)
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn fill(results: &Results, path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    // A crash leaves only the temporary file behind, so a journal is not needed.
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    transaction.execute(
        "INSERT INTO experiment VALUES (?1, ?2, ?3, ?4)",
        params![
            results.name,
            results.question,
            results.experiment_text,
            results.planned_runs
        ],
    )?;
    let numbers = row_numbers(results);
    for (record, run) in results.runs.iter().zip(&numbers) {
        let execution = Execution::of(record, 1);
        insert_run(&transaction, *run, &execution)?;
        insert_factors(&transaction, *run, record)?;
        insert_operations(&transaction, *run, &execution)?;
        insert_cpu(&transaction, *run, &execution)?;
        insert_costs(&transaction, *run, &execution)?;
        insert_errors(&transaction, *run, record)?;
        insert_events(&transaction, *run, record)?;
    }
    load_stages::insert(&transaction, results, &numbers)?;
    transaction.execute_batch(&view(results))?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

/// The numbers of the records in the tables: those of the runs or, where a run has several records, those of the records.
fn row_numbers(results: &Results) -> Vec<u32> {
    let has_several = results.has_several_loads();
    let numbers = (1..).zip(&results.runs);
    numbers
        .map(|(number, record)| {
            if has_several {
                number
            } else {
                record.header.run
            }
        })
        .collect()
}

fn insert_run(
    transaction: &Transaction,
    run: u32,
    execution: &Execution<'_>,
) -> rusqlite::Result<()> {
    let (record, figures) = (execution.record, execution.figures());
    let header = &record.header;
    let [mean, min, p50, p95, p99, p999, max] = time_columns(figures.response.as_ref());
    let dataset = record.dataset.as_ref();
    let (state, stalls) = (run_state(record), run_stalls(record));
    let why_not = match &state {
        Ok(state) => state.reasons.iter().map(ToString::to_string).collect(),
        Err(_) if record.loaded.is_some() || !record.has_one_level() => Vec::new(),
        Err(why) => vec![why.to_string()],
    };
    let why_not = Some(why_not.join("; ")).filter(|why| !why.is_empty());
    transaction
        .prepare_cached(
            "INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, \
             ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34)",
        )?
        .execute(params![
            run,
            header.run,
            header.block,
            header.started_at,
            record.is_complete(),
            record.incomplete_why(),
            record.connections(),
            header.loops,
            header.transport,
            record.servers.first().map(|server| &server.version),
            dataset.map(|data| integer(data.rows)),
            dataset.and_then(|data| data.disk_bytes.map(integer)),
            dataset.and_then(|data| data.buffer_pool_bytes.map(integer)),
            figures.measured_s,
            integer(figures.count),
            integer(figures.errors),
            figures.throughput_per_s,
            mean,
            min,
            p50,
            p95,
            p99,
            p999,
            max,
            (state.as_ref().ok()).map(|state| state.steadiness.word()),
            why_not,
            (state.as_ref().ok()).map(|state| 100.0 * state.drift.estimate),
            stalls.map(|stalls| stalls.stalled_s),
            stalls.map(|stalls| stalls.longest_s),
            stalls.map(|stalls| stalls.longest_gap_s),
            // As text: a seed uses all 64 bits of an unsigned integer, and SQLite's integers are signed.
            header.seed.to_string(),
            header.experiment_sha256,
            header.dbdyno_version,
            thin_percentiles(figures.response.as_ref()),
        ])?;
    Ok(())
}

fn insert_costs(
    transaction: &Transaction,
    run: u32,
    execution: &Execution<'_>,
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached("INSERT INTO costs VALUES (?1, ?2, ?3, ?4)")?;
    let costs = Cost::all().filter_map(|it| Some((it, Measure::Cost(it).of(execution)?)));
    for (cost, per_operation) in costs {
        let unit = cost.unit().name();
        insert.execute(params![run, cost.name(), per_operation, unit])?;
    }
    Ok(())
}

fn insert_factors(transaction: &Transaction, run: u32, record: &Record) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached("INSERT INTO factors VALUES (?1, ?2, ?3)")?;
    for (name, level) in &record.header.combination {
        insert.execute(params![run, name, level])?;
    }
    Ok(())
}

fn insert_operations(
    transaction: &Transaction,
    run: u32,
    execution: &Execution<'_>,
) -> rusqlite::Result<()> {
    let figures = execution.figures();
    let mut insert = transaction.prepare_cached(
        "INSERT INTO operations VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    for operation in &figures.operations {
        let [mean, min, p50, p95, p99, p999, max] = time_columns(operation.response.as_ref());
        insert.execute(params![
            run,
            operation.load,
            operation.operation,
            integer(operation.count),
            integer(operation.errors),
            operation.throughput_per_s,
            mean,
            min,
            p50,
            p95,
            p99,
            p999,
            max,
            thin_percentiles(operation.response.as_ref()),
        ])?;
    }
    Ok(())
}

/// Writes a row only for a run with observed CPU figures of the server's machine.
fn insert_cpu(
    transaction: &Transaction,
    run: u32,
    execution: &Execution<'_>,
) -> rusqlite::Result<()> {
    let figures = execution.figures();
    let Some(cpu) = figures.server_cpu else {
        return Ok(());
    };
    let percent = |share: f64| share * 100.0;
    transaction
        .prepare_cached("INSERT INTO cpu VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?
        .execute(params![
            run,
            cpu.server.map(percent),
            cpu.client.map(percent),
            percent(cpu.rest),
            percent(cpu.iowait),
            percent(cpu.steal),
            percent(cpu.idle),
            percent(cpu.user),
            percent(cpu.system),
            cpu.proxy.map(percent),
        ])?;
    Ok(())
}

fn insert_errors(transaction: &Transaction, run: u32, record: &Record) -> rusqlite::Result<()> {
    let mut insert =
        transaction.prepare_cached("INSERT INTO errors VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?;
    for error in &record.errors {
        insert.execute(params![
            run,
            error.load,
            error.operation,
            error.number,
            error.sqlstate,
            error.message,
            integer(error.count),
            integer(error.retried),
        ])?;
    }
    Ok(())
}

fn insert_events(transaction: &Transaction, run: u32, record: &Record) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
    )?;
    for row in event_rows(record) {
        let (event, cost) = (row.event, row.cost.as_ref());
        let after = cost.and_then(|it| it.after.as_ref());
        let us = |ms: Option<f64>| ms.map(|ms| ms * 1e3);
        insert.execute(params![
            run,
            event.number,
            event.name,
            event.action.word(),
            event.what,
            event.at_s,
            event.begin_s,
            event.end_s,
            event.outcome.word(),
            Some(&event.message).filter(|it| !it.is_empty()),
            cost.map(|it| it.before.throughput_per_s),
            cost.map(|it| it.during.throughput_per_s),
            after.map(|it| it.throughput_per_s),
            us(cost.and_then(|it| it.before.p99_ms)),
            us(cost.and_then(|it| it.during.p99_ms)),
            us(after.and_then(|it| it.p99_ms)),
            cost.map(|it| it.lost_operations),
            cost.and_then(|it| it.recovered_after_s),
        ])?;
    }
    Ok(())
}

/// The view `results`: one row per run, one column per factor, then throughput, percentiles and CPU.
fn view(results: &Results) -> String {
    let names = results.factors.iter().map(|factor| factor.name.as_str());
    let factors = results
        .factors
        .iter()
        .zip(free_names(names, &FIXED_COLUMNS));
    let columns: Vec<String> = factors
        .map(|(factor, name)| {
            format!(
                "(SELECT level FROM factors WHERE factors.run = runs.run AND name = {}) AS {}",
                quoted(&factor.name, '\''),
                quoted(&name, '"'),
            )
        })
        .collect();
    let (first, rest) = FIXED_COLUMNS.split_at(3);
    let fixed = |names: &[&str]| names.iter().map(|name| source_of(name)).collect::<Vec<_>>();
    let all = [fixed(first), columns, fixed(rest)].concat();
    format!(
        "CREATE VIEW results AS SELECT {} FROM runs LEFT JOIN cpu USING (run) ORDER BY run;",
        all.join(", ")
    )
}

fn source_of(column: &str) -> String {
    match column {
        "run" => "runs.run AS run".to_owned(),
        name if name.ends_with("_percent") => format!("cpu.{name}"),
        name => format!("runs.{name}"),
    }
}

/// Quotes an SQL string (`'`) or identifier (`"`).
fn quoted(text: &str, quote: char) -> String {
    let doubled = text.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{doubled}{quote}")
}
