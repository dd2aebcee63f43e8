//! Why storage could not be measured.

use std::{
    io,
    path::{Path, PathBuf},
};

use blame::{Blame, Blamed};
use units::bytes;

/// Why storage could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// As in "cannot write".
        what: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// Not a place to measure.
    #[error("{}: {why}", path.display())]
    Refused {
        /// What was named.
        path: PathBuf,
        why: String,
        hint: Option<String>,
    },
    /// Too little room for the test file and for those who use the disk otherwise.
    #[error(
        "{}: {} are free; a test file of {} has to leave {} free",
        path.display(), bytes(*free_bytes), bytes(*file_bytes), bytes(*kept_bytes)
    )]
    NoRoom {
        path: PathBuf,
        /// What a user other than root can still write.
        free_bytes: u64,
        file_bytes: u64,
        /// What has to stay free.
        kept_bytes: u64,
    },
    /// No fio here, or one that is too old.
    #[error("{0}")]
    NoFio(String),
    #[error("fio: pattern {pattern}: {message}")]
    Fio {
        /// Section of the job file.
        pattern: String,
        message: String,
    },
    /// What fio wrote is not what fio 3 writes.
    #[error("fio's output: {0}")]
    Output(String),
    /// A file of another tool cannot be imported.
    #[error("{}: {why}", path.display())]
    Import {
        path: PathBuf,
        why: String,
        hint: String,
    },
    #[error("{0}")]
    Patterns(String),
    /// The user ended it.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }

    pub fn blame(&self) -> Blame {
        use io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied};
        match self {
            Self::Io { source, .. } => match source.kind() {
                NotFound | PermissionDenied | NotADirectory | IsADirectory => Blame::Input,
                _ => Blame::Machine,
            },
            Self::Refused { .. } | Self::NoFio(_) | Self::Import { .. } | Self::Patterns(_) => {
                Blame::Input
            }
            Self::NoRoom { .. } | Self::Fio { .. } | Self::Output(_) => Blame::Machine,
            Self::Interrupted => Blame::Interrupted,
        }
    }

    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Refused { hint, .. } => hint.clone(),
            Self::Import { hint, .. } => Some(hint.clone()),
            Self::NoRoom { .. } => {
                Some("use a smaller file with --size, or free some space".to_owned())
            }
            Self::NoFio(_) => Some(
                "install the package fio; `dbdyno storage commit` and `quick` work without it"
                    .to_owned(),
            ),
            Self::Fio { .. } => Some(
                "`fio --section=NAME patterns.fio` in the results directory repeats it by hand"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

impl From<Error> for Blamed {
    fn from(error: Error) -> Self {
        let (blame, hint) = (error.blame(), error.hint());
        Self::new(blame, error).hint(hint)
    }
}

impl From<files::Error> for Error {
    fn from(error: files::Error) -> Self {
        match error {
            files::Error::Io { what, path, source } => Self::Io { what, path, source },
            files::Error::Held { path, pid } => {
                let holder = pid.map_or("another process".to_owned(), |it| format!("process {it}"));
                let path = path.parent().unwrap_or(&path).to_owned();
                Self::Refused {
                    path,
                    why: format!("{holder} measures there"),
                    hint: Some("wait until it ends, or interrupt it".to_owned()),
                }
            }
            files::Error::Mounted { dir, mounted } => Self::Refused {
                why: format!("another file system is mounted on {}", mounted.display()),
                path: dir,
                hint: None,
            },
        }
    }
}
