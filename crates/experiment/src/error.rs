//! What can go wrong with an experiment.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::file::{position::SourcePosition, problem::Problem};

/// An experiment that cannot be run, or results that cannot be continued.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something in the experiment file is wrong.
    #[error("{place}: {problem}\n{}", place.excerpt())]
    File {
        /// Where it stands.
        place: Box<SourcePosition>,
        /// What it is.
        problem: Box<Problem>,
    },
    /// A value of the command line is out of its range.
    #[error("--{option} is {value}; expected {expected}")]
    Override {
        /// The option's name.
        option: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: `read`, `write`, `rename`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The directory already holds results.
    #[error("{} already holds the results of an experiment", path.display())]
    ResultsExist {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds no results.
    #[error("{} holds no experiment to go on with: {missing} is missing", path.display())]
    NoResults {
        /// The directory.
        path: PathBuf,
        /// The file that should be there.
        missing: &'static str,
    },
    /// The directory holds the results of another experiment.
    #[error("{} holds the results of another experiment: {difference}", path.display())]
    OtherExperiment {
        /// The directory.
        path: PathBuf,
        /// What differs.
        difference: String,
    },
    /// A file in the results directory cannot be understood.
    #[error("{} is damaged: {cause}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
}

impl Error {
    /// An error of the system about `path`.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }

    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File { problem, .. } => problem.hint(),
            Self::Override { .. } | Self::Io { .. } => None,
            Self::ResultsExist { .. } => Some(
                "go on with them by --resume, or name another directory for the results".to_owned(),
            ),
            Self::NoResults { .. } => {
                Some("start the experiment without --resume".to_owned())
            }
            Self::OtherExperiment { .. } => Some(
                "go on with the file and options that the results were made with, or start anew in another directory"
                    .to_owned(),
            ),
            Self::Damaged { .. } => Some("start anew in another directory".to_owned()),
        }
    }
}
