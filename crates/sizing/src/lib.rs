//! How large a machine must be: the load of several systems over time, added up.
//!
//! Pure: the readers get text, and nothing here opens a file or a socket, or reads a clock. `docs/size.md` describes
//! the method, with its formulas and sources.

mod alignment;
mod amount;
mod answer_line;
mod capacity;
mod cloudwatch;
mod consolidation;
mod day_bootstrap;
mod days;
mod error;
mod iostat;
mod joint_load;
mod lines;
mod load_curve;
mod moment;
mod partition;
mod program_formats;
mod readers;
mod resource;
mod run_record;
mod sadf;
mod text;

pub use alignment::Alignment;
pub use answer_line::AnswerLine;
pub use capacity::{Capacity, parse_capacity, parse_cpus};
pub use consolidation::{
    Consolidation, GroupLoad, Request, ResourceSum, SystemSummary, consolidate,
};
pub use day_bootstrap::PeakInterval;
pub use error::Error;
pub use load_curve::LoadCurve;
pub use partition::Search;
pub use program_formats::{consolidation_csv, consolidation_json};
pub use readers::read_curve;
pub use resource::Resource;
pub use text::consolidation_lines;
