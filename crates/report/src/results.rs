//! The input of a report: the question and the run records that answer it.

use samples::{Disturbance, RATE, Record, RunParts, STAGE, run_indices};
use settings::{Chart, Factor};

use crate::search_answer::SearchAnswer;

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
    /// The answers of the searches for the highest rate that keeps a limit, one for each combination; empty if the author
    /// asks for none.
    pub searches: Vec<SearchAnswer>,
    /// One record per run of the plan; of several attempts at one run, the last.
    pub runs: Vec<Record>,
    /// The stages of their load and their batches of slices, if they have any: [`RunParts::of`] the runs.
    pub parts: RunParts,
    pub disturbances: Disturbances,
    /// The audit; `None` if it was not done.
    pub audit: Option<audit::Audit>,
    pub planned_runs: u32,
}

impl Results {
    /// What is averaged, compared and shown as a combination: the runs, the stages of their load, or their batches of slices.
    pub fn compared(&self) -> &[Record] {
        self.parts.compared(&self.runs)
    }

    /// What has a course of its own: the runs, or the stages of their load.
    pub(crate) fn runs_or_stages(&self) -> &[Record] {
        self.parts.staged.compared(&self.runs)
    }

    /// True if the author asks for something by name: a comparison, an answer to a part of the question, or a rate.
    pub(crate) fn asks_by_name(&self) -> bool {
        self.verdict.is_some() || !self.clauses.is_empty() || !self.searches.is_empty()
    }

    /// The factor along x because of how the runs are made: the rates of a search, or the stages; `None` for other runs.
    pub(crate) fn own_x(&self) -> Option<&'static str> {
        if self.searches.is_empty() {
            (!self.parts.staged.is_empty()).then_some(STAGE)
        } else {
            Some(RATE)
        }
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
        self.parts.run_of(compared)
    }

    /// The factors of [`Self::compared`]: the author's, and the stages.
    pub(crate) fn all_factors(&self) -> Vec<Factor> {
        let stages = (!self.parts.staged.is_empty()).then(|| Factor {
            name: STAGE.to_owned(),
            levels: self.parts.staged.levels.clone(),
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
            searches: Vec::new(),
            disturbances: Disturbances::default(),
            audit: None,
            planned_runs: 1,
            parts: RunParts::of(&runs),
            runs,
        }
    }

    /// Runs side by side of four slices each, of which two are a batch.
    pub(crate) fn of_slices(runs: u32) -> Self {
        let interval = |at: u32, part: &str| {
            format!(r#"{{"line":"interval","t_s":{at}.0,"length_s":1.0,{part},"operations":[]}}"#)
        };
        let records = (1..=runs).map(|run| {
            let mut lines = vec![
                format!(
                    r#"{{"line":"run","format":1,"dbdyno_version":"0","experiment":"e","experiment_sha256":"","seed":1,"run":{run},"block":1,"combination":{{}},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":"unix socket"}}"#
                ),
                r#"{"line":"side_by_side","combinations":[],"slice_s":1.0,"settle_s":0.0,"slices_per_batch":2,"slices_at_most":4}"#.to_owned(),
            ];
            for slice in 1..=4 {
                let part = format!(r#""phase":"measurement","slice":{slice}"#);
                lines.push(interval(2 * slice, &part));
                lines.push(interval(2 * slice + 1, r#""phase":"pause""#));
            }
            Record::read(lines.join("\n").as_bytes()).expect("these are lines of a record")
        });
        Self::of_runs(records.collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_side_by_side_are_compared_by_their_batches() {
        let results = Results::of_slices(2);
        let headers = results.compared().iter().map(|it| &it.header);
        let blocks: Vec<_> = headers.map(|it| (it.run, it.block)).collect();
        assert_eq!(blocks, [(1, 1), (1, 2), (2, 1), (2, 2)]);
        assert_eq!([0, 1, 2, 3].map(|at| results.run_of(at)), [0, 0, 1, 1]);
        assert_eq!(results.runs_or_stages().len(), 2);
    }
}
