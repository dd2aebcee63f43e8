//! The rounds of a proof, each an experiment of its own; those that were measured before are read.

use std::{path::Path, time::Duration};

use experiment::{Defaults, Experiment, Overrides, defaults_of};
use runs::{
    Blame, Blamed, Choices, Context, Origin, ResultsDirectory, RunOutcome, Runner,
    benchmarks::VOCABULARY, question, read_files, shortcoming,
};
use samples::Record;
use verdict::{Elimination, Execution, Measured, Question, answers};

use super::{
    case::Case,
    round_files::{FACTOR, NamedRound},
};

/// Share of the budget for the first round; the others get what is left.
const SCREENING_SHARE: f64 = 0.6;
/// Share of what is left for a later round, so that more are possible.
const LATER_SHARE: f64 = 0.6;

/// A round that was measured.
pub(super) struct DoneRound {
    pub(super) named: NamedRound,
    pub(super) records: Vec<Record>,
    pub(super) question: Question,
}

/// A proof as far as it was measured.
pub(super) struct Course {
    pub(super) elimination: Elimination,
    pub(super) rounds: Vec<DoneRound>,
}

impl Course {
    /// Measures round after round in a directory, until nothing is left to decide.
    pub(super) fn run(
        case: &Case,
        directory: &Path,
        choices: &Choices,
        context: &Context,
    ) -> Result<Self, Blamed> {
        let mut course = Self {
            elimination: Elimination::new(case.candidates.groups.len(), &case.pinned),
            rounds: Vec::new(),
        };
        let mut used = Duration::ZERO;
        while let Some(round) = course.elimination.round().cloned() {
            let number = course.rounds.len() + 1;
            let named = NamedRound::new(case, number, &round);
            let path = directory.join(format!("{}.toml", named.name));
            if !path.exists() {
                named.write(case, directory, time_of_round(case, number, used))?;
            }
            eprintln!("round {number}: {} files", named.files.len());
            let results = directory.join(&named.name);
            let (records, question) = measure(&path, &results, choices, context)?;
            used += Origin::read(&results)?.took();
            let executions = records.iter().map(|record| Execution::of(record, 1));
            let executions: Vec<Execution<'_>> = executions.collect();
            let found = measured(&named, &question, &executions);
            course.elimination.take(&found);
            course.rounds.push(DoneRound {
                named,
                records,
                question,
            });
        }
        Ok(course)
    }
}

/// The time that a round may take of the budget.
fn time_of_round(case: &Case, number: usize, used: Duration) -> Option<Duration> {
    let budget = case.terms.budget?;
    let time = match number {
        1 => budget.mul_f64(SCREENING_SHARE),
        _ => budget.saturating_sub(used).mul_f64(LATER_SHARE),
    };
    // An experiment has no time of zero; its first block runs anyway.
    Some(time.max(Duration::from_secs(1)))
}

/// Runs what is left of an experiment; returns its records and its question.
fn measure(
    path: &Path,
    directory: &Path,
    choices: &Choices,
    context: &Context,
) -> Result<(Vec<Record>, Question), Blamed> {
    let text = files::read_regular_text(path, experiment::TEXT_BYTES_MAX)
        .map_err(Blamed::io(Blame::Machine, path))?;
    let parse = |defaults: Defaults| {
        let overrides = Overrides {
            defaults,
            ..Overrides::default()
        };
        Experiment::parse(path, &text, &overrides, &VOCABULARY).map_err(Blamed::from)
    };
    let is_begun = directory.join("experiment.json").exists();
    let mut experiment = parse(Defaults::default())?;
    let results = if is_begun {
        let results = ResultsDirectory::resume(Some(directory), &experiment, path)?;
        experiment = parse(defaults_of(results.path())?)?;
        results
    } else {
        ResultsDirectory::create(Some(directory), &experiment, path, context)?
    };
    let smacks = read_files(experiment.plan(), context)?;
    let left = results.left(experiment.plan(), context)?;
    if !left.is_empty() {
        let runner = Runner::new(&experiment, &results, choices, context, smacks);
        runner.run(&left).map_err(with_way_on)?;
    }
    let recorded = results.read(&experiment)?;
    if let Some(error) = shortcoming(recorded.runs.iter().map(RunOutcome::from)) {
        return Err(error);
    }
    results.write_report(&recorded)?;
    let question = question(&experiment, false)
        .ok_or_else(|| Blamed::new(Blame::Machine, format!("{}: no [verdict]", path.display())))?;
    Ok((recorded.runs, question))
}

fn with_way_on(error: Blamed) -> Blamed {
    error.hint("what was measured is kept; the same command continues".to_owned())
}

/// What the answers say about the files of a round.
fn measured(
    named: &NamedRound,
    question: &Question,
    executions: &[Execution<'_>],
) -> Vec<Measured> {
    let answered = answers(question, executions);
    let comparisons = named.files.len() - 1;
    let of_file = |name: &str| {
        let is_it = |(factor, level): &(String, String)| factor == FACTOR && level == name;
        answered.iter().find(|it| it.levels.iter().any(is_it))
    };
    let others = named.files.iter().skip(1);
    others
        .filter_map(|(name, parts)| Some(Measured::of(parts.clone(), of_file(name)?, comparisons)))
        .collect()
}
