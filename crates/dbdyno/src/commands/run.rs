//! `dbdyno run`: runs an experiment file, from its plan to its report.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::ExitCode,
};

use benchmarks::{REGISTRY, VOCABULARY};
use blame::{Blame, Blamed};
use experiment::{
    Costs, DecisionTime, Defaults, EventAction, Experiment, Overrides, Plan, PlannedRun,
    ServerSpec, defaults_of,
};
use monitor::ExperimentSite;
use mycnf::Target;
use report::Results;
use results::ResultsDirectory;
use runs::{Choices, Context, PlanBenchmarks, RunOutcome, Runner, shortcoming};
use server::Installation;

use crate::{
    bundled_experiments::file_of, commands::experiment_options::ExperimentOptions, live_view,
    progress::StepStack, terminal,
};

mod negative_answers;
mod planned_settings;
mod rerun_command;

use negative_answers::{expectations_not_held, rates_not_reached, searches_without_rate};
pub(crate) use rerun_command::{RerunCommand, SideBySideOptions};

/// Width of a table that is written to a file, in columns.
const WIDTH_OF_A_FILE: u16 = 120;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  dbdyno run quickstart --plan
  dbdyno run my.toml --scale 0.05
  dbdyno run my.toml --scale 0.05 --resume
  dbdyno run versions --only version=mariadb-10.11,mariadb-11.8
  dbdyno run hp-sizing --only connections=1,64 --only mix=1:0
  dbdyno run hp-sizing --serve 127.0.0.1:8080")]
pub(crate) struct RunArgs {
    /// Experiment file (see docs/experiment-file.md), or the name of an experiment that `dbdyno experiments` lists
    #[arg(value_name = "FILE|NAME")]
    file: PathBuf,
    /// Print the plan with its estimated duration, and exit
    #[arg(long)]
    plan: bool,
    /// Continue the experiment in its latest results directory, or in --results; only the missing and incomplete runs
    /// are executed
    #[arg(long, conflicts_with = "plan")]
    resume: bool,
    /// Directory for the results [default: results/NAME-N]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Shorten the experiment: multiply all durations, all numbers of rows and the buffer pool size by this number,
    /// which is above 0 and at most 1
    #[arg(long, value_name = "N")]
    scale: Option<f64>,
    /// Number of runs for each combination of levels [default: from the experiment file]
    #[arg(long, value_name = "N")]
    repeats: Option<u32>,
    /// Length of the measurement in each run, such as 10s or 1m [default: from the experiment file]
    #[arg(long, value_name = "TIME")]
    duration: Option<String>,
    /// Unmeasured warm-up at the start of each run: a duration, or auto to wait until the throughput is steady
    /// [default: from the experiment file]
    #[arg(long, value_name = "TIME")]
    warmup: Option<String>,
    /// Run only these levels of this factor; may be repeated for other factors. A factor is a setting that the
    /// experiment varies, and its values are its levels
    #[arg(long, value_name = "FACTOR=LEVEL,...", value_parser = factor_levels)]
    only: Vec<(String, Vec<String>)>,
    /// Random seed for the run order and the load [default: from the experiment file]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Use a server that does nothing and has no data, to test the plan and to measure the client's own cost; refused
    /// for loads that need a server that stores data
    #[arg(long, conflicts_with_all = ["mysqld", "keep"])]
    simulate: bool,
    #[command(flatten)]
    options: ExperimentOptions,
    /// During the experiment, show the report so far and the current run to browsers at this address, and serve metrics
    /// for Prometheus at /metrics (port 0 selects a free port)
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "plan")]
    serve: Option<String>,
    /// Print every table and finding after the summary
    #[arg(short, long)]
    verbose: bool,
}

