//! Renders results for people and programs: tables for a terminal, one HTML page and one SQLite database.
//!
//! The charts that show a conclusion are static SVG from this crate's own few hundred lines of scales, axes and marks.
//! The crate kuva draws more kinds of charts, but its SVG has no title or description for a screen reader, and it fixes
//! its colours instead of taking them from a style sheet, so that it could follow neither dark mode nor print. Only the
//! zoomable time series of a run is drawn by a library in the browser (see `build.rs`).
//!
//! Nothing here opens a socket or reads a clock; [`write_summary`] writes only the file at the given path.

mod chart;
mod contrast;
mod database;
mod expectations;
mod findings;
mod formats;
mod grid;
mod history;
mod page;
mod picture;
mod plan_comparison_page;
mod plan_page;
mod proof;
mod results;
mod run_report;
mod search_answer;
mod sentences;
mod sizing_page;
mod statement_times_page;
mod storage;
mod summary;
mod tables;
mod terminal;
mod text;

pub use contrast::{
    MeasureSelection, contrast_as_html, contrast_as_json, contrast_as_markdown, contrast_as_text,
    contrast_summary,
};
pub use database::{Error, write_summary};
pub use expectations::{CheckedExpectation, checked_expectations};
pub use findings::{AuditFilter, audit_in_short, audit_json, audit_text, rule_explained};
pub use formats::{Detail, ParquetError, csv, json, junit, markdown, openmetrics, parquet};
pub use history::{PastResult, SeriesFigure, history_as_text, series_as_text};
pub use page::{PAGE_MARK, audit_html, html, served_html, served_script};
pub use picture::{Picture, PictureError, pictures, png, storage_pictures};
pub use plan_comparison_page::{ComparedStatement, PlanSide, plan_comparison_page};
pub use plan_page::{ExplainedForm, ExplainedStatement, plan_page};
pub use proof::{
    Gain, PossibleLoss, Proof, ProofLine, ProofRound, UntestedText, proof_as_html, proof_as_json,
    proof_as_text,
};
pub use results::{Clause, Disturbances, Expectation, Results};
pub use run_report::{Classes, PercentileValue, RunReport, StatementReport, Times};
pub use search_answer::SearchAnswer;
pub use sentences::{
    disturbances::disturbance_in_words,
    limit::{limit_in_words, limit_of},
    max_rates::{search_sentence, short_search_sentences},
};
pub use settings::{Chart, Factor};
pub use sizing_page::{SizingPage, sizing_page};
pub use statement_times_page::{TimedStatement, statement_times_page};
pub use storage::{
    DiskSteadiness, page_writes_per_s, storage_csv, storage_details, storage_html, storage_json,
    storage_summary,
};
pub use summary::{next_step::NextStep, summary};
pub use tables::table_sizes::TableList;
pub use terminal::table;
pub use text::{facts::cut_to_width, shell::shell_word, wrapped::wrapped_behind};
