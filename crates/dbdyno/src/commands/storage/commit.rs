//! `dbdyno storage commit`: what a durable commit costs on this disk.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use blame::Blamed;
use samples::{CommitSequence, StorageMode};

use super::{
    ground::{COMMIT_BYTES, CommonArgs, Ground, Plan},
    session::Session,
    values,
};

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
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,4,16",
        value_parser = clap::value_parser!(u32).range(1..=512))]
    writers: Vec<u32>,
    /// Length of each measurement, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = values::seconds)]
    seconds: u64,
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
    let ground = Ground::open(&args.directory, &args.common)?;
    ground
        .place
        .refuse_unless_room(COMMIT_BYTES)
        .map_err(Blamed::from)?;
    let plan = Plan {
        mode: StorageMode::Commit,
        file_bytes: 0,
        each_s: args.seconds,
        engine: "native".to_owned(),
        fio: None,
        patterns: Vec::new(),
        repeats: 1,
        writers: args.writers.clone(),
        left_out: Vec::new(),
    };
    let mut session = Session::begin(ground, plan, &args.common)?;
    match session.probe_commits(args.server.sequence(), Duration::from_secs(args.seconds)) {
        Ok(()) => session.finish(),
        Err(error) => Err(session.fail(error, "")),
    }
}
