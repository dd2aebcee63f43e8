//! `dbdyno history`: the results that were written on this machine, and one experiment's figures over time.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::ExitCode,
};

use report::PastResult;
use samples::Record;
use verdict::{Measure, Metric};

use super::run::terminal_width;
use crate::{
    blame::{Blame, Blamed},
    runs::{past_results, read_record, record_files},
};

/// Results that are told unless more are asked for.
const LAST: usize = 20;
/// Digits of a hash that tell experiments apart in a table.
const KEY_DIGITS: usize = 8;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Every directory of results is listed when it is begun, in ~/.local/share/dbdyno/history.jsonl; --dir looks into a
directory instead, for results that came from elsewhere. Results whose directory has vanished are shown as gone.

--of takes an experiment's name or the first digits of its key, which the list shows: text, overrides and files of two
results with one key are the same. Each combination is a series; it changes where its level does (E-Divisive with
Student's t, one false alarm in a thousand), which takes six results at least.

Examples:
  dbdyno history
  dbdyno history --of flush-log --metric p99
  dbdyno history --dir /mnt/nightly/results --of 3fa85f64")]
pub(crate) struct HistoryArgs {
    /// Look into this directory and those right below it, instead of the list; may be repeated
    #[arg(long, value_name = "DIR")]
    dir: Vec<PathBuf>,
    /// Show one experiment over time: its name, or the first digits of its key
    #[arg(long, value_name = "EXPERIMENT")]
    of: Option<String>,
    /// What is shown over time, a metric or a cost; docs/compare.md names them [default: what stands for the results]
    #[arg(long, value_name = "NAME", requires = "of", value_parser = measure)]
    metric: Option<Measure>,
    /// The latest so many results [default: 20, with --of all]
    #[arg(long, value_name = "N")]
    last: Option<usize>,
}

/// Results with their records, as far as they are there.
struct Found {
    past: PastResult,
    records: Vec<Record>,
}

pub(crate) fn run(args: HistoryArgs) -> anyhow::Result<ExitCode> {
    let places = match args.dir.as_slice() {
        [] => listed()?,
        directories => below(directories)?,
    };
    match &args.of {
        None => {
            let last = args.last.unwrap_or(LAST);
            let skipped = places.len().saturating_sub(last);
            let mut found: Vec<PastResult> = places[skipped..]
                .iter()
                .map(|(path, at)| find(path, at).past)
                .collect();
            found.sort_by(|a, b| a.at.cmp(&b.at));
            print!(
                "{}",
                report::history_as_text(&found, skipped, terminal_width())
            );
        }
        Some(of) => print!("{}", series_of(of, &places, &args)?),
    }
    Ok(ExitCode::SUCCESS)
}

/// The results of one experiment over time.
fn series_of(of: &str, places: &[(PathBuf, String)], args: &HistoryArgs) -> anyhow::Result<String> {
    let all = places.iter().map(|(path, at)| find(path, at));
    let all: Vec<Found> = all.filter(|found| !found.records.is_empty()).collect();
    let is_meant = |found: &&Found| {
        let past = &found.past;
        past.name == of || (of.len() >= 4 && past.key.starts_with(of))
    };
    let mut meant: Vec<&Found> = all.iter().filter(is_meant).collect();
    meant.sort_by(|a, b| a.past.at.cmp(&b.past.at));
    meant.drain(..meant.len().saturating_sub(args.last.unwrap_or(usize::MAX)));
    if meant.is_empty() {
        let names: BTreeSet<&str> = all.iter().map(|found| found.past.name.as_str()).collect();
        let hint = match names.is_empty() {
            true => "no results are there at all".to_owned(),
            false => format!(
                "there are {}",
                names.into_iter().collect::<Vec<_>>().join(", ")
            ),
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
    let series = verdict::series(meant.iter().map(|found| found.records.as_slice()), measure);
    if series.is_empty() {
        let message = format!(
            "{} was not measured in the results of {of:?}",
            measure.name()
        );
        return Err(Blamed::new(Blame::Input, message).into());
    }
    let past: Vec<PastResult> = meant.iter().map(|found| found.past.clone()).collect();
    Ok(report::series_as_text(
        &past,
        &series,
        measure,
        terminal_width(),
    ))
}

/// The listed results and when they were begun.
fn listed() -> anyhow::Result<Vec<(PathBuf, String)>> {
    let listed = past_results::listed().map_err(|error| Blamed::new(Blame::Machine, error))?;
    Ok(listed
        .into_iter()
        .map(|results| (results.path, results.at))
        .collect())
}

/// The directories that hold run records, of those named and those right below.
fn below(directories: &[PathBuf]) -> anyhow::Result<Vec<(PathBuf, String)>> {
    let mut found = Vec::new();
    for directory in directories {
        let entries = std::fs::read_dir(directory).map_err(|error| {
            Blamed::new(Blame::Input, format!("{}: {error}", directory.display()))
        })?;
        let mut all: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        all.retain(|path| path.is_dir());
        all.push(directory.clone());
        all.sort();
        let holds_records = |path: &PathBuf| record_files(path).is_ok();
        found.extend(
            all.into_iter()
                .filter(holds_records)
                .map(|path| (path, String::new())),
        );
    }
    if found.is_empty() {
        let shown: Vec<String> = directories
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let message = format!("{}: no results there, nor right below", shown.join(", "));
        return Err(Blamed::new(Blame::Input, message).into());
    }
    Ok(found)
}

/// What is known of results; what cannot be read is told instead of a figure.
fn find(path: &Path, at: &str) -> Found {
    let read = || {
        let files = record_files(path)?;
        files
            .iter()
            .map(|file| read_record(file))
            .collect::<Result<Vec<Record>, Blamed>>()
    };
    let gone = |why: String| Found {
        past: PastResult {
            at: at.to_owned(),
            missing: Some(why),
            path: path.display().to_string(),
            ..PastResult::default()
        },
        records: Vec::new(),
    };
    if !path.exists() {
        return gone("gone".to_owned());
    }
    let records = match read() {
        Ok(records) => records,
        Err(error) => return gone(error.message),
    };
    let Some(first) = records.first() else {
        return gone("no run record".to_owned());
    };
    let begun = records
        .iter()
        .map(|record| record.header.started_at.clone())
        .min();
    let key = &first.header.experiment_sha256;
    let server = first.servers.first().map(|server| server.version.clone());
    let past = PastResult {
        at: begun.unwrap_or_else(|| at.to_owned()),
        name: first.header.experiment.clone(),
        question: question(path),
        key: key.get(..KEY_DIGITS).unwrap_or(key).to_owned(),
        server: server.unwrap_or_default(),
        headline: verdict::headline(&records),
        missing: None,
        path: path.display().to_string(),
    };
    Found { past, records }
}

/// The question of an experiment; empty where there is none.
fn question(path: &Path) -> String {
    let text = std::fs::read_to_string(path.join("experiment.toml")).unwrap_or_default();
    experiment::question_of(&text).unwrap_or_default()
}

fn measure(text: &str) -> Result<Measure, String> {
    Measure::named(text).ok_or_else(|| {
        let names: Vec<&str> = Measure::all().map(Measure::name).collect();
        format!("no such metric or cost; there are {}", names.join(", "))
    })
}
