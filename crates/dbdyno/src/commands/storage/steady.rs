//! `dbdyno storage steady`: rounds until the disk is steady by both criteria of SNIA.

use std::{path::PathBuf, process::ExitCode};

use benchmarks::storage::SteadyRounds;
use blame::{Blame, Blamed};
use report::DiskSteadiness;
use stats::{STEADY_ROUNDS, STEADY_ROUNDS_AT_MOST};
use storage::Fio;

use super::{answer, common_options::CommonArgs, destroy::DestroyArgs, values};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
First, the whole file is written twice. Then the requests (--block, --reads, --depth) run in rounds of equal length. The
disk is steady when the rates of the last five rounds meet two conditions (SNIA SSS PTS 2.0.2):
  - the difference between the highest and the lowest rate is less than 20 % of the mean rate
  - a line fitted to the rates rises or falls by less than 10 % of the mean rate

Do not compare the figures with a drive's SNIA figures: a file is not the whole disk, and the disk is not purged before
the measurement.

If the disk is not steady after --rounds rounds, the exit code is 1. It is 5 (undecided) if other programs or the
hypervisor used the CPUs during the last five rounds. An interrupted measurement cannot be resumed, because the rounds
must follow each other without a pause.

Example:
  dbdyno storage steady /data --size 16G")]
pub(super) struct SteadyArgs {
    /// Directory on the disk to measure; with --destroy, a raw device
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Size of the test file; with --destroy, size of the part of the device that is overwritten and measured
    #[arg(long, value_name = "SIZE", default_value = "16G", value_parser = values::file_bytes)]
    size: u64,
    /// Length of each round, in whole seconds, such as 10s or 1m
    #[arg(long = "duration", alias = "seconds", value_name = "TIME", default_value = "60s",
        value_parser = values::duration_s)]
    each_s: u64,
    /// Maximum number of rounds
    #[arg(long, value_name = "N", default_value_t = STEADY_ROUNDS_AT_MOST as u32,
        value_parser = clap::value_parser!(u32).range(STEADY_ROUNDS as i64..=1000))]
    rounds: u32,
    /// Size of each request, such as 16k
    #[arg(long, value_name = "SIZE", default_value = "16k", value_parser = values::block_bytes)]
    block: u64,
    /// Share of reads, in per cent; all other requests are writes
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100))]
    reads: u32,
    /// Depth (number of requests in flight)
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=4096))]
    depth: u32,
    /// Refused, with the reason
    #[arg(long, hide = true)]
    resume: bool,
    #[command(flatten)]
    destroy: DestroyArgs,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) fn run(args: &SteadyArgs) -> anyhow::Result<ExitCode> {
    if args.resume {
        let message = "steady cannot be resumed: its rounds follow each other without a pause on a file that was just written";
        let hint = "run it again without --resume: it writes the file again and begins with the first round";
        return Err(Blamed::new(Blame::Input, message)
            .hint(hint.to_owned())
            .into());
    }
    let fio = Fio::find().map_err(Blamed::from)?;
    let disk = args.common.disk_or_device(&args.directory, &args.destroy)?;
    let rounds = SteadyRounds {
        file_bytes: args.size,
        each_s: args.each_s,
        rounds_max: args.rounds,
        block_bytes: args.block,
        reads_percent: args.reads,
        depth: args.depth,
    };
    let written = rounds.measure(fio, disk, args.common.results())?;
    answer::print(&written);
    Ok(match DiskSteadiness::of(&written.audited.record) {
        DiskSteadiness::Reached => ExitCode::SUCCESS,
        DiskSteadiness::NotReached => ExitCode::from(Blame::Answer as u8),
        DiskSteadiness::Undecided(_) => ExitCode::from(Blame::Undecided as u8),
    })
}
