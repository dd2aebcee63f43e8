//! All results in one document besides the page: JSON, CSV, Markdown, OpenMetrics, Parquet.
//!
//! docs/report-formats.md documents them; they agree, because figures, names and units come from one list.

mod csv;
mod json;
mod junit;
mod markdown;
mod openmetrics;
#[cfg(feature = "parquet")]
mod parquet;

pub use csv::csv;
pub use json::json;
pub use junit::junit;
pub use markdown::markdown;
pub use openmetrics::openmetrics;

use crate::results::Results;
#[cfg(feature = "parquet")]
use crate::tables::columns::{table_of_measures, table_of_seconds};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The figures of each run.
    Runs,
    /// Also the figures per second; a table then has only these.
    Seconds,
}

/// An error of writing results as a Parquet file.
#[derive(Debug, thiserror::Error)]
pub enum ParquetError {
    /// This program was built without the feature `parquet`.
    #[error("this dbdyno was built without Parquet")]
    NotBuilt,
    /// The format cannot represent the results.
    #[error("cannot write the results as Parquet: {0}")]
    Format(String),
}

/// The results as the bytes of a Parquet file, compressed by Snappy; missing values are null.
pub fn parquet(results: &Results, detail: Detail) -> Result<Vec<u8>, ParquetError> {
    #[cfg(feature = "parquet")]
    let written = {
        let table = match detail {
            Detail::Runs => table_of_measures(results),
            Detail::Seconds => table_of_seconds(results),
        };
        parquet::bytes(&table).map_err(|error| ParquetError::Format(error.to_string()))
    };
    #[cfg(not(feature = "parquet"))]
    let written = {
        let _ = (results, detail);
        Err(ParquetError::NotBuilt)
    };
    written
}
