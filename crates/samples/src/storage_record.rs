//! The record of a storage measurement: what was measured of one directory's disk, as JSON Lines.
//!
//! The first line is the `storage` line; each measurement is appended when it is over, so that an interrupted run keeps all
//! that it measured. `docs/storage.md` documents the format.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{
    disk_limit::DiskLimit,
    error_count::is_zero,
    latency::Latency,
    machine::Storage,
    measurement_cpu::MeasurementCpu,
    storage_results::{Access, Pattern, PatternResult},
};

pub const STORAGE_FORMAT: u32 = 1;
/// A longer record is refused: 137 patterns and the courses of a burst are far below.
const BYTES_MAX: u64 = 64 << 20;

/// One line of the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum StorageLine {
    /// The first line: what is measured, and how.
    Storage(Box<StorageHeader>),
    Pattern(PatternResult),
    /// Durable commits were measured.
    Commit(CommitResult),
    /// A cell of the burst grid was measured.
    Burst(BurstCell),
    /// A round of the steady state was measured.
    Round(SteadyRound),
    /// Everything was measured.
    End,
}

/// What a run of `dbdyno storage` measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StorageMode {
    /// Commits and some patterns in a minute.
    Quick,
    /// Every pattern of a set.
    Suite,
    /// Commits alone.
    Commit,
    /// Courses over time, to find the end of a burst.
    Burst,
    /// Rounds until the disk is steady.
    Steady,
    /// Another tool measured it, and dbdyno read that tool's files.
    Import,
}

impl StorageMode {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Suite => "suite",
            Self::Commit => "commit",
            Self::Burst => "burst",
            Self::Steady => "steady",
            Self::Import => "import",
        }
    }
}

/// The first line of the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StorageHeader {
    /// [`STORAGE_FORMAT`].
    pub format: u32,
    /// The dbdyno that wrote it.
    pub dbdyno_version: String,
    pub mode: StorageMode,
    /// When it began: UTC, RFC 3339.
    pub at: String,
    /// The directory, absolute; empty where an import does not know it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub directory: String,
    /// What stands behind the directory.
    pub storage: Storage,
    /// Whether the file system takes requests past the page cache; of an import whether all requests went past it.
    pub direct: bool,
    /// Size of the test file, bytes, of an import of the smallest; 0 without a test file, or where an import does not know it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub file_bytes: u64,
    /// Memory that this machine's processes may use, bytes.
    pub memory_bytes: Option<u64>,
    /// Time for each pattern, commit probe, cell or round, seconds; of an import the longest.
    pub each_s: f64,
    /// I/O engine of the patterns: one of fio's, or `native` without fio; of an import all, separated by commas.
    pub engine: String,
    /// As fio says it, `fio-3.33`; `None` without fio.
    pub fio_version: Option<String>,
    /// What is to be measured, in this order.
    pub patterns: Vec<Pattern>,
    /// How often each pattern is measured.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub repeats: u32,
    /// Seed of the order of the patterns in each repeat; `None` for their order above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_seed: Option<u64>,
    /// Writers of the commit probes, in this order.
    pub writers: Vec<u32>,
    /// What is left out, in words, each with its reason.
    pub left_out: Vec<String>,
    /// The limit that was in force while it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<DiskLimit>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub imported_from: Vec<String>,
}

impl StorageHeader {
    /// The first difference that makes results of two headers no results of one run: a noun, and both values.
    pub fn differs_from(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let shown = |header: &Self| {
            [
                ("mode", header.mode.name().to_owned()),
                ("directory", header.directory.clone()),
                ("file size", header.file_bytes.to_string()),
                ("seconds", header.each_s.to_string()),
                ("engine", header.engine.clone()),
                ("fio", header.fio_version.clone().unwrap_or_default()),
                ("patterns", names(&header.patterns)),
                ("number of repeats", header.repeats.to_string()),
                ("writers", format!("{:?}", header.writers)),
                ("limit", limit(header)),
            ]
        };
        let pairs = shown(self).into_iter().zip(shown(other));
        let mut differing = pairs.filter(|((_, ours), (_, theirs))| ours != theirs);
        differing
            .next()
            .map(|((noun, ours), (_, theirs))| (noun, ours, theirs))
    }
}

fn once() -> u32 {
    1
}

fn is_once(repeats: &u32) -> bool {
    *repeats == 1
}

fn limit(header: &StorageHeader) -> String {
    let limit = header.limit.as_ref();
    limit.map_or("none".to_owned(), |it| format!("{:?}", it.values()))
}

fn names(patterns: &[Pattern]) -> String {
    let each = patterns.iter().map(|it| {
        let (block, reads, depth) = (it.block_bytes, it.reads_percent, it.depth);
        format!("{} {block} {reads} {depth}", it.name)
    });
    each.collect::<Vec<_>>().join(", ")
}

