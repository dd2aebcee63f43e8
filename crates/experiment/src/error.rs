//! Errors of experiments.

use std::{
    io,
    path::{Path, PathBuf},
};

use blame::{Blame, Blamed, is_full};

use crate::file::{position::SourcePosition, problem::Problem};

/// An experiment that cannot be run, or results that cannot be continued.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The experiment file contains an error.
    #[error("{place}: {problem}\n{}", place.excerpt())]
    File {
        place: Box<SourcePosition>,
        problem: Box<Problem>,
    },
    /// A value on the command line is out of its range.
    #[error("--{option} is {value}; expected {expected}")]
    Override {
        option: &'static str,
        value: String,
        /// The allowed values.
        expected: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The operation that failed: `read`, `write`, `rename`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        source: io::Error,
    },
    #[error("{} already contains the results of an experiment", path.display())]
    ResultsExist {
        /// The directory.
        path: PathBuf,
    },
    #[error("{} has no {missing}, which describes the experiment of the results", path.display())]
    NoResults {
        /// The directory.
        path: PathBuf,
        /// The missing file.
        missing: &'static str,
    },
    #[error("{} contains the results of another experiment: {difference}", path.display())]
    OtherExperiment {
        /// The directory.
        path: PathBuf,
        difference: String,
    },
    /// A file in the results directory is not valid.
    #[error("{} is damaged: {cause}", path.display())]
    Damaged { path: PathBuf, cause: String },
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

    /// What the user can do; `None` if there is nothing.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File { problem, .. } => problem.hint(),
            Self::Override { .. } | Self::Io { .. } => None,
            Self::ResultsExist { .. } => Some(
                "use --resume to continue them, or name another directory for the results".to_owned(),
            ),
            Self::NoResults { .. } => Some(
                "if the results were copied, copy the whole directory; if there are none yet, start without --resume"
                    .to_owned(),
            ),
            Self::OtherExperiment { .. } => Some(
                "continue with the file and options of these results, or start again in another directory"
                    .to_owned(),
            ),
            Self::Damaged { .. } => Some("start again in another directory".to_owned()),
        }
    }
}

impl From<Error> for Blamed {
    fn from(error: Error) -> Self {
        if let Error::Io { source, .. } = &error
            && is_full(source)
        {
            let hint = "free some space, or name another directory with --results".to_owned();
            return Self::new(Blame::Machine, error).hint(hint);
        }
        let hint = error.hint();
        Self::new(Blame::Input, error).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_the_machines_fault() {
        let of = |kind: io::ErrorKind| {
            let error = Error::Io {
                action: "write",
                path: "out/experiment.json".into(),
                source: kind.into(),
            };
            Blamed::from(error).blame
        };
        assert_eq!(of(io::ErrorKind::StorageFull), Blame::Machine);
        assert_eq!(of(io::ErrorKind::QuotaExceeded), Blame::Machine);
        assert_eq!(of(io::ErrorKind::PermissionDenied), Blame::Input);
    }
}
