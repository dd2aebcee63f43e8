//! `dbdyno history`: the results written on this machine, and one experiment's figures over time.

use std::{collections::BTreeSet, path::PathBuf, process::ExitCode};

use benchmarks::VOCABULARY;
use blame::{Blame, Blamed};
use report::{PastResult, SearchAnswer, SeriesFigure};
use results::{
    past_summary::{PastSummary, search_answers},
    read_records, record_files,
    results_list::{self, PastResults},
};
use runs::Listener;
use samples::Record;
use verdict::{Measure, Metric, Scale};

use crate::{commands::run::terminal_width, terminal::Terminal};

/// Default number of results shown.
const LAST: usize = 20;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
dbdyno adds every new results directory to the list in ~/.local/share/dbdyno/history.jsonl. To show other results, use
--dir, which searches a directory instead of the list. If a results directory no longer exists, its results are only
counted; --forget removes them from the list. The list also shows each result's grade from `dbdyno audit`.

--of accepts an experiment's name, a factor that varies, or at least the first four digits of a key from the list.
Results with the same key have the same experiment text, overrides and files. The results of each combination of
levels form one time series. For searches (find), the series shows their answers, unless --metric selects a metric. If
a series has at least six results, lasting changes in it are marked (E-Divisive with Student's t, p below 0.001).

Examples:
  dbdyno history
  dbdyno history --of flush-log --metric p99
  dbdyno history --of innodb_flush_log_at_trx_commit
  dbdyno history --dir /mnt/nightly/results --of 3fa85f64")]
pub(crate) struct HistoryArgs {
    /// Search this directory and its immediate subdirectories instead of the list of past results; may be repeated
    #[arg(long, value_name = "DIR")]
    dir: Vec<PathBuf>,
    /// Show the results over time of the experiment with this name or key (at least the key's first four digits), or of
    /// all experiments that vary this factor
    #[arg(long, value_name = "EXPERIMENT")]
    of: Option<String>,
    /// Metric or cost to show over time; docs/compare.md lists them [default: the experiment's metric]
    #[arg(long, value_name = "NAME", requires = "of", value_parser = measure)]
    metric: Option<Measure>,
    /// Number of results to show, counted from the latest one [default: 20; with --of, all]
    #[arg(long, value_name = "N")]
    last: Option<usize>,
    /// Remove from the list all results whose directory no longer exists, and exit
    #[arg(long, conflicts_with_all = ["dir", "of", "last"])]
    forget: bool,
}

/// Results shown in the list.
struct ListedResult {
    past: PastResult,
    path: PathBuf,
}

pub(crate) fn run(args: HistoryArgs) -> anyhow::Result<ExitCode> {
    if args.forget {
        let count = results_list::forget_gone().map_err(list_error)?;
        println!("{count} forgotten");
        return Ok(ExitCode::SUCCESS);
    }
    let (places, gone) = match args.dir.as_slice() {
        [] => listed()?,
        directories => (below(directories)?, 0),
    };
    match &args.of {
        None => {
            let last = args.last.unwrap_or(LAST);
            let skipped = places.len().saturating_sub(last);
            let mut found: Vec<PastResult> = found(&places[skipped..])
                .into_iter()
                .map(|found| found.past)
                .collect();
            found.sort_by(|a, b| a.at.cmp(&b.at));
            let width = terminal_width();
            print!("{}", report::history_as_text(&found, skipped, gone, width));
        }
        Some(of) => print!("{}", series_of(of, &places, &args)?),
    }
    Ok(ExitCode::SUCCESS)
}

/// The results of one experiment over time.
fn series_of(of: &str, places: &[PastResults], args: &HistoryArgs) -> anyhow::Result<String> {
    let mut all = found(places);
    all.retain(|found| found.past.missing.is_none());
    let is_meant = |found: &&ListedResult| {
        let past = &found.past;
        let has_factor = past.varies.iter().any(|factor| factor == of);
        past.name == of || has_factor || (of.len() >= 4 && past.key.starts_with(of))
    };
    let mut meant: Vec<&ListedResult> = all.iter().filter(is_meant).collect();
    meant.sort_by(|a, b| a.past.at.cmp(&b.past.at));
    meant.drain(..meant.len().saturating_sub(args.last.unwrap_or(usize::MAX)));
    if meant.is_empty() {
        let names: BTreeSet<&str> = all.iter().map(|found| found.past.name.as_str()).collect();
        let hint = if names.is_empty() {
            "there are no results".to_owned()
        } else {
            format!(
                "available: {}",
                names.into_iter().collect::<Vec<_>>().join(", ")
            )
        };
        let message = format!("no results of {of:?}");
        return Err(Blamed::new(Blame::Input, message).hint(hint).into());
    }
    let of_headline = || {
        let headline = meant.last()?.past.headline.as_ref()?;
        Some(headline.measure)
    };
    let measure = args
        .metric
        .or_else(of_headline)
        .unwrap_or(Measure::Metric(Metric::Throughput));
    // Only these need all figures.
    let records = meant.iter().map(|found| read_records(&found.path));
    let records: Vec<Vec<Record>> = records.collect::<Result<_, Blamed>>()?;
    let past: Vec<PastResult> = meant.iter().map(|found| found.past.clone()).collect();
    let are_searches = past.iter().all(|past| !past.search_answers.is_empty());
    if args.metric.is_none() && are_searches {
        return rates_of(of, &meant, &past, &records);
    }
    let series = verdict::series(records.iter().map(Vec::as_slice), measure);
    if series.is_empty() {
        let message = format!(
            "{} was not measured in the results of {of:?}",
            measure.name()
        );
        return Err(Blamed::new(Blame::Input, message).into());
    }
    let figure = SeriesFigure::of(measure);
    let width = terminal_width();
    Ok(report::series_as_text(of, &past, &series, figure, width))
}

/// The answers of searches for the highest rate over time: the throughput of their runs is only that of the rates tried.
fn rates_of(
    of: &str,
    meant: &[&ListedResult],
    past: &[PastResult],
    records: &[Vec<Record>],
) -> anyhow::Result<String> {
    let answers = meant.iter().zip(records);
    let answers = answers.map(|(found, runs)| search_answers(&found.path, runs, &VOCABULARY));
    let answers: Vec<Vec<SearchAnswer>> = answers.collect();
    let limits = answers.iter().flatten();
    let limits: BTreeSet<&str> = limits.map(|it| it.found.question.limit.as_str()).collect();
    let limits: Vec<&str> = limits.into_iter().collect();
    let words = format!("highest rate with {}", limits.join(" or "));
    let found = answers.into_iter();
    let found = found.map(|it| it.into_iter().map(|it| it.found).collect::<Vec<_>>());
    let series = verdict::rate_series(records.iter().map(Vec::as_slice).zip(found));
    if series.is_empty() {
        let message = format!("no search in the results of {of:?} has found a rate");
        return Err(Blamed::new(Blame::Input, message).into());
    }
    let figure = SeriesFigure {
        words: &words,
        column: "rate",
        scale: Scale::PerSecond,
    };
    let width = terminal_width();
    Ok(report::series_as_text(of, past, &series, figure, width))
}

/// The listed results that exist, and the number of those that do not.
fn listed() -> anyhow::Result<(Vec<PastResults>, usize)> {
    let listed = results_list::listed().map_err(list_error)?;
    let all = listed.len();
    let there: Vec<PastResults> = listed
        .into_iter()
        .filter(|results| results.path.exists())
        .collect();
    let gone = all - there.len();
    Ok((there, gone))
}

fn list_error(error: std::io::Error) -> Blamed {
    let file = results_list::history_file().unwrap_or_default();
    Blamed::io(Blame::Machine, &file)(error)
}

/// The directories with run records, among those named and their immediate subdirectories.
fn below(directories: &[PathBuf]) -> anyhow::Result<Vec<PastResults>> {
    let mut found = Vec::new();
    for directory in directories {
        let entries = std::fs::read_dir(directory).map_err(Blamed::io(Blame::Input, directory))?;
        let mut all: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        all.retain(|path| path.is_dir());
        all.push(directory.clone());
        all.sort();
        let holds_records = |path: &PathBuf| record_files(path).is_ok();
        found.extend(
            all.into_iter()
                .filter(holds_records)
                .map(|path| PastResults {
                    at: String::new(),
                    path,
                    summary: None,
                }),
        );
    }
    if found.is_empty() {
        let shown: Vec<String> = directories
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let message = format!(
            "{}: no results in it or in its subdirectories",
            shown.join(", ")
        );
        return Err(Blamed::new(Blame::Input, message).into());
    }
    Ok(found)
}

/// The summaries of results, from the list where it has them. Newly read summaries are added to the list; for
/// unreadable results the error is shown instead of a figure.
fn found(places: &[PastResults]) -> Vec<ListedResult> {
    let mut learnt = Vec::new();
    let mut all = Vec::new();
    for place in places {
        let path = &place.path;
        let known = place.summary.as_ref().filter(|known| known.is_of(path));
        let past = match known {
            Some(known) => known.as_past(path),
            None => match PastSummary::of(path, &VOCABULARY) {
                Ok(summary) => {
                    let past = summary.as_past(path);
                    learnt.push(PastResults {
                        summary: Some(summary),
                        ..place.clone()
                    });
                    past
                }
                Err(error) => PastResult {
                    at: place.at.clone(),
                    missing: Some(error.message),
                    path: path.display().to_string(),
                    ..PastResult::default()
                },
            },
        };
        all.push(ListedResult {
            past,
            path: path.clone(),
        });
    }
    // Results found by --dir are not on the list.
    learnt.retain(|results| !results.at.is_empty());
    results_list::append_all(&learnt, &|warning| Terminal.warn(warning));
    all
}

fn measure(text: &str) -> Result<Measure, String> {
    Measure::named(text).ok_or_else(|| {
        let names: Vec<&str> = Measure::all().map(Measure::name).collect();
        format!("no such metric or cost; available: {}", names.join(", "))
    })
}
