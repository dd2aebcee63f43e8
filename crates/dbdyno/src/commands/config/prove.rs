//! `dbdyno config prove`: which lines of an option file earn their place on this machine, under this load.

mod case;
mod course;
mod file_text;
mod findings;
mod place;
mod plan;
mod round_files;
mod workload;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use mycnf::{DurabilityClass, Target};
use report::{Proof, proof_as_html, proof_as_json, proof_as_text};
use runs::{Blame, Blamed};
use settings::quantity;
use units::counted;

use super::subject::{Format, target, write_new};
use crate::{commands::experiment_options::ExperimentOptions, terminal};
use case::Case;
use course::Course;
use workload::WorkloadArgs;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The whole file runs against the base, and against itself without each line, in the same randomised blocks, until each is
decided. Lines that harm or have no effect are left out, and the rest is checked against the whole file. Lines that make
sense only together are tested together, and lines without possible effect are not tested. docs/config.md has the method.

Interrupted or killed, the same command continues. A line that keeps the file's durability class is not tested, unless
--allow-class permits a lower one. Exit code 5 if the time or the blocks were spent before it was decided.

Examples:
  dbdyno config prove my.cnf --for mariadb-10.11 --plan
  dbdyno config prove my.cnf --for mariadb-10.11 --budget 30m --output short.cnf
  dbdyno config prove full.cnf --against simple.cnf --workload tpcc --warehouses 10 --connections 10")]
pub(crate) struct ProveArgs {
    /// Option file whose lines are tested
    file: PathBuf,
    /// Option file to compare with [default: the defaults of the version]
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Version of the private server: mysql-8.0.33, mariadb-10.11 [default: the server found on this machine]
    #[arg(long = "for", value_name = "VERSION", value_parser = target)]
    version: Option<Target>,
    /// Options to test together; may be repeated
    #[arg(long = "group", value_name = "NAME,NAME...", value_parser = group)]
    groups: Vec<Vec<String>>,
    #[command(flatten)]
    workload: WorkloadArgs,
    /// Smallest difference that matters, per cent
    #[arg(long, value_name = "PERCENT", value_parser = margin, default_value = "3%")]
    margin: f64,
    /// Most blocks of a round, each with one run of every file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(3..=1000), default_value_t = 12)]
    blocks: u32,
    /// Most time of all rounds together, such as 30m [default: no limit but the blocks]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    budget: Option<Duration>,
    /// Seed of the order of the runs, and of the load
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Directory on whose file system the private server lives [default: among the named servers]
    #[arg(long, value_name = "DIR")]
    datadir: Option<PathBuf>,
    /// Lowest durability class that the shortest file may have, D0 to D4 [default: the file's own]
    #[arg(long, value_name = "CLASS", value_parser = class)]
    allow_class: Option<DurabilityClass>,
    /// Print what is tested and its estimated time, and exit
    #[arg(long)]
    plan: bool,
    /// Directory of the results [default: results/prove-N]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// New file for the shortest file, with reasons as comments
    #[arg(long, short, value_name = "NEW")]
    output: Option<PathBuf>,
    /// New file for a copy of the page that is in the results
    #[arg(long, value_name = "NEW")]
    html: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Show every line with mechanism and price, and what was not tested
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    options: ExperimentOptions,
}

pub(crate) fn run(args: ProveArgs) -> anyhow::Result<ExitCode> {
    for new in args.output.iter().chain(&args.html) {
        refuse_existing(new)?;
    }
    let case = Case::of(&args)?;
    if args.plan {
        print!("{}", plan::describe(&case)?);
        return Ok(ExitCode::SUCCESS);
    }
    let context = terminal::context()?;
    let mut place = place::open(args.results.as_deref(), &case)?;
    let choices = args.options.choices();
    let course = Course::run(&case, place.path(), &choices, &context)?;
    let proof = findings::proof(&case, &course, place.path())?;
    let page = proof_as_html(&proof);
    files::replace(&place.path().join(runs::REPORT), page.as_bytes()).map_err(Blamed::machine)?;
    if let Some(new) = &args.html {
        write_new(new, page.as_bytes())?;
    }
    match args.format {
        Format::Text => print!("{}", proof_as_text(&proof, args.verbose)),
        Format::Json => print!("{}", proof_as_json(&proof)),
    }
    if !proof.is_finished {
        return Err(undecided(&case, &proof).into());
    }
    place.finish()?;
    if let Some(new) = &args.output {
        write_new(new, file_text::shortest(&case, &course, &proof)?.as_bytes())?;
        eprintln!("note: wrote {}", new.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The error of a proof that ended before it was decided.
fn undecided(case: &Case, proof: &Proof) -> Blamed {
    let round = proof.rounds.last();
    let blocks = round.map_or(0, |round| round.blocks);
    let blocks = counted(blocks as usize, "block");
    let message = format!(
        "not decided: the last round ended after {blocks}, and 3 are the least that decides; no shorter file is proposed"
    );
    let hint = match case.terms.budget {
        Some(_) => {
            "a longer --budget, a shorter --duration or fewer lines leave time for more blocks"
        }
        None => "more --blocks, or a longer --duration",
    };
    Blamed::new(Blame::Undecided, message).hint(hint.to_owned())
}

fn refuse_existing(new: &Path) -> Result<(), Blamed> {
    if new.symlink_metadata().is_err() {
        return Ok(());
    }
    let message = format!("{} exists already", new.display());
    Err(Blamed::new(Blame::Input, message).hint("name a new file".to_owned()))
}

fn group(text: &str) -> Result<Vec<String>, String> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    if names.len() < 2 || names.iter().any(String::is_empty) {
        return Err("two or more options with commas between them".to_owned());
    }
    Ok(names)
}

fn margin(text: &str) -> Result<f64, String> {
    let percent: Option<f64> = text.trim_end_matches('%').trim().parse().ok();
    let percent = percent.filter(|percent| (0.1..=50.0).contains(percent));
    let share = percent.map(|percent| percent / 100.0);
    share.ok_or_else(|| "a number of per cent from 0.1 to 50, such as 3%".to_owned())
}

fn budget(text: &str) -> Result<Duration, String> {
    let time = quantity::duration(text).filter(|time| *time >= Duration::from_secs(1));
    time.ok_or_else(|| {
        format!(
            "a time of at least 1s, such as 30m; {}",
            quantity::DURATION_LIMIT
        )
    })
}

fn class(text: &str) -> Result<DurabilityClass, String> {
    DurabilityClass::named(text).ok_or_else(|| "one of D0, D1, D2, D3, D4".to_owned())
}
