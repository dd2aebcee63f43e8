//! `dbdyno report`: all results as one document, for people or programs.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::ValueEnum;
use report::{Detail, ParquetError, Picture, PictureError, Results};
use runs::{Blame, Blamed, results_of};

use crate::output::write_out;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Several results become one report, in which the factor `results` says which of them a run belongs to.

Without --format the ending of --output decides (.html, .json, .csv, .md, .prom, .parquet, .svg, .png), and without
--output it is the page. docs/report-formats.md documents every format.

Examples:
  dbdyno report results/quickstart-1 --output quickstart.html
  dbdyno report results/quickstart-1 --format markdown
  dbdyno report results/before-1 results/after-1 --output both.parquet --seconds
  dbdyno report results/oltp-read_write-1/record.jsonl --format openmetrics
  dbdyno report results/quickstart-1 --chart throughput --output throughput.png
  dbdyno report results/quickstart-1 --charts pictures --format png")]
pub(crate) struct ReportArgs {
    /// Results directories and run records
    #[arg(value_name = "DIR|RECORD", required = true)]
    results: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Chart to draw as svg or png, for example throughput [default: the first]
    #[arg(long, value_name = "NAME", conflicts_with = "charts")]
    chart: Option<String>,
    /// Write every chart into this directory, as svg or png
    #[arg(long, value_name = "DIRECTORY", conflicts_with_all = ["output", "seconds"])]
    charts: Option<PathBuf>,
    /// Write each run's seconds: in csv and parquet instead of its figures, in json in addition
    #[arg(long)]
    seconds: bool,
}

/// Output format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Page for a browser, in one file
    Html,
    /// One object
    Json,
    /// One row per run and metric
    Csv,
    /// For a comment on a change
    Markdown,
    /// For Prometheus
    Openmetrics,
    /// The rows of csv, typed
    Parquet,
    /// A chart
    Svg,
    /// A chart at double resolution
    Png,
}

impl Format {
    /// The file name extensions of this format.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Html => &["html", "htm"],
            Self::Json => &["json"],
            Self::Csv => &["csv"],
            Self::Markdown => &["md", "markdown"],
            Self::Openmetrics => &["prom", "openmetrics"],
            Self::Parquet => &["parquet"],
            Self::Svg => &["svg"],
            Self::Png => &["png"],
        }
    }

    fn of_file(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_lowercase();
        let mut all = Self::value_variants().iter().copied();
        all.find(|format| format.endings().contains(&ending.as_str()))
    }

    /// Its name on the command line.
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

