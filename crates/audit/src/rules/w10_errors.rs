//! Rule W10: operations failed.

use std::collections::BTreeMap;

use samples::ErrorCount;
use units::percent;

use crate::{
    finding::{Finding, Level, Outcome},
    rule::{Judge, Rule},
    run::Run,
};

/// Failed operations, as a share of all.
const SHARE: f64 = 0.001;
/// Attempts that a retry put right, as a share of all: their time is in the figures, and it is no longer small.
const SHARE_RETRIED: f64 = 0.01;

pub(super) const RULE: Rule = Rule {
    id: "W10",
    name: "operations succeed",
    found: "operations failed",
    measures: "Failed attempts during the measurement, by error number. Failed attempts that were not followed by a successful retry. Operations that had no answer when the load stopped waiting. Connections that could not be opened. In a run with planned events, only attempts that failed before the first event count.",
    threshold: "fail if more than 0.1 % of all attempts had no answer or failed without a successful retry. Fail if no operation succeeded, or if a connection could not be opened. Warn if more than 1 % of all attempts failed and were then retried successfully. Note if any attempt failed or had no answer",
    source: "proposed here; every load generator's documentation warns that fast failures count as throughput",
    consequence: "An error takes less time than real work, so a failing server looks fast. The time of an operation that \
        succeeds after retries is included in the figures.",
    remedy: "Remove the cause of the most frequent error. For deadlocks (1213) and lock wait timeouts (1205), change the order of the statements, or use fewer connections on the same rows.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let measured_s = run.measured_s()?;
    let mut by_number: BTreeMap<u16, u64> = BTreeMap::new();
    let mut retried = 0;
    for error in &run.record.errors {
        *by_number.entry(error.number).or_default() += error.in_measurement;
        retried += retried_in_measurement(error);
    }
    by_number.retain(|_, count| *count > 0);
    if run.record.first_event_s().is_finite() {
        return Ok(before_events(run, by_number.values().sum()));
    }
    // Draining a backlog of the warm-up can fill the whole phase: the answers were then due before the measurement.
    let back = run.figures.throughput_per_s.unwrap_or(0.0) * measured_s;
    let succeeded = run.figures.count.max(back.round() as u64);
    let failed: u64 = by_number.values().sum::<u64>().max(run.figures.errors);
    let offered = run.record.offered.as_ref();
    let unanswered = offered.map_or(0, |it| it.unfinished.max(it.in_flight));
    let refused = run.record.connections_refused();
    let all = failed + unanswered;
    let share_of_all = |count: u64| count as f64 / (succeeded + all).max(1) as f64;
    let share = share_of_all(all - retried.min(failed));
    let mut evidence = Vec::new();
    if failed > 0 {
        let numbers: Vec<_> = by_number
            .iter()
            .map(|(number, count)| format!("{count} with error {number}"))
            .collect();
        evidence.push(format!(
            "{failed} attempts failed, {} of all: {}",
            percent(failed as f64 / (succeeded + failed) as f64),
            numbers.join(", ")
        ));
    }
    if retried > 0 {
        evidence.push(match failed.saturating_sub(retried) {
            0 => "each succeeded after a retry".to_owned(),
            lost => format!("{lost} of them without a successful retry"),
        });
    }
    if unanswered > 0 {
        evidence.push(format!(
            "{unanswered} operations had no answer when the load stopped waiting"
        ));
    }
    if refused > 0 {
        evidence.push(refused_in_words(run, refused));
    }
    if evidence.is_empty() {
        evidence.push(format!("no attempt failed in {succeeded} operations"));
    }
    if succeeded == 0 {
        evidence.push("no operation succeeded".to_owned());
    }
    let level = match all {
        _ if succeeded == 0 || refused > 0 || share > SHARE => Level::Fail,
        _ if share_of_all(retried) > SHARE_RETRIED => Level::Warn,
        0 => Level::Pass,
        _ => Level::Note,
    };
    Ok(Finding::new(level, evidence.join("; ")).with("failed_share", share))
}

/// Failed attempts of a measurement that a retry put right: the record counts those of the whole run, of which the measurement
/// has its share.
fn retried_in_measurement(error: &ErrorCount) -> u64 {
    let share = error.retried as f64 / error.count.max(1) as f64;
    (error.in_measurement as f64 * share.min(1.0)).floor() as u64
}

/// The outcome for a run with planned events: only what failed before the first of them is the run's own fault.
fn before_events(run: &Run<'_>, all_failed: u64) -> Finding {
    let operations = || run.undisturbed().flat_map(|it| &it.operations);
    let succeeded: u64 = operations().map(|it| it.count).sum();
    let failed: u64 = operations().map(|it| it.errors).sum();
    let share = failed as f64 / (succeeded + failed).max(1) as f64;
    let refused = run.record.connections_refused();
    let mut evidence = vec![format!(
        "{failed} of {} operations failed before the first planned event; {all_failed} attempts failed in the whole measurement, including those that the events caused",
        succeeded + failed
    )];
    if refused > 0 {
        evidence.push(refused_in_words(run, refused));
    }
    let level = match failed {
        _ if refused > 0 || share > SHARE => Level::Fail,
        0 => Level::Pass,
        _ => Level::Note,
    };
    Finding::new(level, evidence.join("; ")).with("failed_share", share)
}

