//! How each level of a comparison is measured.

use std::{path::PathBuf, time::Duration};

use clap::ValueEnum;
use load::WarmUp;
use settings::quantity;

use crate::commands::load_times::{self, time};

/// The longest warm-up of `--warmup auto`.
const WARM_UP_AT_MOST: Duration = Duration::from_secs(60);

/// How each level is measured.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Measurement")]
pub(super) struct Measurement {
    /// Number of connections
    #[arg(long, short, global = true, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) connections: u32,
    /// Length of the measurement in each run, such as 10s or 1m
    #[arg(long, global = true, value_name = "TIME", default_value = "10s", value_parser = time)]
    pub(super) duration: Duration,
    /// Unmeasured warm-up at the start of each run: a duration, or auto to wait until the throughput is steady
    #[arg(long, global = true, value_name = "TIME", default_value = "5s", value_parser = warm_up)]
    pub(super) warmup: WarmUp,
    /// Time limit for the whole experiment; when it is reached, no new run is started
    #[arg(long, global = true, value_name = "TIME", default_value = "10m", value_parser = time)]
    pub(super) budget: Duration,
    /// Metric to compare
    #[arg(long, global = true, value_enum, default_value = "throughput")]
    pub(super) metric: Metric,
    /// Smallest difference that matters, in per cent; levels that differ by less count as equivalent [default: 2 %]
    #[arg(long, global = true, value_name = "PERCENT", default_value = "2 %", hide_default_value = true,
        value_parser = percent)]
    pub(super) min_effect: String,
    /// Random seed for the run order and the load
    #[arg(
        long,
        global = true,
        value_name = "N",
        default_value_t = 1,
        help_heading = "Options"
    )]
    pub(super) seed: u64,
    /// Directory for the results [default: results/ab-N]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        conflicts_with = "plan",
        help_heading = "Options"
    )]
    pub(super) results: Option<PathBuf>,
    /// Print the plan with its estimated duration, and exit
    #[arg(long, global = true, help_heading = "Options")]
    pub(super) plan: bool,
    /// Print every table and finding after the summary
    #[arg(short, long, global = true, help_heading = "Options")]
    pub(super) verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Metric {
    Throughput,
    P50,
    P95,
    P99,
}

fn warm_up(text: &str) -> Result<WarmUp, String> {
    load_times::warm_up(text, WARM_UP_AT_MOST)
}

/// The text of a share, as the experiment file takes it.
fn percent(text: &str) -> Result<String, String> {
    let share = quantity::percent(text).map(|_| text.to_owned());
    share.ok_or_else(|| "a share such as \"2 %\"".to_owned())
}
