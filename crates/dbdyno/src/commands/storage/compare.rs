//! `dbdyno storage compare A B`: which of two volumes, by an experiment whose runs alternate at random.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use blame::{Blame, Blamed};
use experiment::written;
use runs::Choices;
use toml_edit::{Array, DocumentMut, Item, value};

use super::values;
use crate::{
    commands::{own_experiment::OwnExperiment, run::Ending},
    connection_options::given_address,
};

/// Name of the experiment and of its results directory.
const NAME: &str = "storage-compare";
/// The experiment; the command line replaces values.
const EXPERIMENT: &str = include_str!("compare.toml");

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
    /// Length of the measurement in each run, in whole seconds, such as 10s or 1m
    #[arg(long = "duration", alias = "seconds", value_name = "TIME", default_value = "10s",
        value_parser = values::duration_s)]
    each_s: u64,
    /// Number of runs for each type of request (size, share of reads, depth) on each volume
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
    /// Directory for the results [default: results/storage-compare-N]
    #[arg(long, value_name = "DIR")]
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
    let file = EXPERIMENT.parse::<DocumentMut>();
    let mut file = file.expect("the experiment is TOML");
    let (one, other) = (written::string(&one), written::string(&other));
    file["repeats"] = value(written::number(args.repeats.into()));
    let matrix = &mut file["matrix"];
    matrix["volume"] = value(Array::from_iter([&one, &other]));
    matrix["block"] = numbers(&args.blocks);
    matrix["reads"] = numbers(&args.reads);
    matrix["depth"] = numbers(&args.depths);
    let load = &mut file["load"];
    load["storage"]["size"] = value(written::number(args.size));
    load["duration"] = value(written::string(&format!("{}s", args.each_s)));
    file["verdict"]["baseline"]["volume"] = value(one);
    Ok(file.to_string())
}

fn numbers<N: Copy + Into<u64>>(numbers: &[N]) -> Item {
    let numbers = numbers.iter().map(|number| (*number).into());
    value(numbers.map(written::number).collect::<Array>())
}

/// The experiment is in another directory.
fn whole(path: &Path) -> Result<String, Blamed> {
    let whole = std::path::absolute(path).map_err(Blamed::io(Blame::Input, path))?;
    Ok(whole.display().to_string())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(clap::Parser)]
    struct Parsed {
        #[command(flatten)]
        compare: CompareArgs,
    }

    fn written(words: &[&str]) -> String {
        let words = std::iter::once(&"compare").chain(words);
        text(&Parsed::parse_from(words).compare).unwrap()
    }

    #[test]
    fn the_choices_replace_values_and_nothing_else() {
        let expected = EXPERIMENT
            .replace(
                "volume = [\"a\", \"b\"]",
                "volume = [\"/mnt/a\", \"/mnt/b\"]",
            )
            .replace("volume = \"a\"", "volume = \"/mnt/a\"")
            .replace("depth = [1, 16]", "depth = [2]")
            .replace("duration = \"10s\"", "duration = \"3s\"");
        // Old command lines have the old name of an option.
        for duration in [["--duration", "3s"], ["--seconds", "3"]] {
            let words = ["/mnt/a", "/mnt/b", "--depths", "2"];
            assert_eq!(written(&[&words[..], &duration].concat()), expected);
        }
    }

    #[test]
    fn a_volume_may_have_quotes_in_its_path() {
        let file = written(&["/mnt/\"a\"", "/mnt/b"]);
        let line = r#"baseline = { volume = "/mnt/\"a\"" }"#;
        assert!(file.ends_with(&format!("{line}\n")), "{file}");
    }
}
