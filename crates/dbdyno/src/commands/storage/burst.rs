//! `dbdyno storage burst`: requests per second over minutes, by file size and depth, to find where a burst ends.

use std::{path::PathBuf, process::ExitCode};

use benchmarks::storage::BurstGrid;
use blame::Blamed;
use storage::Fio;

use super::{answer, common_options::CommonArgs, values};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each combination of size and depth is measured once, for the time of --duration. There is a pause before every
measurement except the first. A burst ends when the rate falls to 70 % or less of the previous rate and does not rise again. The result
shows the rates during and after the burst, the time of the drop, and the estimated number of extra requests that the
burst allowed. If a burst ended, the same combination is measured again after a pause, to check whether the disk has
recovered. Measurements of less than 180 seconds miss the end of many bursts.

After an interruption, --resume measures only those combinations of size and depth that have not been measured yet.

Example:
  dbdyno storage burst /data --sizes 8G --depths 8 --duration 10m")]
pub(super) struct BurstArgs {
    /// Directory on the disk to measure
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Sizes of the part of the test file that the requests access; each size is measured at each depth
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', default_value = "1G,2G,4G,8G", value_parser = values::file_bytes)]
    sizes: Vec<u64>,
    /// Depths (numbers of requests in flight)
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,2,4,8",
        value_parser = clap::value_parser!(u32).range(1..=4096))]
    depths: Vec<u32>,
    /// Length of each measurement, in whole seconds, such as 180s or 10m
    #[arg(long = "duration", alias = "seconds", value_name = "TIME", default_value = "180s",
        value_parser = values::duration_s)]
    each_s: u64,
    /// Pause before each measurement except the first, in whole seconds, such as 30s or 0
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = values::pause_s)]
    pause: u64,
    /// Size of each request, such as 4k
    #[arg(long, value_name = "SIZE", default_value = "4k", value_parser = values::block_bytes)]
    block: u64,
    /// Share of reads, in per cent; all other requests are writes
    #[arg(long, value_name = "PERCENT", default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=100))]
    reads: u32,
    /// Continue the latest interrupted measurement; with --results, the one in that directory
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) fn run(args: &BurstArgs) -> anyhow::Result<ExitCode> {
    let fio = Fio::find().map_err(Blamed::from)?;
    let disk = args.common.disk(&args.directory)?;
    let grid = BurstGrid {
        sizes_bytes: args.sizes.clone(),
        depths: args.depths.clone(),
        each_s: args.each_s,
        pause_s: args.pause,
        block_bytes: args.block,
        reads_percent: args.reads,
    };
    let written = grid.measure(fio, disk, args.common.results_place(args.resume))?;
    answer::print(&written);
    Ok(ExitCode::SUCCESS)
}
