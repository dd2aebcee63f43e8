//! `dbdyno size --tps`, `--p99` and `--what-if`: what a throughput needs, whether a target carries it, and the effect of
//! changes to the target or to the server's settings.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use benchmarks::VOCABULARY;
use blame::{Blame, Blamed};
use results::results_so_far;
use samples::{RATE, Record};
use sizing::{
    CarriedVerdict, Changes, CheckRequest, Executions, Levels, PredictionRequest,
    RequirementRequest, ResponseLimit, Target, WhatIfRequest, check_csv, check_json, check_lines,
    check_target, requirement_csv, requirement_json, requirement_lines, what_if, what_if_csv,
    what_if_json, what_if_lines,
};

use super::{
    answer_output::{Format, print_lines},
    prediction,
    size_records::{SizeRecord, each_record},
};

/// What all these questions have in common.
pub(super) struct Options<'a> {
    pub(super) results: &'a [PathBuf],
    pub(super) zipf: Option<f64>,
    pub(super) format: Format,
}

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

/// Prints whether a target carries a throughput, and the rate at which it keeps a limit on the response time.
pub(super) fn check(
    options: &Options<'_>,
    target: Target,
    per_s: Option<f64>,
    response_limit: Option<ResponseLimit>,
) -> anyhow::Result<ExitCode> {
    let executions = executions(options.results, response_limit)?;
    let request = CheckRequest {
        prediction: PredictionRequest {
            target,
            zipf: options.zipf,
            draws: PredictionRequest::DRAWS,
        },
        per_s,
        response_limit,
    };
    let answer = check_target(&executions, &request).map_err(Blamed::from)?;
    match options.format {
        Format::Text => print_lines(&check_lines(&answer), &answer.prediction.remarks),
        Format::Json => print!("{}", check_json(&answer)),
        Format::Csv => print!("{}", check_csv(&answer)),
    }
    let verdict = answer.carried.map(|it| it.verdict);
    Ok(match verdict {
        Some(CarriedVerdict::No) => ExitCode::from(Blame::Answer as u8),
        _ if answer.is_known() => ExitCode::SUCCESS,
        _ => ExitCode::from(Blame::Undecided as u8),
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
        [
            prediction::executions(options.results)?,
            Executions::default(),
        ]
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

/// The executions of all records; with a limit on the response time, searches for a rate are among them.
fn executions(
    results: &[PathBuf],
    response_limit: Option<ResponseLimit>,
) -> Result<Executions, Blamed> {
    if response_limit.is_none() {
        return prediction::executions(results);
    }
    let mut executions = Executions::default();
    let mut searches: Vec<PathBuf> = Vec::new();
    each_record(results, |it| {
        if !is_of_search(&it.record) {
            executions.add(&it.name(), it.results, &it.record)?;
            return Ok(());
        }
        let directory = directory_of(&it.path).to_owned();
        if !searches.contains(&directory) {
            searches.push(directory);
        }
        Ok(())
    })?;
    for directory in searches {
        // The experiment says which limit its runs search for.
        let search = results_so_far(&directory, &VOCABULARY)?;
        let name = directory.display().to_string();
        for answer in &search.searches {
            let found = &answer.found;
            if search.runs.iter().any(|run| found.question.has(run)) {
                executions.add_search(&name, found, &search.runs)?;
            }
        }
    }
    Ok(executions)
}

fn is_of_search(record: &Record) -> bool {
    let offered = record.offered.as_ref();
    let has_rate = offered.is_some_and(|it| it.rate_per_s.is_some());
    has_rate && record.header.combination.contains_key(RATE)
}

fn directory_of(record: &Path) -> &Path {
    match record.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// The executions with the levels now, and those with the levels then.
fn executions_of_levels(results: &[PathBuf], changes: &Changes) -> Result<[Executions; 2], Blamed> {
    let mut records: Vec<SizeRecord> = Vec::new();
    each_record(results, |it| {
        records.push(it);
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
