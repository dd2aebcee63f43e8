//! `dbdyno rerun`: repeats the runs of a results directory, and compares the new results with the old ones.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use benchmarks::{REGISTRY, VOCABULARY};
use blame::{Blame, Blamed};
use experiment::{Experiment, ServerSpec};
use report::MeasureSelection;
use results::{
    Origin, ResultsDirectory, read_record, record_files, storage_results::record_file, unused_path,
};
use samples::Record;

use crate::{
    commands::{
        command_line::{CommandLine, absolute},
        compare::{ComparisonOptions, Format, print_comparison},
        experiment_options::ExperimentOptions,
        run::{self, Ending},
    },
    terminal,
};

/// The commands that run one load once, and accept `--seed` and `--record`.
const SINGLE_RUNS: [&str; 6] = [
    "super-smack",
    "oltp",
    "mysqlslap",
    "mariadb-slap",
    "tpcc",
    "script",
];

/// The command `dbdyno quick`, and the name of its experiment.
const QUICK: &str = "quick";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The experiment and its files are taken from the results directory, so the original files are not needed. Options of the
original run, such as --scale and --seed, apply again. The new results are written to a new directory and then compared
with the old results. The comparison lists the differences between the machines, the servers, their variables and the
versions of dbdyno. It also shows the old and the new cost of each operation, and the causes of any difference.

If the results are those of a single run (such as dbdyno oltp, or dbdyno quick on an existing server), the command is
run again in the same working directory and with the same seed. The tables that the command uses must exist.

Examples:
  dbdyno rerun results/trial-1
  dbdyno rerun results/oltp-read_write-1
  dbdyno rerun results/trial-1 --results results/trial-on-new-disk")]
pub(crate) struct RerunArgs {
    /// Results directory of `dbdyno run`, `dbdyno quick` or `dbdyno oltp`, or the record of a single run
    #[arg(value_name = "DIR|RECORD")]
    results: PathBuf,
    /// Directory for the new results [default: results/NAME-N]
    #[arg(long = "results", value_name = "DIR")]
    new: Option<PathBuf>,
    /// File whose first line is the account's password; needed only if the original command line contained the password
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    #[command(flatten)]
    options: ExperimentOptions,
    /// Also print the experiment's tables, and tables of the changes since the original run
    #[arg(short, long)]
    verbose: bool,
}

pub(crate) fn run(args: RerunArgs) -> anyhow::Result<ExitCode> {
    let then = &args.results;
    if !Origin::is_in(then) {
        return single_run_again(&args);
    }
    let origin = Origin::read(then)?;
    let experiment =
        Experiment::reread(then, &origin.experiment, &VOCABULARY).map_err(Blamed::from)?;
    experiment.check_data(then).map_err(Blamed::from)?;
    let runs = &experiment.plan().runs;
    let is_given = runs
        .iter()
        .any(|run| matches!(run.server, ServerSpec::Given { .. }));
    let first = origin.commands.first().filter(|_| is_given);
    if let Some(first) = first.filter(|it| it.arguments.first().is_some_and(|name| name == QUICK)) {
        let command_line = CommandLine::of(&first.directory, &first.arguments);
        return quick_again(&args, command_line);
    }
    if args.password_file.is_some() {
        let message =
            "--password-file is for single runs; an experiment file names its own password file";
        return Err(Blamed::new(Blame::Input, message).into());
    }
    // The old records, which are compared at the end, must exist at the start.
    record_files(then)?;
    let context = terminal::context()?;
    let benchmarks = REGISTRY.read(experiment.plan(), &context)?;
    REGISTRY.check_limits(&experiment)?;
    let masked = |path: &Path, file: &[u8]| REGISTRY.masked(path, file, &context);
    let results = ResultsDirectory::create(
        args.new.as_deref(),
        &experiment,
        &origin.experiment,
        &masked,
    )?;
    for command in &origin.commands {
        eprintln!(
            "then: {} by dbdyno {}: {}",
            command.at,
            command.dbdyno_version,
            command.in_words()
        );
    }
    let choices = args.options.choices();
    let ending = Ending {
        way_on: "",
        again: None,
        verbose: args.verbose,
    };
    run::perform(
        &experiment,
        benchmarks,
        &results,
        &choices,
        &context,
        &ending,
    )?;
    compare_then_and_now(then, results.path(), args.verbose)
}

fn compare_then_and_now(then: &Path, now: &Path, verbose: bool) -> anyhow::Result<ExitCode> {
    println!("\nthen (A) and now (B):\n");
    let terms = ComparisonOptions {
        margin: None,
        tolerances: &[],
        format: Format::Text,
        shown: verbose.then_some(MeasureSelection::Moved),
        anyway: true,
    };
    let [then, now] = [then, now].map(|path| path.display().to_string());
    print_comparison(&then, &now, &terms)
}

