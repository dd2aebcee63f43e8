//! A side of a comparison, from its text on the command line to its run records.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use benchmarks::VOCABULARY;
use blame::{Blame, Blamed};
use experiment::Experiment;
use results::{ComparedSide, experiment_of, looked_at, question, read_record, record_files};
use samples::{Record, RunParts};
use verdict::{Execution, Levels, Question, Side};

use super::load_options::other_options;

/// The runs of one side. Where their load has stages, each stage is compared by itself; runs side by side are compared by
/// their batches of slices.
pub(super) struct RecordedSide {
    name: String,
    levels: Levels,
    records: Vec<Recorded>,
    /// Those of the runs that have stages or batches as a whole, for the audit: `records` has their parts.
    whole: Vec<Recorded>,
    /// Complete runs in the same directories that do not belong to this side.
    rest: Vec<Recorded>,
    /// The questions of the runs' experiments, one for each part.
    questions: Vec<Option<Question>>,
    /// Maximum number of blocks of a part that ran until decided.
    looked_at: Option<usize>,
    /// The experiments beside the parts, where they exist.
    experiments: Vec<Experiment>,
}

/// Run records with their paths.
type Read = Vec<(PathBuf, Record)>;

/// A complete run, or a stage or batch of one.
struct Recorded {
    path: PathBuf,
    /// Index of the results that it belongs to.
    results: usize,
    record: Record,
}

/// One part of a side's text: a directory or a file, and the selected levels.
#[derive(Debug, PartialEq, Eq)]
struct Selection {
    path: PathBuf,
    levels: Levels,
}

/// Results by their directory and experiment; runs without an experiment are separate results.
#[derive(Default)]
struct Numbers(BTreeMap<(PathBuf, String), usize>, usize);

impl RecordedSide {
    /// Reads both sides; an error if one does not exist, cannot be read, or is given twice.
    pub(super) fn read_both(a: &str, b: &str) -> Result<[Self; 2], Blamed> {
        let mut numbers = Numbers::default();
        let a = Self::read(a, &mut numbers)?;
        let b = Self::read(b, &mut numbers)?;
        let paths = |side: &Self| -> BTreeSet<PathBuf> {
            side.records.iter().map(|it| it.path.clone()).collect()
        };
        if !paths(&a).is_disjoint(&paths(&b)) {
            let hint = "use DIR:FACTOR=LEVEL to select a part of the results".to_owned();
            let message = format!("{} and {} have runs in common", a.name, b.name);
            return Err(Blamed::new(Blame::Input, message).hint(hint));
        }
        Ok([a, b])
    }

    fn read(text: &str, numbers: &mut Numbers) -> Result<Self, Blamed> {
        let mut side = Self {
            name: text.to_owned(),
            levels: Levels::new(),
            records: Vec::new(),
            whole: Vec::new(),
            rest: Vec::new(),
            questions: Vec::new(),
            looked_at: None,
            experiments: Vec::new(),
        };
        for part in parts(text)? {
            side.levels.extend(part.levels.clone());
            side.add(&part, numbers)?;
        }
        Ok(side)
    }

    fn add(&mut self, part: &Selection, numbers: &mut Numbers) -> Result<(), Blamed> {
        let mut read = Vec::new();
        for path in record_files(&part.path)? {
            let record = read_record(&path)?;
            read.push((path, record));
        }
        let (read, whole) = by_part(read);
        check_levels(part, &read)?;
        let experiment = experiment_beside(&part.path);
        self.looked_at = self.looked_at.max(experiment.as_ref().and_then(looked_at));
        let asked = experiment.as_ref().and_then(|it| question(it, false));
        let is_whole = asked.is_some() && part.path.is_dir();
        self.questions.push(asked);
        self.experiments.extend(experiment);
        let (wanted, others): (Vec<_>, Vec<_>) = read
            .into_iter()
            .partition(|(_, record)| has(record, &part.levels));
        if is_whole {
            let others = others
                .into_iter()
                .filter(|(_, record)| record.is_complete());
            self.rest.extend(others.map(|it| recorded(it, numbers)));
        }
        let (complete, mut incomplete): (Vec<_>, Vec<_>) = wanted
            .into_iter()
            .partition(|(_, record)| record.is_complete());
        incomplete.dedup_by(|part, before| part.0 == before.0);
        for (path, record) in &incomplete {
            let why = record.incomplete_why().unwrap_or_default();
            eprintln!("left out: {} is incomplete: {why}", path.display());
        }
        if complete.is_empty() {
            let message = format!("{}: no complete run", part.path.display());
            return Err(Blamed::new(Blame::Input, message));
        }
        let is_wanted = |it: &(PathBuf, Record)| complete.iter().any(|(path, _)| *path == it.0);
        let whole = whole.into_iter().filter(is_wanted);
        self.whole.extend(whole.map(|it| recorded(it, numbers)));
        let complete = complete.into_iter();
        self.records
            .extend(complete.map(|it| recorded(it, numbers)));
        Ok(())
    }

