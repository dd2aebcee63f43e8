//! `dbdyno storage commit`: what a durable commit costs on this disk.

use std::{path::PathBuf, process::ExitCode};

use benchmarks::storage::Commits;
use samples::CommitSequence;

use super::{answer, common_options::CommonArgs, values};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A commit writes and flushes a redo log, and then writes and flushes a binary log, as a server does with sync_binlog=1
and innodb_flush_log_at_trx_commit=1:
  --server mariadb   writes a block of 4 KiB to the redo log (not through the page cache) and
                     210 bytes to the binary log
  --server mysql     writes blocks of 512 bytes to the redo log (through the page cache) and
                     380 bytes to the binary log

Writers that wait at the same time share one pair of flushes, as in a server's group commit. A real server does more
work for each commit, so the measured rate is an upper bound for a server's rate of durable commits.

Examples:
  dbdyno storage commit /data --server mysql
  dbdyno storage commit /data --writers 1,8,64")]
pub(super) struct CommitArgs {
    /// Directory on the disk to measure
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Server to imitate: each commit makes the same system calls as a commit of this server
    #[arg(long, value_enum, default_value_t = Server::Mariadb)]
    server: Server,
    /// Numbers of concurrent writers; each number is measured separately
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,4,16",
        value_parser = clap::value_parser!(u32).range(1..=512))]
    writers: Vec<u32>,
    /// Length of each measurement, in whole seconds, such as 10s or 1m
    #[arg(long = "duration", alias = "seconds", value_name = "TIME", default_value = "10s",
        value_parser = values::duration_s)]
    each_s: u64,
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Server {
    Mariadb,
    Mysql,
}

impl Server {
    fn sequence(self) -> CommitSequence {
        match self {
            Self::Mariadb => CommitSequence::Mariadb,
            Self::Mysql => CommitSequence::Mysql,
        }
    }
}

pub(super) fn run(args: &CommitArgs) -> anyhow::Result<ExitCode> {
    let disk = args.common.disk(&args.directory)?;
    let commits = Commits {
        sequence: args.server.sequence(),
        writers: args.writers.clone(),
        each_s: args.each_s,
    };
    let written = commits.measure(disk, args.common.results())?;
    answer::print(&written);
    Ok(ExitCode::SUCCESS)
}