/// Repeats `dbdyno quick`, the only command that creates its own database on an existing server.
fn quick_again(args: &RerunArgs, mut command_line: CommandLine) -> anyhow::Result<ExitCode> {
    let new = new_directory(args, QUICK);
    command_line.set(&["--results"], &absolute(&new));
    call_again(args, command_line, &new)
}

/// Repeats the command of a single run.
fn single_run_again(args: &RerunArgs) -> anyhow::Result<ExitCode> {
    let record = only_record(args)?;
    let command = record
        .command
        .clone()
        .ok_or_else(|| no_command(args, &record))?;
    let front_door = command.arguments.first().map(String::as_str);
    if !front_door.is_some_and(|name| SINGLE_RUNS.contains(&name)) {
        let message = format!(
            "{}: `{}` cannot be repeated",
            args.results.display(),
            command.in_words()
        );
        let hint = format!(
            "commands that can be repeated: {}; run others manually",
            SINGLE_RUNS.join(", ")
        );
        return Err(Blamed::new(Blame::Input, message).hint(hint).into());
    }
    let name = record.header.experiment.replace(' ', "-");
    let new = new_directory(args, &name);
    let mut command_line = CommandLine::of(&command.directory, &command.arguments);
    command_line.set(&["--seed", "--rand-seed"], &record.header.seed.to_string());
    command_line.set(&["--record"], &absolute(&new.join("record.jsonl")));
    eprintln!("its tables are used as they are now, with all changes by runs since then");
    call_again(args, command_line, &new)
}

fn new_directory(args: &RerunArgs, name: &str) -> PathBuf {
    let new = args.new.clone();
    new.unwrap_or_else(|| unused_path(name))
}

/// Repeats a command and compares; its exit code if it fails.
fn call_again(
    args: &RerunArgs,
    mut command_line: CommandLine,
    new: &Path,
) -> anyhow::Result<ExitCode> {
    if let Some(option) = args.options.given() {
        let message = format!("{option} is for experiments; this is a single run");
        return Err(Blamed::new(Blame::Input, message).into());
    }
    if new.exists() && (record_files(new).is_ok() || record_file(new).is_some()) {
        let message = format!("{}: already contains results", new.display());
        let hint = "name another directory with --results".to_owned();
        return Err(Blamed::new(Blame::Input, message).hint(hint).into());
    }
    command_line.provide_password(args.password_file.as_deref())?;
    eprintln!("again: {}", command_line.in_words());
    match command_line.call()? {
        0 => compare_then_and_now(&args.results, new, args.verbose),
        code => Ok(ExitCode::from(code)),
    }
}

/// The record of a single run: the named file or the only record in the named directory.
fn only_record(args: &RerunArgs) -> Result<Record, Blamed> {
    let path = args.results.display();
    if !args.results.exists() {
        return Err(Blamed::new(
            Blame::Input,
            format!("{path}: no such results"),
        ));
    }
    let records = record_files(&args.results)?;
    let record = read_record(&records[0])?;
    if !record.header.experiment_sha256.is_empty() {
        let message = format!(
            "{path}: results without origin.json, from a dbdyno version that did not keep the files"
        );
        let hint = "use dbdyno run with experiment.toml, if the files that it names still exist";
        return Err(Blamed::new(Blame::Input, message).hint(hint.to_owned()));
    }
    match records.len() {
        1 => Ok(record),
        records => {
            let message = format!("{path}: contains {records} single runs");
            Err(Blamed::new(Blame::Input, message).hint("name one of their records".to_owned()))
        }
    }
}

/// The error for a single run that cannot be repeated: an earlier dbdyno did not store its command.
fn no_command(args: &RerunArgs, record: &Record) -> Blamed {
    let header = &record.header;
    let known = [
        ("connections", header.connections.to_string()),
        ("loops", header.loops.to_string()),
        ("seed", header.seed.to_string()),
    ];
    let known = known
        .iter()
        .map(|(option, value)| format!("{option} {value}"));
    let settings = (header.combination.iter()).map(|(option, value)| format!("{option} {value}"));
    let known: Vec<String> = settings.chain(known).collect();
    let message = format!(
        "{}: the command of this run of `{}` was not kept: its server, duration, warm-up and rate are missing",
        args.results.display(),
        header.experiment
    );
    let hint = format!("run it by hand; the record contains {}", known.join(", "));
    Blamed::new(Blame::Input, message).hint(hint)
}
