//! What a rule is: what it measures, from where on it speaks, why, and how it judges.

use crate::{finding::Outcome, run::Run, set::Set};

/// A rule of the audit.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Its short name, as `H12`: H hardware, W workload, C configuration, T observation, M method.
    pub id: &'static str,
    /// What has to be so.
    pub name: &'static str,
    /// The title of what it found, where that speaks against the figures.
    pub found: &'static str,
    /// What it looks at.
    pub measures: &'static str,
    /// From where on it speaks, and how loud.
    pub threshold: &'static str,
    /// Where rule and threshold come from.
    pub source: &'static str,
    /// What it means for the figures where it speaks.
    pub consequence: &'static str,
    /// What to do then.
    pub remedy: &'static str,
    pub(crate) judge: Judge,
}

/// What a rule judges.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Judge {
    /// Each run by itself.
    Run(fn(&Run<'_>) -> Outcome),
    /// All runs together.
    Set(fn(&Set<'_>) -> Outcome),
}

/// A rule that cannot be evaluated yet.
#[derive(Debug, Clone, Copy)]
pub struct WaitingRule {
    /// Its short name.
    pub id: &'static str,
    /// What has to be so.
    pub name: &'static str,
    /// The input that no record has yet.
    pub waits_for: &'static str,
}
