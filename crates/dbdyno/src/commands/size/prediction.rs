//! `dbdyno size --target`: the throughput of a machine, predicted from the records of an experiment, and the date on which
//! growing data makes it fall.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::UNIX_EPOCH,
};

use blame::{Blame, Blamed};
use report::{SizingPage, sizing_page};
use results::{read_record, record_files, storage_results};
use sizing::{
    Executions, Growth, GrowthAnswer, GrowthRequest, MemoryCurve, Prediction, PredictionRequest,
    Target, growth_csv, growth_json, growth_lines, memory_curve, predict, prediction_csv,
    prediction_json, prediction_lines,
};

use super::answer_output::{Format, print_lines};
use crate::output::write_file;

/// What is asked about a target.
pub(super) struct Question {
    pub(super) target: Target,
    pub(super) zipf: Option<f64>,
    pub(super) grow: Option<Growth>,
    /// For the growth; operations per second.
    pub(super) tps: Option<f64>,
}

/// Reads the records, prints the answer, and writes its page.
pub(super) fn print(
    results: &[PathBuf],
    question: Question,
    page: Option<&Path>,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let request = PredictionRequest {
        target: question.target,
        zipf: question.zipf,
        draws: PredictionRequest::DRAWS,
    };
    let executions = executions(results)?;
    let prediction = predict(&executions, &request).map_err(Blamed::from)?;
    let growth = question.grow.map(|growth| GrowthRequest {
        growth,
        tps: question.tps,
        today: today(),
    });
    // The curve is computed only where it is shown.
    if growth.is_none() && page.is_none() {
        print_prediction(&prediction, format);
        return Ok(exit_code(&prediction, None));
    }
    let curve = memory_curve(&executions, &request).map_err(Blamed::from)?;
    let growth = growth.map(|request| GrowthAnswer::of(&prediction, &curve, &request));
    match &growth {
        Some(growth) => print_growth(&prediction, &curve, growth, format),
        None => print_prediction(&prediction, format),
    }
    // After the answer, which a path that cannot be written shall not cost.
    if let Some(path) = page {
        let records = executions.records();
        let page = sizing_page(&SizingPage {
            prediction: &prediction,
            zipf: question.zipf,
            curve: &curve,
            growth: growth.as_ref(),
            records: &records,
        });
        write_file(path, page.as_bytes())?;
    }
    Ok(exit_code(&prediction, growth.as_ref()))
}

fn print_prediction(prediction: &Prediction, format: Format) {
    match format {
        Format::Text => print_lines(&prediction_lines(prediction), &prediction.remarks),
        Format::Json => print!("{}", prediction_json(prediction)),
        Format::Csv => print!("{}", prediction_csv(prediction)),
    }
}

fn print_growth(
    prediction: &Prediction,
    curve: &Result<MemoryCurve, String>,
    growth: &GrowthAnswer,
    format: Format,
) {
    match format {
        Format::Text => {
            let lines = growth_lines(prediction, curve, growth);
            print_lines(&lines, &prediction.remarks);
        }
        Format::Json => print!("{}", growth_json(prediction, curve, growth)),
        Format::Csv => print!("{}", growth_csv(prediction, curve, growth)),
    }
}

/// A date is the answer to a question for it, whether or not the throughput of today is known.
fn exit_code(prediction: &Prediction, growth: Option<&GrowthAnswer>) -> ExitCode {
    let is_known = growth.map_or(prediction.is_known(), GrowthAnswer::is_known);
    let is_too_low = growth.is_some_and(GrowthAnswer::is_too_low);
    if is_too_low {
        ExitCode::from(Blame::Answer as u8)
    } else if is_known {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(Blame::Undecided as u8)
    }
}

/// Today's date, UTC, in days since 1970-01-01.
fn today() -> i64 {
    const DAY_S: u64 = 86_400;
    let since = reactor::wall_now().duration_since(UNIX_EPOCH);
    // No time before 1970 is one of today.
    let seconds = since.map_or(0, |it| it.as_secs());
    i64::try_from(seconds / DAY_S).unwrap_or(0)
}

/// The target with the limits of the disk that a record of `dbdyno storage` measured.
pub(super) fn with_disk(target: Target, path: &Path) -> Result<Target, Blamed> {
    let file = storage_results::record_file(path).unwrap_or_else(|| path.to_owned());
    let record = storage_results::read(&file)?.over_repeats();
    target.with_disk(&record).ok_or_else(|| {
        let message = format!(
            "{}: neither random reads or writes of 16 KiB past the page cache nor commits were measured",
            file.display()
        );
        Blamed::new(Blame::Input, message).hint("use dbdyno storage quick".to_owned())
    })
}

/// The executions of all records. Blocks are counted by directory: records that are named one by one belong to that of
/// their directory.
fn executions(results: &[PathBuf]) -> Result<Executions, Blamed> {
    let mut executions = Executions::default();
    let mut directories: Vec<PathBuf> = Vec::new();
    let mut read: Vec<PathBuf> = Vec::new();
    for path in results {
        for file in record_files(path)? {
            let real = file.canonicalize().unwrap_or_else(|_| file.clone());
            if read.contains(&real) {
                let message = format!("{} is named twice", file.display());
                return Err(Blamed::new(Blame::Input, message));
            }
            let directory = real.parent().unwrap_or(Path::new("")).to_owned();
            let known = directories.iter().position(|it| *it == directory);
            let results = known.unwrap_or_else(|| {
                directories.push(directory);
                directories.len() - 1
            });
            read.push(real);
            let record = read_record(&file)?;
            let name = file.display().to_string();
            executions.add(&name, results, &record)?;
        }
    }
    Ok(executions)
}
