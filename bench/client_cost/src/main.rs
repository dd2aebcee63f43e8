//! What dbdyno's client costs beside others: one command, one page of results.

mod cell;
mod contest;
mod cost;
mod machine;
mod open_loop;
mod page;
mod prepare;
mod scale;
mod servers;
mod statement_log;
mod target;
mod tool;

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use harness::{finished, progress, verdict};

use crate::{
    cell::{Answerer, Cell, Statement, Transport},
    contest::{Arena, Entry, Outcome},
    finished::Finished,
    page::ROUNDS_FULL,
    servers::{MariaDb, NullServer},
    target::Target,
    tool::{Benchmark, Programs, ROWS, Tool, sysbench_on},
};

/// The name between the marks of the page.
const MARK: &str = "client_cost";
/// Rounds of the cells that have no target.
const CONTEXT_ROUNDS: usize = 3;
/// Rounds of a quick run.
const QUICK_ROUNDS: usize = 2;

/// Client cost of dbdyno and its peers; run.sh builds the programs and calls this.
#[derive(Debug, Parser)]
struct Options {
    #[command(flatten)]
    programs: ProgramOptions,
    /// Directory for servers and files, which must exist; its name names the private server
    #[arg(long, value_name = "DIR")]
    work: PathBuf,
    /// Rounds of the cells with a target; the others have at most 3 [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..))]
    rounds: Option<u16>,
    /// Two rounds of the cells with a target, no others: about 3 minutes, labelled as such
    #[arg(long, conflicts_with = "rounds")]
    quick: bool,
    /// Leave out the cells without a target
    #[arg(long)]
    targets_only: bool,
    /// Only these parts
    #[arg(long, value_name = "PART,...", value_delimiter = ',')]
    only: Vec<Part>,
    /// Seed of the order within the rounds
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Put the results between the marks of this page, instead of on stdout
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct ProgramOptions {
    #[arg(long, value_name = "PROGRAM")]
    dbdyno: PathBuf,
    #[arg(long, value_name = "PROGRAM")]
    mysql_async: PathBuf,
    #[arg(long, value_name = "PROGRAM")]
    go_driver: PathBuf,
    #[arg(long, value_name = "PROGRAM")]
    epoll_floor: PathBuf,
}

/// A part that can be run by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Point selects against the null server
    NullServer,
    /// Point selects against MariaDB
    Mariadb,
    /// oltp_read_write against MariaDB
    ReadWrite,
    /// Filling tables
    Prepare,
    /// 10,000 connections
    Scale,
    /// Rate, send lag and response times on a schedule
    OpenLoop,
}

impl Options {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    fn rounds(&self) -> usize {
        match (self.quick, self.rounds) {
            (true, _) => QUICK_ROUNDS,
            (false, Some(rounds)) => rounds.into(),
            (false, None) => ROUNDS_FULL,
        }
    }
}

fn main() -> Result<()> {
    let options = Options::parse();
    if let Some(page) = &options.into {
        // Before half an hour of work rather than after it.
        harness::page::replaced(&read(page)?, MARK, "")?;
    }
    let results = measure(&options)?;
    match &options.into {
        None => println!("{results}"),
        Some(page) => fs::write(page, harness::page::replaced(&read(page)?, MARK, &results)?)?,
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// All parts that are wanted, as markdown.
fn measure(options: &Options) -> Result<String> {
    let (begin, load_before) = (Instant::now(), harness::machine::load_average());
    let programs = Programs {
        dbdyno: options.programs.dbdyno.clone(),
        mysql_async: options.programs.mysql_async.clone(),
        go_driver: options.programs.go_driver.clone(),
        epoll_floor: options.programs.epoll_floor.clone(),
        records: options.work.clone(),
        recorded: std::cell::Cell::new(0),
    };
    let mut random = fastrand::Rng::with_seed(options.seed);
    let name = options.work.file_name().context("--work has no name")?;
    let name = name.to_string_lossy().to_lowercase();
    let mariadb = MariaDb::create(&programs.dbdyno, &options.work, &name)?;
    let socket = options.work.join("null.sock");
    let null_server = NullServer::start(&programs.dbdyno, socket, true, &[])?;
    let entries = entries(options);
    if entries
        .iter()
        .any(|entry| entry.cell.answerer == Answerer::MariaDb)
    {
        fill(&mariadb)?;
    }
    let arena = Arena {
        programs: &programs,
        null_server: &null_server,
        mariadb: &mariadb,
    };
    let outcomes = contest::hold(&arena, &entries, &mut random);
    let mut targets = target::of_cells(&outcomes);
    let rounds = options.rounds();
    let mut failures = page::failures(&outcomes);
    let mut keep = |part, measured: Result<Vec<Target>>| match measured {
        Ok(found) => targets.extend(found),
        // What the other parts found is worth too much to be lost.
        Err(error) => {
            let _ = writeln!(failures, "- {part}: {error:#}");
        }
    };
    if options.wants(Part::Prepare) {
        let measured = prepare::measure(&programs, &mariadb, &options.work, rounds, &mut random);
        keep("prepare", measured);
    }
    if options.wants(Part::Scale) {
        keep(
            "10,000 connections",
            scale::measure(&programs, &options.work, rounds),
        );
    }
    if options.wants(Part::OpenLoop) {
        keep(
            "rates",
            open_loop::measure(&programs, &options.work, rounds),
        );
    }
    null_server.stop()?;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}\n\nMeasured in {:.0} minutes, seed {}; load average {load_before} before and {} after. {}\n",
        machine::describe(&programs, &mariadb),
        begin.elapsed().as_secs_f64() / 60.0,
        options.seed,
        harness::machine::load_average(),
        label(rounds),
    );
    text.push_str(&tables(&targets, &outcomes));
    if !failures.is_empty() {
        let _ = write!(text, "\nNot measured:\n\n{failures}");
    }
    Ok(text)
}

