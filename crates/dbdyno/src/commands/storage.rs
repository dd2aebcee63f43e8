//! `dbdyno storage`: what a directory's disk can do for a database, and whether to believe it.

pub(crate) mod answer;
mod burst;
mod commit;
mod common_options;
mod compare;
mod destroy;
mod quick;
mod steady;
mod suite;
mod values;

use std::process::ExitCode;

use clap::Subcommand;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
dbdyno creates its test files in a directory below DIR, and removes this directory at the end. fio (Debian package fio)
runs the patterns of reads and writes. dbdyno itself measures the commits. Depth is the number of requests in flight.
docs/storage.md explains each figure.

Examples:
  dbdyno storage quick /data
  dbdyno storage commit /data --writers 1,8
  dbdyno storage suite /data --patterns mysql-30 --size 16G
  dbdyno storage compare /mnt/a /mnt/b
  dbdyno storage burst /data --sizes 8G --depths 8")]
pub(crate) struct StorageArgs {
    #[command(subcommand)]
    command: StorageCommand,
}

#[derive(Debug, Subcommand)]
enum StorageCommand {
    /// Measure durable commits and the main patterns of reads and writes; this takes less than a minute
    Quick(quick::QuickArgs),
    /// Measure durable commits: each one writes and flushes a redo log, and then a binary log
    Commit(commit::CommitArgs),
    /// Measure a set of patterns (request size, share of reads, requests in flight), and show the rates in a heat table
    Suite(suite::SuiteArgs),
    /// Compare two volumes: measure both in random order, and show a verdict for each type of request
    Compare(compare::CompareArgs),
    /// Find out how long a volume sustains its burst rate, by measuring each size and depth for several minutes
    Burst(burst::BurstArgs),
    /// Measure the disk in rounds until it is steady according to SNIA's rule
    Steady(steady::SteadyArgs),
}

pub(crate) fn run(args: StorageArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        StorageCommand::Quick(args) => quick::run(&args),
        StorageCommand::Commit(args) => commit::run(&args),
        StorageCommand::Suite(args) => suite::run(&args),
        StorageCommand::Compare(args) => compare::run(&args),
        StorageCommand::Burst(args) => burst::run(&args),
        StorageCommand::Steady(args) => steady::run(&args),
    }
}
