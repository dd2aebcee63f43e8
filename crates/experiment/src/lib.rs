//! The experiment file: parse, plan, schedule, resume.
//!
//! An experiment is read completely before anything runs: every combination of the factors is resolved to types, and
//! any error is an [`Error`] with file, line and column. `docs/experiment-file.md` documents the format.

mod data_hash;
mod error;
mod experiment;
mod file;
mod keys;
mod nearest;
mod plan;
mod results;
mod spec;

pub use data_hash::hash_of_data;
pub use error::Error;
pub use experiment::{Experiment, defaults_of, question_of};
pub use file::{
    defaults::Defaults, overrides::Overrides, position::SourcePosition, problem::Problem, written,
};
pub use keys::{DATA as DATA_KEYS, LOAD as LOAD_KEYS};
pub use nearest::nearest;
pub use plan::{
    Plan, PlannedLoad, PlannedRun,
    decision_time::DecisionTime,
    estimate::{Costs, DataStep, RunTime, run_times},
    server_bytes::server_bytes_at_least,
};
pub use results::{
    completed_runs::{Progress, record_file_names, set_aside},
    identity::{RedactedContent, TEXT_BYTES_MAX},
};
pub use spec::{
    answer::{AnswerSpec, ComparedSpec},
    compared_versions::{OF_COMPARED_VERSIONS, compared_versions_in_words},
    data::{Cache, DataSpec, Restore},
    design::{Design, Slicing},
    disturbed::DisturbedSpec,
    event::{EventAction, EventSpec, ServerAction},
    expect::ExpectSpec,
    find::FindSpec,
    load::LoadSpec,
    observe::{NoObserverAddress, Observe, ObserverAddress},
    proxy::ProxySpec,
    repeats::Repeats,
    server::{Restart, ServerSpec},
    server_access::{Connect, ServerAccess},
    verdict::{MIN_EFFECT, VerdictSpec},
};
