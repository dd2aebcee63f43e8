//! The files of a run, read as by any other program.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// A results directory.
pub(crate) struct Results {
    path: PathBuf,
}

impl Results {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Path of a file in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The text of a file in it.
    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        let path = self.file(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Number of intervals that a run's measurement has recorded so far.
    pub(crate) fn measured_so_far(&self, run: u32) -> usize {
        let text = fs::read_to_string(self.file(&record_name(run))).unwrap_or_default();
        Record::parse(&text).measured().count()
    }

    /// Number of successful operations that a run's record has so far, without its last line: that one may be torn.
    pub(crate) fn counted_so_far(&self, run: u32) -> u64 {
        let text = fs::read_to_string(self.file(&record_name(run))).unwrap_or_default();
        let before = text.rsplitn(3, '\n').nth(2).unwrap_or_default();
        Record::parse(&format!("{before}\n")).count()
    }

    /// Names of the files in it.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        names_in(&self.path)
    }

    #[track_caller]
    pub(crate) fn record(&self, run: u32) -> Record {
        Record::parse(&self.text(&record_name(run)))
    }

    /// Rows of a query on the summary database.
    pub(crate) fn sql(&self, sql: &str) -> Vec<Vec<rusqlite::types::Value>> {
        let database = rusqlite::Connection::open(self.file("summary.sqlite")).unwrap();
        let mut statement = database.prepare(sql).unwrap();
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
        rows.unwrap().collect::<Result<_, _>>().unwrap()
    }
}

pub(crate) fn record_name(run: u32) -> String {
    format!("run-{run:04}.jsonl")
}

/// Names of the files in a directory; empty if it does not exist.
pub(crate) fn names_in(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// The lines of one run record.
pub(crate) struct Record(Vec<Value>);

/// Operations that finished in an interval but were due in an earlier phase.
fn carried(interval: &Value) -> impl Iterator<Item = &Value> {
    interval["carried"].as_array().into_iter().flatten()
}

fn sum_of<'v>(parts: impl Iterator<Item = &'v Value>, field: &str) -> u64 {
    parts.map(|part| sum(part, field)).sum()
}

/// The total of a field over all operations of an interval, or over those carried into it.
fn sum(part: &Value, field: &str) -> u64 {
    let operations = part["operations"].as_array().unwrap();
    let values = operations
        .iter()
        .map(|operation| operation[field].as_u64().unwrap());
    values.sum()
}

impl Record {
    /// Reads a record; only its last line may be torn.
    #[track_caller]
    pub(crate) fn parse(text: &str) -> Self {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let line = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in the line {line}"))
        };
        Self(whole.lines().map(line).collect())
    }

    /// The lines of one kind.
    pub(crate) fn all<'r>(&'r self, kind: &'r str) -> impl Iterator<Item = &'r Value> {
        self.0.iter().filter(move |line| line["line"] == kind)
    }

    /// The first line of a kind.
    #[track_caller]
    pub(crate) fn one(&self, kind: &str) -> &Value {
        let line = self.0.iter().find(|line| line["line"] == kind);
        line.unwrap_or_else(|| panic!("the record has no line {kind:?}"))
    }

    /// Whether it is marked as complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.all("end").any(|end| end["complete"] == true)
    }

    /// The intervals of the measurement.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &Value> {
        self.all("interval")
            .filter(|interval| interval["phase"] == "measurement")
    }

    /// Duration of the measurement, seconds.
    pub(crate) fn measured_s(&self) -> f64 {
        self.measured()
            .map(|interval| interval["length_s"].as_f64().unwrap())
            .sum()
    }

    /// Number of successful operations that were due in the measurement.
    pub(crate) fn count(&self) -> u64 {
        self.due("count")
    }

    /// Number of failed operations that were due in the measurement.
    pub(crate) fn errors(&self) -> u64 {
        self.due("errors")
    }

    /// Number of operations that finished successfully in the measurement, regardless of their due time.
    pub(crate) fn came_back(&self) -> u64 {
        self.measured()
            .map(|interval| sum(interval, "count") + sum_of(carried(interval), "count"))
            .sum()
    }

    fn due(&self, field: &str) -> u64 {
        let late = self.all("interval").flat_map(carried);
        let late = late.filter(|carried| carried["due_in"] == "measurement");
        let in_time: u64 = self.measured().map(|interval| sum(interval, field)).sum();
        in_time + sum_of(late, field)
    }

    /// A global variable of the server, at the start or at the end of the run.
    #[track_caller]
    pub(crate) fn variable(&self, at: &str, name: &str) -> &str {
        let mut servers = self.all("server").filter(|server| server["at"] == at);
        let server = servers
            .next()
            .unwrap_or_else(|| panic!("no server line at the {at}"));
        server["variables"][name].as_str().unwrap()
    }
}
