//! `dbdyno storage compare A B`: which of two volumes, by an experiment whose runs alternate at random.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use blame::{Blame, Blamed};
use experiment::written;
use runs::Choices;

use super::values;
use crate::{
    commands::{own_experiment::OwnExperiment, run::Ending},
    connection_options::given_address,
};

/// Name of the experiment and of its results directory.
const NAME: &str = "storage-compare";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The runs on the two volumes are executed in random order, so a change on the machine does not look like a difference
between the volumes. For each type of request, the answer contains a verdict and its confidence interval.

The results directory contains the experiment file. To change the experiment, edit the file and run it again:
  dbdyno run results/storage-compare-1/storage-compare.toml

Example:
  dbdyno storage compare /mnt/a /mnt/b --depths 1,32")]
pub(super) struct CompareArgs {
    /// Directory on the first volume, which is the baseline
    one: PathBuf,
    /// Directory on the second volume
    other: PathBuf,
    /// Sizes of the requests, such as 4k,16k
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', default_values = ["16k"], value_parser = values::block_bytes)]
    blocks: Vec<u64>,
    /// Shares of reads, in per cent; all other requests are writes
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "100,0", value_parser = clap::value_parser!(u32).range(0..=100))]
    reads: Vec<u32>,
    /// Depths (numbers of requests in flight)
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,16", value_parser = clap::value_parser!(u32).range(1..=4096))]
    depths: Vec<u32>,
    /// Size of the test file on each volume
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = values::file_bytes)]
    size: u64,
    /// Length of the measurement in each run, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = values::seconds)]
    seconds: u64,
    /// Number of runs for each type of request (size, share of reads, depth) on each volume
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
    /// Directory for the results [default: results/storage-compare-N]
    #[arg(long, value_name = "RESULTS")]
    results: Option<PathBuf>,
    /// Print every table and finding after the summary
    #[arg(short, long)]
    verbose: bool,
}

pub(super) fn run(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let experiment = OwnExperiment::new(args.results.as_deref(), NAME, &text(args)?, &[])?;
    let choices = Choices {
        mysqld: None,
        keep: false,
        endpoint: None,
        reach: given_address::endpoint,
        sample_every: None,
    };
    let way_on = experiment.way_on();
    let ending = Ending {
        way_on: &way_on,
        again: None,
        verbose: args.verbose,
    };
    experiment.perform(&choices, &ending)
}

/// The experiment's file.
fn text(args: &CompareArgs) -> Result<String, Blamed> {
    let [one, other] = [&args.one, &args.other].map(|path| whole(path));
    let (one, other) = (one?, other?);
    if one == other {
        let message = format!("{one:?} is compared with itself");
        let hint = "name directories on two volumes".to_owned();
        return Err(Blamed::new(Blame::Input, message).hint(hint));
    }
    let (one, other) = (written::string(&one), written::string(&other));
    let CompareArgs {
        blocks,
        reads,
        depths,
        size,
        seconds,
        repeats,
        ..
    } = args;
    Ok(format!(
        "# Two volumes, by fio's requests; made by `dbdyno storage compare`.\n\
         format = 1\n\
         question = \"Which volume answers more requests per second?\"\n\
         seed = 1\n\
         repeats = {repeats}\n\n\
         [matrix]\n\
         volume = [{one}, {other}]\n\
         block = {blocks:?}\n\
         reads = {reads:?}\n\
         depth = {depths:?}\n\n\
         [load]\n\
         storage = {{ dir = \"{{volume}}\", block = \"{{block}}\", reads = \"{{reads}}\", depth = \"{{depth}}\", size = {size} }}\n\
         warmup = \"1s\"\n\
         duration = \"{seconds}s\"\n\n\
         [verdict]\n\
         baseline = {{ volume = {one} }}\n"
    ))
}

/// The experiment is in another directory.
fn whole(path: &Path) -> Result<String, Blamed> {
    let whole = std::path::absolute(path).map_err(Blamed::io(Blame::Input, path))?;
    Ok(whole.display().to_string())
}