/// The server whose calls for a durable commit are made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommitSequence {
    /// MariaDB 10.11: a block of 4 KiB past the page cache, 210 bytes of binary log.
    #[default]
    Mariadb,
    /// MySQL 9.7: blocks of 512 bytes through the page cache, 380 bytes of binary log.
    Mysql,
}

impl CommitSequence {
    pub fn server(self) -> &'static str {
        match self {
            Self::Mariadb => "MariaDB",
            Self::Mysql => "MySQL",
        }
    }
}

/// What a commit probe measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommitResult {
    /// Writers that committed at the same time.
    pub writers: u32,
    #[serde(default)]
    pub sequence: CommitSequence,
    /// Time of the probe, seconds.
    pub elapsed_s: f64,
    pub commits: u64,
    /// Groups of commits that shared one pair of flushes.
    pub groups: u64,
    /// Whether the redo log was written past the page cache.
    pub redo_direct: bool,
    /// From the begin of a commit to its end.
    pub commit: Latency,
    /// Write and flush of the redo log.
    pub redo: Latency,
    /// Write and flush of the binary log.
    pub binlog: Latency,
    /// Flushes that the disks carried out meanwhile; `None` where the kernel counts none.
    #[serde(default)]
    pub device_flushes: Option<u64>,
    /// CPU time of the machine meanwhile; `None` in older records, and if it was not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_cpu: Option<MeasurementCpu>,
}

impl CommitResult {
    pub fn commits_per_s(&self) -> f64 {
        self.commits as f64 / self.elapsed_s
    }
}

/// The course of one cell of the burst grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BurstCell {
    /// Size of the range that was accessed, bytes; `None` where an import does not know it.
    pub size_bytes: Option<u64>,
    pub pattern: Pattern,
    /// Pause before it, seconds.
    pub pause_s: f64,
    /// Whether it repeats the cell before, after a pause, to see whether the disk recovered.
    pub is_recovery: bool,
    /// Requests of each second, per second.
    pub iops: Vec<f64>,
    /// CPU time of the machine meanwhile; `None` in older records, and if it was not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_cpu: Option<MeasurementCpu>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SteadyRound {
    /// From 1.
    pub round: u32,
    pub result: PatternResult,
}

/// A record as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct StorageRecord {
    /// The first line.
    pub header: StorageHeader,
    /// Patterns, each repeat by itself, in the order in which they were measured.
    pub patterns: Vec<PatternResult>,
    pub commits: Vec<CommitResult>,
    pub bursts: Vec<BurstCell>,
    pub rounds: Vec<SteadyRound>,
    /// Whether everything was measured.
    pub is_complete: bool,
    /// Bytes of whole lines; what follows is a torn one.
    pub whole_bytes: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum StorageReadError {
    #[error("cannot read {}: {source}", path.display())]
    Io {
        path: std::path::PathBuf,
        source: std::io::Error,
    },
    /// A whole line is broken.
    #[error("storage record line {number} is not valid: {source}")]
    Line {
        /// From 1.
        number: usize,
        source: serde_json::Error,
    },
    /// The first line says nothing of what is measured.
    #[error("the storage record does not begin with a storage line")]
    NoHeader,
    /// Another dbdyno wrote it.
    #[error("the storage record has format {found}, and this dbdyno reads format {STORAGE_FORMAT}")]
    Format { found: u32 },
}

impl StorageLine {
    /// The line as a record's file contains it, with its line feed.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("plain fields always serialise") + "\n"
    }
}

impl StorageRecord {
    /// A record without results yet.
    pub fn new(header: StorageHeader) -> Self {
        Self {
            header,
            patterns: Vec::new(),
            commits: Vec::new(),
            bursts: Vec::new(),
            rounds: Vec::new(),
            is_complete: false,
            whole_bytes: 0,
        }
    }

    /// Reads a record; a last line that was torn by a crash is left out.
    pub fn read(path: &Path) -> Result<Self, StorageReadError> {
        let bytes =
            files::read_regular(path, BYTES_MAX).map_err(|source| StorageReadError::Io {
                path: path.to_owned(),
                source,
            })?;
        Self::parse(&bytes)
    }

    /// The same of the bytes of a record.
    pub fn parse(bytes: &[u8]) -> Result<Self, StorageReadError> {
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = &bytes[..end.map_or(0, |end| end + 1)];
        let mut record: Option<Self> = None;
        for (index, text) in whole.split(|byte| *byte == b'\n').enumerate() {
            if text.is_empty() {
                continue;
            }
            let number = index + 1;
            let line = serde_json::from_slice(text)
                .map_err(|source| StorageReadError::Line { number, source })?;
            match (&mut record, line) {
                (None, StorageLine::Storage(header)) if header.format == STORAGE_FORMAT => {
                    record = Some(Self::new(*header));
                }
                (None, StorageLine::Storage(header)) => {
                    let found = header.format;
                    return Err(StorageReadError::Format { found });
                }
                (Some(record), line) if !matches!(line, StorageLine::Storage(_)) => {
                    record.add(line)
                }
                _ => return Err(StorageReadError::NoHeader),
            }
        }
        let mut record = record.ok_or(StorageReadError::NoHeader)?;
        record.whole_bytes = whole.len() as u64;
        Ok(record)
    }

