//! The definition of a rule: its input, threshold, source, consequence and judging function.

use samples::StorageRecord;

use crate::{finding::Outcome, run::Run, set::Set};

/// The rules about the course and the figures of a load of one level: where loads have stages, they judge each stage by
/// itself. All other rules judge whole runs.
const BY_STAGE: [&str; 10] = [
    "H08", "H10", "T02", "M01", "M03", "M04", "M05", "M06", "M09", "M11",
];

/// The rules about the executions that are compared: of runs side by side, these are the batches of slices.
const BY_BATCH: [&str; 2] = ["M01", "M09"];

/// The rules about servers that run side by side. They are left out where no run did.
const OF_SESSIONS: [&str; 1] = ["M13"];

#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Short name, for example `H12`: H hardware, W workload, C configuration, T observation, M method.
    pub id: &'static str,
    /// The requirement, as a statement: `the run has no stalls`.
    pub name: &'static str,
    /// The title of a finding, used if the requirement is not met.
    pub found: &'static str,
    /// The quantity that is checked.
    pub measures: &'static str,
    /// The thresholds and the level at each.
    pub threshold: &'static str,
    pub source: &'static str,
    /// What a finding means for the figures.
    pub consequence: &'static str,
    pub remedy: &'static str,
    pub(crate) judge: Judge,
}

impl Rule {
    /// True if both are the same rule.
    pub fn is(&self, other: &Self) -> bool {
        self.id == other.id
    }

    /// True if it judges only servers that run side by side: it is left out of the audit of all other runs.
    pub fn is_of_sessions(&self) -> bool {
        OF_SESSIONS.contains(&self.id)
    }

    /// True if it judges each stage of a load by itself, where loads have stages.
    pub(crate) fn judges_stages(&self) -> bool {
        BY_STAGE.contains(&self.id)
    }

    /// True if it judges each batch of slices by itself, where runs are side by side.
    pub(crate) fn judges_batches(&self) -> bool {
        BY_BATCH.contains(&self.id)
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Judge {
    /// Judges each run by itself.
    Run(fn(&Run<'_>) -> Outcome),
    /// Judges all runs together.
    Set(fn(&Set<'_>) -> Outcome),
    Storage(OfStorage),
    RunOrStorage(fn(&Run<'_>) -> Outcome, OfStorage),
    SetOrStorage(fn(&Set<'_>) -> Outcome, OfStorage),
}

pub(crate) type OfStorage = fn(&StorageRecord) -> Outcome;
