//! All runs of a subject, as the rules over several runs read them.

use std::collections::BTreeMap;

use samples::{LOAD, RATE, Record, STAGE, StorageRecord, complete_runs, run_indices};

use crate::{
    asked_comparison::AskedComparison,
    finding::{Finding, Outcome, missing},
    run::Run,
    subject::{BesideRecords, Preregistration, Subject},
};

/// Levels by factor.
pub(crate) type Combination = BTreeMap<String, String>;

/// All runs of a subject, or all stages or batches of its runs.
#[derive(Debug)]
pub(crate) struct Set<'a> {
    pub(crate) runs: Vec<Run<'a>>,
    pub(crate) declared: &'a Preregistration,
    pub(crate) comparisons: &'a [AskedComparison],
    pub(crate) kept: &'a BesideRecords,
    pub(crate) storage: Option<&'a StorageRecord>,
}

/// What the records of a set are called in findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noun {
    Run,
    /// The record of one of several loads of a run.
    Record,
    Stage,
}

impl Noun {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Record => "record",
            Self::Stage => "stage",
        }
    }
}

impl<'a> Set<'a> {
    pub(crate) fn of(subject: &'a Subject<'a>) -> Self {
        Self::over(subject, subject.runs.iter().map(Run::of).collect())
    }

    /// The stages of the runs, and the runs without any; `None` if no run has stages.
    pub(crate) fn of_stages(subject: &'a Subject<'a>) -> Option<Self> {
        let stages = subject.stages.iter().map(Run::of_stage);
        (!subject.stages.is_empty()).then(|| Self::over(subject, stages.collect()))
    }

    /// The batches of slices, and what has none; `None` if no run has batches.
    pub(crate) fn of_batches(subject: &'a Subject<'a>) -> Option<Self> {
        let batches = subject.batches.iter().map(Run::of_stage);
        (!subject.batches.is_empty()).then(|| Self::over(subject, batches.collect()))
    }

    fn over(subject: &'a Subject<'a>, mut runs: Vec<Run<'a>>) -> Self {
        let indices = run_indices(runs.iter().map(|run| run.record));
        let records: Vec<&Record> = runs.iter().map(|run| run.record).collect();
        for (at, run) in runs.iter_mut().enumerate() {
            // The records of a run are beside each other.
            let is_same = |other: &usize| indices[*other] == indices[at];
            let before = (0..at).rev().take_while(is_same);
            let after = (at + 1..records.len()).take_while(is_same);
            let others: Vec<usize> = before.chain(after).collect();
            run.is_first_load = others.iter().all(|other| *other > at);
            run.beside = others.into_iter().map(|other| records[other]).collect();
            let mut limits = subject.declared.search_limits.iter();
            run.search_limit = limits.find(|it| it.is_of(run.record));
        }
        Self {
            runs,
            declared: &subject.declared,
            comparisons: &subject.comparisons,
            kept: &subject.kept,
            storage: subject.storage,
        }
    }

