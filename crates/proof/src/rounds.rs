//! The rounds of a proof, each an experiment of its own; those that were measured before are read.

use std::{path::Path, time::Duration};

use benchmarks::{REGISTRY, VOCABULARY};
use blame::{Blame, Blamed};
use experiment::{Defaults, Experiment, Overrides, defaults_of};
use results::{Origin, ResultsDirectory, question};
use runs::{Choices, Context, RunOutcome, Runner, shortcoming};
use samples::Record;
use verdict::{ComparedConfiguration, Elimination, Execution, Question, answers};

use crate::{
    case::{Case, FACTOR, SCREENING_SHARE},
    proof_directory::ProofDirectory,
    round_files::NamedRound,
};

/// Share of what is left for a later round, so that more are possible.
const LATER_SHARE: f64 = 0.6;

/// A round that was measured.
pub(crate) struct MeasuredRound {
    pub(crate) named: NamedRound,
    pub(crate) records: Vec<Record>,
    pub(crate) question: Question,
    /// Whether it ended because no time was left.
    pub(crate) time_is_spent: bool,
}

/// A round that begins.
#[derive(Debug, Clone, Copy)]
pub struct RoundStart {
    /// Its number, from 1.
    pub number: usize,
    /// How many option files it compares.
    pub files: usize,
}

/// The rounds of a proof as far as they were measured.
pub struct Rounds {
    pub(crate) elimination: Elimination,
    pub(crate) measured: Vec<MeasuredRound>,
}

impl Rounds {
    /// Measures round after round, until nothing is left to decide; `begins` receives each before it is measured. A round
    /// that ended by its time gets more blocks only if it is the last one and the budget is longer than before.
    pub fn measure(
        case: &Case,
        proof: &ProofDirectory,
        choices: &Choices,
        context: &Context,
        begins: &dyn Fn(RoundStart),
    ) -> Result<Self, Blamed> {
        let directory = proof.path();
        let count = case.candidates.groups.len();
        let mut rounds = Self {
            elimination: Elimination::new(count, &case.pinned, case.terms.margin),
            measured: Vec::new(),
        };
        let mut used = Duration::ZERO;
        while let Some(round) = rounds.elimination.round().cloned() {
            let number = rounds.measured.len() + 1;
            let named = NamedRound::new(case, number, &round);
            let path = directory.join(format!("{}.toml", named.name));
            if path.exists() {
                named.check(case, directory)?;
            } else {
                named.write(case, directory)?;
            }
            begins(RoundStart {
                number,
                files: named.files.len(),
            });
            let results = directory.join(&named.name);
            let time = time_of_round(case, number, used);
            let is_over = is_over_by_time(&results)?
                && (!proof.has_more_time() || is_round(directory, number + 1)?);
            let (records, question) = if is_over {
                read(&path, &results)?
            } else {
                measure(&path, &results, time, choices, context)?
            };
            used += Origin::read(&results)?.took();
            let executions = records.iter().map(|record| Execution::of(record, 1));
            let executions: Vec<Execution<'_>> = executions.collect();
            let found = measured(&named, &question, &executions);
            rounds.elimination.take(&found);
            rounds.keep_class(case)?;
            let time_is_spent = is_over_by_time(&results)?;
            rounds.measured.push(MeasuredRound {
                named,
                records,
                question,
                time_is_spent,
            });
        }
        Ok(rounds)
    }

    /// Pins what the shortest file needs for the lowest allowed durability class.
    fn keep_class(&mut self, case: &Case) -> Result<(), Blamed> {
        while let Some(part) = case.missing_for_class(self.elimination.shortest())? {
            self.elimination.pin(part);
        }
        Ok(())
    }
}

/// Whether a round ended because no time was left.
fn is_over_by_time(results: &Path) -> Result<bool, Blamed> {
    let is_begun = results.join("experiment.json").exists();
    Ok(is_begun && Origin::read(results)?.time_is_spent())
}

/// Whether a round of this number was planned.
fn is_round(directory: &Path, number: usize) -> Result<bool, Blamed> {
    let beginning = format!("{number}-");
    for entry in std::fs::read_dir(directory).map_err(Blamed::machine)? {
        let name = entry.map_err(Blamed::machine)?.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&beginning) && name.ends_with(".toml") {
            return Ok(true);
        }
    }
    Ok(false)
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

/// The experiment of a round.
fn parse(path: &Path, defaults: Defaults, time: Option<Duration>) -> Result<Experiment, Blamed> {
    let text = files::read_regular_text(path, experiment::TEXT_BYTES_MAX)
        .map_err(Blamed::io(Blame::Machine, path))?;
    let overrides = Overrides {
        defaults,
        time_at_most: time,
        ..Overrides::default()
    };
    Experiment::parse(path, &text, &overrides, &VOCABULARY).map_err(Blamed::from)
}

/// The records and the question of a round that is over.
fn read(path: &Path, directory: &Path) -> Result<(Vec<Record>, Question), Blamed> {
    let experiment = parse(path, defaults_of(directory)?, None)?;
    experiment.check(directory).map_err(Blamed::from)?;
    let recorded = ResultsDirectory::of_past(directory).read(&experiment)?;
    Ok((recorded.runs, question_of(&experiment, path)?))
}

fn question_of(experiment: &Experiment, path: &Path) -> Result<Question, Blamed> {
    question(experiment, false)
        .ok_or_else(|| Blamed::new(Blame::Machine, format!("{}: no [verdict]", path.display())))
}

/// Runs what is left of an experiment; returns its records and its question.
fn measure(
    path: &Path,
    directory: &Path,
    time: Option<Duration>,
    choices: &Choices,
    context: &Context,
) -> Result<(Vec<Record>, Question), Blamed> {
    let is_begun = directory.join("experiment.json").exists();
    let mut experiment = parse(path, Defaults::default(), time)?;
    let results = if is_begun {
        let results = ResultsDirectory::resume(Some(directory), &experiment, path)?;
        experiment = parse(path, defaults_of(results.path())?, time)?;
        results
    } else {
        let masked = |path: &Path, file: &[u8]| REGISTRY.masked(path, file, context);
        ResultsDirectory::create(Some(directory), &experiment, path, &masked)?
    };
    let benchmarks = REGISTRY.read(experiment.plan(), context)?;
    let runner = Runner::new(&experiment, &results, choices, context, benchmarks);
    let left = runner.left()?;
    if !left.is_empty() {
        runner.run(&left).map_err(with_way_on)?;
    }
    let recorded = results.read(&experiment)?;
    if let Some(error) = shortcoming(recorded.runs.iter().map(RunOutcome::from)) {
        return Err(error);
    }
    results.write_report(&recorded)?;
    Ok((recorded.runs, question_of(&experiment, path)?))
}

fn with_way_on(error: Blamed) -> Blamed {
    error
        .hint("the measurements so far are kept; run the same command again to continue".to_owned())
}

/// What the answers say about the files of a round.
fn measured(
    named: &NamedRound,
    question: &Question,
    executions: &[Execution<'_>],
) -> Vec<ComparedConfiguration> {
    let answered = answers(question, executions);
    let comparisons = named.files.len() - 1;
    let of_file = |name: &str| {
        let is_it = |(factor, level): &(String, String)| factor == FACTOR && level == name;
        answered.iter().find(|it| it.levels.iter().any(is_it))
    };
    let others = named.files.iter().skip(1);
    others
        .filter_map(|(name, parts)| {
            Some(ComparedConfiguration::of(
                parts.clone(),
                of_file(name)?,
                comparisons,
            ))
        })
        .collect()
}
