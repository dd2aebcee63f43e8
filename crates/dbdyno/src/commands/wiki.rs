//! `dbdyno wiki`: the two tables of a tuning contest, prepared and cleaned up.

use std::process::ExitCode;

use benchmarks::wiki::{DATABASE, Wiki};

mod prepare;

use crate::commands::cleanup::{self, CleanupArgs};

/// MediaWiki's `page` and `revision` with the shape of Japanese Wikipedia in 2013, for statements that are to be timed, explained
/// and tuned.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dbdyno wiki prepare --server one --pages 100k
  dbdyno sql time queries.sql --server one --database wiki
  dbdyno wiki cleanup --server one")]
pub(crate) struct WikiArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Create and load the tables
    #[command(name = "prepare", visible_alias = "load")]
    Prepare(prepare::PrepareArgs),
    /// Drop the tables
    #[command(name = "cleanup", visible_alias = "drop")]
    Cleanup(CleanupArgs),
}

pub(crate) fn run(args: WikiArgs) -> anyhow::Result<ExitCode> {
    match args.action {
        Action::Prepare(args) => prepare::run(&args),
        Action::Cleanup(args) => cleanup::run(&args, &Wiki, DATABASE),
    }
}
