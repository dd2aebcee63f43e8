//! `dbdyno size --target`: the throughput of a machine, predicted from the records of an experiment.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use blame::{Blame, Blamed};
use results::storage_results;
use sizing::{
    Executions, Prediction, PredictionRequest, Target, predict_validated, prediction_csv,
    prediction_json, prediction_lines,
};

use super::{
    answer_output::{Format, print_lines},
    size_records::each_record,
};

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
    let prediction = predict_validated(&executions, &request).map_err(Blamed::from)?;
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

/// The executions of all records.
pub(super) fn executions(results: &[PathBuf]) -> Result<Executions, Blamed> {
    let mut executions = Executions::default();
    each_record(results, |it| {
        executions.add(&it.name(), it.results, &it.record)?;
        Ok(())
    })?;
    Ok(executions)
}
