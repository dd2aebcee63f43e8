//! `dbdyno size --target`: the throughput of a machine, predicted from the records of an experiment.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use blame::{Blame, Blamed};
use results::{read_record, record_files, storage_results};
use sizing::{
    Executions, Prediction, PredictionRequest, Target, predict, prediction_csv, prediction_json,
    prediction_lines,
};

use super::answer_output::{Format, print_lines};

/// Reads the records, and prints the prediction.
pub(super) fn print(
    results: &[PathBuf],
    target: Target,
    zipf: Option<f64>,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let request = PredictionRequest {
        target,
        zipf,
        draws: PredictionRequest::DRAWS,
    };
    let executions = executions(results)?;
    let prediction = predict(&executions, &request).map_err(Blamed::from)?;
    Ok(print_answer(&prediction, format))
}

/// Prints the prediction; returns the exit code.
pub(super) fn print_answer(prediction: &Prediction, format: Format) -> ExitCode {
    match format {
        Format::Text => print_lines(&prediction_lines(prediction), &prediction.remarks),
        Format::Json => print!("{}", prediction_json(prediction)),
        Format::Csv => print!("{}", prediction_csv(prediction)),
    }
    if prediction.is_known() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(Blame::Undecided as u8)
    }
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
pub(super) fn executions(results: &[PathBuf]) -> Result<Executions, Blamed> {
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
