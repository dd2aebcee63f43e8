//! `dbdyno size --tps` and `--what-if`: what a throughput needs, and the effect of changes to the target or to the server's
//! settings.

use std::{path::PathBuf, process::ExitCode};

use blame::{Blame, Blamed};
use sizing::{
    Changes, Executions, Levels, PredictionRequest, RequirementRequest, ResponseLimit, Target,
    WhatIfRequest, is_emulated, requirement_csv, requirement_json, requirement_lines, what_if,
    what_if_csv, what_if_json, what_if_lines,
};

use super::{
    answer_output::{Format, print_lines},
    prediction::Options,
    size_records::{SizeRecord, each_record, executions},
};

/// Prints what a throughput needs.
pub(super) fn require(
    options: &Options<'_>,
    target: Target,
    per_s: f64,
    response_limit: Option<ResponseLimit>,
) -> anyhow::Result<ExitCode> {
    let executions = executions(options.results, response_limit)?;
    let request = RequirementRequest {
        per_s,
        response_limit,
        target,
        zipf: options.zipf,
        draws: PredictionRequest::DRAWS,
    };
    let answer = sizing::require(&executions, &request).map_err(Blamed::from)?;
    match options.format {
        Format::Text => print_lines(&requirement_lines(&answer), &answer.remarks),
        Format::Json => print!("{}", requirement_json(&answer)),
        Format::Csv => print!("{}", requirement_csv(&answer)),
    }
    Ok(if answer.is_known() {
        ExitCode::SUCCESS
    } else if answer.is_impossible() {
        ExitCode::from(Blame::Answer as u8)
    } else {
        ExitCode::from(Blame::Undecided as u8)
    })
}

/// Prints the throughput with and without changes.
pub(super) fn compare(
    options: &Options<'_>,
    target: Option<Target>,
    changes: Changes,
) -> anyhow::Result<ExitCode> {
    let [now, then] = if changes.has_factors() {
        executions_of_levels(options.results, &changes)?
    } else {
        // Records are read once, and both sides are of the same executions.
        [executions(options.results, None)?, Executions::default()]
    };
    let then = if changes.has_factors() { &then } else { &now };
    let request = WhatIfRequest {
        changes,
        target,
        zipf: options.zipf,
        draws: PredictionRequest::DRAWS,
    };
    let answer = what_if(&now, then, &request).map_err(Blamed::from)?;
    match options.format {
        Format::Text => print_lines(&what_if_lines(&answer), &answer.remarks),
        Format::Json => print!("{}", what_if_json(&answer)),
        Format::Csv => print!("{}", what_if_csv(&answer)),
    }
    Ok(if answer.is_known() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(Blame::Undecided as u8)
    })
}

/// The executions with the levels now, and those with the levels then.
fn executions_of_levels(results: &[PathBuf], changes: &Changes) -> Result<[Executions; 2], Blamed> {
    let mut records: Vec<SizeRecord> = Vec::new();
    each_record(results, |it| {
        // They only test a prediction.
        if !is_emulated(&it.record) {
            records.push(it);
        }
        Ok(())
    })?;
    let combinations = records.iter().map(|it| &it.record.header.combination);
    let [now, then] = changes.levels(combinations)?;
    let of_levels = |levels: &Levels| -> Result<Executions, Blamed> {
        let mut executions = Executions::default();
        for it in &records {
            let combination = &it.record.header.combination;
            let mut wanted = levels.iter();
            if wanted.all(|(factor, level)| combination.get(factor) == Some(level)) {
                executions.add(&it.name(), it.results, &it.record)?;
            }
        }
        Ok(executions)
    };
    Ok([of_levels(&now)?, of_levels(&then)?])
}
