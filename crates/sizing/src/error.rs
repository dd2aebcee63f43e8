//! The errors of reading the load of systems and of adding it up.

use std::io;

use blame::{Blame, Blamed};
use samples::ReadError;

/// A load that cannot be read or added up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{name}: cannot read: {source}")]
    Io { name: String, source: io::Error },
    #[error("{name}: {source}")]
    Record { name: String, source: ReadError },
    #[error("{name}: unknown kind of file")]
    UnknownKind { name: String },
    /// A line that is not as its kind of file has it, or a value that cannot be.
    #[error("{name}: line {line}: {problem}")]
    Line {
        name: String,
        line: u64,
        problem: String,
    },
    #[error("{name}: no sample with a time and a length")]
    NoSamples { name: String },
    #[error("only one system is named ({name}), and putting together takes at least two")]
    OneSystem { name: String },
    #[error("two systems have the name {name}")]
    SameName { name: String },
    #[error("--cpus names {name}, which is none of the systems")]
    UnknownSystem { name: String },
    #[error("--cpus names {name}, whose files have no CPU in percent")]
    NoCpuShare { name: String },
    #[error("--groups {groups} for {systems} systems")]
    Groups { groups: usize, systems: usize },
    #[error("a step of {} does not divide a day into equal parts", shown(*step_s))]
    Step { step_s: u32 },
    #[error("a step of {} is shorter than the sampling interval of {name}", shown(*step_s))]
    StepTooShort { name: String, step_s: u32 },
    #[error("a step of {} makes too many values of {days} days", shown(*step_s))]
    TooManyValues { step_s: u32, days: usize },
    #[error("no resource was measured in all systems at the same {times}")]
    NoOverlap {
        times: &'static str,
        /// What each system has, as text.
        covered: String,
    },
    #[error("--capacity names {resource}, which was not measured in all systems at the same time")]
    CapacityNotMeasured { resource: &'static str },
}

fn shown(step_s: u32) -> String {
    units::moment(f64::from(step_s))
}

impl Error {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::UnknownKind { .. } => {
                "the kinds are: a run record of dbdyno (record.jsonl), the output of `sadf -d` (sar), the output of \
                 `iostat -xt`, and the CSV file of a CloudWatch graph"
            }
            Self::OneSystem { .. } => "name the file of each system after --consolidate",
            Self::SameName { .. } => "rename one of the files: a file's name is that of its system",
            Self::UnknownSystem { .. } => {
                "the name of a system is that of its file without the extension"
            }
            Self::Groups { .. } => "from 1 group up to one for each system",
            Self::Step { .. } => "for example 10s, 1min, 5min, 10min or 1h",
            Self::StepTooShort { .. } => "leave --step out: the default is the coarsest interval",
            Self::TooManyValues { .. } => "choose a longer --step",
            Self::NoOverlap { covered, .. } => return Some(covered.clone()),
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

impl From<Error> for Blamed {
    fn from(error: Error) -> Self {
        let hint = error.hint();
        Self::new(Blame::Input, error).hint(hint)
    }
}
