//! The formats of `dbdyno report`.

use std::path::Path;

use clap::ValueEnum;

/// Output format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// HTML page for a browser, in one file
    Html,
    /// One JSON object
    Json,
    /// CSV with one row per run and metric
    Csv,
    /// Markdown for a comment on a pull request
    Markdown,
    /// JUnit file for CI, with a test for each bound in the experiment's [expect] table and each search for a rate
    Junit,
    /// OpenMetrics text for Prometheus
    Openmetrics,
    /// Parquet file with the same rows as csv, but with typed columns
    Parquet,
    /// One chart as SVG
    Svg,
    /// One chart as PNG at double resolution
    Png,
}

impl Format {
    /// The file name extensions of this format.
    pub(super) fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Html => &["html", "htm"],
            Self::Json => &["json"],
            Self::Csv => &["csv"],
            Self::Markdown => &["md", "markdown"],
            Self::Junit => &["xml"],
            Self::Openmetrics => &["prom", "openmetrics"],
            Self::Parquet => &["parquet"],
            Self::Svg => &["svg"],
            Self::Png => &["png"],
        }
    }

    pub(super) fn of_file(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_lowercase();
        let mut all = Self::value_variants().iter().copied();
        all.find(|format| format.endings().contains(&ending.as_str()))
    }

    /// Its name on the command line.
    pub(super) fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
