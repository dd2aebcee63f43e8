//! What can be wrong with an option file.

use std::io;
use std::path::PathBuf;

use crate::entry::Origin;

/// An option file that cannot be read or used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file itself cannot be read.
    #[error("{}: cannot read the option file: {source}", path.display())]
    Read {
        /// The option file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file or directory named by `!include` or `!includedir` cannot be read.
    #[error("{at}: cannot include {}: {source}", path.display())]
    Include {
        /// The line of the directive.
        at: Origin,
        /// What it names.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Includes nest too deeply, most often because a file includes itself.
    #[error("{at}: includes nest more than {limit} files deep")]
    IncludeDepth {
        /// The line of the directive that is one too many.
        at: Origin,
        /// The limit.
        limit: usize,
    },
    /// A line that is neither group, option, comment nor include.
    #[error("{at}: {what}")]
    Syntax {
        /// The line.
        at: Origin,
        /// What is wrong with it.
        what: &'static str,
    },
    /// An option's value is of the wrong kind.
    #[error("{at}: option {name}: '{value}' is not {expected}")]
    Value {
        /// Where the option stands.
        at: Origin,
        /// The option as written.
        name: String,
        /// The value as written.
        value: String,
        /// What is expected.
        expected: &'static str,
    },
    /// An option that dbdyno decides for a private server was asked for.
    #[error("option {name} cannot be set: dbdyno decides it for its private servers")]
    Reserved {
        /// The option as written.
        name: String,
    },
    /// A name or value that no option file can hold.
    #[error("option {name:?}: {what}")]
    Unprintable {
        /// The option as written.
        name: String,
        /// Why not.
        what: &'static str,
    },
}

impl Error {
    /// What the user can do, where there is something.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Read { .. } => Some("check the path and its permissions".to_owned()),
            Self::Include { .. } => Some(
                "paths of !include and !includedir are relative to the working directory"
                    .to_owned(),
            ),
            Self::IncludeDepth { .. } => Some("look for a file that includes itself".to_owned()),
            Self::Reserved { name } if crate::name::OptionName::new(name).base() == "port" => {
                Some("name the port with --port".to_owned())
            }
            Self::Reserved { .. } => Some("leave the option out".to_owned()),
            Self::Syntax { .. } | Self::Value { .. } | Self::Unprintable { .. } => None,
        }
    }
}