pub(crate) fn run(args: RunArgs) -> anyhow::Result<ExitCode> {
    let file = file_of(&args.file)?;
    let text = files::read_handed_over_text(&file, experiment::TEXT_BYTES_MAX)
        .map_err(Blamed::io(Blame::Input, &file))?;
    let overrides = Overrides {
        scale: args.scale,
        repeats: args.repeats,
        seed: args.seed,
        simulate: args.simulate,
        duration: args.duration,
        warmup: args.warmup,
        only: levels_by_factor(args.only),
        defaults: Defaults::default(),
        time_at_most: None,
    };
    let experiment =
        Experiment::parse(&file, &text, &overrides, &VOCABULARY).map_err(Blamed::from)?;
    let shown = StepStack::default();
    let context = match &args.serve {
        Some(_) => terminal::context_shown_in(shown.clone())?,
        None => terminal::context()?,
    };
    let benchmarks = REGISTRY.read(experiment.plan(), &context)?;
    let mysqld = args.options.mysqld.as_deref();
    if experiment.is_simulated() {
        check_simulation(&experiment)?;
    } else {
        warn_of_idle_settings(&experiment, mysqld);
    }
    // A resumed experiment may be decided already.
    if !args.resume {
        warn_of_short_budget(experiment.plan());
    }
    if args.plan {
        println!("{}", experiment.plan().describe());
        if !experiment.is_simulated() {
            warn_of_servers(&experiment, mysqld);
        }
        return Ok(ExitCode::SUCCESS);
    }
    if !args.resume {
        // Before the results directory is made; a resumed run checks before its server is.
        REGISTRY.check_limits(&experiment)?;
    }
    let server = args.serve.as_deref();
    let server = server
        .map(|it| live_view::bind("--serve", it))
        .transpose()?;
    let results = if args.resume {
        ResultsDirectory::resume(args.results.as_deref(), &experiment, &file)?
    } else {
        let masked = |path: &Path, file: &[u8]| REGISTRY.masked(path, file, &context);
        ResultsDirectory::create(args.results.as_deref(), &experiment, &file, &masked)?
    };
    let experiment = if args.resume {
        // A resumed experiment keeps the overrides of its start.
        let overrides = Overrides {
            defaults: defaults_of(results.path())?,
            ..overrides
        };
        Experiment::parse(&file, &text, &overrides, &VOCABULARY).map_err(Blamed::from)?
    } else {
        experiment
    };
    let choices = args.options.choices();
    // A scale shortens a given duration, too.
    let takes: &[&str] = if args.scale.is_some() {
        &["--resume", "--repeats"]
    } else {
        &["--resume", "--repeats", "--duration"]
    };
    if let Some(server) = server {
        let directory = results.path().to_owned();
        live_view::start(server, move || {
            let steps = Box::new(move || shown.lines());
            ExperimentSite::new(&directory, &VOCABULARY, steps)
        })?;
    }
    perform(
        &experiment,
        benchmarks,
        &results,
        &choices,
        &context,
        &Ending {
            way_on: "; to continue, run the same command with --resume",
            again: Some(RerunCommand::of_this_command(takes)),
            verbose: args.verbose,
        },
    )
}

/// Warns of varied settings that have no effect on the servers of the plan, and of values that are the same.
fn warn_of_idle_settings(experiment: &Experiment, mysqld: Option<&Path>) {
    let runs = &experiment.plan().runs;
    let without_effect = planned_settings::without_effect(runs, |run| target_of(run, mysqld));
    for warning in planned_settings::same_values(runs)
        .into_iter()
        .chain(without_effect)
    {
        eprintln!("warning: {warning}");
    }
}

/// Warns of a time budget that leaves no time for the blocks without which nothing is decided.
fn warn_of_short_budget(plan: &Plan) {
    let needed = || DecisionTime::of(plan, &Costs::default());
    let time = plan.repeats.time();
    if let Some(reason) = time.and_then(|time| needed().exceeds("time_at_most", time)) {
        eprintln!("warning: {reason}");
        eprintln!("hint: use a longer time_at_most, or a shorter duration or warmup");
    }
}

/// The version of a private server: that of the installation, or that of its name if it is not installed.
fn target_of(run: Option<&str>, mysqld: Option<&Path>) -> Option<Target> {
    let installed = Installation::find(run, mysqld).ok();
    let named = || Target::parse(run?).ok();
    installed.map(|it| it.target()).or_else(named)
}

