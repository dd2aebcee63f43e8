//! A value of the experiment file as text with its position.

use std::{
    fs::{self, File},
    ops::Range,
    path::{Path, PathBuf},
};

use crate::{
    error::Error,
    file::{problem::Problem, source::Source},
    results::copied_files::kept_path,
};

/// A scalar value, with the levels of one combination inserted.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    /// The file that contains it.
    pub(crate) source: Source<'a>,
    pub(crate) key: &'a str,
    pub(crate) value: String,
    /// True when it contains a level.
    pub(crate) filled: bool,
    pub(crate) span: Range<usize>,
}

impl Text<'_> {
    /// The parsed text; an error at its position if that fails.
    pub(crate) fn parsed<T>(
        &self,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Error> {
        parse(&self.value).ok_or_else(|| {
            let written = self.source.text.get(self.span.clone());
            let written = written.unwrap_or_default().to_owned();
            let (key, expected) = (self.key.to_owned(), expected.to_owned());
            self.error(if self.filled {
                Problem::BadFilledValue {
                    key,
                    written,
                    value: self.value.clone(),
                    expected,
                }
            } else {
                Problem::BadValue {
                    key,
                    written,
                    expected,
                }
            })
        })
    }

    /// An error at the text's position.
    pub(crate) fn error(&self, problem: Problem) -> Error {
        self.source.error(self.span.clone(), problem)
    }

    /// The file that the text names and that belongs to the experiment: its copy, if the experiment is read from its
    /// results.
    pub(crate) fn own_file(&self, what: &'static str) -> Result<PathBuf, Error> {
        self.readable(what, self.own_path())
    }

    pub(crate) fn is_own_file(&self) -> bool {
        self.own_path().is_file()
    }

    fn own_path(&self) -> PathBuf {
        let named = Path::new(&self.value);
        match self.source.kept {
            Some(kept) => kept.join(kept_path(named)),
            None => self.directory_of_source().join(named),
        }
    }

    fn directory_of_source(&self) -> &Path {
        self.source.path.parent().unwrap_or(Path::new(""))
    }

    /// The file that the text names, relative to the experiment file's directory; an error if it cannot be read.
    pub(crate) fn file(&self, what: &'static str) -> Result<PathBuf, Error> {
        self.readable(what, self.directory_of_source().join(&self.value))
    }

    fn readable(&self, what: &'static str, path: PathBuf) -> Result<PathBuf, Error> {
        // Opening anything but a file, such as a pipe, could block forever.
        let cause = match fs::metadata(&path) {
            Ok(metadata) if !metadata.is_file() => "not a file".to_owned(),
            Ok(_) => match File::open(&path) {
                Ok(_) => return Ok(path),
                Err(error) => error.to_string(),
            },
            Err(error) => error.to_string(),
        };
        Err(self.error(Problem::NoFile { what, path, cause }))
    }

    /// The file or directory of data that the text names, relative to the experiment file's directory: it may be large,
    /// so results have no copy of it, and can be read without it.
    pub(crate) fn data_file(&self, what: &'static str) -> Result<PathBuf, Error> {
        let path = self.directory_of_source().join(&self.value);
        if self.source.kept.is_some() || path.is_dir() {
            return Ok(path);
        }
        self.readable(what, path)
    }

    /// The program that the text names, relative to the experiment file's directory: results have no copy of it, and can
    /// be read without it.
    pub(crate) fn program(&self) -> Result<PathBuf, Error> {
        let path = self.directory_of_source().join(&self.value);
        match self.source.kept {
            Some(_) => Ok(path),
            None => self.readable("program", path),
        }
    }

    /// The directory that the text names, relative to the experiment file's; an error if it does not exist.
    pub(crate) fn directory(&self, what: &'static str) -> Result<PathBuf, Error> {
        let path = self.directory_of_source().join(&self.value);
        let cause = match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => return Ok(path),
            Ok(_) => "not a directory".to_owned(),
            Err(error) => error.to_string(),
        };
        Err(self.error(Problem::NoFile { what, path, cause }))
    }
}
