//! `dbdyno size --target`: the throughput of a machine, predicted from the records of an experiment; whether it carries a
//! throughput, and until when if its data grows; the page of the prediction.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use blame::{Blame, Blamed};
use report::{SizingPage, sizing_page};
use results::storage_results;
use sizing::{
    CarriedVerdict, CheckRequest, Executions, Growth, PredictionRequest, Requirement,
    RequirementRequest, ResponseLimit, Target, TargetCheck, check_csv, check_json, check_lines,
    check_target, memory_curve, require,
};

use super::{
    answer_output::{Format, print_lines},
    growth::{growth_answer, print_growth},
    size_records::executions,
};
use crate::output::write_file;

/// What all questions to the records of an experiment have in common.
pub(super) struct Options<'a> {
    pub(super) results: &'a [PathBuf],
    pub(super) zipf: Option<f64>,
    pub(super) format: Format,
}

/// What is asked about a target.
pub(super) struct TargetQuestion<'a> {
    pub(super) target: Target,
    /// Operations per second.
    pub(super) tps: Option<f64>,
    pub(super) response_limit: Option<ResponseLimit>,
    pub(super) grow: Option<Growth>,
    /// The file for the page.
    pub(super) html: Option<&'a Path>,
}

/// Prints the prediction with what it is compared with, or the date if growth is named, and writes the page.
pub(super) fn print(
    options: &Options<'_>,
    question: TargetQuestion<'_>,
) -> anyhow::Result<ExitCode> {
    let executions = executions(options.results, question.response_limit)?;
    let request = CheckRequest {
        prediction: PredictionRequest {
            target: question.target,
            zipf: options.zipf,
            draws: PredictionRequest::DRAWS,
        },
        per_s: question.tps,
        response_limit: question.response_limit,
    };
    let check = check_target(&executions, &request).map_err(Blamed::from)?;
    if question.grow.is_none() && question.html.is_none() {
        return Ok(print_check(&check, options.format));
    }
    let curve = memory_curve(&executions, &request.prediction).map_err(Blamed::from)?;
    let prediction = &check.prediction;
    let growth = question.grow;
    let growth = growth.map(|growth| growth_answer(prediction, &curve, growth, question.tps));
    let code = match &growth {
        Some(growth) => print_growth(prediction, &curve, growth, options.format),
        None => print_check(&check, options.format),
    };
    // After the answer, which a path that cannot be written shall not cost.
    if let Some(path) = question.html {
        let alternatives = alternatives(&executions, &request)?;
        let page = sizing_page(&SizingPage {
            check: &check,
            alternatives: alternatives.as_ref(),
            zipf: options.zipf,
            curve: &curve,
            growth: growth.as_ref(),
            records: &executions.records(),
        });
        write_file(path, page.as_bytes())?;
    }
    Ok(code)
}

/// Prints the prediction and the decision; returns the exit code.
fn print_check(check: &TargetCheck, format: Format) -> ExitCode {
    match format {
        Format::Text => print_lines(&check_lines(check), &check.prediction.remarks),
        Format::Json => print!("{}", check_json(check)),
        Format::Csv => print!("{}", check_csv(check)),
    }
    let verdict = check.carried.map(|it| it.verdict);
    match verdict {
        Some(CarriedVerdict::No) => ExitCode::from(Blame::Answer as u8),
        _ if check.is_known() => ExitCode::SUCCESS,
        _ => ExitCode::from(Blame::Undecided as u8),
    }
}

/// What the throughput of a question needs with each measured memory; `None` without a throughput.
fn alternatives(
    executions: &Executions,
    request: &CheckRequest,
) -> Result<Option<Requirement>, Blamed> {
    let Some(per_s) = request.per_s else {
        return Ok(None);
    };
    let of_target = &request.prediction;
    let request = RequirementRequest {
        per_s,
        response_limit: request.response_limit,
        // Not its memory: each measured one is an alternative to it.
        target: Target {
            data_bytes: of_target.target.data_bytes,
            ..Target::default()
        },
        zipf: of_target.zipf,
        draws: of_target.draws,
    };
    let found = require(executions, &request).map_err(Blamed::from)?;
    Ok(Some(found))
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
