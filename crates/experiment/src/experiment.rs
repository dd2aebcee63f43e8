//! An experiment, read and resolved.

mod cell;
mod search;
mod side_by_side;

use std::{collections::BTreeSet, path::Path};

use settings::{Chart, Factor, Vocabulary};

use files::Created;

use crate::{
    error::Error,
    file::{
        defaults::Defaults, overrides::Overrides, problem::Problem, section::Section,
        source::Source, template::Levels,
    },
    plan::{
        Cell, Plan,
        equal_levels::equal_levels,
        levels::RUNS_AT_MOST,
        matrix::{self, Matrix},
        order::Order,
        requested_figures::{RequestedFigures, check_elapsed, check_metric, own_metrics},
        scale,
    },
    results::{
        copied_files::FILES,
        identity::{Identity, RedactedContent},
    },
    spec::{
        answer::AnswerSpec,
        chart,
        design::Design,
        disturbed::DisturbedSpec,
        expect::ExpectSpec,
        load,
        repeats::Repeats,
        server::{Restart, ServerSpec},
        verdict::VerdictSpec,
    },
};

const KEYS: &[&str] = &[
    "format",
    "question",
    "seed",
    "repeats",
    "at_most",
    "time_at_most",
    "order",
    "design",
    "slice",
    "settle",
    "quiet",
    "matrix",
    "zip",
    "exclude",
    "server",
    "data",
    "each",
    "load",
    "event",
    "proxy",
    "report",
    "verdict",
    "answer",
    "expect",
    "disturbed",
];

/// The tables in which `{name}` is replaced by a level.
const FILLED: &[&str] = &["server", "data", "each", "load", "event", "proxy"];

/// An experiment: a question, the combinations that answer it, and all parameters of its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// The question; empty when the file has none.
    pub question: String,
    /// Seed of all randomness.
    pub seed: u64,
    name: String,
    factors: Vec<Factor>,
    chart: Option<Chart>,
    verdict: Option<VerdictSpec>,
    answers: Vec<AnswerSpec>,
    expects: Vec<ExpectSpec>,
    disturbed: DisturbedSpec,
    plan: Plan,
    identity: Identity,
}

impl Experiment {
    /// Reads an experiment file's text; `path` is used for errors and relative paths, `vocabulary` defines the keys
    /// below `[data]` and `[load]`.
    pub fn parse(
        path: &Path,
        text: &str,
        overrides: &Overrides,
        vocabulary: &Vocabulary,
    ) -> Result<Self, Error> {
        let source = Source {
            path,
            text,
            kept: None,
            defaults: overrides.defaults,
        };
        Self::of(source, overrides, vocabulary)
    }

    /// Reads the experiment of a results directory, with its overrides and its copies of the files; `path` is the
    /// former path of the experiment's file, which need not exist any more. Returns an error if a file has changed in
    /// the results.
    pub fn reread(results_dir: &Path, path: &Path, vocabulary: &Vocabulary) -> Result<Self, Error> {
        let (text, overrides) = Identity::read(results_dir)?;
        let kept = results_dir.join(FILES);
        let source = Source {
            path,
            text: &text,
            kept: Some(&kept),
            defaults: overrides.defaults,
        };
        let mut experiment = Self::of(source, &overrides, vocabulary)?;
        experiment.identity = experiment.identity.of_copies(results_dir)?;
        experiment.plan.identity = experiment.identity.clone();
        experiment.identity.check(results_dir)?;
        Ok(experiment)
    }

    fn of(
        source: Source<'_>,
        overrides: &Overrides,
        vocabulary: &Vocabulary,
    ) -> Result<Self, Error> {
        overrides.check()?;
        let root = source.parse()?;
        let top = Section::top(source, root.get_ref());
        check_format(&top)?;
        top.allow(KEYS)?;
        let matrix = Matrix::read(source, &top)?;
        matrix::check_use(source, &top, FILLED)?;
        Self::of_matrix(source, &top, &matrix, overrides, vocabulary)
            .map_err(|error| matrix.explain(error))
    }

