//! How each level of a comparison is measured.

use std::{path::PathBuf, time::Duration};

use clap::ValueEnum;
use experiment::{Design, Slicing};
use load::WarmUp;
use settings::quantity;

use crate::commands::load_times::{self, time};

/// The longest warm-up of `--warmup auto`.
const WARM_UP_AT_MOST: Duration = Duration::from_secs(60);
/// The longest warm-up of each server side by side, where none is given: a verdict in a minute or two is what the design is
/// for, and the answer says which server was not steady by then.
const STEADY_AT_MOST: Duration = Duration::from_secs(20);
/// Length of a warm-up that does not end by itself.
const WARM_UP: Duration = Duration::from_secs(5);
/// Length of the measurement in a run, and of each combination in a session.
const OF_A_RUN: Duration = Duration::from_secs(10);
const OF_A_SESSION: Duration = Duration::from_secs(30);

/// How each level is measured.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Measurement")]
pub(super) struct Measurement {
    /// Number of connections
    #[arg(long, short, global = true, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(super) connections: u32,
    /// How the combinations are measured: one after the other (classical), or in short turns, on servers that run at the
    /// same time (side-by-side) [default: classical, or side-by-side with --on-this-server]
    #[arg(long, global = true, value_enum)]
    pub(super) design: Option<DesignName>,
    /// Compare the values of --set on the one existing server of --host or --server: SET GLOBAL sets them in turn, and
    /// the original values are put back at the end
    #[arg(long, global = true)]
    pub(super) on_this_server: bool,
    /// Length of the measurement in each run, such as 10s or 1m; with --design side-by-side, of each combination in a
    /// session [default: 10s, or 30s with --design side-by-side]
    #[arg(long, global = true, value_name = "TIME", value_parser = time)]
    pub(super) duration: Option<Duration>,
    /// With --design side-by-side, length of a slice, which is the measured part of a turn [default: 500ms]
    #[arg(long, global = true, value_name = "TIME", value_parser = slice)]
    pub(super) slice: Option<Duration>,
    /// With --design side-by-side, unmeasured part of a turn before its slice [default: 100ms]
    #[arg(long, global = true, value_name = "TIME", value_parser = settle)]
    pub(super) settle: Option<Duration>,
    /// With --design side-by-side, pause after each turn until its server has flushed, at most 2 s: if servers work while
    /// others have their turns (audit rule M13)
    #[arg(long, global = true)]
    pub(super) wait_until_quiet: bool,
    /// With --design side-by-side, state in which the servers are measured: steady (each load runs until its server is
    /// steady), or fresh (after the fixed time of --warmup) [default: steady, or fresh with a fixed --warmup]
    #[arg(long, global = true, value_enum)]
    pub(super) state: Option<StateName>,
    /// Unmeasured warm-up at the start of each run: a duration, or auto to wait until the throughput is steady
    /// [default: 5s, or auto with --state steady]
    #[arg(long, global = true, value_name = "TIME", value_parser = warm_up)]
    pub(super) warmup: Option<WarmUp>,
    /// Time limit for the whole experiment; when it is reached, no new run is started
    #[arg(long, global = true, value_name = "TIME", default_value = "10m", value_parser = time)]
    pub(super) budget: Duration,
    /// With --design side-by-side, then measure the baseline and the best combination by classical runs, one after the
    /// other, and say whether both answers agree. These runs have a --budget of their own
    #[arg(long, global = true)]
    pub(super) confirm: bool,
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

impl Measurement {
    pub(super) fn design(&self) -> Design {
        let usual = Slicing::default();
        let default = if self.on_this_server {
            DesignName::SideBySide
        } else {
            DesignName::Classical
        };
        match self.design.unwrap_or(default) {
            DesignName::Classical => Design::Classical,
            DesignName::SideBySide => Design::SideBySide(Slicing {
                slice: self.slice.unwrap_or(usual.slice),
                settle: self.settle.unwrap_or(usual.settle),
                quiet: self.wait_until_quiet,
            }),
        }
    }

    /// How long a run measures, or a session each combination.
    pub(super) fn measured_time(&self) -> Duration {
        self.duration.unwrap_or_else(|| match self.design() {
            Design::Classical => OF_A_RUN,
            Design::SideBySide(slicing) => OF_A_SESSION.max(slicing.shortest()),
        })
    }

    /// The warm-up of each run, or of each combination in a session.
    pub(super) fn warm_up(&self) -> WarmUp {
        let is_side_by_side = self.design() != Design::Classical;
        let usual = if is_side_by_side && self.state != Some(StateName::Fresh) {
            WarmUp::UntilSteady {
                at_most: STEADY_AT_MOST,
            }
        } else {
            WarmUp::For(WARM_UP)
        };
        self.warmup.unwrap_or(usual)
    }

    /// How classical runs confirm the answer, in the same state of the servers; `None` unless that is asked for.
    pub(super) fn confirming(&self) -> Option<Self> {
        self.confirm.then(|| Self {
            design: Some(DesignName::Classical),
            slice: None,
            settle: None,
            wait_until_quiet: false,
            state: None,
            warmup: Some(self.warm_up()),
            confirm: false,
            ..self.clone()
        })
    }

    /// What the command line with these words says.
    #[cfg(test)]
    pub(super) fn parsed(words: &[&str]) -> Self {
        use clap::{Args, Command, FromArgMatches};

        let command = Self::augment_args(Command::new("ab").no_binary_name(true));
        let matches = command.try_get_matches_from(words);
        let read = matches.and_then(|matches| Self::from_arg_matches(&matches));
        read.expect("tests give valid options")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DesignName {
    Classical,
    SideBySide,
}

/// The state in which servers are measured side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum StateName {
    Steady,
    Fresh,
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

fn slice(text: &str) -> Result<Duration, String> {
    Slicing::parse_slice(text).ok_or_else(|| Slicing::SLICE_EXPECTED.to_owned())
}

fn settle(text: &str) -> Result<Duration, String> {
    Slicing::parse_settle(text).ok_or_else(|| Slicing::SETTLE_EXPECTED.to_owned())
}

/// The text of a share, as the experiment file takes it.
fn percent(text: &str) -> Result<String, String> {
    let share = quantity::percent(text).map(|_| text.to_owned());
    share.ok_or_else(|| "a share such as \"2 %\"".to_owned())
}
