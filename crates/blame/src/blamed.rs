//! An error with the party responsible for it, which is the exit code.

use std::{fmt, io, path::Path};

use crate::exit_code::Blame;

/// An error with the responsible party and, where the user can act, a hint.
#[derive(Debug)]
pub struct Blamed {
    pub blame: Blame,
    /// Message: the affected thing, then the cause.
    pub message: String,
    /// Suggested actions, in the order of their use.
    pub hints: Vec<String>,
    /// Number of the server's error, if it is the cause.
    pub server_error: Option<u16>,
}

impl Blamed {
    /// An error without a hint.
    pub fn new(blame: Blame, message: impl fmt::Display) -> Self {
        Self {
            blame,
            message: message.to_string(),
            hints: Vec::new(),
            server_error: None,
        }
    }

    /// An error of the machine that names the thing itself.
    pub fn machine(error: impl fmt::Display) -> Self {
        Self::new(Blame::Machine, error)
    }

    /// Makes an error about a file or directory of one from the system: `results/a: Permission denied`. A full disk is
    /// the machine's, whoever named the path.
    pub fn io(blame: Blame, path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |error| {
            let blame = if is_full(&error) {
                Blame::Machine
            } else {
                blame
            };
            Self::new(blame, format!("{}: {error}", path.display()))
        }
    }

    /// The same error with the number of the server's error that is its cause; 0 for a cause on our side.
    pub fn caused_by(self, number: u16) -> Self {
        Self {
            server_error: Some(number).filter(|number| *number > 0),
            ..self
        }
    }

    /// The same error with one more hint, if there is one.
    pub fn hint(mut self, hint: impl Into<Option<String>>) -> Self {
        self.hints.extend(hint.into());
        self
    }
}

impl fmt::Display for Blamed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Blamed {}

/// Whether a file could not be written for lack of space.
pub fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded)
}
