//! What the caller hands over: the records, and what was declared before they were made.

use std::collections::BTreeSet;

use samples::Record;

/// What is audited.
#[derive(Debug, Clone, Default)]
pub struct Subject<'a> {
    /// The runs, in the order of their numbers; of two sides, those of the first before those of the second.
    pub runs: Vec<Measured<'a>>,
    /// What was declared before the runs.
    pub declared: Declared,
    /// What else lies beside the records.
    pub kept: BesideRecords,
}

/// One run, and what others have found out about it.
#[derive(Debug, Clone)]
pub struct Measured<'a> {
    /// Its record.
    pub record: &'a Record,
    /// What limited it; `None` where nobody has looked.
    pub limit: Option<Limit>,
    /// The side of a comparison that it belongs to, where two sides were handed over.
    pub side: Option<String>,
}

/// What limited a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limit {
    /// The resource; `None` where no resource that was observed was short.
    pub resource: Option<String>,
    /// The figures, or what was not observed.
    pub evidence: String,
}

/// What was declared before the runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Declared {
    /// An experiment was declared at all; false of a single run of a command.
    pub is_experiment: bool,
    /// The factors, in their order.
    pub factors: Vec<String>,
    /// Runs that the plan holds.
    pub planned_runs: Option<u32>,
    /// What was to be compared.
    pub comparison: Option<Comparison>,
    /// Variables of the server that the experiment sets, as the server spells them.
    pub variables: BTreeSet<String>,
    /// Of the time that a user of the application waits, the share that the database has; `None` where nobody said.
    pub database_share: Option<f64>,
}

/// What was to be compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Comparison {
    /// The factors whose levels are compared.
    pub factors: Vec<String>,
    /// What is compared, as `throughput` or `p99`; empty where nothing was said.
    pub metric: String,
    /// The smallest difference that matters, as a share; `None` where nothing was said.
    pub min_effect: Option<f64>,
}

/// What else lies beside the records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BesideRecords {
    /// Records of attempts that broke off and that another attempt replaced.
    pub replaced: u32,
    /// Records of runs that were done again because other work had disturbed them.
    pub disturbed: u32,
    /// The text of the experiment stands beside the records, and its hash is that of the records; `None` where there is
    /// none to look at.
    pub experiment_is_unchanged: Option<bool>,
}

impl<'a> Subject<'a> {
    /// One run of a command.
    pub fn of_run(record: &'a Record, limit: Option<Limit>) -> Self {
        Self {
            runs: vec![Measured {
                record,
                limit,
                side: None,
            }],
            ..Self::default()
        }
    }
}
