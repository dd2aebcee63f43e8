//! The command that made a record.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The command of a single run, so that it can be done again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Where it was called.
    pub directory: PathBuf,
    /// Its arguments behind the program's name; what stands in place of a password is `…`.
    pub arguments: Vec<String>,
}

impl Command {
    /// As it was typed.
    pub fn in_words(&self) -> String {
        format!("dbdyno {}", self.arguments.join(" "))
    }
}
