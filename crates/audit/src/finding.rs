//! What a rule says of a run or of a set of runs.

use std::collections::BTreeMap;

use serde::Serialize;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Looked at and found in order.
    Pass,
    /// Worth knowing; takes nothing from the figures.
    Note,
    /// The figures mean less than they seem to.
    Warn,
    /// A claim that rests on the figures does not stand.
    Fail,
    /// The figures must be neither compared nor published.
    Invalid,
}

impl Level {
    /// All of them, the worst first.
    pub const ALL: [Self; 5] = [
        Self::Invalid,
        Self::Fail,
        Self::Warn,
        Self::Note,
        Self::Pass,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Note => "note",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Invalid => "invalid",
        }
    }

    /// The level of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// What a rule found, with the figures that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// What was measured, in a sentence.
    pub evidence: String,
    /// The figures of that sentence; the unit stands in the name.
    pub figures: BTreeMap<String, f64>,
    /// Numbers of the runs that it holds for, of a rule over single runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<u32>,
}

impl Finding {
    /// A finding without figures yet.
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

/// Why a rule found nothing, neither good nor bad.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unjudged {
    /// An input is missing: which one.
    NotEvaluated(String),
    /// There is nothing here that the rule could be about: why.
    DoesNotApply(String),
}

/// What a rule says.
pub type Outcome = Result<Finding, Unjudged>;

/// An input is missing.
pub(crate) fn missing(what: impl Into<String>) -> Unjudged {
    Unjudged::NotEvaluated(what.into())
}

/// There is nothing that the rule could be about.
pub(crate) fn no_subject(why: impl Into<String>) -> Unjudged {
    Unjudged::DoesNotApply(why.into())
}