    pub(crate) fn complete(&self) -> impl Iterator<Item = &Run<'a>> {
        self.runs.iter().filter(|run| run.record.is_complete())
    }

    /// Number of runs of which every record is there and complete.
    pub(crate) fn complete_count(&self) -> usize {
        complete_runs(self.runs.iter().map(|run| run.record))
    }

    /// The first load of each run that was completed.
    pub(crate) fn first_loads(&self) -> impl Iterator<Item = &Run<'a>> {
        self.complete().filter(|run| run.is_first_load)
    }

    /// What the records are of.
    pub(crate) fn noun(&self) -> Noun {
        match (self.has_stages(), self.has_several_loads()) {
            (true, _) => Noun::Stage,
            (false, true) => Noun::Record,
            (false, false) => Noun::Run,
        }
    }

    /// The worst outcome over all runs, the first one of its level; not judged if one run cannot be judged.
    pub(crate) fn worst(&self, judge: impl Fn(&Run<'a>) -> Outcome) -> Outcome {
        let mut worst: Option<Finding> = None;
        for run in &self.runs {
            let found = judge(run)?;
            if worst.as_ref().is_none_or(|known| found.level > known.level) {
                worst = Some(found);
            }
        }
        worst.ok_or_else(|| missing("runs"))
    }

    /// The complete runs by combination of levels (and side), in the order in which the combinations were first run.
    pub(crate) fn combinations(&self) -> Vec<(Combination, Vec<&Run<'a>>)> {
        self.grouped(|_| true)
    }

    /// The complete runs behind each result: those of a combination, or of all rates of a search.
    pub(crate) fn results(&self) -> Vec<(Combination, Vec<&Run<'a>>)> {
        self.grouped(|factor| !(self.declared.is_search && factor == RATE))
    }

    /// The complete runs grouped by the levels of all factors except `left_out`.
    pub(crate) fn without(&self, left_out: &[String]) -> Vec<(Combination, Vec<&Run<'a>>)> {
        self.grouped(|factor| !left_out.iter().any(|name| name == factor))
    }

    fn grouped(&self, is_kept: impl Fn(&str) -> bool) -> Vec<(Combination, Vec<&Run<'a>>)> {
        let mut groups: Vec<(Combination, Vec<&Run<'a>>)> = Vec::new();
        for run in self.complete() {
            let mut key: Combination = self.levels(run);
            key.retain(|factor, _| is_kept(factor));
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, runs)) => runs.push(run),
                None => groups.push((key, vec![run])),
            }
        }
        groups
    }

    /// The levels of a run, including its side. The arguments of a command are not factors.
    pub(crate) fn levels(&self, run: &Run<'_>) -> Combination {
        let mut levels = Combination::new();
        if self.declared.is_experiment {
            levels.clone_from(&run.record.header.combination);
        }
        let stage = run
            .stage
            .and_then(|_| run.record.header.combination.get(STAGE));
        levels.extend(stage.map(|level| (STAGE.to_owned(), level.clone())));
        if let Some(side) = run.side {
            levels.insert(SIDE.to_owned(), side.to_owned());
        }
        levels
    }

    /// The factors declared for comparison; empty if none were declared.
    pub(crate) fn compared(&self) -> Vec<String> {
        if self.has_sides() {
            return vec![SIDE.to_owned()];
        }
        let declared = self.declared.comparison.as_ref();
        declared.map(|it| it.factors.clone()).unwrap_or_default()
    }

    pub(crate) fn has_sides(&self) -> bool {
        self.runs.iter().any(|run| run.side.is_some())
    }

    /// True if more than one combination was run, so that they will be compared. The stages of one load, the loads of one
    /// run, and the rates of one search are not compared with each other.
    pub(crate) fn compares(&self) -> bool {
        let stages = self.has_stages().then(|| STAGE.to_owned());
        let loads = self.has_several_loads().then(|| LOAD.to_owned());
        let rates = self.declared.is_search.then(|| RATE.to_owned());
        let left_out = stages.into_iter().chain(loads).chain(rates);
        let left_out: Vec<String> = left_out.collect();
        self.without(&left_out).len() > 1
    }

    /// The names of the loads; one without a name where runs have a single load.
    pub(crate) fn load_names(&self) -> Vec<Option<String>> {
        let mut names = Vec::new();
        if !self.has_several_loads() {
            return vec![None];
        }
        for run in self.complete() {
            let name = self.levels(run).remove(LOAD);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    pub(crate) fn has_several_loads(&self) -> bool {
        let mut headers = self.runs.iter().map(|run| &run.record.header);
        headers.any(|header| !header.beside.is_empty())
    }

    /// True if these are batches of slices of runs side by side.
    pub(crate) fn has_batches(&self) -> bool {
        self.runs.iter().any(|run| run.record.batch.is_some())
    }

    /// True if these are stages of runs.
    pub(crate) fn has_stages(&self) -> bool {
        self.runs.iter().any(|run| run.stage.is_some())
    }
}

/// The factor that distinguishes two sides.
pub(crate) const SIDE: &str = "side";

/// Levels as text: `connections=8 mix=1:1`.
pub(crate) fn in_words(levels: &Combination) -> String {
    let levels: Vec<_> = levels
        .iter()
        .map(|(factor, level)| format!("{factor}={level}"))
        .collect();
    if levels.is_empty() {
        "the only combination".to_owned()
    } else {
        levels.join(" ")
    }
}