pub(crate) fn run(args: ReportArgs) -> anyhow::Result<ExitCode> {
    let format = format(&args)?;
    let detail = if args.seconds {
        Detail::Seconds
    } else {
        Detail::Runs
    };
    check_terminal(&args, format)?;
    let results = results_of(&args.results)?;
    if let Some(directory) = &args.charts {
        write_charts(&results, format, directory)?;
        return Ok(ExitCode::SUCCESS);
    }
    let document = document(&results, format, detail, args.chart.as_deref())?;
    match &args.output {
        Some(path) => write_file(path, &document)?,
        None => write_out(&document)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The requested format; an error if it does not support the other options.
fn format(args: &ReportArgs) -> Result<Format, Blamed> {
    let of_file = args.output.as_deref().and_then(Format::of_file);
    let format = match (args.format, &args.output, of_file) {
        (Some(format), _, _) => format,
        (None, None, _) if args.charts.is_some() || args.chart.is_some() => Format::Svg,
        (None, Some(_), Some(format)) => format,
        (None, None, _) => Format::Html,
        (None, Some(path), None) => {
            let message = format!("{}: its ending names no format", path.display());
            let hint = "--format names one".to_owned();
            return Err(Blamed::new(Blame::Input, message).hint(hint));
        }
    };
    let is_chart = matches!(format, Format::Svg | Format::Png);
    if !is_chart && (args.chart.is_some() || args.charts.is_some()) {
        let message = format!("a chart is no {}", format.name());
        let hint = "--format svg or png draws it".to_owned();
        return Err(Blamed::new(Blame::Input, message).hint(hint));
    }
    let has_seconds = matches!(format, Format::Json | Format::Csv | Format::Parquet);
    if args.seconds && !has_seconds {
        let message = format!("--seconds: {} does not tell them apart", format.name());
        let hint = "json, csv and parquet do".to_owned();
        return Err(Blamed::new(Blame::Input, message).hint(hint));
    }
    Ok(format)
}

/// An error if the output would only disrupt a terminal.
fn check_terminal(args: &ReportArgs, format: Format) -> Result<(), Blamed> {
    let is_for_files = matches!(format, Format::Html | Format::Parquet | Format::Png);
    if args.output.is_some()
        || args.charts.is_some()
        || !is_for_files
        || !std::io::stdout().is_terminal()
    {
        return Ok(());
    }
    let message = format!("{} is not written to a terminal", format.name());
    let hint = format!("--output FILE.{} writes a file", format.endings()[0]);
    Err(Blamed::new(Blame::Input, message).hint(hint))
}

fn document(
    results: &Results,
    format: Format,
    detail: Detail,
    chart: Option<&str>,
) -> Result<Vec<u8>, Blamed> {
    Ok(match format {
        Format::Html => report::html(results).into_bytes(),
        Format::Json => report::json(results, detail).into_bytes(),
        Format::Csv => report::csv(results, detail).into_bytes(),
        Format::Markdown => report::markdown(results).into_bytes(),
        Format::Openmetrics => report::openmetrics(results).into_bytes(),
        Format::Parquet => report::parquet(results, detail).map_err(|error| match error {
            ParquetError::NotBuilt => not_built(error),
            ParquetError::Format(_) => Blamed::new(Blame::Machine, error),
        })?,
        Format::Svg | Format::Png => drawn(&chosen(results, chart)?, format)?,
    })
}

/// The chart with this name, or the first one.
fn chosen(results: &Results, name: Option<&str>) -> Result<Picture, Blamed> {
    let mut pictures = report::pictures(results);
    let at = match name {
        Some(name) => pictures.iter().position(|picture| picture.name == name),
        None => (!pictures.is_empty()).then_some(0),
    };
    match at {
        Some(at) => Ok(pictures.swap_remove(at)),
        None => Err(no_chart(&pictures, name)),
    }
}

fn no_chart(pictures: &[Picture], name: Option<&str>) -> Blamed {
    let names: Vec<&str> = pictures
        .iter()
        .map(|picture| picture.name.as_str())
        .collect();
    let (message, hint) = if names.is_empty() {
        (
            "these results have no chart".to_owned(),
            "charts are drawn over the levels of a factor, and nothing was varied".to_owned(),
        )
    } else {
        (
            format!("no chart {:?}", name.unwrap_or_default()),
            format!("available: {}", names.join(", ")),
        )
    };
    Blamed::new(Blame::Input, message).hint(hint)
}

fn drawn(picture: &Picture, format: Format) -> Result<Vec<u8>, Blamed> {
    match format {
        Format::Png => report::png(&picture.svg).map_err(|error| match error {
            PictureError::NotBuilt => not_built(error),
            error => Blamed::new(Blame::Machine, error),
        }),
        _ => Ok(picture.svg.clone().into_bytes()),
    }
}

/// The error of a build without a format.
fn not_built(error: impl std::fmt::Display) -> Blamed {
    let hint = "`make quickstart` builds without it; the packages and `make build` have it";
    Blamed::new(Blame::Input, error).hint(hint.to_owned())
}

/// Writes all charts as files named after them.
fn write_charts(results: &Results, format: Format, directory: &Path) -> Result<(), Blamed> {
    let pictures = report::pictures(results);
    if pictures.is_empty() {
        return Err(no_chart(&pictures, None));
    }
    std::fs::create_dir_all(directory).map_err(Blamed::io(Blame::Input, directory))?;
    for picture in pictures {
        let file = directory.join(&picture.name);
        let file = file.with_extension(format.endings()[0]);
        write_file(&file, &drawn(&picture, format)?)?;
        println!("{}", file.display());
    }
    Ok(())
}

fn write_file(path: &Path, document: &[u8]) -> Result<(), Blamed> {
    let written = files::replace(path, document).map_err(std::io::Error::from);
    written.map_err(Blamed::io(Blame::Input, path))
}
