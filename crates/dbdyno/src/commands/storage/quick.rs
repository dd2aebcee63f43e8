//! `dbdyno storage quick`: commits and the main patterns in a minute, without fio as far as that goes.

use std::{path::PathBuf, process::ExitCode};

use benchmarks::storage::Quick;

use super::{answer, common_options::CommonArgs, values};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The measurement takes less than a minute. Each further repeat (--repeats) takes another half minute. If fio is not
installed, dbdyno itself measures commits, and random reads and writes at depths 1 and 16. It then leaves out the other
patterns.

Example:
  dbdyno storage quick /data")]
pub(super) struct QuickArgs {
    /// Directory on the disk to measure
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Number of times to measure all patterns; with more than one, each time in a new random order
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = values::repeats())]
    repeats: u32,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) fn run(args: &QuickArgs) -> anyhow::Result<ExitCode> {
    let disk = args.common.disk(&args.directory)?;
    let quick = Quick {
        repeats: args.repeats,
    };
    let written = quick.measure(disk, args.common.results())?;
    answer::print(&written);
    Ok(ExitCode::SUCCESS)
}
