//! One option of an option file, with its origin.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::line::{Line, parse_line};
use crate::name::OptionName;
use crate::secret::shown_value;

/// Origin of the options that dbdyno adds.
pub(crate) const OURS: &str = "dbdyno";

/// The origin of an option: `base.cnf line 3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    path: Arc<Path>,
    line: Option<u32>,
}

impl Origin {
    pub(crate) fn line(path: &Arc<Path>, line: u32) -> Self {
        Self {
            path: Arc::clone(path),
            line: Some(line),
        }
    }

    /// An origin that is not a line of a file, such as "set".
    pub(crate) fn named(name: &str) -> Self {
        Self {
            path: Arc::from(PathBuf::from(name)),
            line: None,
        }
    }

    /// The number of the line, from 1; `None` for an option that is not in a file.
    pub fn number(&self) -> Option<u32> {
        self.line
    }

    /// The option file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.path.display())?;
        match self.line {
            Some(line) => write!(formatter, " line {line}"),
            None => Ok(()),
        }
    }
}

/// One option of an option file.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// The group that contains it, without brackets.
    pub group: String,
    /// The name as written, for example `loose-innodb_io_capacity`.
    pub name: OptionName,
    /// The value, unquoted and unescaped; `None` for an option without `=`.
    pub value: Option<String>,
    /// File and line of the option.
    pub origin: Origin,
}

impl Entry {
    /// Whether the user set it, in a file or as a single option.
    pub fn is_the_users(&self) -> bool {
        self.origin.line.is_some() || self.origin.path() != Path::new(OURS)
    }

    /// The options of these lines, in the place of this one.
    pub(crate) fn with_lines(&self, lines: &str) -> Vec<Self> {
        let options = lines.lines().filter_map(|line| match parse_line(line) {
            Ok(Line::Option { name, value }) => Some(Self {
                name: OptionName::new(name),
                value,
                ..self.clone()
            }),
            _ => None,
        });
        options.collect()
    }

    /// An option that is not in a file; `origin` names its source.
    pub(crate) fn made(group: &str, name: &str, value: Option<String>, origin: &str) -> Self {
        Self {
            group: group.to_owned(),
            name: OptionName::new(name),
            value,
            origin: Origin::named(origin),
        }
    }
}

/// Omits secrets.
impl fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value.as_deref();
        let value = value.map(|value| shown_value(&self.name, value));
        formatter
            .debug_struct("Entry")
            .field("group", &self.group)
            .field("name", &self.name.as_written())
            .field("value", &value)
            .field("origin", &self.origin.to_string())
            .finish()
    }
}
