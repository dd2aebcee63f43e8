//! Whose fault an error is, and the exit code that says so.

use std::fmt;

/// Whose fault an error is; the number is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// A verdict was asked for and is negative.
    Verdict = 1,
    /// The user's input: command line, file, password, missing binary, port taken.
    Input = 2,
    /// The server failed, or a statement's error remains.
    Server = 3,
    /// The machine: disk full, limits.
    Machine = 4,
    /// Interrupted by a signal.
    Interrupted = 130,
}

/// An error with its blame and, where the user can act, a hint.
#[derive(Debug)]
pub struct Blamed {
    /// Whose fault it is.
    pub blame: Blame,
    /// What went wrong: names the thing, then the cause.
    pub message: String,
    /// What the user can do.
    pub hint: Option<String>,
}

impl Blamed {
    /// An error without a hint.
    pub fn new(blame: Blame, message: impl fmt::Display) -> Self {
        Self {
            blame,
            message: message.to_string(),
            hint: None,
        }
    }

    /// The same error with a hint.
    pub fn hint(mut self, hint: impl Into<Option<String>>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for Blamed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Blamed {}
