//! `dbdyno rerun`: what a results directory holds, done again, and compared with what it was.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use experiment::{Experiment, ServerSpec};

use super::{
    compare::{Format, Terms, print_comparison},
    run,
};
use crate::{
    blame::{Blame, Blamed},
    runs::{
        Choices, Origin, ResultsDirectory, SmackFiles, read_record, record_files, sample_every,
    },
};

/// Difference that matters where the experiment says nothing.
const MARGIN: f64 = 0.02;
/// The experiment of `dbdyno quick`.
const QUICK: &str = "quick";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The experiment, its files, --scale, --repeats, --seed and --only are those of the results directory; the files that it was
made from need not be there any more. A new directory takes the new results, which are then compared with the old ones:
what differs (machine, server, variables, dbdyno), what each operation cost then and now, and why.

Examples:
  dbdyno rerun results/trial-1
  dbdyno rerun results/trial-1 --results results/trial-on-new-disk")]
pub(crate) struct RerunArgs {
    /// Results of `dbdyno run` or `dbdyno quick`
    #[arg(value_name = "DIR")]
    results: PathBuf,
    /// Directory of the new results [default: results/NAME-N]
    #[arg(long = "results", value_name = "NEW")]
    new: Option<PathBuf>,
    /// Server binary of private servers, instead of one that is found
    #[arg(long, value_name = "PATH")]
    mysqld: Option<PathBuf>,
    /// Keep the private servers, to look into them
    #[arg(long)]
    keep: bool,
    /// Look at the machine so often, from 100ms [default: with every interval, a second or less]
    #[arg(long, value_name = "TIME", value_parser = sample_every)]
    sample_every: Option<Duration>,
}

pub(crate) fn run(args: RerunArgs) -> anyhow::Result<ExitCode> {
    let then = &args.results;
    if !Origin::is_in(then) {
        return Err(no_experiment(&args).into());
    }
    let origin = Origin::read(then)?;
    let experiment = Experiment::reread(then, &origin.experiment).map_err(Blamed::from)?;
    let runs = &experiment.plan().runs;
    let is_given = runs
        .iter()
        .any(|run| matches!(run.server, ServerSpec::Given { .. }));
    if is_given && experiment.name() == QUICK {
        let command = origin.commands.first().map(|command| command.in_words());
        let message = format!(
            "{}: a database of its own on a server that is there is made by `dbdyno quick` alone",
            then.display()
        );
        let hint = format!("the command was: {}", command.unwrap_or_default());
        return Err(Blamed::new(Blame::Input, message).hint(hint).into());
    }
    // What is compared in the end has to be there at the begin.
    record_files(then)?;
    let smacks = SmackFiles::read(experiment.plan())?;
    let results = ResultsDirectory::create(args.new.as_deref(), &experiment, &origin.experiment)?;
    for command in &origin.commands {
        eprintln!(
            "then: {} by dbdyno {}: {}",
            command.at,
            command.dbdyno_version,
            command.in_words()
        );
    }
    let choices = Choices {
        mysqld: args.mysqld,
        keep: args.keep,
        endpoint: None,
        sample_every: args.sample_every,
    };
    run::perform(&experiment, smacks, &results, &choices, "")?;
    println!("\nthen (A) and now (B):\n");
    let terms = Terms {
        margin: experiment
            .verdict()
            .map_or(MARGIN, |verdict| verdict.min_effect),
        tolerances: &[],
        format: Format::Text,
        anyway: true,
    };
    let [then, now] = [then, results.path()].map(|path| path.display().to_string());
    print_comparison(&then, &now, &terms)
}

/// Why a directory or file cannot be done again.
fn no_experiment(args: &RerunArgs) -> Blamed {
    let path = args.results.display();
    if !args.results.exists() {
        return Blamed::new(Blame::Input, format!("{path}: no such results"));
    }
    let first = record_files(&args.results).and_then(|records| read_record(&records[0]));
    let header = match first {
        Ok(record) => record.header,
        Err(error) => return error,
    };
    if header.experiment_sha256.is_empty() {
        let settings: Vec<String> = header
            .combination
            .iter()
            .map(|(option, value)| format!("{option} {value}"))
            .collect();
        let message = format!(
            "{path}: a run of `{}`, and only experiments can be done again",
            header.experiment
        );
        let hint = format!("its options were: {}", settings.join(", "));
        return Blamed::new(Blame::Input, message).hint(hint);
    }
    let message = format!("{path}: results without origin.json, from a dbdyno that kept no files");
    let hint = "dbdyno run takes experiment.toml, where the files that it names are still there"
        .to_owned();
    Blamed::new(Blame::Input, message).hint(hint)
}
