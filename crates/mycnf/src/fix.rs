//! What a finding says to do about a line.

use std::fmt;

/// What to do about the line of a finding. A migration acts on it; its text is for readers alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fix {
    /// Add a line of another option, as a migration does by its pins: `character_set_server = utf8mb4`.
    Add(String),
    /// Leave the line out, and why; `None` if the finding itself is the reason.
    LeaveOut(Option<String>),
    /// Anything else, as it is shown: `write innodb_redo_log_capacity`.
    Text(String),
}

impl Fix {
    /// To leave the line out for this reason.
    pub(crate) fn leave_out(reason: impl Into<String>) -> Self {
        Self::LeaveOut(Some(reason.into()))
    }
}

/// `leave it out: there is no query cache any more`
impl fmt::Display for Fix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add(line) => write!(formatter, "add {line}"),
            Self::LeaveOut(None) => formatter.write_str("leave it out"),
            Self::LeaveOut(Some(reason)) => write!(formatter, "leave it out: {reason}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

impl From<String> for Fix {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Fix {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}
