//! All results in one document, for people and programs beside the page: JSON, CSV, Markdown, OpenMetrics, Parquet.
//!
//! docs/report-formats.md documents them; they say the same, for figures, names and units come from one list.

mod csv;
mod json;
mod markdown;
mod openmetrics;
mod parquet;

pub use csv::csv;
pub use json::json;
pub use markdown::markdown;
pub use openmetrics::openmetrics;
pub use parquet::{ParquetError, parquet};

/// How far results are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The figures of each run.
    Runs,
    /// Also what each run did second by second; of a table, that instead.
    Seconds,
}
