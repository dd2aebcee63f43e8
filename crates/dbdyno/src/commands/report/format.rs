//! The formats of `dbdyno report`.

use std::path::Path;

use clap::ValueEnum;

/// Output format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Page for a browser, in one file
    Html,
    /// One object
    Json,
    /// One row per run and metric
    Csv,
    /// For a comment on a pull request
    Markdown,
    /// The bounds in an experiment's [expect] as tests, for CI
    Junit,
    /// For Prometheus
    Openmetrics,
    /// The csv rows with typed columns
    Parquet,
    /// A chart
    Svg,
    /// A chart at double resolution
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
