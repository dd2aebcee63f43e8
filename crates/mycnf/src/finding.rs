//! Findings of a server or a catalogue about one option of the user.

use std::fmt;

use crate::entry::{Entry, Origin};
use crate::secret::{MASK, is_secret};

/// The effect of a finding on the start of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The server would not start, or would ignore the whole line.
    Refused,
    /// The server starts; the finding is for information.
    Note,
}

/// A finding about one option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// File and line of the option.
    pub at: Origin,
    /// The option as written, with its value: `innodb_log_file_size=1G`.
    pub option: String,
    pub severity: Severity,
    /// The finding: `unknown to this version`.
    pub what: String,
    /// The option to write instead, if known.
    pub hint: Option<String>,
}

impl Finding {
    /// A finding about an option of a file.
    pub fn new(entry: &Entry, severity: Severity, what: impl Into<String>) -> Self {
        Self {
            at: entry.origin.clone(),
            option: option_as_written(entry),
            severity,
            what: what.into(),
            hint: None,
        }
    }

    /// The same finding with a hint.
    pub fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// Whether it prevents the server from starting as configured.
    pub fn is_refusal(&self) -> bool {
        self.severity == Severity::Refused
    }
}

/// `innodb_log_file_size=1G`, without a secret; a very long value is cut.
pub(crate) fn option_as_written(entry: &Entry) -> String {
    const SHOWN_MAX: usize = 120;
    let name = entry.name.as_written();
    match &entry.value {
        Some(_) if is_secret(&entry.name) => format!("{name}={MASK}"),
        Some(value) if value.chars().count() > SHOWN_MAX => {
            let begin: String = value.chars().take(SHOWN_MAX).collect();
            format!("{name}={begin}...")
        }
        Some(value) => format!("{name}={value}"),
        None => name.to_owned(),
    }
}

/// `base.cnf line 3: query_cache_size=64M: unknown to this version; removed after 5.7.22`
impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}: {}", self.at, self.option, self.what)?;
        match &self.hint {
            Some(hint) => write!(formatter, "; {hint}"),
            None => Ok(()),
        }
    }
}
