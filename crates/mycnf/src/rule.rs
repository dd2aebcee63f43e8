//! The definition of a rule over an option file, and its remarks.

use crate::assignment::Assignment;
use crate::entry::Origin;
use crate::finding::option_as_written;
use crate::fix::Fix;
use crate::subject::Subject;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For information: the line does nothing, or has a side that is easily forgotten.
    Note,
    /// The line, or two together, do something other than meant.
    Warning,
    /// Data, commits or access can be lost.
    Risk,
    /// The server does not start, or passes over the line.
    Refused,
}

impl Level {
    /// All levels, the worst first.
    pub const ALL: [Self; 4] = [Self::Refused, Self::Risk, Self::Warning, Self::Note];

    /// The word for it: `refused`, `risk`, `warning` or `note`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Risk => "risk",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

/// Whether a server starts with a file. The variants are in the order of harm, because the worst finding decides for the
/// whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Startup {
    /// It starts: nothing is refused.
    Accepted,
    /// It starts, and ignores the lines or files that are refused.
    Ignoring,
    /// It starts if its time zone tables have the zone that the file names; in a new data directory they are empty.
    WithTimeZones,
    /// It may not start: the catalogue is of another version, and does not have the option or the value.
    Uncertain,
    /// It does not start.
    Refused,
}

/// How sure an advice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Known: it follows from a setting, a version or the machine.
    Rule,
    /// Inferred from counters since the start of the server.
    Counter,
}

impl Basis {
    /// The word for it: `rule` or `counter`; what `config prove` finds is `measured`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Counter => "counter",
        }
    }
}

/// One rule over an option file or a running server.
#[derive(Debug)]
pub struct Rule {
    /// Its name: `repeated-option`.
    pub id: &'static str,
    /// What is found, as a title.
    pub title: &'static str,
    /// Why it matters.
    pub reason: &'static str,
    pub source: &'static str,
    pub(crate) check: fn(&Subject<'_>) -> Vec<RuleFinding>,
}

impl Rule {
    /// Whether both are the same rule.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.id == other.id
    }

    pub(crate) fn is_one_of(&self, rules: &[&Self]) -> bool {
        rules.iter().any(|rule| self.is(rule))
    }
}

/// A rewrite of one line that changes nothing but what the finding names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rewrite {
    /// The line becomes a comment.
    Remove,
    /// The line becomes this one, or these, separated by line feeds.
    Replace(String),
}

impl Rewrite {
    /// The new lines in one, for a sentence: `slow_query_log = 1 and slow_query_log_file = /var/log/slow.log`.
    pub fn in_one_line(new: &str) -> String {
        new.replace('\n', " and ")
    }
}

/// What a rule says about one option or a combination of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFinding {
    pub level: Level,
    /// File and line; `None` if it is about an option that the file does not set.
    pub at: Option<Origin>,
    /// The option as written with its value, or the name of an option that the file does not set.
    pub option: String,
    /// What was found.
    pub what: String,
    pub fix: Option<Fix>,
    /// The safe rewrite, if there is one.
    pub rewrite: Option<Rewrite>,
    /// The option that the fix says to write in the place of the line's, if there is one.
    pub(crate) successor: Option<&'static str>,
    /// What it means for the start of the server if its level is a refusal, a risk of one, or a doubt about it.
    pub(crate) if_refused: Startup,
    /// False if it says only that the line cannot be judged: the option is of a plugin, or of another build.
    pub(crate) is_judged: bool,
}

impl RuleFinding {
    pub(crate) fn on(assignment: &Assignment<'_>, level: Level, what: impl Into<String>) -> Self {
        Self {
            at: Some(assignment.entry.origin.clone()),
            ..Self::about(&option_as_written(assignment.entry), level, what)
        }
    }

    /// A note that a line is not judged, and why.
    pub(crate) fn not_judged(assignment: &Assignment<'_>, what: impl Into<String>) -> Self {
        Self {
            is_judged: false,
            ..Self::on(assignment, Level::Note, what)
        }
    }

    /// A remark on an option that the file does not set.
    pub(crate) fn about(option: &str, level: Level, what: impl Into<String>) -> Self {
        Self {
            level,
            at: None,
            option: option.to_owned(),
            what: what.into(),
            fix: None,
            rewrite: None,
            successor: None,
            if_refused: Startup::Refused,
            is_judged: true,
        }
    }

    /// A remark on the line that sets an option, or on the option where no line does.
    pub(crate) fn of(
        subject: &Subject<'_>,
        option: &str,
        level: Level,
        what: impl Into<String>,
    ) -> Self {
        match subject.set(option) {
            Some(assignment) => Self::on(assignment, level, what),
            None => Self::about(option, level, what),
        }
    }

    pub(crate) fn fix(mut self, fix: impl Into<Fix>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    /// The same with what it means for the start of the server if its level is a refusal, or a doubt about it.
    pub(crate) fn if_refused(mut self, startup: Startup) -> Self {
        self.if_refused = startup;
        self
    }

    /// What it means for the start of the server.
    pub fn startup(&self) -> Startup {
        match (self.level, self.if_refused) {
            (Level::Refused, startup) => startup,
            // Only the server itself knows whether its tables have the zone.
            (Level::Risk, Startup::WithTimeZones) => Startup::WithTimeZones,
            (Level::Note, Startup::Uncertain) => Startup::Uncertain,
            (Level::Risk | Level::Warning | Level::Note, _) => Startup::Accepted,
        }
    }

    pub(crate) fn rewrite(mut self, rewrite: Rewrite) -> Self {
        self.rewrite = Some(rewrite);
        self
    }
}

/// A remark with the rule that made it.
#[derive(Debug, Clone)]
pub struct Advice {
    pub rule: &'static Rule,
    pub remark: RuleFinding,
    pub basis: Basis,
}
