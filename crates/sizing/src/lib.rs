//! How large a machine must be: the throughput of a target, predicted from the demands of one operation; the load of
//! several systems over time, added up.
//!
//! Pure: the readers get text or records, and nothing here opens a file or a socket, or reads a clock. `docs/size.md`
//! describes the methods, with their formulas and sources.

mod alignment;
mod amount;
mod answer_line;
mod capacity;
mod capacity_model;
mod cells;
mod che_approximation;
mod cloudwatch;
mod consolidation;
mod cpu_law;
mod day_bootstrap;
mod days;
mod disk_limits;
mod drift;
mod error;
mod execution;
mod fitted_draws;
mod flush_curve;
mod growth;
mod growth_answer;
mod growth_formats;
mod growth_text;
mod iostat;
mod joint_load;
mod likeness;
mod limit;
mod limit_outcome;
mod lines;
mod load_curve;
mod memory_curve;
mod memory_position;
mod moment;
mod partition;
mod prediction;
mod prediction_formats;
mod prediction_text;
mod program_formats;
mod readers;
mod resource;
mod run_record;
mod sadf;
mod server_machine;
mod service_demand;
mod target;
mod target_data;
#[cfg(test)]
mod testing;
mod text;

pub use alignment::Alignment;
pub use answer_line::AnswerLine;
pub use capacity::{Capacity, parse_capacity, parse_cpus};
pub use consolidation::{
    Consolidation, GroupLoad, Request, ResourceSum, SystemSummary, consolidate,
};
pub use day_bootstrap::PeakInterval;
pub use drift::Drift;
pub use error::Error;
pub use execution::{Execution, Executions, MemoryUse, ServerCpus};
pub use growth::{Growth, parse_growth};
pub use growth_answer::{GrowthAnswer, GrowthDate, GrowthOutcome, GrowthRequest};
pub use growth_formats::{growth_csv, growth_json};
pub use growth_text::{cliff_in_words, growth_lines, growth_sentence};
pub use limit::Limit;
pub use limit_outcome::LimitOutcome;
pub use load_curve::LoadCurve;
pub use memory_curve::{Crossing, CurvePoint, MemoryCurve, memory_curve};
pub use partition::Search;
pub use prediction::{Prediction, PredictionRequest, TargetMemory, Throughput, predict};
pub use prediction_formats::{prediction_csv, prediction_json};
pub use prediction_text::{demand_in_words, prediction_lines, rate as rate_in_words};
pub use program_formats::{consolidation_csv, consolidation_json};
pub use readers::read_curve;
pub use resource::Resource;
pub use service_demand::{Demands, ServiceDemand};
pub use target::{BufferPool, Target, parse_target};
pub use text::consolidation_lines;
