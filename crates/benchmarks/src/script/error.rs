//! Errors of scripts, and of the lists and values that they use.

use std::{io, path::PathBuf};

use blame::{Blame, Blamed};

use crate::diagnostic::Diagnostic;

/// An error of a script.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Fault(Box<Diagnostic>),
    /// A script cannot be read.
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    /// A value that is given to scripts has no name, or a name that cannot be one.
    #[error(
        "`{0}` cannot be the name of a variable: letters, digits and underscores, no digit first"
    )]
    Name(String),
}

impl Error {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Fault(diagnostic) => diagnostic.hint.clone(),
            Self::File { .. } | Self::Name(_) => None,
        }
    }
}

impl From<Error> for Blamed {
    fn from(error: Error) -> Self {
        let hint = error.hint();
        Self::new(Blame::Input, error).hint(hint)
    }
}
