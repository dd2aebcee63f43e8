//! An option file with its included files.

use std::fmt;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::entry::{Entry, OURS, Origin};
use crate::error::Error;
use crate::line::{Line, is_space, parse_line, without_comment};
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
    faults: Vec<Fault>,
}

/// A line of a file that was read in spite of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// File and line.
    pub at: Origin,
    /// What is wrong with it.
    pub what: String,
    /// Whether a server reads the other lines all the same; else it does not start.
    pub is_passed_over: bool,
    /// Whether the line is right, and what it includes is not on this machine: the file may be for another one.
    pub is_elsewhere: bool,
}

/// Whether all users may write a file: servers and the mysql client ignore it then.
///
/// Source: MySQL Reference Manual, "Using Option Files".
pub fn is_world_writable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o002 != 0)
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

    /// Reads a file that may be for another machine: what it includes and this machine does not have is among its
    /// [`OptionFile::faults`]. A line that cannot be read is an error.
    pub fn read_for_elsewhere(path: &Path) -> Result<Self, Error> {
        let bytes = files::read_regular(path, BYTES_MAX).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        let mut reading = Reading {
            keeps: FaultPolicy::Elsewhere,
            ..Reading::default()
        };
        reading.add_bytes(&bytes, &Arc::from(path), 0)?;
        Ok(reading.file)
    }

    /// Reads a file and its includes for a review: lines that cannot be read are left out, and are its
    /// [`OptionFile::faults`].
    pub fn read_for_review(path: &Path) -> Result<Self, Error> {
        let bytes = files::read_regular(path, BYTES_MAX).map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::reviewed(&bytes, path)
    }

    fn reviewed(bytes: &[u8], path: &Path) -> Result<Self, Error> {
        let mut reading = Reading {
            keeps: FaultPolicy::Everything,
            ..Reading::default()
        };
        reading.add_bytes(bytes, &Arc::from(path), 0)?;
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

    /// The lines that were left out when it was read for a review, or for another machine.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Adds the options of a file that is read after this one.
    pub fn append(&mut self, later: Self) {
        self.entries.extend(later.entries);
        self.faults.extend(later.faults);
    }

    /// Gives the groups other names: `renamed` returns the new name of a group, or `None` to keep it.
    pub(crate) fn rename_groups(&mut self, renamed: impl Fn(&str) -> Option<String>) {
        for entry in &mut self.entries {
            if let Some(name) = renamed(&entry.group) {
                entry.group = name;
            }
        }
    }

    /// The file with other options in the place of each.
    pub(crate) fn map_entries(&self, map: impl Fn(&Entry) -> Vec<Entry>) -> Self {
        Self {
            entries: self.entries.iter().flat_map(map).collect(),
            faults: self.faults.clone(),
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

/// Whether a line begins a group.
fn has_group(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    lines.any(|line| line.trim_ascii_start().starts_with(b"["))
}

/// The lines that are kept as faults, and are no errors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum FaultPolicy {
    #[default]
    Nothing,
    /// Includes that are not on this machine.
    Elsewhere,
    /// Every line that cannot be read, too.
    Everything,
}

/// A file that is being read.
#[derive(Default)]
struct Reading {
    file: OptionFile,
    /// Number of files included so far.
    includes: usize,
    keeps: FaultPolicy,
}

impl Reading {
    fn add_bytes(&mut self, bytes: &[u8], path: &Arc<Path>, depth: usize) -> Result<(), Error> {
        if let Some(what) = not_text(bytes) {
            let at = Origin::line(path, 1);
            let error = Error::Syntax { at, what };
            // Of the file itself there is nothing to review.
            return if depth == 0 {
                Err(error)
            } else {
                self.wrong(error, false)
            };
        }
        let mut group: Option<String> = None;
        for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
            let at = Origin::line(path, number);
            let parsed = match parse_bytes(line, &at) {
                Ok(parsed) => parsed,
                Err(error) => {
                    self.wrong(error, false)?;
                    continue;
                }
            };
            match parsed {
                Parsed::Nothing => {}
                Parsed::Group(name) => group = Some(name),
                // Servers read such a name, and know no option that has it.
                Parsed::Option { name, .. }
                    if self.keeps == FaultPolicy::Everything
                        && name.as_written().contains(is_space) =>
                {
                    let what = "the option's name contains a space; is the = after it missing?";
                    self.wrong(Error::Syntax { at, what }, false)?;
                }
                Parsed::Option { name, value } => {
                    let Some(group) = group.clone() else {
                        let what = "an option is before the first [group]";
                        let error = Error::Syntax { at, what };
                        // What has no group is no option file.
                        if depth == 0 && !has_group(bytes) {
                            return Err(error);
                        }
                        self.wrong(error, false)?;
                        continue;
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
                Parsed::IncludeDirectory(path) => match option_files_in(&path) {
                    Ok(files) => {
                        for file in files {
                            self.include(&file, &at, depth)?;
                        }
                    }
                    // A directory that is not there ends a server, a file is passed over in silence.
                    // Source: search_default_file_with_ext in mysys/my_default.cc.
                    Err(source) => self.wrong(Error::Include { at, path, source }, false)?,
                },
            }
        }
        Ok(())
    }

    /// What cannot be read: an error, or a fault where these are kept.
    fn wrong(&mut self, error: Error, is_passed_over: bool) -> Result<(), Error> {
        let keeps_all = self.keeps == FaultPolicy::Everything;
        let (at, what, is_elsewhere) = match &error {
            Error::Syntax { at, what } if keeps_all => (at, (*what).to_owned(), false),
            Error::Include { at, path, source }
                if self.keeps != FaultPolicy::Nothing
                    && source.kind() == io::ErrorKind::NotFound =>
            {
                let what = format!("not on this machine: {}", path.display());
                (at, what, true)
            }
            Error::Include { at, path, source } if keeps_all => {
                let what = format!("cannot include {}: {source}", path.display());
                (at, what, false)
            }
            _ => return Err(error),
        };
        let at = at.clone();
        self.file.faults.push(Fault {
            at,
            what,
            is_passed_over,
            is_elsewhere,
        });
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
        match files::read_regular(path, BYTES_MAX) {
            Ok(bytes) => self.add_bytes(&bytes, &Arc::from(path), depth + 1),
            Err(source) => {
                let (at, path) = (at.clone(), path.to_owned());
                self.wrong(Error::Include { at, path, source }, true)
            }
        }
    }
}

fn parse_bytes(line: &[u8], at: &Origin) -> Result<Parsed, Error> {
    let syntax = |what| Error::Syntax {
        at: at.clone(),
        what,
    };
    let text = match line.utf8_chunks().next() {
        None => "",
        Some(chunk) if chunk.invalid().is_empty() => chunk.valid(),
        // Remarks are bytes: old files have them in any encoding.
        Some(chunk) if is_before_a_remark(chunk.valid()) => chunk.valid(),
        Some(_) => return Err(syntax("the line is not UTF-8")),
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

/// Whether a remark has begun in this beginning of a line, or a group has ended.
fn is_before_a_remark(begin: &str) -> bool {
    let begin = begin.trim_start_matches(is_space);
    begin.starts_with(['#', ';'])
        || (begin.starts_with('[') && begin.contains(']'))
        || without_comment(begin).len() < begin.len()
}

/// Why the bytes are no option file that a server reads; `None` if they may be one.
fn not_text(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some(
            "the file is in UTF-16, which no server can read; convert it: iconv -f UTF-16 -t UTF-8",
        ),
        [0xef, 0xbb, 0xbf, ..] => Some(
            "the file begins with a byte order mark, which hides the first group from servers; remove these 3 bytes",
        ),
        _ if bytes.contains(&0) => {
            Some("the file contains NUL bytes: it is binary or UTF-16, not an option file")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn review(directory: &Path, text: &[u8]) -> OptionFile {
        OptionFile::reviewed(text, &directory.join("my.cnf")).unwrap()
    }

    fn names(file: &OptionFile) -> Vec<&str> {
        let names = file.entries().iter();
        names.map(|entry| entry.name.as_written()).collect()
    }

    #[test]
    fn a_review_goes_past_what_cannot_be_read() {
        let directory = tempfile::tempdir().unwrap();
        let included = directory.path().join("included.cnf");
        std::fs::write(&included, "port=1\n[mysqld]\nback_log=9\n").unwrap();
        let text = format!(
            "[mysqld]\nmax_connections 500\n!include {}\n!include /none/a.cnf\n!includedir /none\n[broken\n\
             =5\nuser=mysql\n",
            included.display()
        );
        let file = review(directory.path(), text.as_bytes());
        assert_eq!(names(&file), ["back_log", "user"]);
        let faults: Vec<_> = file.faults().iter().collect();
        let of = |at: usize| (faults[at].at.to_string(), faults[at].is_passed_over);
        assert!(of(0).0.ends_with("my.cnf line 2") && !of(0).1);
        assert!(of(1).0.ends_with("included.cnf line 1"));
        assert!(of(2).0.ends_with("my.cnf line 4") && of(2).1);
        assert!(of(3).0.ends_with("my.cnf line 5") && !of(3).1);
        assert_eq!(faults.len(), 6, "{faults:?}");
        let elsewhere = faults.iter().filter(|fault| fault.is_elsewhere);
        let elsewhere: Vec<&str> = elsewhere.map(|fault| fault.what.as_str()).collect();
        let missing = ["/none/a.cnf", "/none"].map(|path| format!("not on this machine: {path}"));
        assert_eq!(elsewhere, missing);
        assert!(OptionFile::parse(&text, Path::new("my.cnf")).is_err());
    }

    #[test]
    fn a_file_for_another_machine_includes_what_is_not_here() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("my.cnf");
        let text = "[mysqld]\nport=1\n!includedir /none/conf.d\n!include /none/a.cnf\n[mysqld]\nuser=mysql\n";
        std::fs::write(&path, text).unwrap();
        assert!(OptionFile::read(&path).is_err());
        let file = OptionFile::read_for_elsewhere(&path).unwrap();
        assert_eq!(names(&file), ["port", "user"]);
        let faults: Vec<String> = file
            .faults()
            .iter()
            .map(|fault| format!("{}: {}", fault.at.number().unwrap(), fault.what))
            .collect();
        let expected = [
            "3: not on this machine: /none/conf.d",
            "4: not on this machine: /none/a.cnf",
        ];
        assert_eq!(faults, expected);
        std::fs::write(&path, "[mysqld\n").unwrap();
        assert!(OptionFile::read_for_elsewhere(&path).is_err());
    }

    #[test]
    fn an_option_before_the_groups_is_a_finding() {
        let file = review(
            Path::new("/"),
            b"back_log=9\n# remark\n [mysqld]\nuser=mysql\n",
        );
        assert_eq!((names(&file), file.faults().len()), (vec!["user"], 1));
        let without_group = OptionFile::reviewed(b"back_log=9\n", Path::new("my.cnf"));
        assert!(without_group.is_err());
    }

    #[test]
    fn remarks_are_bytes() {
        let text = b"[mysqld] # gr\xfcn\nport = 5 # f\xfcr alle\n# \xff\nuser = \"a#b\" # \xe9\n";
        let file = review(Path::new("/"), text);
        assert_eq!(names(&file), ["port", "user"]);
        assert_eq!(file.entries()[1].value.as_deref(), Some("a#b"));
        assert!(file.faults().is_empty());
        let file = review(
            Path::new("/"),
            b"[mysqld]\nuser = f\xfcr # remark\nport = 5\n",
        );
        assert_eq!((names(&file), file.faults().len()), (vec!["port"], 1));
    }
}
