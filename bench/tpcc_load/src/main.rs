//! What a TPC-C load and run cost beside others: one command, one page of results.

mod contest;
mod server;
mod tool;

use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Context, Result};
use clap::Parser;
use harness::{machine, page, target::Target, verdict::Bound};

use crate::{
    contest::{Contest, Outcome},
    server::MariaDb,
    tool::{Programs, Tool},
};

/// The name between the marks of the page.
const MARK: &str = "tpcc_load";

/// A re-creation counts where its CPU lands so near to what the original took.
const LIKENESS: f64 = 0.25;

/// Cost of TPC-C loads and runs; run.sh builds the programs and calls this.
#[derive(Debug, Parser)]
struct Options {
    #[command(flatten)]
    programs: Programs,
    /// Directory for the server and files, which must exist; its name names the private server
    #[arg(long, value_name = "DIR")]
    work: PathBuf,
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..))]
    rounds: u16,
    /// Rounds in which tpcc-mysql's pattern loads too, which takes minutes [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    slow_rounds: Option<u16>,
    /// Warehouses that are loaded; the targets are for 4
    #[arg(long, value_name = "W", default_value_t = 4, value_parser = clap::value_parser!(u32).range(2..=100))]
    warehouses: u32,
    /// Seconds of a run
    #[arg(long, value_name = "S", default_value_t = 15)]
    seconds: u32,
    /// Seed of the order within the rounds
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Put the results between the marks of this page, instead of on stdout
    #[arg(long, value_name = "FILE")]
    into: Option<PathBuf>,
}

fn main() -> Result<()> {
    let options = Options::parse();
    if let Some(path) = &options.into {
        // Before a quarter of an hour of work rather than after it.
        page::replaced(&read(path)?, MARK, "")?;
    }
    let results = measure(&options)?;
    match &options.into {
        None => println!("{results}"),
        Some(path) => fs::write(path, page::replaced(&read(path)?, MARK, &results)?)?,
    }
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

fn measure(options: &Options) -> Result<String> {
    let (begin, load_before) = (Instant::now(), machine::load_average());
    let name = options.work.file_name().context("--work has no name")?;
    let name = name.to_string_lossy().to_lowercase();
    let server = MariaDb::create(&options.programs.dbdyno, &options.work, &name)?;
    let version = server.ask("select version()")?;
    let outcome = Contest {
        programs: &options.programs,
        server: &server,
        work: &options.work,
        warehouses: options.warehouses,
        seconds: options.seconds,
        rounds: options.rounds.into(),
        slow_rounds: options.slow_rounds.unwrap_or(options.rounds).into(),
    }
    .hold(&mut fastrand::Rng::with_seed(options.seed))?;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{}; MariaDB {}.\n\nMeasured in {:.0} minutes, seed {}; load average {load_before} before and {} after. {} rounds, \
         {} warehouses, runs of {} s.\n",
        machine::describe(),
        version.trim(),
        begin.elapsed().as_secs_f64() / 60.0,
        options.seed,
        machine::load_average(),
        options.rounds,
        options.warehouses,
        options.seconds,
    );
    text.push_str(&page::targets(&targets(&outcome)));
    text.push_str(&outcome.figures());
    Ok(text)
}

/// The targets, each void where the peer is not like the program that it stands for.
fn targets(outcome: &Outcome) -> Vec<Target> {
    let load = |peer: Tool, what: &str, bound, figure| {
        let pairs = outcome.load_pairs(Tool::Dbdyno, peer, figure);
        let what = format!("load, {what} against {}", peer.name());
        let unlike = outcome.unlike_at_load(peer, LIKENESS);
        Target::of_pairs(what, Bound::AtMost(bound), &pairs).void_where(unlike.as_ref())
    };
    let run = outcome.run_pairs(Tool::Dbdyno, Tool::TpccMysql);
    let what = "run, 8 connections, client CPU per transaction against tpcc-mysql's pattern";
    let unlike = outcome.unlike_at_run(LIKENESS);
    let memory = "peak memory of a load of 10 warehouses, MB".to_owned();
    vec![
        load(Tool::TpccMysql, "wall time", 1.0 / 8.0, |usage| {
            usage.wall_s
        }),
        load(Tool::TpccMysql, "client CPU", 1.0 / 20.0, |usage| {
            usage.cpu_s
        }),
        load(Tool::GoTpc, "wall time", 0.6, |usage| usage.wall_s),
        load(Tool::Bound, "wall time", 1.15, |usage| usage.wall_s),
        Target::of_pairs(what.to_owned(), Bound::AtMost(0.5), &run).void_where(unlike.as_ref()),
        Target::of_values(memory, Bound::AtMost(100.0), &outcome.peak_mb),
    ]
}
