//! `dbdyno report`: all results as one document, for people or programs.

mod charts;
mod format;
mod storage_results;

use std::{io::IsTerminal, path::PathBuf, process::ExitCode};

use benchmarks::VOCABULARY;
use blame::{Blame, Blamed};
use report::{Detail, ParquetError, Results};
use results::results_of;

use self::{
    charts::{chosen, document_of, not_built, write_charts},
    format::Format,
    storage_results::ReportRequest,
};
use crate::output::{write_file, write_out};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
If several results are given, they are combined into one report. In this report, the factor `results` names the results
to which each run belongs.

If --format is not given, the file extension of --output determines the format (.html, .json, .csv, .md, .xml, .prom,
.parquet, .svg, .png). If neither option is given, the format is svg for charts (--chart, --charts) and html otherwise.
docs/report-formats.md documents every format.

Examples:
  dbdyno report results/quickstart-1 --output quickstart.html
  dbdyno report results/quickstart-1 --format markdown
  dbdyno report results/before-1 results/after-1 --output both.parquet --seconds
  dbdyno report results/oltp-read_write-1/record.jsonl --format openmetrics
  dbdyno report results/quickstart-1 --chart throughput --output throughput.png
  dbdyno report results/quickstart-1 --charts pictures --format png
  dbdyno report results/storage-suite-1 --chart heat --output heat.svg")]
pub(crate) struct ReportArgs {
    /// Results directories and run records to report, or the results directory of one storage measurement
    #[arg(value_name = "DIR|RECORD", required = true)]
    results: Vec<PathBuf>,
    /// Output format [default: determined by the file extension of --output; see below]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Chart to draw as svg or png, for example throughput [default: the report's first chart]
    #[arg(long, value_name = "NAME", conflicts_with = "charts")]
    chart: Option<String>,
    /// Write every chart into this directory, as svg or png
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "seconds"])]
    charts: Option<PathBuf>,
    /// Write each run's per-second values. In csv and parquet, they replace the run's figures; in json, they are added
    /// to the figures
    #[arg(long)]
    seconds: bool,
}

pub(crate) fn run(args: ReportArgs) -> anyhow::Result<ExitCode> {
    let format = format(&args)?;
    let detail = if args.seconds {
        Detail::Seconds
    } else {
        Detail::Runs
    };
    check_terminal(&args, format)?;
    let document = match storage_results::document(&ReportRequest {
        results: &args.results,
        format,
        charts: args.charts.as_deref(),
        chart: args.chart.as_deref(),
        seconds: args.seconds,
    })? {
        Some(document) => document,
        None => {
            let results = results_of(&args.results, &VOCABULARY)?;
            if let Some(directory) = &args.charts {
                write_charts(report::pictures(&results), format, directory)?;
                return Ok(ExitCode::SUCCESS);
            }
            document(&results, format, detail, args.chart.as_deref())?
        }
    };
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
            let message = format!(
                "{}: the file extension does not determine a format",
                path.display()
            );
            let hint = "choose one with --format".to_owned();
            return Err(Blamed::new(Blame::Input, message).hint(hint));
        }
    };
    let is_chart = matches!(format, Format::Svg | Format::Png);
    if !is_chart && (args.chart.is_some() || args.charts.is_some()) {
        let message = format!("a chart cannot be written as {}", format.name());
        let hint = "use --format svg or --format png".to_owned();
        return Err(Blamed::new(Blame::Input, message).hint(hint));
    }
    let has_seconds = matches!(format, Format::Json | Format::Csv | Format::Parquet);
    if args.seconds && !has_seconds {
        let message = format!("--seconds: {} has no values per second", format.name());
        let hint = "json, csv and parquet contain them".to_owned();
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
    let hint = format!("use --output FILE.{} to write a file", format.endings()[0]);
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
        Format::Junit => report::junit(results).into_bytes(),
        Format::Openmetrics => report::openmetrics(results).into_bytes(),
        Format::Parquet => report::parquet(results, detail).map_err(|error| match error {
            ParquetError::NotBuilt => not_built(error),
            ParquetError::Format(_) => Blamed::new(Blame::Machine, error),
        })?,
        Format::Svg | Format::Png => {
            document_of(&chosen(report::pictures(results), chart)?, format)?
        }
    })
}
