//! What a user can set: typed options with their units and defaults, and the plain values of a load, limits.
//!
//! The crate opens no socket and no file and reads no clock: the experiment file, the command lines and the benchmarks
//! share its words.

mod factor;
pub mod limits;
mod load;
mod option;
mod planned_stage;
pub mod quantity;
mod value;
mod vocabulary;

pub use factor::{Chart, Factor};
pub use limits::{DiskLimits, GroupLimits};
pub use load::{Arrivals, OnError, OnRefusal, Process, ThinkTime, WarmUp};
pub use option::{Absent, Kind, OptionSpec, defaults};
pub use planned_stage::{INTERVAL_AT_LEAST, Level, PlannedStage, mean_rate};
pub use value::{NamedTable, Rows, Value, Values, WeightedFile};
pub use vocabulary::{
    Chosen, Conflict, DataKind, LoadKind, NeededData, OptionTable, Size, Vocabulary,
};
