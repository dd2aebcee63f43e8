//! The errors of reading and using option files.

use std::io;
use std::path::PathBuf;

use blame::{Blame, Blamed};

use crate::entry::Origin;

/// An option file that cannot be read or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file itself cannot be read.
    #[error("{}: cannot read the option file: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A file or directory named by `!include` or `!includedir` cannot be read.
    #[error("{at}: cannot include {}: {source}", path.display())]
    Include {
        /// The line of the directive.
        at: Origin,
        /// The file or directory.
        path: PathBuf,
        source: io::Error,
    },
    /// Includes are nested too deeply, usually because a file includes itself.
    #[error("{at}: includes nest more than {limit} files deep")]
    IncludeDepth {
        /// The line of the first directive beyond the limit.
        at: Origin,
        limit: usize,
    },
    /// Too many files are included, usually because included files include each other several times.
    #[error("{at}: more than {limit} files are included")]
    IncludeCount {
        /// The line of the first directive beyond the limit.
        at: Origin,
        limit: usize,
    },
    #[error("{at}: the file has more than {limit} options, so it is not an option file")]
    OptionCount {
        /// The line of the first option beyond the limit.
        at: Origin,
        limit: usize,
    },
    /// A line that is not a group, an option, a comment or an include.
    #[error("{at}: {what}")]
    Syntax { at: Origin, what: &'static str },
    /// The value of an option has the wrong type.
    #[error("{at}: option {name}: '{value}' is not {expected}")]
    Value {
        /// File and line of the option.
        at: Origin,
        /// The option as written.
        name: String,
        /// The value as written.
        value: String,
        /// The expected type.
        expected: &'static str,
    },
    /// The user set an option that dbdyno decides for a private server.
    #[error("option {name} cannot be set: dbdyno sets it for its private servers")]
    Reserved {
        /// The option as written.
        name: String,
    },
    #[error("'{wanted}' is not a server version")]
    UnknownTarget { wanted: String },
    /// A version of a series that its product was never released in.
    #[error("there is no {wanted}")]
    UnknownSeries {
        /// The version as understood: `percona-8.9`.
        wanted: String,
        product: &'static str,
        /// The series with the same major version.
        series: Vec<String>,
    },
    /// A group of lines to test names an option that is not tested.
    #[error(
        "option {name} is not tested: the file does not change it, or it does not affect speed"
    )]
    NotTested {
        /// The option as written.
        name: String,
    },
    /// A name or value that cannot be written to an option file.
    #[error("option {name:?}: {what}")]
    Unprintable {
        /// The option as written.
        name: String,
        what: &'static str,
    },
}

impl Error {
    /// The user's remedy, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Read { .. } => Some("check the path and its permissions".to_owned()),
            Self::Include { .. } => Some(
                "paths in !include and !includedir are relative to the working directory"
                    .to_owned(),
            ),
            Self::IncludeDepth { .. } | Self::IncludeCount { .. } => {
                Some("look for a file that includes itself".to_owned())
            }
            Self::Reserved { name } if crate::name::OptionName::new(name).base() == "port" => {
                Some("name the port with --port".to_owned())
            }
            Self::Reserved { .. } => Some("leave the option out".to_owned()),
            Self::UnknownTarget { .. } => {
                Some("write a family and a version: mysql-8.0, mariadb-10.11".to_owned())
            }
            Self::UnknownSeries {
                product, series, ..
            } => {
                let (major, _) = series.first()?.split_once('.')?;
                Some(format!("the series of {product} {major}: {}", series.join(", ")))
            }
            Self::NotTested { .. } => Some(
                "--plan lists the lines that are tested and the reasons for the others; --test NAME tests a line that is left out"
                    .to_owned(),
            ),
            Self::OptionCount { .. }
            | Self::Syntax { .. }
            | Self::Value { .. }
            | Self::Unprintable { .. } => None,
        }
    }
}

/// Whoever wrote or named the file mends it.
impl From<Error> for Blamed {
    fn from(error: Error) -> Self {
        let hint = error.hint();
        Self::new(Blame::Input, error).hint(hint)
    }
}
