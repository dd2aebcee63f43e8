//! The value of an option, typed, and the values of all options of one table.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// How many rows a data set has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rows {
    Count(u64),
    /// As many rows as make the data on disk this multiple of the InnoDB buffer pool.
    TimesBufferPool(f64),
}

/// A file with its share among others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightedFile {
    pub path: PathBuf,
    /// Its weight, above 0.
    pub weight: u64,
}

/// The value of an option.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Flag(bool),
    Count(u64),
    Number(f64),
    /// One of the words of its option.
    Choice(&'static str),
    Text(String),
    File(PathBuf),
    Directory(PathBuf),
    Rows(Rows),
    /// Counts for the queries of a barrel.
    Mix(Vec<u64>),
    /// Files with their weights, at least one.
    WeightedFiles(Vec<WeightedFile>),
    Pairs(BTreeMap<String, String>),
    /// A file of data, or a directory of such files.
    DataFile(PathBuf),
    DataFiles(BTreeMap<String, PathBuf>),
    Tables(Vec<NamedTable>),
}

/// A named table of values, which may have one table of values in it: `{ rows = "1M", columns = { id = "sequence" } }`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedTable {
    pub name: String,
    /// Its values, in the order of the file.
    pub values: Vec<(String, String)>,
    /// The tables in it by name, each with its values in the order of the file.
    pub inner: Vec<(String, Vec<(String, String)>)>,
}

/// The values of one table's options by name; an option that was not given has its default, or no value.
///
/// An accessor panics for a name or a type that the table of options does not have: that is a bug of its caller.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values(BTreeMap<&'static str, Value>);

/// Why an accessor panics.
const OTHER_KIND: &str = "an option is read as the kind that its table says";

impl Values {
    pub fn set(&mut self, option: &'static str, value: Value) {
        self.0.insert(option, value);
    }

    /// The value of an option; `None` where it has none.
    pub fn get(&self, option: &str) -> Option<&Value> {
        self.0.get(option)
    }

    pub fn flag(&self, option: &str) -> bool {
        match self.get(option) {
            Some(Value::Flag(on)) => *on,
            other => panic!("{option}: {OTHER_KIND}, not {other:?}"),
        }
    }

    /// A whole number; `None` where the option has no value.
    pub fn count(&self, option: &str) -> Option<u64> {
        self.get(option).map(|value| match value {
            Value::Count(count) => *count,
            other => panic!("{option}: {OTHER_KIND}, not {other:?}"),
        })
    }

    /// A number; `None` where the option has no value.
    pub fn number(&self, option: &str) -> Option<f64> {
        self.get(option).map(|value| match value {
            Value::Number(number) => *number,
            other => panic!("{option}: {OTHER_KIND}, not {other:?}"),
        })
    }

    /// A word, a text; `None` where the option has no value.
    pub fn text(&self, option: &str) -> Option<&str> {
        self.get(option).map(|value| match value {
            Value::Choice(word) => word,
            Value::Text(text) => text.as_str(),
            other => panic!("{option}: {OTHER_KIND}, not {other:?}"),
        })
    }

    /// A file; `None` where the option has no value.
    pub fn file(&self, option: &str) -> Option<&Path> {
        self.get(option).map(|value| match value {
            Value::File(path) => path.as_path(),
            other => panic!("{option}: {OTHER_KIND}, not {other:?}"),
        })
    }

    /// A directory; `None` where the option has no value.
    pub fn directory(&self, option: &str) -> Option<&Path> {
        self.get(option).map(|value| match value {
            Value::Directory(path) => path.as_path(),
            other => panic!("{option}: {OTHER_KIND}, not {other:?}"),
        })
    }

    /// A number of rows; `None` where the option has no value.
    pub fn rows(&self, option: &str) -> Option<Rows> {
        self.get(option).map(|value| match value {
            Value::Rows(rows) => *rows,
            other => panic!("{option}: {OTHER_KIND}, not {other:?}"),
        })
    }

    /// Counts of a mix; `None` where the option has no value.
    pub fn mix(&self, option: &str) -> Option<&[u64]> {
        self.get(option).map(|value| match value {
            Value::Mix(counts) => counts.as_slice(),
            other => panic!("{option}: {OTHER_KIND}, not {other:?}"),
        })
    }

    /// Files with their weights; `None` where the option has no value.
    pub fn weighted_files(&self, option: &str) -> Option<&[WeightedFile]> {
        self.get(option).map(|value| match value {
            Value::WeightedFiles(files) => files.as_slice(),
            other => panic!("{option}: {OTHER_KIND}, not {other:?}"),
        })
    }

    /// Names with their values; `None` where the option has no value.
    pub fn pairs(&self, option: &str) -> Option<&BTreeMap<String, String>> {
        self.get(option).map(|value| match value {
            Value::Pairs(pairs) => pairs,
            other => panic!("{option}: {OTHER_KIND}, not {other:?}"),
        })
    }

    /// A file of data, or a directory; `None` where the option has no value.
    pub fn data_file(&self, option: &str) -> Option<&Path> {
        self.get(option).map(|value| match value {
            Value::DataFile(path) => path.as_path(),
            other => panic!("{option}: {OTHER_KIND}, not {other:?}"),
        })
    }

    /// Names with their files of data; `None` where the option has no value.
    pub fn named_data_files(&self, option: &str) -> Option<&BTreeMap<String, PathBuf>> {
        self.get(option).map(|value| match value {
            Value::DataFiles(files) => files,
            other => panic!("{option}: {OTHER_KIND}, not {other:?}"),
        })
    }

    /// Named tables; `None` where the option has no value.
    pub fn tables(&self, option: &str) -> Option<&[NamedTable]> {
        self.get(option).map(|value| match value {
            Value::Tables(tables) => tables.as_slice(),
            other => panic!("{option}: {OTHER_KIND}, not {other:?}"),
        })
    }

    /// The files and directories of data among the values: too large to be copied.
    pub fn data_files(&self) -> impl Iterator<Item = &Path> {
        self.0.values().flat_map(|value| match value {
            Value::DataFile(path) => vec![path.as_path()],
            Value::DataFiles(files) => files.values().map(PathBuf::as_path).collect(),
            _ => Vec::new(),
        })
    }

    /// The files among the values, without those of data.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.0.values().flat_map(|value| match value {
            Value::File(path) => vec![path.as_path()],
            Value::WeightedFiles(files) => files.iter().map(|file| file.path.as_path()).collect(),
            _ => Vec::new(),
        })
    }
}