fn label(rounds: usize) -> String {
    match rounds < ROUNDS_FULL {
        true => {
            format!("**{rounds} rounds only, of {ROUNDS_FULL} that a verdict should rest on.**")
        }
        false => format!("{rounds} rounds."),
    }
}

/// The cells of all parts that are wanted.
fn entries(options: &Options) -> Vec<Entry> {
    let mut entries = Vec::new();
    let parts = [
        (Part::NullServer, Answerer::NullServer),
        (Part::Mariadb, Answerer::MariaDb),
    ];
    for (_, answerer) in parts.iter().filter(|(part, _)| options.wants(*part)) {
        for cell in Cell::all(*answerer) {
            let rounds = match cell.has_target() {
                true => options.rounds(),
                false if options.quick || options.targets_only => continue,
                false => options.rounds().min(CONTEXT_ROUNDS),
            };
            entries.push(Entry {
                benchmark: Benchmark::PointSelect,
                cell,
                tools: Tool::ALL.to_vec(),
                rounds,
            });
        }
    }
    if options.wants(Part::ReadWrite) {
        entries.extend([1, 8, 64].map(|connections| Entry {
            benchmark: Benchmark::ReadWrite,
            cell: Cell {
                answerer: Answerer::MariaDb,
                transport: Transport::Unix,
                statement: Statement::Prepared,
                connections,
            },
            tools: vec![Tool::Dbdyno, Tool::Sysbench],
            rounds: options.rounds(),
        }));
    }
    entries
}

/// The table that all clients read.
fn fill(mariadb: &MariaDb) -> Result<()> {
    let mut prepare: Command = sysbench_on("oltp_point_select", mariadb.address(), Transport::Unix);
    prepare.args(["--tables=1", &format!("--table-size={ROWS}"), "prepare"]);
    Finished::success_of(prepare)?;
    Ok(())
}

fn tables(targets: &[Target], outcomes: &[Outcome]) -> String {
    let mut text = harness::page::targets(targets);
    let parts = [
        (
            "Null server",
            Answerer::NullServer,
            Benchmark::PointSelect,
            "query",
        ),
        (
            "MariaDB",
            Answerer::MariaDb,
            Benchmark::PointSelect,
            "query",
        ),
        (
            "MariaDB, oltp_read_write",
            Answerer::MariaDb,
            Benchmark::ReadWrite,
            "transaction",
        ),
    ];
    for (place, answerer, benchmark, unit) in parts {
        let is_it = |outcome: &&Outcome| {
            outcome.entry.cell.answerer == answerer && outcome.entry.benchmark == benchmark
        };
        if !outcomes.iter().any(|outcome| is_it(&outcome)) {
            continue;
        }
        let table = |figure| page::figures(outcomes, answerer, benchmark, figure);
        let _ = write!(
            text,
            "\n{place}: CPU of the client per {unit}, µs\n\n{}\n{place}: thousands per second\n\n{}\n\
             {place}: peak memory, MB\n\n{}",
            table(|cost| cost.client_us),
            table(|cost| cost.operations_per_s / 1e3),
            table(|cost| cost.peak_bytes as f64 / 1e6),
        );
        if answerer == Answerer::NullServer {
            let server = table(|cost| cost.server_us);
            let _ = write!(text, "\n{place}: its own CPU per query, µs\n\n{server}");
        }
    }
    text
}
