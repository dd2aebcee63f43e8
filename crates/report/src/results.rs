//! The input of a report: the question and the run records that answer it.

use samples::{Disturbance, Record, STAGE, Staged, run_indices};
use settings::{Chart, Factor};

/// One experiment and the records of its runs.
#[derive(Debug, Clone)]
pub struct Results {
    /// Name of the experiment.
    pub name: String,
    /// The question in the words of the experiment's author; may be empty.
    pub question: String,
    /// The experiment file as run.
    pub experiment_text: String,
    /// The factors in their order.
    pub factors: Vec<Factor>,
    /// The author's choice of charts; `None` leaves the choice to the report.
    pub chart: Option<Chart>,
    /// The author's comparison; `None` without one.
    pub verdict: Option<verdict::Question>,
    /// The parts of the question that the author wants answered one by one, in the author's order.
    pub clauses: Vec<Clause>,
    pub expectations: Vec<Expectation>,
    /// One record per run of the plan; of several attempts at one run, the last.
    pub runs: Vec<Record>,
    /// Their stages, if their load has any: [`Staged::of`] the runs.
    pub staged: Staged,
    pub disturbances: Disturbances,
    /// The audit; `None` if it was not done.
    pub audit: Option<audit::Audit>,
    pub planned_runs: u32,
}

impl Results {
    /// What is averaged, compared and shown as a combination: the runs, or the stages of their load.
    pub fn compared(&self) -> &[Record] {
        self.staged.compared(&self.runs)
    }

    /// True if the author asks for something by name: a comparison, or an answer to a part of the question.
    pub(crate) fn asks_by_name(&self) -> bool {
        self.verdict.is_some() || !self.clauses.is_empty()
    }

    pub(crate) fn has_several_loads(&self) -> bool {
        self.runs.iter().any(|it| !it.header.beside.is_empty())
    }

    /// One record of each run: that of its first load.
    pub(crate) fn first_loads(&self) -> impl Iterator<Item = &Record> {
        let indices = run_indices(&self.runs);
        let is_first = move |at: usize| at == 0 || indices[at] != indices[at - 1];
        let runs = self.runs.iter().enumerate();
        runs.filter(move |(at, _)| is_first(*at))
            .map(|(_, record)| record)
    }

    /// The index of the run that [`Self::compared`] has at this index.
    pub(crate) fn run_of(&self, compared: usize) -> usize {
        self.staged.runs.get(compared).copied().unwrap_or(compared)
    }

    /// The factors of [`Self::compared`]: the author's, and the stages.
    pub(crate) fn all_factors(&self) -> Vec<Factor> {
        let stages = (!self.staged.is_empty()).then(|| Factor {
            name: STAGE.to_owned(),
            levels: self.staged.levels.clone(),
        });
        self.factors.iter().cloned().chain(stages).collect()
    }

    /// The question, or the name of an experiment without one.
    pub(crate) fn title(&self) -> &str {
        match self.question.trim() {
            "" => &self.name,
            question => question,
        }
    }
}

#[cfg(test)]
impl Results {
    /// Results without a question, of runs that a test made up.
    pub(crate) fn of_runs(runs: Vec<Record>) -> Self {
        Self {
            name: String::new(),
            question: String::new(),
            experiment_text: String::new(),
            factors: Vec::new(),
            chart: None,
            verdict: None,
            clauses: Vec::new(),
            expectations: Vec::new(),
            disturbances: Disturbances::default(),
            audit: None,
            planned_runs: 1,
            staged: Staged::of(&runs),
            runs,
        }
    }
}

/// A part of the question.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// What it is about, as the author calls it.
    pub name: String,
    /// Factors and the levels of them that it is about; empty for every combination.
    pub filter: Vec<(String, Vec<String>)>,
    /// What is compared; `None` where the highest throughput is asked for.
    pub compared: Option<verdict::Question>,
}

/// A bound on a figure of every combination.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    pub metric: verdict::Metric,
    /// Whether it has to be below the limit, not above it.
    pub is_below: bool,
    /// In the metric's unit.
    pub limit: f64,
    /// The bound in the author's words: `< 5ms`.
    pub written: String,
}

impl Expectation {
    /// `p99 < 5ms`
    pub fn in_words(&self) -> String {
        format!("{} {}", self.metric.in_words(), self.written.trim())
    }
}

/// What other work on the machines spoilt, and from when on it does.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Disturbances {
    /// User time of other programs above which a run is disturbed, as a share of the machine's CPUs.
    pub others: f64,
    /// CPU steal above which a run is disturbed, as a share of the machine's CPUs.
    pub steal: f64,
    /// Runs whose records were set aside and that were repeated.
    pub set_aside: Vec<(u32, Disturbance)>,
}
