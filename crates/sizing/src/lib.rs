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
mod demand_text;
mod disk_limits;
mod drift;
mod emulated_target;
mod error;
mod execution;
mod fitted_draws;
mod flush_curve;
mod growth;
mod growth_answer;
mod growth_formats;
mod growth_text;
mod headroom;
mod headroom_formats;
mod headroom_text;
mod iostat;
mod joint_load;
mod likeness;
mod limit;
mod limit_outcome;
mod lines;
mod load_curve;
mod measured_records;
mod measuring_conditions;
mod memory_curve;
mod memory_position;
mod moment;
mod observed_limit;
mod partition;
mod prediction;
mod prediction_formats;
mod prediction_text;
mod program_formats;
mod readers;
mod requirement;
mod requirement_formats;
mod requirement_model;
mod requirement_text;
mod resource;
mod resource_headroom;
mod response_limit;
mod run_record;
mod sadf;
mod searched_rate;
mod server_load;
mod server_machine;
mod service_demand;
mod target;
mod target_check;
mod target_check_output;
mod target_data;
mod tested_demand;
#[cfg(test)]
mod testing;
mod text;
mod validated_prediction;
mod validation;
mod what_if;
mod what_if_output;

pub use alignment::Alignment;
pub use answer_line::AnswerLine;
pub use capacity::{Capacity, parse_capacity, parse_cpus};
pub use consolidation::{
    Consolidation, GroupLoad, Request, ResourceSum, SystemSummary, consolidate,
};
pub use day_bootstrap::PeakInterval;
pub use drift::Drift;
pub use error::Error;
pub use execution::{
    EMULATED, EMULATED_LEVELS, EmulatedExecution, Execution, Executions, MemoryUse, ServerCpus,
    is_emulated,
};
pub use growth::{Growth, parse_growth};
pub use growth_answer::{GrowthAnswer, GrowthDate, GrowthOutcome, GrowthRequest};
pub use growth_formats::{growth_csv, growth_json};
pub use growth_text::{cliff_in_words, growth_lines, growth_sentence};
pub use headroom::{Headroom, HeadroomRequest, headroom};
pub use headroom_formats::{headroom_csv, headroom_json};
pub use headroom_text::headroom_lines;
pub use limit::Limit;
pub use limit_outcome::LimitOutcome;
pub use load_curve::LoadCurve;
pub use measuring_conditions::MeasuringConditions;
pub use memory_curve::{Crossing, CurvePoint, MemoryCurve, memory_curve};
pub use observed_limit::LimitSource;
pub use partition::Search;
pub use prediction::{Prediction, PredictionRequest, TargetMemory, Throughput, predict};
pub use prediction_formats::{prediction_csv, prediction_json};
pub use prediction_text::{
    demand_in_words, extrapolation_in_words, prediction_lines, rate as rate_in_words,
};
pub use program_formats::{consolidation_csv, consolidation_json};
pub use readers::read_curve;
pub use requirement::{Need, Requirement, RequirementRequest, RequirementRow, RowMemory, require};
pub use requirement_formats::{requirement_csv, requirement_json};
pub use requirement_text::{
    memory_in_words as row_memory_in_words, need_in_words, not_validated_in_words,
    requirement_lines, requirement_sentence,
};
pub use resource::Resource;
pub use resource_headroom::{KnownLimit, ObservedUse, Origin, ResourceHeadroom, Times};
pub use response_limit::{AllowedShare, ResponseLimit};
pub use searched_rate::SearchedRate;
pub use service_demand::{Demands, ServiceDemand};
pub use target::{BufferPool, Target, parse_target};
pub use target_check::{
    AllowedRate, Carried, CarriedVerdict, CheckRequest, TargetCheck, check_target,
};
pub use target_check_output::{
    check_csv, check_json, check_lines, decision_in_words, response_in_words,
};
pub use tested_demand::TestedDemand;
pub use text::consolidation_lines;
pub use validated_prediction::predict_validated;
pub use validation::Validation;
pub use what_if::{
    Changes, ComparedThroughput, Levels, WhatIf, WhatIfRequest, parse_changes, what_if,
};
pub use what_if_output::{what_if_csv, what_if_json, what_if_lines};
