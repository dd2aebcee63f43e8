//! `dbdyno size --grow`: the date on which growing data makes the throughput of a target fall.

use std::{process::ExitCode, time::UNIX_EPOCH};

use blame::Blame;
use sizing::{
    Growth, GrowthAnswer, GrowthRequest, MemoryCurve, Prediction, growth_csv, growth_json,
    growth_lines,
};

use super::answer_output::{Format, print_lines};

/// The date, counted from today; `tps` is the throughput below which the target must not fall.
pub(super) fn growth_answer(
    prediction: &Prediction,
    curve: &Result<MemoryCurve, String>,
    growth: Growth,
    tps: Option<f64>,
) -> GrowthAnswer {
    let request = GrowthRequest {
        growth,
        tps,
        today: today(),
    };
    GrowthAnswer::of(prediction, curve, &request)
}

/// Prints the date; returns the exit code. A date answers the question, whether or not the throughput of today is known.
pub(super) fn print_growth(
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