/// Warns of what would end a run before its first measurement: versions of the plan that are missing on this machine, and
/// options that its servers refuse.
pub(crate) fn warn_of_servers(experiment: &Experiment, mysqld: Option<&Path>) {
    let runs = &experiment.plan().runs;
    for refusal in planned_settings::refused(runs, |run| target_of(run, mysqld)) {
        eprintln!("warning: {refusal}");
    }
    for error in missing_servers(experiment.plan().runs.iter(), mysqld) {
        eprintln!("warning: {error}");
        if let Some(hint) = error.hint() {
            eprintln!("hint: {hint}");
        }
    }
}

/// The versions of these runs that are missing on this machine.
fn missing_servers<'p>(
    runs: impl Iterator<Item = &'p PlannedRun>,
    mysqld: Option<&Path>,
) -> Vec<server::Error> {
    let wanted: BTreeSet<Option<&str>> = runs
        .filter_map(|run| match &run.server {
            ServerSpec::Private { run, .. } => Some(run.as_deref()),
            ServerSpec::Given { .. } | ServerSpec::Absent => None,
        })
        .collect();
    let found = wanted.into_iter();
    found
        .filter_map(|run| Installation::find(run, mysqld).err())
        .collect()
}

/// Parses `connections=1,64`.
fn factor_levels(text: &str) -> Result<(String, Vec<String>), String> {
    let (factor, levels) = text.split_once('=').unwrap_or((text, ""));
    let levels: Vec<String> = levels.split(',').map(str::to_owned).collect();
    if factor.is_empty() || levels.iter().any(String::is_empty) {
        return Err("a factor and its levels, for example connections=1,64".to_owned());
    }
    Ok((factor.to_owned(), levels))
}

fn levels_by_factor(only: Vec<(String, Vec<String>)>) -> BTreeMap<String, Vec<String>> {
    let mut by_factor: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (factor, levels) in only {
        by_factor.entry(factor).or_default().extend(levels);
    }
    by_factor
}

/// An error if a load or an event needs something that the null server does not have.
fn check_simulation(experiment: &Experiment) -> Result<(), Blamed> {
    let restarts = |run: &PlannedRun| {
        let mut actions = run.events.iter().map(|event| &event.action);
        actions.any(|action| matches!(action, EventAction::Server(_)))
    };
    if experiment.plan().runs.iter().any(restarts) {
        let message = "--simulate: an event that restarts the server needs a private server";
        let hint = "events with sql or command can be simulated".to_owned();
        return Err(Blamed::new(Blame::Input, message).hint(hint));
    }
    let loads = experiment.plan().runs.iter().flat_map(|run| &run.loads);
    let mut loads = loads.map(|load| &load.spec.source);
    match loads.find(|load| !load.kind.can_be_simulated()) {
        None => Ok(()),
        Some(load) => {
            let name = load.name();
            let message = format!("--simulate: [load] {name} needs a server that stores data");
            let can = VOCABULARY.loads.iter();
            let can = can.filter(|kind| kind.can_be_simulated());
            let names: Vec<&str> = can.map(|kind| kind.name()).collect();
            let hint = format!("loads that can be simulated: {}", names.join(", "));
            Err(Blamed::new(Blame::Input, message).hint(hint))
        }
    }
}

/// Output at the end of a run.
pub(crate) struct Ending<'a> {
    /// The way to continue after an error, printed after the kept results.
    pub(crate) way_on: &'a str,
    /// The command of this run and what it takes; `None` where only the audit is the next step.
    pub(crate) again: Option<RerunCommand>,
    /// Print every table and finding after the answer.
    pub(crate) verbose: bool,
}

