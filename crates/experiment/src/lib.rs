//! The experiment file: parse, plan, schedule, resume.
//!
//! An experiment is read whole before anything runs: every combination of the factors is resolved to types, and
//! whatever is wrong with it is an [`Error`] that names file, line and column. `docs/experiment-file.md` documents
//! the format.

mod chart;
mod chosen;
mod completed_runs;
mod data;
mod disturbed;
mod error;
mod estimate;
mod experiment;
mod identity;
mod kept;
mod load;
mod matrix;
mod observe;
mod order;
mod overrides;
mod place;
mod plan;
mod plan_table;
mod problem;
mod repeats;
mod scale;
mod section;
mod server;
mod source;
mod template;
mod text;
mod verdict;
mod way;

pub use chart::Chart;
pub use completed_runs::{Progress, record_file_name, set_aside};
pub use data::{Cache, DataSpec, Restore};
pub use disturbed::DisturbedSpec;
pub use error::Error;
pub use estimate::Costs;
pub use experiment::{Experiment, has_former_defaults, question_of};
pub use identity::TEXT_BYTES_MAX;
pub use load::{LoadSpec, OnError, Pacing, Process, ThinkTime, WarmUp};
pub use matrix::Factor;
pub use observe::{NoObserverAddress, Observe, ObserverAddress};
pub use overrides::Overrides;
pub use place::Place;
pub use plan::{Plan, PlannedRun};
pub use problem::Problem;
pub use repeats::Repeats;
pub use server::{Restart, ServerSpec};
pub use verdict::VerdictSpec;
pub use way::{Connect, Way};
