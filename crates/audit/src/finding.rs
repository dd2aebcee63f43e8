//! The result of a rule: a finding with its level, or the reason why there is none.

use std::collections::BTreeMap;

use serde::Serialize;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Checked, no problem found.
    Pass,
    /// Worth knowing; does not affect the figures.
    Note,
    /// The figures are less reliable than they seem.
    Warn,
    /// The figures do not support the claim made from them.
    Fail,
    /// The figures must be neither compared nor published.
    Invalid,
}

impl Level {
    /// All levels, the worst first.
    pub const ALL: [Self; 5] = [
        Self::Invalid,
        Self::Fail,
        Self::Warn,
        Self::Note,
        Self::Pass,
    ];

    /// The name of the level in lower case, as in outputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Note => "note",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Invalid => "invalid",
        }
    }

    /// The level of this name; `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// What a rule found, with the figures behind it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    pub level: Level,
    /// The measurement, as one sentence.
    pub evidence: String,
    /// The figures of that sentence; each name ends with the unit.
    pub figures: BTreeMap<String, f64>,
    /// Numbers of the runs that the finding is about, for a rule over single runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<u32>,
}

impl Finding {
    /// A finding without figures.
    pub(crate) fn new(level: Level, evidence: impl Into<String>) -> Self {
        Self {
            level,
            evidence: evidence.into(),
            figures: BTreeMap::new(),
            runs: Vec::new(),
        }
    }

    /// The same finding with one more figure.
    pub(crate) fn with(mut self, name: &str, value: f64) -> Self {
        self.figures.insert(name.to_owned(), value);
        self
    }
}

/// Why a rule has no finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// An input is missing; the text names it.
    NotEvaluated(String),
    /// The rule does not apply to these runs; the text gives the reason.
    DoesNotApply(String),
}

/// The result of evaluating a rule.
pub type Outcome = Result<Finding, SkipReason>;

/// [`SkipReason::NotEvaluated`] for this input.
pub(crate) fn missing(what: impl Into<String>) -> SkipReason {
    SkipReason::NotEvaluated(what.into())
}

/// [`SkipReason::DoesNotApply`] for this reason.
pub(crate) fn no_subject(why: impl Into<String>) -> SkipReason {
    SkipReason::DoesNotApply(why.into())
}
