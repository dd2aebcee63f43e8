//! An option file with its included files.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::entry::{Entry, OURS, Origin};
use crate::error::Error;
use crate::line::{Line, parse_line};
use crate::name::OptionName;
use crate::print::{unprintable, write_entries};

/// Largest depth of nested includes, equal to the servers' own limit.
const INCLUDE_DEPTH_MAX: usize = 10;
/// Largest number of files that one file includes, directly and in included files: nested includes multiply.
const INCLUDES_MAX: usize = 1_000;
/// Largest number of options in a file with its includes; the longest real files have some hundred.
const OPTIONS_MAX: usize = 10_000;
/// Largest size of an option file, bytes.
const BYTES_MAX: u64 = 16 << 20;

/// The options of an option file in reading order, with included files at the position of their directive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OptionFile {
    entries: Vec<Entry>,
}

impl OptionFile {
    /// Reads a file and its includes.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = files::read_regular(path, BYTES_MAX).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        let mut reading = Reading::default();
        reading.add_bytes(&bytes, &Arc::from(path), 0)?;
        Ok(reading.file)
    }

    /// Parses text and its includes; `path` is the file name in errors and origins.
    pub fn parse(text: &str, path: &Path) -> Result<Self, Error> {
        let mut reading = Reading::default();
        reading.add_bytes(text.as_bytes(), &Arc::from(path), 0)?;
        Ok(reading.file)
    }

    /// All options in reading order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds the options of a file that is read after this one.
    pub fn append(&mut self, later: Self) {
        self.entries.extend(later.entries);
    }

    /// Gives the groups other names: `renamed` returns the new name of a group, or `None` to keep it.
    pub(crate) fn rename_groups(&mut self, renamed: impl Fn(&str) -> Option<String>) {
        for entry in &mut self.entries {
            if let Some(name) = renamed(&entry.group) {
                entry.group = name;
            }
        }
    }

    /// Adds an option for printing; an error if it cannot be written to an option file.
    pub fn push(&mut self, group: &str, name: &str, value: Option<String>) -> Result<(), Error> {
        if let Some(what) = unprintable(name, value.as_deref()) {
            let name = name.to_owned();
            return Err(Error::Unprintable { name, what });
        }
        self.entries.push(Entry::made(group, name, value, OURS));
        Ok(())
    }
}

/// A file that is being read.
#[derive(Default)]
struct Reading {
    file: OptionFile,
    /// Number of files included so far.
    includes: usize,
}

impl Reading {
    fn add_bytes(&mut self, bytes: &[u8], path: &Arc<Path>, depth: usize) -> Result<(), Error> {
        if let Some(what) = not_text(bytes) {
            let at = Origin::line(path, 1);
            return Err(Error::Syntax { at, what });
        }
        let mut group: Option<String> = None;
        for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
            let at = Origin::line(path, number);
            match parse_bytes(line, &at)? {
                Parsed::Nothing => {}
                Parsed::Group(name) => group = Some(name),
                Parsed::Option { name, value } => {
                    let Some(group) = group.clone() else {
                        let what = "an option stands before the first [group]";
                        return Err(Error::Syntax { at, what });
                    };
                    if self.file.entries.len() >= OPTIONS_MAX {
                        let limit = OPTIONS_MAX;
                        return Err(Error::OptionCount { at, limit });
                    }
                    self.file.entries.push(Entry {
                        group,
                        name,
                        value,
                        origin: at,
                    });
                }
                Parsed::Include(path) => self.include(&path, &at, depth)?,
                Parsed::IncludeDirectory(path) => {
                    for file in option_files_in(&path).map_err(|source| Error::Include {
                        at: at.clone(),
                        path,
                        source,
                    })? {
                        self.include(&file, &at, depth)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn include(&mut self, path: &Path, at: &Origin, depth: usize) -> Result<(), Error> {
        if depth >= INCLUDE_DEPTH_MAX {
            return Err(Error::IncludeDepth {
                at: at.clone(),
                limit: INCLUDE_DEPTH_MAX,
            });
        }
        self.includes += 1;
        if self.includes > INCLUDES_MAX {
            return Err(Error::IncludeCount {
                at: at.clone(),
                limit: INCLUDES_MAX,
            });
        }
        let bytes = files::read_regular(path, BYTES_MAX).map_err(|source| Error::Include {
            at: at.clone(),
            path: path.to_owned(),
            source,
        })?;
        self.add_bytes(&bytes, &Arc::from(path), depth + 1)
    }
}

fn parse_bytes(line: &[u8], at: &Origin) -> Result<Parsed, Error> {
    let syntax = |what| Error::Syntax {
        at: at.clone(),
        what,
    };
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        // Old files have comments in any encoding.
        Err(_) if matches!(line.trim_ascii_start().first(), Some(b'#' | b';')) => "",
        Err(_) => return Err(syntax("the line is not UTF-8")),
    };
    Ok(match parse_line(text).map_err(syntax)? {
        Line::Nothing => Parsed::Nothing,
        Line::Group(name) => Parsed::Group(name.to_owned()),
        Line::Option { name, value } => Parsed::Option {
            name: OptionName::new(name),
            value,
        },
        Line::Include(path) => Parsed::Include(path.into()),
        Line::IncludeDirectory(path) => Parsed::IncludeDirectory(path.into()),
    })
}

/// Why the bytes are no option file that a server reads; `None` if they may be one.
fn not_text(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            Some("the file is UTF-16, which no server reads; convert it: iconv -f UTF-16 -t UTF-8")
        }
        [0xef, 0xbb, 0xbf, ..] => Some(
            "the file begins with a byte order mark, after which servers find no group; remove these 3 bytes",
        ),
        _ if bytes.contains(&0) => {
            Some("the file has NUL bytes: it is binary, or UTF-16, and no option file")
        }
        _ => None,
    }
}

/// Prints the options with their groups; includes are resolved.
impl fmt::Display for OptionFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_entries(&self.entries, formatter)
    }
}

/// A line that no longer borrows its text.
enum Parsed {
    Nothing,
    Group(String),
    Option {
        name: OptionName,
        value: Option<String>,
    },
    Include(PathBuf),
    IncludeDirectory(PathBuf),
}

/// The `*.cnf` files of a directory, sorted by name as MariaDB reads them (MySQL promises no order).
fn option_files_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "cnf") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
