//! All runs of a subject, as the rules over several runs read them.

use std::collections::BTreeMap;

use samples::{STAGE, StorageRecord};

use crate::{
    finding::{Finding, Outcome, missing},
    run::Run,
    subject::{BesideRecords, Declared, Subject},
};

/// Levels by factor.
pub(crate) type Combination = BTreeMap<String, String>;

/// All runs of a subject, or all stages of its runs.
#[derive(Debug)]
pub(crate) struct Set<'a> {
    pub(crate) runs: Vec<Run<'a>>,
    pub(crate) declared: &'a Declared,
    pub(crate) kept: &'a BesideRecords,
    pub(crate) storage: Option<&'a StorageRecord>,
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

    fn over(subject: &'a Subject<'a>, runs: Vec<Run<'a>>) -> Self {
        Self {
            runs,
            declared: &subject.declared,
            kept: &subject.kept,
            storage: subject.storage,
        }
    }

    /// The runs that were completed.
    pub(crate) fn complete(&self) -> impl Iterator<Item = &Run<'a>> {
        self.runs.iter().filter(|run| run.record.is_complete())
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

    /// True if the subject has two sides.
    pub(crate) fn has_sides(&self) -> bool {
        self.runs.iter().any(|run| run.side.is_some())
    }

    /// True if more than one combination was run, so that they will be compared. The stages of one load are not compared
    /// with each other.
    pub(crate) fn compares(&self) -> bool {
        let left_out = self.has_stages().then(|| STAGE.to_owned());
        self.without(left_out.as_slice()).len() > 1
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
