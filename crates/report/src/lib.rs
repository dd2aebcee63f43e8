//! Renders results for people and programs: tables for a terminal, one HTML page, one SQLite database, and the
//! report layouts of the tools that dbdyno stands in for.
//!
//! The charts that carry a conclusion are static SVG from this crate's own few hundred lines of scales, axes and
//! marks. The crate kuva draws more kinds of charts, but its SVG has no title or description for a screen reader
//! and fixes its colours instead of taking them from a style sheet, so that it could follow neither dark mode nor
//! print. Only the zoomable course of a run is drawn by a library in the browser (see `build.rs`).
//!
//! Nothing here opens a socket or reads a clock; [`write_summary`] touches the file that it is given.

mod answer;
mod ceiling;
mod cell;
mod chart;
mod columns;
mod combination;
mod contrast;
mod database;
mod disturbances;
mod factor_columns;
mod findings;
mod formats;
mod grid;
mod history;
pub mod layouts;
mod limit;
mod markdown_text;
mod observers;
mod page;
mod percentiles;
mod picture;
mod results;
mod run_report;
mod run_values;
mod scaling;
mod seconds;
mod steadiness;
mod table_sizes;
mod terminal;
mod unit;
mod wrapped;

pub use contrast::{contrast_as_json, contrast_as_markdown, contrast_as_text};
pub use database::{Error, write_summary};
pub use disturbances::disturbance_in_words;
pub use findings::{Shown, audit_in_short, audit_json, audit_text, rule_explained};
pub use formats::{Detail, ParquetError, csv, json, markdown, openmetrics, parquet};
pub use history::{PastResult, history_as_text, series_as_text};
pub use limit::{limit_in_words, limit_of};
pub use page::html;
pub use picture::{Picture, PictureError, pictures, png};
pub use results::{Chart, Disturbances, Factor, Results};
pub use run_report::{Classes, PercentileValue, RunReport, StatementReport, Times};
pub use table_sizes::TableList;
pub use terminal::table;
