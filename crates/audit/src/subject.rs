//! The input of the audit: the records of runs with the declarations made before them, or the record of storage.

use std::collections::{BTreeMap, BTreeSet};

use samples::{RATE, Record, StorageRecord};

use crate::asked_comparison::AskedComparison;

/// The input of the audit.
#[derive(Debug, Clone, Default)]
pub struct Subject<'a> {
    /// The runs in the order of their numbers; for two sides, those of the first before those of the second.
    pub runs: Vec<AuditedRun<'a>>,
    /// The stages of the runs as records of their own, and the runs without any, in the order of the runs
    /// ([`samples::Staged`]); empty if no run has stages.
    pub stages: Vec<AuditedRun<'a>>,
    /// The batches of slices of the runs side by side as records of their own, and the other runs or their stages
    /// ([`samples::Batches`]); empty if no run has batches.
    pub batches: Vec<AuditedRun<'a>>,
    pub declared: Preregistration,
    /// The answered comparisons with the baseline; empty if the runs answer no question.
    pub comparisons: Vec<AskedComparison>,
    pub kept: BesideRecords,
    /// The measurement of storage that is judged; there are then no runs.
    pub storage: Option<&'a StorageRecord>,
}

/// One run, with the facts that other crates derived about it.
#[derive(Debug, Clone)]
pub struct AuditedRun<'a> {
    pub record: &'a Record,
    /// The limiting resource; `None` if it was not determined.
    pub limit: Option<Limit>,
    /// The side of the comparison that the run belongs to, if there are two.
    pub side: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limit {
    /// The resource; `None` if no observed resource was saturated.
    pub resource: Option<String>,
    /// The figures, or the inputs that were not observed.
    pub evidence: String,
}

/// The declarations made before the runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Preregistration {
    /// True for an experiment; false for a single run of a command.
    pub is_experiment: bool,
    /// True if the runs of each combination search for a rate, so that each run has a rate of its own.
    pub is_search: bool,
    /// The limits that the runs of a search have to keep, one for each combination.
    pub search_limits: Vec<SearchLimit>,
    /// The factors, in the order of the experiment.
    pub factors: Vec<String>,
    pub planned_runs: Option<u32>,
    pub comparison: Option<Comparison>,
    /// Server variables that the experiment sets, in the server's spelling.
    pub variables: BTreeSet<String>,
    /// Share of a user's waiting time that is spent in the database, 0 to 1; `None` if not declared.
    pub database_share: Option<f64>,
}

/// The limit on the response times for which a search looks for the highest rate.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchLimit {
    /// The levels of its runs, without the rate.
    pub combination: BTreeMap<String, String>,
    /// In words: `p99 < 20 ms`.
    pub text: String,
    /// The limited percentile as a share: 0.99.
    pub quantile: f64,
    /// The response time that the percentile has to stay below, nanoseconds.
    pub limit_ns: u64,
}

impl SearchLimit {
    /// True for a run of this combination, at any rate.
    pub(crate) fn is_of(&self, record: &Record) -> bool {
        let levels = record.header.combination.iter();
        let levels = levels.filter(|(factor, _)| *factor != RATE);
        levels.eq(self.combination.iter())
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Comparison {
    /// The factors whose levels are compared.
    pub factors: Vec<String>,
    /// The metric, for example `throughput` or `p99`; empty if not declared.
    pub metric: String,
    /// The smallest difference that matters, as a share; `None` if it is the default of experiments.
    pub min_effect: Option<f64>,
}

/// The other files beside the records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BesideRecords {
    /// Number of records of interrupted attempts that were replaced by another attempt.
    pub replaced: u32,
    /// Number of records of runs that were repeated because other load had disturbed them.
    pub disturbed: u32,
    /// Whether the hash of the experiment file beside the records equals the hash in the records; `None` if there is no
    /// such file.
    pub experiment_is_unchanged: Option<bool>,
}

impl<'a> Subject<'a> {
    pub fn of_storage(record: &'a StorageRecord) -> Self {
        Self {
            storage: Some(record),
            ..Self::default()
        }
    }

    /// The input for a single run of a command.
    pub fn of_run(record: &'a Record, limit: Option<Limit>) -> Self {
        Self {
            runs: vec![AuditedRun {
                record,
                limit,
                side: None,
            }],
            ..Self::default()
        }
    }
}