    /// The record as its file holds it: lines that end with a line feed.
    pub fn to_lines(&self) -> String {
        let first = StorageLine::Storage(Box::new(self.header.clone()));
        let patterns = self.patterns.iter().cloned().map(StorageLine::Pattern);
        let commits = self.commits.iter().cloned().map(StorageLine::Commit);
        let bursts = self.bursts.iter().cloned().map(StorageLine::Burst);
        let rounds = self.rounds.iter().cloned().map(StorageLine::Round);
        let last = self.is_complete.then_some(StorageLine::End);
        let measured = patterns.chain(commits).chain(bursts).chain(rounds);
        let lines = std::iter::once(first).chain(measured).chain(last);
        lines.map(|line| line.to_text()).collect()
    }

    /// Whether the requests of a result went past the page cache.
    pub fn is_direct(&self, result: &PatternResult) -> bool {
        let imported = result.imported.as_ref();
        imported.map_or(self.header.direct, |it| it.direct)
    }

    /// The CPU time during each result, where it was observed.
    pub fn machine_cpus(&self) -> impl Iterator<Item = &MeasurementCpu> {
        let patterns = self.patterns.iter().map(|it| &it.machine_cpu);
        let commits = self.commits.iter().map(|it| &it.machine_cpu);
        let bursts = self.bursts.iter().map(|it| &it.machine_cpu);
        let rounds = self.rounds.iter().map(|it| &it.result.machine_cpu);
        let all = patterns.chain(commits).chain(bursts).chain(rounds);
        all.flatten()
    }

    /// Time of a result, seconds.
    pub fn measured_s(&self, result: &PatternResult) -> f64 {
        let imported = result.imported.as_ref();
        imported.map_or(self.header.each_s, |it| it.elapsed_s)
    }

    /// Size of the range that a result accessed, bytes; `None` where an import does not know it.
    pub fn size_bytes(&self, result: &PatternResult) -> Option<u64> {
        let header = Some(self.header.file_bytes).filter(|bytes| *bytes > 0);
        let imported = result.imported.as_ref();
        imported.map_or(header, |it| it.size_bytes)
    }

    pub fn add(&mut self, line: StorageLine) {
        match line {
            StorageLine::Storage(header) => self.header = *header,
            StorageLine::Pattern(result) => self.patterns.push(result),
            StorageLine::Commit(result) => self.commits.push(result),
            StorageLine::Burst(cell) => self.bursts.push(cell),
            StorageLine::Round(round) => self.rounds.push(round),
            StorageLine::End => self.is_complete = true,
        }
    }

    /// The result of a pattern by block size, share of reads and depth, where it was measured without an error.
    pub fn random(
        &self,
        block_bytes: u64,
        reads_percent: u32,
        depth: u32,
    ) -> Option<&PatternResult> {
        self.patterns.iter().find(|it| {
            let pattern = &it.pattern;
            pattern.access == Access::Random
                && pattern.block_bytes == block_bytes
                && pattern.reads_percent == reads_percent
                && pattern.depth == depth
                && it.error.is_none()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::storage_header as header;

    #[test]
    fn a_torn_last_line_is_left_out() {
        let first = StorageLine::Storage(Box::new(header()));
        let first = serde_json::to_string(&first).unwrap();
        let whole = format!("{first}\n{{\"line\":\"end\"}}\n");
        let record = StorageRecord::parse(whole.as_bytes()).unwrap();
        assert!(record.is_complete && record.header == header());
        let torn = &whole[..whole.len() - 3];
        let record = StorageRecord::parse(torn.as_bytes()).unwrap();
        assert!(!record.is_complete);
        assert_eq!(record.whole_bytes, first.len() as u64 + 1);
        for bad in ["", "{\"line\":\"end\"}\n", "x\n"] {
            assert!(StorageRecord::parse(bad.as_bytes()).is_err(), "{bad:?}");
        }
        let newer = whole.replace("\"format\":1", "\"format\":2");
        let error = StorageRecord::parse(newer.as_bytes()).unwrap_err();
        assert!(matches!(error, StorageReadError::Format { found: 2 }));
    }

    #[test]
    fn another_size_is_another_run() {
        let other = StorageHeader {
            file_bytes: 1 << 31,
            ..header()
        };
        assert_eq!(header().differs_from(&header()), None);
        assert_eq!(header().differs_from(&other).unwrap().0, "file size");
    }
}
