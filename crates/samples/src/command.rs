//! The command that produced a record.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The command of a single run, so that it can be repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Working directory of the command.
    pub directory: PathBuf,
    /// Arguments after the program name; passwords are replaced by `…`.
    pub arguments: Vec<String>,
}

impl Command {
    /// The command line as it was typed.
    pub fn in_words(&self) -> String {
        format!("dbdyno {}", self.arguments.join(" "))
    }
}
