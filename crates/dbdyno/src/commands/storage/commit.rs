//! `dbdyno storage commit`: what a durable commit costs on this disk.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use samples::StorageMode;

use super::{
    session::{COMMIT_BYTES, CommonArgs, Ground, Plan, Session, blamed},
    values,
};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
A commit writes a 4 KiB block of a redo log and flushes it, then appends 210 bytes to a binary log and flushes that, as MariaDB
does with sync_binlog=1 and innodb_flush_log_at_trx_commit=1. Writers that wait share one pair of flushes, as in the server's
group commit. A server does more for a commit: the rate is an upper bound of its durable commits.

Example:
  dbdyno storage commit /data --writers 1,8,64")]
pub(super) struct CommitArgs {
    /// Directory on the disk to measure
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Writers at the same time, one probe for each number
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,4,16",
        value_parser = clap::value_parser!(u32).range(1..=512))]
    writers: Vec<u32>,
    /// Seconds for each probe
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = values::seconds)]
    seconds: u64,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) fn run(args: &CommitArgs) -> anyhow::Result<ExitCode> {
    let ground = Ground::open(&args.directory, &args.common)?;
    ground
        .place
        .refuse_unless_room(COMMIT_BYTES)
        .map_err(blamed)?;
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
    match session.probe_commits(Duration::from_secs(args.seconds)) {
        Ok(()) => session.finish(),
        Err(error) => Err(session.fail(error, "")),
    }
}
