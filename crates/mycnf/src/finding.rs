//! What a server has to say about one option of the user's.

use std::fmt;

use crate::entry::{Entry, Origin};

/// What a finding means for the start of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The server would not start, or would not follow the line at all.
    Refused,
    /// The server starts, and the user should know.
    Note,
}

/// One option and what is to be said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where the option stands.
    pub at: Origin,
    /// The option as written, with its value: `innodb_log_file_size=1G`.
    pub option: String,
    /// What it means for the start.
    pub severity: Severity,
    /// What is the matter: `unknown to this version`.
    pub what: String,
    /// What to write instead, where that is known.
    pub hint: Option<String>,
}

impl Finding {
    /// A finding about an option as it stands in a file.
    pub fn new(entry: &Entry, severity: Severity, what: impl Into<String>) -> Self {
        let name = entry.name.as_written();
        let option = match &entry.value {
            Some(_) if entry.name.base().contains("password") => format!("{name}=..."),
            Some(value) => format!("{name}={value}"),
            None => name.to_owned(),
        };
        Self {
            at: entry.origin.clone(),
            option,
            severity,
            what: what.into(),
            hint: None,
        }
    }

    /// The same finding with what to write instead, if that is known.
    pub fn hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// Whether it keeps the server from starting as asked.
    pub fn is_refusal(&self) -> bool {
        self.severity == Severity::Refused
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