    /// The question of both sides' experiments; `None` if they differ, or if there is none.
    pub(super) fn question_of_both<'s>(&'s self, other: &Self) -> Option<&'s Question> {
        let first = self.questions.first()?.as_ref();
        let mut all = self.questions.iter().chain(&other.questions);
        first.filter(|_| all.all(|it| it.as_ref() == first))
    }

    /// All complete runs of the results, if both sides are parts of the same results.
    pub(super) fn executions_of_both<'s>(&'s self, other: &Self) -> Option<Vec<Execution<'s>>> {
        let all = || self.records.iter().chain(&self.rest);
        let results = self.records.first()?.results;
        let is_same = |it: &Recorded| it.results == results;
        let are_same = all().all(is_same) && other.records.iter().all(is_same);
        let is_whole = self.questions.len() == 1 && !self.rest.is_empty();
        let executions = || all().map(|it| Execution::of(&it.record, it.results));
        (are_same && is_whole).then(|| executions().collect())
    }

    /// True if both sides name levels of the same factors: then these are meant to differ.
    pub(super) fn names_the_factors_of(&self, other: &Self) -> bool {
        !self.levels.is_empty() && self.levels.keys().eq(other.levels.keys())
    }

    /// The options of the loads that differ between the experiments of both sides, one sentence each.
    pub(super) fn other_options(&self, other: &Self) -> Vec<String> {
        other_options(
            [&self.experiments, &other.experiments],
            [&self.levels, &other.levels],
        )
    }

    /// The side, for the comparison.
    pub(super) fn side(&self) -> Side<'_> {
        let records = self.records.iter();
        Side {
            name: self.name.clone(),
            levels: self.levels.clone(),
            executions: records
                .map(|it| Execution::of(&it.record, it.results))
                .collect(),
            looked_at: self.looked_at,
        }
    }

    /// The side, for the audit.
    pub(super) fn audited(&self) -> ComparedSide<'_> {
        let records = || self.records.iter();
        let is_part = |it: &&Recorded| self.whole.iter().any(|whole| whole.path == it.path);
        let runs = self.whole.iter().chain(records().filter(|it| !is_part(it)));
        let parts = |is_one: fn(&Record) -> bool| -> Vec<&Record> {
            if records().any(|it| is_one(&it.record)) {
                records().map(|it| &it.record).collect()
            } else {
                Vec::new()
            }
        };
        ComparedSide {
            name: &self.name,
            records: runs.map(|it| &it.record).collect(),
            stages: parts(|it| !it.stages.is_empty()),
            batches: parts(|it| it.batch.is_some()),
            experiments: self.experiments.iter().collect(),
        }
    }
}

/// The stages or batches of these runs with their paths, and the runs that have them; other runs as they are.
fn by_part(read: Read) -> (Read, Read) {
    let (paths, records): (Vec<PathBuf>, Vec<Record>) = read.into_iter().unzip();
    let of_runs = RunParts::of(&records);
    if of_runs.is_empty() {
        return (paths.into_iter().zip(records).collect(), Vec::new());
    }
    let path_of = |at: usize| paths[of_runs.run_of(at)].clone();
    let parts = of_runs.compared(&records).iter();
    let parts = parts.enumerate();
    let parts: Read = parts.map(|(at, it)| (path_of(at), it.clone())).collect();
    let has_parts = |it: &Record| !it.stages.is_empty() || it.side_by_side.is_some();
    let runs = paths.iter().cloned().zip(records);
    let whole = runs.filter(|(_, record)| has_parts(record));
    (parts, whole.collect())
}

fn recorded((path, record): (PathBuf, Record), numbers: &mut Numbers) -> Recorded {
    Recorded {
        results: numbers.of(&path, &record),
        path: path.canonicalize().unwrap_or(path),
        record,
    }
}

/// The experiment of the runs at a path. Results with an unreadable experiment are compared nevertheless: their records
/// are sufficient for that.
fn experiment_beside(path: &Path) -> Option<Experiment> {
    let directory = if path.is_dir() { path } else { path.parent()? };
    match experiment_of(directory, &VOCABULARY) {
        Ok(experiment) => experiment,
        Err(error) => {
            eprintln!(
                "warning: {}: its question, the options of its load, and whether it ran until decided are unknown: \
                 {error}",
                directory.display()
            );
            None
        }
    }
}

impl Numbers {
    fn of(&mut self, path: &Path, record: &Record) -> usize {
        self.1 += 1;
        let next = self.1;
        let sha256 = record.header.experiment_sha256.clone();
        if sha256.is_empty() {
            return next;
        }
        let directory = path.parent().unwrap_or(Path::new(""));
        let directory = directory.canonicalize().unwrap_or_default();
        *self.0.entry((directory, sha256)).or_insert(next)
    }
}