/// Executes the remaining runs of the plan, then reports everything recorded.
pub(crate) fn perform(
    experiment: &Experiment,
    benchmarks: PlanBenchmarks,
    results: &ResultsDirectory,
    choices: &Choices,
    context: &Context,
    ending: &Ending<'_>,
) -> anyhow::Result<ExitCode> {
    let runner = Runner::new(experiment, results, choices, context, benchmarks);
    let left = runner.left()?;
    let outcome = execute(runner, &left, experiment, choices);
    let reported = report_on(experiment, results, ending);
    match (outcome, reported) {
        (Ok(()), Ok(recorded)) => {
            // Also if the experiment only counts failures. In a search, they count as slower than its limit.
            let runs = recorded.runs.iter().map(RunOutcome::from);
            let failed = shortcoming(runs).filter(|_| recorded.searches.is_empty());
            if let Some(error) = failed {
                return Err(error.into());
            }
            rates_not_reached(&recorded)?;
            expectations_not_held(&recorded)?;
            searches_without_rate(&recorded)?;
            Ok(ExitCode::SUCCESS)
        }
        (Ok(()), Err(error)) => Err(error),
        (Err(error), Ok(recorded)) if recorded.runs.is_empty() => {
            // After the user has corrected the input, the name must be free for the same command.
            if error.blame == Blame::Input {
                results.discard_if_empty();
            }
            Err(error.into())
        }
        // The run's own error is more useful than its consequence for the report.
        (Err(error), _) => Err(with_way_on(error, results, ending.way_on).into()),
    }
}

/// Executes the remaining runs of the plan, and writes the page of their report without printing its answer, because the
/// command has another one. Returns the path of the page.
pub(crate) fn measure(
    experiment: &Experiment,
    benchmarks: PlanBenchmarks,
    results: &ResultsDirectory,
    choices: &Choices,
    context: &Context,
    way_on: &str,
) -> Result<PathBuf, Blamed> {
    let runner = Runner::new(experiment, results, choices, context, benchmarks);
    let left = runner.left()?;
    let outcome = execute(runner, &left, experiment, choices);
    let recorded = results.read(experiment)?;
    if let Err(error) = outcome {
        return Err(if recorded.runs.is_empty() {
            error
        } else {
            with_way_on(error, results, way_on)
        });
    }
    match shortcoming(recorded.runs.iter().map(RunOutcome::from)) {
        Some(error) => Err(error),
        None => results.write_report(&recorded),
    }
}

/// Executes runs of a plan.
fn execute(
    runner: Runner<'_>,
    left: &[&PlannedRun],
    experiment: &Experiment,
    choices: &Choices,
) -> Result<(), Blamed> {
    if left.is_empty() {
        eprintln!("all runs of the plan are done");
        return Ok(());
    }
    if let Some(alike) = experiment.plan().of_compared_versions() {
        eprintln!("note: {alike}");
    }
    if let Some(moved) = experiment.plan().moved_baseline() {
        eprintln!("note: compared with {moved}");
    }
    for equal in experiment.plan().equal_levels() {
        eprintln!("warning: {equal}");
    }
    // Before the first run, and not after the hours of those in front of it.
    let missing = if experiment.is_simulated() {
        Vec::new()
    } else {
        missing_servers(left.iter().copied(), choices.mysqld.as_deref())
    };
    match missing.into_iter().next() {
        Some(missing) => Err(missing.into()),
        None => runner.run(left),
    }
}

/// Writes the report of everything recorded, and prints its answer.
fn report_on(
    experiment: &Experiment,
    results: &ResultsDirectory,
    ending: &Ending<'_>,
) -> anyhow::Result<Results> {
    let recorded = results.read(experiment)?;
    if !recorded.runs.is_empty() {
        let width = terminal_width();
        let again = |step| {
            let again = ending.again.as_ref()?;
            again.by(step, results.path(), experiment.plan())
        };
        let summary = report::summary(&recorded, results.path(), width, &again);
        print!("{summary}");
        let page = results.write_report(&recorded)?;
        println!("page      {}", page.display());
        if ending.verbose {
            print!("\n{}", report::table(&recorded, width));
        }
    }
    Ok(recorded)
}

/// The same error with a hint about the kept results and the way to continue.
fn with_way_on(error: Blamed, results: &ResultsDirectory, way_on: &str) -> Blamed {
    error.hint(format!(
        "the measurements so far are kept in {}{way_on}",
        results.path().display()
    ))
}

/// Width of the terminal in columns; wide enough for any table if stdout is not a terminal.
pub(crate) fn terminal_width() -> u16 {
    console::Term::stdout()
        .size_checked()
        .map_or(WIDTH_OF_A_FILE, |(_, columns)| columns)
}
