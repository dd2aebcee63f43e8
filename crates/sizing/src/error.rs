//! The errors of reading and adding up the load of systems, and of predicting the capacity of a target.

use std::io;

use blame::{Blame, Blamed};
use samples::ReadError;

use crate::target::Target;

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
    #[error("only one system is named ({name}), and --consolidate needs at least two")]
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
    #[error("the files cover less than half of each step of {}", shown(*step_s))]
    NoCoveredStep { step_s: u32 },
    #[error("a step of {} makes too many values of {days} days", shown(*step_s))]
    TooManyValues { step_s: u32, days: usize },
    #[error("no resource was measured in all systems at the same {times}")]
    NoOverlap {
        times: &'static str,
        /// What each system has, as text.
        covered: String,
    },
    #[error("nothing can be added up: the number of CPUs is unknown for {}", names.join(", "))]
    UnknownCpus { names: Vec<String> },
    #[error("--capacity names {resource}, which was not measured in all systems at the same time")]
    CapacityNotMeasured { resource: &'static str },
    #[error("{name}: the run is incomplete: {why}")]
    Incomplete { name: String, why: String },
    #[error("{name}: the record has no server")]
    NoServer { name: String },
    #[error(
        "{name}: the run had several loads, and the server's counters are those of all of them"
    )]
    SeveralLoads { name: String },
    #[error(
        "{name}: the load had a fixed rate, so its throughput is not the highest that the server can do"
    )]
    FixedRate { name: String },
    #[error("{name}: a run of a search for a rate, and no record of a closed loop is named")]
    NoClosedLoop { name: String },
    #[error("{name}: no operation was measured")]
    NothingMeasured { name: String },
    #[error("{name}: another {kind} than in {first}: {difference}")]
    Unlike {
        name: String,
        first: String,
        /// Server, machine, workload or configuration.
        kind: &'static str,
        difference: String,
    },
    #[error("only one execution of each combination ({executions} in all), which has no interval")]
    OneExecution { executions: usize },
    #[error("--target names no limit")]
    NoLimit,
    #[error("the files are of several machines: {hosts}")]
    SeveralHosts { hosts: String },
    #[error("the runs have different limits of the server: {limits}")]
    SeveralLimits { limits: String },
    #[error("--target names {name}, which is no limit of a running server")]
    NoLimitOfServer { name: &'static str },
    #[error("--target names no memory, and the records have {measured}")]
    MemoryMissing { measured: String },
    #[error("--target names no size of the data, and the records have {measured}")]
    DataMissing { measured: String },
    #[error(
        "--what-if names {name}, which is neither a part of a target nor a factor of the records"
    )]
    UnknownChange {
        name: String,
        /// Those of the records.
        factors: Vec<String>,
    },
    #[error("--what-if names {factor}={level}, and the records have {}", levels.join(", "))]
    UnknownLevel {
        factor: String,
        level: String,
        levels: Vec<String>,
    },
    #[error(
        "--what-if names {factor}={level}, and the records have {}",
        other_levels(others)
    )]
    OtherLevels {
        factor: String,
        level: String,
        /// The other levels of the records, none or several.
        others: Vec<String>,
    },
    #[error("--what-if names {name}, whose present value is not known")]
    NoValueNow { name: &'static str },
    #[error(
        "--what-if changes memory or data, which changes the page reads, and --target has no read_iops"
    )]
    NoReadsNow,
}

fn shown(step_s: u32) -> String {
    units::moment(f64::from(step_s))
}

fn other_levels(others: &[String]) -> String {
    if others.is_empty() {
        "no other level".to_owned()
    } else {
        format!("several other levels: {}", others.join(", "))
    }
}

/// How to find out what a name would change that is not known.
fn experiment_with(name: &str, factors: &[String]) -> String {
    let factors = if factors.is_empty() {
        "the records have no factors".to_owned()
    } else {
        format!("the factors of the records are {}", factors.join(", "))
    };
    format!(
        "the parts of a target are {}; {factors}; for a setting of the server, run an experiment that has it as a \
         factor ({name} = [...] in [matrix], set = {{ {name} = \"{{{name}}}\" }} in [server]), and name its results",
        Target::names_in_words()
    )
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
            Self::NoCoveredStep { .. } => "choose a shorter --step, or name files of a longer time",
            Self::TooManyValues { .. } => "choose a longer --step",
            Self::NoOverlap { covered, .. } => return Some(covered.clone()),
            Self::UnknownCpus { names } => {
                let options: Vec<String> = names
                    .iter()
                    .map(|name| format!("--cpus {name}=N"))
                    .collect();
                return Some(format!("add {}", options.join(" ")));
            }
            Self::Incomplete { .. } => "run the experiment with --resume, or leave this record out",
            Self::FixedRate { .. } => {
                "measure in a closed loop, without rate; a search for a rate (find) is used with --p99"
            }
            Self::Unlike { .. } => {
                "name records that differ only in the number of connections, the buffer pool and the size of the data"
            }
            Self::OneExecution { .. } => "run the experiment with --repeats 3 or more",
            Self::NoLimit => "name cpus, read_iops, write_iops, fsync or net",
            Self::SeveralHosts { .. } => {
                "name the files of one server; --consolidate adds up the load of several"
            }
            Self::SeveralLimits { .. } => {
                "name the records of one combination of levels, for example DIR/run-0001.jsonl"
            }
            Self::NoLimitOfServer { .. } => {
                "name cpus, read_iops, write_iops, fsync, net or memory"
            }
            Self::MemoryMissing { .. } => "for example memory=32G or buffer_pool=24G",
            Self::DataMissing { .. } => "for example data=100G",
            Self::NoClosedLoop { .. } => {
                "name the results of the experiment that measured the demands, too"
            }
            Self::UnknownChange { name, factors } => return Some(experiment_with(name, factors)),
            Self::OtherLevels {
                factor,
                level,
                others,
            } => {
                let now = others.first()?;
                return Some(format!(
                    "name the level now, too: --what-if {factor}={now}..{level}"
                ));
            }
            Self::NoValueNow { .. } => "name it in --target, which describes the present machine",
            Self::NoReadsNow => {
                "name the reads per second of the disk in --target, for example read_iops=3000"
            }
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
