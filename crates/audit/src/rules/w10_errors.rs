//! W10: operations succeed.

use std::collections::BTreeMap;

use crate::{
    finding::{Finding, Level, Outcome},
    rule::{Judge, Rule},
    run::Run,
    words::percent,
};

/// Failed attempts, as a share of all.
const SHARE: f64 = 0.001;

pub(super) const RULE: Rule = Rule {
    id: "W10",
    name: "operations succeed",
    measures: "Attempts that failed while the run was measured, those that were tried again with success included, by error number.",
    threshold: "above 0.1 % of all attempts: fail; any: note",
    source: "proposed here; that fast failures make throughput is in every load generator's list of traps",
    consequence: "An error is answered sooner than the work would be: a server that fails is a fast one.",
    remedy: "Remove the cause of the most frequent error; deadlocks (1213) and lock waits (1205) call for another order of \
        statements or fewer connections on the same rows.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    run.measured_s()?;
    let mut by_number: BTreeMap<u16, u64> = BTreeMap::new();
    for error in &run.record.errors {
        *by_number.entry(error.number).or_default() += error.in_measurement;
    }
    by_number.retain(|_, count| *count > 0);
    let failed: u64 = by_number.values().sum::<u64>().max(run.summary.errors);
    let share = failed as f64 / (run.summary.count + failed).max(1) as f64;
    let numbers: Vec<_> = by_number
        .iter()
        .map(|(number, count)| format!("{count} with error {number}"))
        .collect();
    let evidence = match failed {
        0 => format!("no attempt failed in {} operations", run.summary.count),
        _ => format!(
            "{failed} attempts failed, {} of all: {}",
            percent(share),
            numbers.join(", ")
        ),
    };
    let level = match failed {
        0 => Level::Pass,
        _ if share > SHARE => Level::Fail,
        _ => Level::Note,
    };
    Ok(Finding::new(level, evidence).with("failed_share", share))
}

#[cfg(test)]
mod tests {
    use samples::ErrorCount;

    use super::*;
    use crate::fixture::*;

    fn deadlocks(in_measurement: u64) -> Outcome {
        judged(&RULE, |record| {
            record.errors = vec![ErrorCount {
                number: 1213,
                count: in_measurement,
                retried: in_measurement,
                in_measurement,
                ..ErrorCount::default()
            }];
        })
    }

    #[test]
    fn found() {
        assert_found(
            &deadlocks(1200),
            Level::Fail,
            "1200 attempts failed, 1.0 % of all: 1200 with error 1213",
        );
        assert_found(&deadlocks(12), Level::Note, "12 attempts");
    }

    #[test]
    fn passes() {
        assert_found(&deadlocks(0), Level::Pass, "no attempt failed");
    }

    #[test]
    fn a_run_that_measured_nothing_is_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.intervals.clear()),
            "measured phase",
        );
    }
}
