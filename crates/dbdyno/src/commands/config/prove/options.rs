//! The options of `dbdyno config prove`.

use std::{path::PathBuf, time::Duration};

use mycnf::{DurabilityClass, Target};
use settings::quantity;

use super::workload::WorkloadArgs;
use crate::commands::{
    config::subject::{Format, target},
    experiment_options::ExperimentOptions,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The whole file is compared with the base (--against), and with copies of the file that each lack one line. A block runs
each of these files once, in random order. Further blocks follow until the effect of every line is decided. Harmful
lines and lines without effect are left out, and the shorter file is compared with the whole file.

Lines that only work together are tested together. Lines that concern behaviour, capacity, access or replication are
kept, and are measured only if --test names them. docs/config.md describes the method.

If the file's durability class depends on a line, this line is not tested unless --allow-class permits a lower class. If
the measurements cannot rule out that the shorter file is slower by more than --min-effect, no file is written and the
exit code is 5.

To continue after an interruption, run the same command again. You may then give a longer --budget.

Examples:
  dbdyno config prove my.cnf --for mariadb-10.11 --plan
  dbdyno config prove my.cnf --for mariadb-10.11 --budget 30m --output short.cnf
  dbdyno config prove full.cnf --against simple.cnf --script point_select --connections 32")]
pub(crate) struct ProveArgs {
    /// Option file whose lines are to be tested
    pub(super) file: PathBuf,
    /// Option file with which the tested file is compared (the base) [default: the version's defaults]
    #[arg(long, value_name = "FILE")]
    pub(super) against: Option<PathBuf>,
    /// Server version of the private servers, such as mysql-8.0.33 or mariadb-10.11 [default: the version of the server
    /// found on this machine]
    #[arg(long = "for", value_name = "VERSION", value_parser = target)]
    pub(super) version: Option<Target>,
    /// Options whose lines are tested together; may be repeated for other groups of options
    #[arg(long = "group", value_name = "NAME,...", value_parser = group)]
    pub(super) groups: Vec<Vec<String>>,
    /// Options to test as well, such as max_connections; options that normally do not affect speed are kept without a
    /// test unless they are named here
    #[arg(long = "test", value_name = "OPTION,...", value_delimiter = ',')]
    pub(super) tested: Vec<String>,
    #[command(flatten)]
    pub(super) workload: WorkloadArgs,
    /// Smallest difference in throughput that matters, in per cent
    #[arg(long = "min-effect", alias = "margin", value_name = "PERCENT", value_parser = margin, default_value = "3%")]
    pub(super) margin: f64,
    /// Maximum number of blocks in each round (a round is one experiment; a block runs every file once)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(3..=1000), default_value_t = 12)]
    pub(super) blocks: u32,
    /// Time limit for all rounds together, such as 30m [default: none; only --blocks limits the rounds]
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub(super) budget: Option<Duration>,
    /// Random seed for the run order and the load
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,
    /// Directory in which the private servers are created; their data is on the disk of this directory [default: the
    /// directory of all private servers]
    #[arg(long, value_name = "DIR")]
    pub(super) datadir: Option<PathBuf>,
    /// Lowest durability class that the shortest file may have, from D0 (no guarantee) to D4 (no commit is lost)
    /// [default: the file's own class]
    #[arg(long, value_name = "CLASS", value_parser = class)]
    pub(super) allow_class: Option<DurabilityClass>,
    /// Print the plan with its estimated duration, and exit
    #[arg(long)]
    pub(super) plan: bool,
    /// Directory for the results [default: results/prove-N]
    #[arg(long, value_name = "DIR")]
    pub(super) results: Option<PathBuf>,
    /// Write the shortest file to this new file, with the reasons for its lines as comments
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Write a copy of the HTML report to this new file
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
    /// Show how each line works and what its price is, and list the lines that were not tested
    #[arg(long, short)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) options: ExperimentOptions,
}

fn group(text: &str) -> Result<Vec<String>, String> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    if names.len() < 2 || names.iter().any(String::is_empty) {
        return Err("two or more options, separated by commas".to_owned());
    }
    Ok(names)
}

fn margin(text: &str) -> Result<f64, String> {
    let percent: Option<f64> = text.trim_end_matches('%').trim().parse().ok();
    let percent = percent.filter(|percent| (0.1..=50.0).contains(percent));
    // To a tenth of a per cent, as experiments write it.
    let share = percent.map(|percent| (percent * 10.0).round() / 1000.0);
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