fn refused_in_words(run: &Run<'_>, refused: u64) -> String {
    let asked = run.record.header.connections;
    format!("{refused} of {asked} connections could not be opened")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    fn deadlocks(in_measurement: u64, retried: u64) -> Outcome {
        judged(&RULE, |record| {
            record.errors = vec![ErrorCount {
                number: 1213,
                count: in_measurement,
                retried,
                in_measurement,
                ..ErrorCount::default()
            }];
        })
    }

    #[test]
    fn found() {
        assert_found(
            &deadlocks(1200, 0),
            Level::Fail,
            "1200 attempts failed, 1 % of all: 1200 with error 1213",
        );
        assert_found(&deadlocks(12, 0), Level::Note, "12 attempts");
    }

    #[test]
    fn what_a_retry_puts_right_is_no_failure() {
        let retried = "1200 with error 1213; each succeeded after a retry";
        assert_found(&deadlocks(1200, 1200), Level::Note, retried);
        let many = "12000 with error 1213; each succeeded after a retry";
        assert_found(&deadlocks(12_000, 12_000), Level::Warn, many);
        let lost = "1200 with error 1213; 600 of them without a successful retry";
        assert_found(&deadlocks(1200, 600), Level::Fail, lost);
    }

    #[test]
    fn what_a_planned_event_causes_is_not_the_runs_fault() {
        let outcome = judged(&RULE, |record| {
            record.events = vec![event(80.0)];
            record.errors = vec![ErrorCount {
                number: 2013,
                count: 1200,
                in_measurement: 1200,
                ..ErrorCount::default()
            }];
            for interval in record.intervals.iter_mut().filter(|it| it.t_s >= 80.0) {
                interval.operations[0].errors = 100;
            }
        });
        assert_found(&outcome, Level::Pass, "1200 attempts failed in the whole");
        let outcome = judged(&RULE, |record| {
            record.events = vec![event(80.0)];
            for interval in record.intervals.iter_mut().filter(|it| it.t_s < 80.0) {
                interval.operations[0].errors = 1_000_000;
            }
        });
        assert_eq!(level(&outcome), Level::Fail, "{outcome:?}");
    }

    #[test]
    fn passes() {
        assert_found(&deadlocks(0, 0), Level::Pass, "no attempt failed");
    }

    #[test]
    fn a_run_without_a_success_fails_whatever_it_counted() {
        let empty = judged(&RULE, |record| {
            for interval in &mut record.intervals {
                interval.operations.clear();
                interval.carried.clear();
            }
        });
        assert_found(&empty, Level::Fail, "no operation succeeded");
    }

    #[test]
    fn a_backlog_of_the_warm_up_that_comes_back_is_a_success() {
        let backlog = judged(&RULE, |record| {
            for interval in &mut record.intervals {
                interval.carried = vec![samples::LateOperations {
                    due_in: samples::Phase::WarmUp,
                    stage: None,
                    slice: None,
                    operations: std::mem::take(&mut interval.operations),
                    statements: Vec::new(),
                    send_lag: samples::Durations::default(),
                    client_lag: None,
                }];
            }
        });
        assert_found(&backlog, Level::Pass, "no attempt failed");
    }

    #[test]
    fn what_never_came_back_is_no_success() {
        let unanswered = |count| {
            judged(&RULE, |record| {
                record.offered.as_mut().unwrap().unfinished = count;
            })
        };
        let text = "operations had no answer when the load stopped waiting";
        assert_found(&unanswered(8), Level::Note, &format!("8 {text}"));
        assert_found(&unanswered(8000), Level::Fail, text);
    }

    #[test]
    fn refused_connections_are_found() {
        let refusing = |asked: u32| {
            vec![samples::Connects {
                load: "smacker".to_owned(),
                count: u64::from(asked) - 1,
                errors: 1,
                min_ns: 1,
                max_ns: 1,
                sum_ns: 1,
            }]
        };
        let refused = judged(&RULE, |record| {
            record.connects = refusing(record.header.connections);
        });
        assert_found(&refused, Level::Fail, "connections could not be opened");
        // No planned event is an excuse for them.
        let refused = judged(&RULE, |record| {
            record.events = vec![event(80.0)];
            record.connects = refusing(record.header.connections);
        });
        assert_found(&refused, Level::Fail, "connections could not be opened");
    }

    #[test]
    fn a_run_that_measured_nothing_is_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.intervals.clear()),
            "measured phase",
        );
    }
}