/// The parts of `DIR:factor=level,FILE.jsonl`.
fn parts(text: &str) -> Result<Vec<Selection>, Blamed> {
    if Path::new(text).exists() {
        return Ok(vec![part(text)?]);
    }
    text.split(',').map(part).collect()
}

/// A path, then levels: the longest prefix that exists is the path, because a path may contain colons, too.
fn part(text: &str) -> Result<Selection, Blamed> {
    let ends = text
        .char_indices()
        .filter(|(_, character)| *character == ':');
    let ends = ends.map(|(at, _)| at).chain([text.len()]);
    let exists = |at: &usize| !text[..*at].is_empty() && Path::new(&text[..*at]).exists();
    let Some(end) = ends.filter(exists).max() else {
        let path = text.split(':').next().unwrap_or(text);
        // A comma begins another part of the side.
        let hint = if path.contains('=') {
            "separate several levels with colons: DIR:FACTOR=LEVEL:FACTOR=LEVEL"
        } else {
            "a side is a results directory, DIR:FACTOR=LEVEL, or run records (.jsonl); see --help"
        };
        let hint = hint.to_owned();
        return Err(Blamed::new(Blame::Input, format!("{path:?}: no such results")).hint(hint));
    };
    let mut levels: Vec<(String, String)> = Vec::new();
    for piece in text[end..].split(':').skip(1) {
        match (piece.split_once('='), levels.last_mut()) {
            (Some((factor, level)), _) => levels.push((factor.to_owned(), level.to_owned())),
            // A level may contain colons: mix=1:0.
            (None, Some((_, level))) => *level = format!("{level}:{piece}"),
            (None, None) => {
                let message = format!("{text}: {piece:?} is not FACTOR=LEVEL");
                return Err(Blamed::new(Blame::Input, message));
            }
        }
    }
    Ok(Selection {
        path: PathBuf::from(&text[..end]),
        levels: levels.into_iter().collect(),
    })
}

fn has(record: &Record, levels: &Levels) -> bool {
    let combination = &record.header.combination;
    levels
        .iter()
        .all(|(factor, level)| combination.get(factor) == Some(level))
}

/// An error for a factor or a level that no record has.
fn check_levels(part: &Selection, records: &[(PathBuf, Record)]) -> Result<(), Blamed> {
    for (factor, level) in &part.levels {
        let combinations = records.iter().map(|(_, record)| &record.header.combination);
        let known: BTreeSet<&str> = combinations
            .clone()
            .filter_map(|combination| combination.get(factor))
            .map(String::as_str)
            .collect();
        if known.contains(level.as_str()) {
            continue;
        }
        let shown = part.path.display();
        let listed = |names: &BTreeSet<&str>| names.iter().copied().collect::<Vec<_>>().join(", ");
        if !known.is_empty() {
            let message = format!("{shown}: {factor} has no level {level:?}");
            let hint = format!("its levels are {}", listed(&known));
            return Err(Blamed::new(Blame::Input, message).hint(hint));
        }
        let factors: BTreeSet<&str> = combinations
            .flat_map(|combination| combination.keys().map(String::as_str))
            .collect();
        let hint = if factors.is_empty() {
            "it has no factors".to_owned()
        } else {
            format!("its factors are {}", listed(&factors))
        };
        let message = format!("{shown}: has no factor {factor:?}");
        return Err(Blamed::new(Blame::Input, message).hint(hint));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_a_path_and_levels() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a:b");
        std::fs::create_dir(&path).unwrap();
        let text = format!("{}:mix=1:0:connections=8", path.display());
        let found = part(&text).unwrap();
        assert_eq!(found.path, path);
        let levels = [("mix", "1:0"), ("connections", "8")];
        let levels = levels.map(|(factor, level)| (factor.to_owned(), level.to_owned()));
        assert_eq!(found.levels, Levels::from(levels));
        assert_eq!(part(path.to_str().unwrap()).unwrap().levels, Levels::new());
        let error = part(&format!("{}:8", path.display())).unwrap_err();
        assert!(
            error.message.ends_with("\"8\" is not FACTOR=LEVEL"),
            "{error}"
        );
        assert!(part("nowhere:a=1").is_err() && part("").is_err());
        let error = parts(&format!("{}:pool=24M,flush=1", path.display())).unwrap_err();
        let hint = "separate several levels with colons: DIR:FACTOR=LEVEL:FACTOR=LEVEL";
        assert_eq!(error.hints, [hint]);
        let two = parts(&format!("{0}:fs=xfs,{0}:fs=ext4", path.display())).unwrap();
        assert_eq!(two.len(), 2);
    }
}
