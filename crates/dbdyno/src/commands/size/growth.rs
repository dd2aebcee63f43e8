//! `dbdyno size --grow` and `--html`: the date on which growing data makes the throughput of a target fall, and the page of
//! a prediction, which has the picture of it.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::UNIX_EPOCH,
};

use blame::{Blame, Blamed};
use report::{SizingPage, sizing_page};
use sizing::{
    Growth, GrowthAnswer, GrowthRequest, MemoryCurve, Prediction, PredictionRequest, Target,
    growth_csv, growth_json, growth_lines, memory_curve, predict_validated,
};

use super::{
    answer_output::{Format, print_lines},
    prediction::{executions, print_answer},
};
use crate::output::write_file;

/// What is asked about a target.
pub(super) struct Question<'a> {
    pub(super) target: Target,
    pub(super) zipf: Option<f64>,
    pub(super) grow: Option<Growth>,
    /// For the growth; operations per second.
    pub(super) tps: Option<f64>,
    /// The file for the page.
    pub(super) html: Option<&'a Path>,
}

/// Reads the records, prints the date, or the prediction if no growth was named, and writes the page.
pub(super) fn print(
    results: &[PathBuf],
    question: Question<'_>,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let request = PredictionRequest {
        target: question.target,
        zipf: question.zipf,
        draws: PredictionRequest::DRAWS,
    };
    let executions = executions(results)?;
    let prediction = predict_validated(&executions, &request).map_err(Blamed::from)?;
    let curve = memory_curve(&executions, &request).map_err(Blamed::from)?;
    let growth = question.grow.map(|growth| {
        let request = GrowthRequest {
            growth,
            tps: question.tps,
            today: today(),
        };
        GrowthAnswer::of(&prediction, &curve, &request)
    });
    let code = match &growth {
        Some(growth) => print_growth(&prediction, &curve, growth, format),
        None => print_answer(&prediction, format),
    };
    // After the answer, which a path that cannot be written shall not cost.
    if let Some(path) = question.html {
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
    Ok(code)
}

/// Prints the date; returns the exit code. A date answers the question, whether or not the throughput of today is known.
fn print_growth(
    prediction: &Prediction,
    curve: &Result<MemoryCurve, String>,
    growth: &GrowthAnswer,
    format: Format,
) -> ExitCode {
    match format {
        Format::Text => {
            let lines = growth_lines(prediction, curve, growth);
            print_lines(&lines, &prediction.remarks);
        }
        Format::Json => print!("{}", growth_json(prediction, curve, growth)),
        Format::Csv => print!("{}", growth_csv(prediction, curve, growth)),
    }
    if growth.is_too_low() {
        ExitCode::from(Blame::Answer as u8)
    } else if growth.is_known() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(Blame::Undecided as u8)
    }
}

/// Today's date, UTC, in days since 1970-01-01.
fn today() -> i64 {
    const DAY_S: u64 = 86_400;
    let since = reactor::wall_now().duration_since(UNIX_EPOCH);
    // A clock before 1970 is not set.
    let seconds = since.map_or(0, |it| it.as_secs());
    (seconds / DAY_S) as i64
}