    fn of_matrix(
        source: Source<'_>,
        top: &Section<'_>,
        matrix: &Matrix,
        overrides: &Overrides,
        vocabulary: &Vocabulary,
    ) -> Result<Self, Error> {
        let path = source.path;
        let factors = &matrix.factors;
        let combinations = matrix::combinations(source, top, factors)?;
        let loads = load::names(top)?;
        let planned = load::with_each(&combinations, &loads);
        // Also with `--only`: what is measured alone stands beside what the whole experiment measures.
        let are_versions_compared = matrix::versions(top, &combinations, matrix)?.len() > 1;
        let (factors_run, combinations) = overrides.narrow(factors.clone(), combinations)?;
        let unscaled = Design::read(top)?;
        let design = scale::shrink_design(overrides.scale.unwrap_or(1.0), unscaled);
        let repeats = Repeats::read(top, overrides, design)?;
        check_runs(top, combinations.len(), repeats.blocks())?;
        if design == Design::Classical {
            load::refuse_state(top)?;
            side_by_side::refuse_on_this_server(top)?;
        } else {
            side_by_side::check_file(top)?;
            side_by_side::refuse_quiet_here(top)?;
            side_by_side::check_count(top, overrides, combinations.len())?;
        }
        let seed = seed(top, overrides)?;
        let read = |levels: Levels, overrides: &Overrides| {
            let levels = (levels, matrix);
            cell::read(top, levels, overrides, unscaled, seed, vocabulary)
        };
        let mut cells = combinations
            .into_iter()
            .map(|levels| read(levels, overrides))
            .collect::<Result<Vec<Cell>, Error>>()?;
        let full_size = Overrides {
            scale: None,
            ..overrides.clone()
        };
        let equal_levels = match overrides.scale {
            Some(_) => equal_levels(&factors_run, &cells, |levels| {
                read(levels.clone(), &full_size)
            })?,
            None => Vec::new(),
        };
        if are_versions_compared {
            for cell in &mut cells {
                cell.server.set_among_versions();
            }
        }
        match design {
            Design::Classical => check_restarts(top, &cells)?,
            // Each combination has a private server of its own, with its own settings and data.
            Design::SideBySide(slicing) => {
                side_by_side::check_servers(top, &cells)?;
                side_by_side::check_durations(top, slicing, &cells, repeats)?;
            }
        }
        check_together(top, &cells, vocabulary)?;
        let searches = search::check(top, &cells, repeats, overrides)?;
        let own_metrics = own_metrics(vocabulary);
        let mut shown = load::with_factor(factors, &loads);
        shown.extend(searches.then(search::factor));
        let report = top.section("report", "[report]")?;
        let chart = chart::read(&report, &shown, &own_metrics)?;
        let verdict_section = top.section("verdict", "[verdict]")?;
        let baseline = verdict_section.section("baseline", "[verdict] baseline")?;
        load::refuse_in_baseline(top, &baseline)?;
        let mut verdict = VerdictSpec::read(source, &verdict_section, factors, &own_metrics)?;
        let leaves_out = verdict.as_ref().is_some_and(|it| it.leave_decided);
        if leaves_out && design != Design::Classical {
            return Err(side_by_side::refuse_leave_decided(&verdict_section));
        }
        repeats.check(top, verdict.is_some() || searches)?;
        let usual_metric = verdict.as_ref().map(|it| it.metric.as_str());
        let mut answers =
            AnswerSpec::read_all(source, top, &shown, &planned, &own_metrics, usual_metric)?;
        let compared = answers.iter_mut().filter_map(|it| it.compared.as_mut());
        let baselines = verdict.iter_mut().map(|it| &mut it.baseline);
        let baselines = baselines.chain(compared.map(|it| &mut it.baseline));
        let moved = baselines.flat_map(|it| overrides.move_baseline(it, &factors_run));
        let moved: BTreeSet<String> = moved.collect();
        let expects = ExpectSpec::read_all(&top.section("expect", "[expect]")?, &own_metrics)?;
        let asked = RequestedFigures {
            chart: chart.as_ref(),
            verdict: verdict.as_ref(),
            answers: &answers,
            expects: &expects,
        };
        for metric in own_metrics {
            check_metric(top, &cells, &asked, metric, vocabulary)?;
        }
        check_elapsed(top, &cells, &asked)?;
        let disturbed = DisturbedSpec::read(&top.section("disturbed", "[disturbed]")?)?;
        let order = top.choice(
            "order",
            &[
                ("random", Order::Random),
                ("grouped", Order::Grouped),
                ("file", Order::File),
            ],
        )?;
        let factors = load::with_factor(&factors_run, &loads);
        let question = top.string("question")?.map(|question| question.value);
        let name = path.file_stem().unwrap_or_default();
        let files = cells.iter().flat_map(Cell::files);
        let data_files = cells.iter().flat_map(Cell::data_files);
        let identity = Identity::of(source, overrides, files, data_files)?;
        let order = order.unwrap_or(Order::Random);
        let mut plan = Plan::new(
            identity.clone(),
            &factors_run,
            cells,
            repeats,
            design,
            order,
            seed,
        );
        plan.meanings = matrix.meanings();
        plan.moved_baselines = moved.into_iter().collect();
        plan.equal_levels = equal_levels;
        plan.loads = loads;
        Ok(Self {
            question: question.unwrap_or_default(),
            seed,
            name: name.to_string_lossy().into_owned(),
            plan,
            factors,
            chart,
            verdict,
            answers,
            expects,
            disturbed,
            identity,
        })
    }

    /// The file's name without its extension.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// SHA-256 in hexadecimal of the text, the overrides, and the smack and option files that it names.
    pub fn sha256(&self) -> String {
        self.identity.sha256()
    }

