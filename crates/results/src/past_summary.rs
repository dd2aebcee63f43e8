//! The summary of past results for a list, stored so that their records need not be read each time.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::UNIX_EPOCH,
};

use blame::Blamed;
use experiment::Experiment;
use report::{PastResult, SearchAnswer};
use samples::Record;
use serde::{Deserialize, Serialize};
use settings::Vocabulary;
use verdict::{Headline, Measure};

use crate::{
    audited::{audit_of_path, experiment_of},
    origin::{self, Origin},
    record_files::{read_records, record_files},
    searches::rate_questions,
};

/// Digits of a hash shown in a table to distinguish experiments.
const KEY_DIGITS: usize = 8;

/// The summary of results in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PastSummary {
    /// The files that were read: the summary is valid while exactly these files exist.
    files: Vec<KnownFile>,
    /// Version of dbdyno that judged them.
    dbdyno_version: String,
    /// Start of the first run, UTC, RFC 3339.
    begun: String,
    /// Name of the experiment or front door.
    pub name: String,
    question: String,
    /// First digits of the experiment's hash; empty for a front door.
    pub key: String,
    /// Versions of the servers, without repeats.
    server: String,
    /// Factors with two levels or more; `None` in a line of a version that did not list them.
    #[serde(default)]
    varies: Option<Vec<String>>,
    /// Grade of the audit; `None` if the experiment beside the records is not readable.
    grade: Option<char>,
    /// Headline figure; `None` if no run is complete.
    headline: Option<KnownHeadline>,
    /// The answers of its searches for the highest rate; `None` in a line of a version that did not list them.
    #[serde(default)]
    search_answers: Option<Vec<String>>,
}

/// A file in the state in which it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KnownFile {
    name: String,
    bytes: u64,
    /// Modification time since 1970, nanoseconds.
    changed_ns: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct KnownHeadline {
    measure: String,
    mean: f64,
    /// Bounds of its 95 % interval.
    interval: Option<(f64, f64)>,
    executions: usize,
    /// Whether the executions are batches of slices; false in a line of a version that did not tell them apart.
    #[serde(default)]
    is_of_batches: bool,
    at: BTreeMap<String, String>,
}

impl PastSummary {
    /// A summary of no files.
    #[cfg(test)]
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// Reads the records of results and summarises them.
    pub fn of(path: &Path, vocabulary: &Vocabulary) -> Result<Self, Blamed> {
        let files = known_files(path)?;
        let records = read_records(path)?;
        let first = records.first();
        let begun = records.iter().map(|record| &record.header.started_at);
        let header = first.map(|record| &record.header);
        let key = header.map_or("", |header| &header.experiment_sha256);
        Ok(Self {
            files,
            dbdyno_version: env!("CARGO_PKG_VERSION").to_owned(),
            begun: begun.min().cloned().unwrap_or_default(),
            name: header.map_or_else(String::new, |header| header.experiment.clone()),
            question: question(path),
            key: key.get(..KEY_DIGITS).unwrap_or(key).to_owned(),
            server: verdict::server_versions(&records).join(", "),
            varies: Some(varying_factors(&records)),
            grade: audit_of_path(path, &records, vocabulary)
                .ok()
                .and_then(|audit| audit.assessment.letter()),
            headline: verdict::headline(&records).map(|it| KnownHeadline::of(&it)),
            search_answers: Some(search_sentences(path, &records, vocabulary)),
        })
    }

    /// True if the files are unchanged since they were read by the same version.
    pub fn is_of(&self, path: &Path) -> bool {
        let same_version = self.dbdyno_version == env!("CARGO_PKG_VERSION");
        same_version
            && self.varies.is_some()
            && self.search_answers.is_some()
            && known_files(path).is_ok_and(|files| files == self.files)
    }

    /// The summary as a line of the list.
    pub fn as_past(&self, path: &Path) -> PastResult {
        PastResult {
            at: self.begun.clone(),
            name: self.name.clone(),
            question: self.question.clone(),
            key: self.key.clone(),
            server: self.server.clone(),
            varies: self.varies.clone().unwrap_or_default(),
            grade: self.grade,
            headline: self.headline.as_ref().and_then(KnownHeadline::headline),
            search_answers: self.search_answers.clone().unwrap_or_default(),
            missing: None,
            path: path.display().to_string(),
        }
    }
}

/// The factors of runs with two levels or more, sorted by name.
fn varying_factors(records: &[Record]) -> Vec<String> {
    let mut levels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (factor, level) in records.iter().flat_map(|it| &it.header.combination) {
        levels.entry(factor).or_default().insert(level);
    }
    levels.retain(|_, levels| levels.len() > 1);
    levels.into_keys().map(str::to_owned).collect()
}

impl KnownHeadline {
    fn of(headline: &Headline) -> Self {
        Self {
            measure: headline.measure.name().to_owned(),
            mean: headline.mean,
            interval: headline.bounds,
            executions: headline.executions,
            is_of_batches: headline.is_of_batches,
            at: headline.at.clone(),
        }
    }

    fn headline(&self) -> Option<Headline> {
        Some(Headline {
            measure: Measure::named(&self.measure)?,
            mean: self.mean,
            bounds: self.interval,
            executions: self.executions,
            is_of_batches: self.is_of_batches,
            at: self.at.clone(),
        })
    }
}

/// The record files, that of the experiment with its question, and that of the commands, by which a search can have ended.
fn known_files(path: &Path) -> Result<Vec<KnownFile>, Blamed> {
    let mut files = record_files(path)?;
    files.extend(["experiment.toml", origin::FILE].map(|name| path.join(name)));
    let known = files.iter().filter_map(|file| {
        let metadata = file.metadata().ok()?;
        let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(KnownFile {
            name: file.file_name()?.to_string_lossy().into_owned(),
            bytes: metadata.len(),
            changed_ns: changed.as_nanos() as u64,
        })
    });
    Ok(known.collect())
}

/// The answers of the searches for the highest rate in results with these records; none without a search, or without a
/// readable experiment.
pub fn search_answers(
    path: &Path,
    records: &[Record],
    vocabulary: &Vocabulary,
) -> Vec<SearchAnswer> {
    let experiment = experiment_of(path, vocabulary).ok().flatten();
    experiment.map_or_else(Vec::new, |it| answers_of(&it, path, records))
}

/// The same in the words of the report.
fn search_sentences(path: &Path, records: &[Record], vocabulary: &Vocabulary) -> Vec<String> {
    let experiment = experiment_of(path, vocabulary).ok().flatten();
    experiment.map_or_else(Vec::new, |it| {
        report::short_search_sentences(it.factors(), &answers_of(&it, path, records))
    })
}

fn answers_of(experiment: &Experiment, path: &Path, records: &[Record]) -> Vec<SearchAnswer> {
    let time_is_spent = Origin::read(path).is_ok_and(|origin| origin.time_is_spent());
    let questions = rate_questions(experiment, time_is_spent);
    let answers = questions.iter().map(|it| SearchAnswer::of(it, records));
    answers.collect()
}

/// The question of an experiment; empty where there is none.
fn question(path: &Path) -> String {
    let file = path.join("experiment.toml");
    let text = files::read_regular_text(&file, experiment::TEXT_BYTES_MAX).unwrap_or_default();
    experiment::question_of(&text).unwrap_or_default()
}