    /// True if the runs use a server that does nothing.
    pub fn is_simulated(&self) -> bool {
        self.identity.is_simulated()
    }

    /// The factors in the file's order; the last one is [`samples::LOAD`] where it has several loads.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The requested charts, if any.
    pub fn chart(&self) -> Option<&Chart> {
        self.chart.as_ref()
    }

    /// The requested comparison, if any.
    pub fn verdict(&self) -> Option<&VerdictSpec> {
        self.verdict.as_ref()
    }

    /// The lines of the answer, if the file names any.
    pub fn answers(&self) -> &[AnswerSpec] {
        &self.answers
    }

    /// What the figures have to hold, if anything.
    pub fn expects(&self) -> &[ExpectSpec] {
        &self.expects
    }

    /// What is done about runs that other work disturbed.
    pub fn disturbed(&self) -> DisturbedSpec {
        self.disturbed
    }

    /// All runs in their order.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Writes the experiment as run into a results directory that has none: `experiment.toml`, the text;
    /// `experiment.json`, the overrides and the hashes of the files that it names; and copies of these below `files`,
    /// from which `masked` removes the secrets. The new files are recorded in `created`.
    pub fn save(
        &self,
        results_dir: &Path,
        created: &mut Created,
        masked: RedactedContent<'_>,
    ) -> Result<(), Error> {
        self.identity.save(results_dir, created, masked)
    }

    /// An error if a file of data, of which results have no copy, is gone or is no longer what it was for the results in
    /// this directory.
    pub fn check_data(&self, results_dir: &Path) -> Result<(), Error> {
        self.identity.check_data(results_dir)
    }

    /// An error unless a results directory contains results of this experiment.
    pub fn check(&self, results_dir: &Path) -> Result<(), Error> {
        self.identity.check(results_dir)
    }
}

/// The defaults that were valid when the results of a directory were begun.
pub fn defaults_of(results_dir: &Path) -> Result<Defaults, Error> {
    let (_, overrides) = Identity::read(results_dir)?;
    Ok(overrides.defaults)
}

/// The question in an experiment file's text; `None` if it has none, or cannot be read.
pub fn question_of(text: &str) -> Option<String> {
    let root = toml::de::DeTable::parse(text).ok()?;
    let question = root.get_ref().get("question")?;
    Some(question.get_ref().as_str()?.to_owned())
}

fn check_format(top: &Section<'_>) -> Result<(), Error> {
    let format = top.parsed("format", "1", |text| Some(text.to_owned()))?;
    let format = top.required("format", format, "format = 1")?;
    if format == "1" {
        Ok(())
    } else {
        Err(top.error_at("format", Problem::Format { found: format }))
    }
}

fn seed(top: &Section<'_>, overrides: &Overrides) -> Result<u64, Error> {
    let seed = top.parsed("seed", "a whole number from 0", |text| text.parse().ok())?;
    Ok(overrides.seed.or(seed).unwrap_or(1))
}

fn check_runs(top: &Section<'_>, combinations: usize, repeats: u32) -> Result<(), Error> {
    let runs = combinations as u64 * u64::from(repeats);
    if runs <= u64::from(RUNS_AT_MOST) {
        return Ok(());
    }
    let problem = Problem::TooManyRuns {
        runs: runs.to_string(),
        at_most: RUNS_AT_MOST,
    };
    Err(top.error_at("repeats", problem))
}

/// A private server whose version, settings or data differ between runs must be restarted before each of them.
fn check_restarts(top: &Section<'_>, cells: &[Cell]) -> Result<(), Error> {
    let differ = cells
        .windows(2)
        .any(|pair| !pair[0].server.starts_like(&pair[1].server) || pair[0].data != pair[1].data);
    let restart = cells.iter().map(|cell| &cell.server).find_map(|server| {
        let private = matches!(server, ServerSpec::Private { .. });
        let restart = server.restart();
        (private && restart != Restart::PerRun).then_some(restart)
    });
    match restart {
        Some(restart) if differ => {
            let restart = restart.word();
            let problem = Problem::SettingsNeedRestart { restart };
            Err(top
                .section("server", "[server]")?
                .error_at("restart", problem))
        }
        _ => Ok(()),
    }
}

/// The loads of all combinations must be compatible.
fn check_together(top: &Section<'_>, cells: &[Cell], vocabulary: &Vocabulary) -> Result<(), Error> {
    for kind in &vocabulary.loads {
        let loads = cells.iter().flat_map(|cell| &cell.loads);
        let sources = loads.map(|load| &load.source);
        let alike = sources.filter(|source| source.name() == kind.name());
        let mut values = alike.map(|source| &source.values);
        if let Some(conflict) = kind.conflict(&mut values) {
            let problem = Problem::Conflict {
                problem: conflict.problem,
                hint: conflict.hint,
            };
            return Err(load::place(top, conflict.option)?.error_at(conflict.option, problem));
        }
    }
    Ok(())
}
