//! Rule M06: the run has stalls.

use stats::stalls;
use units::{duration, moment, percent};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::{RAMP, Run},
};

/// Number of windows below which the share of stalled windows is not used.
const WINDOWS: usize = 10;
/// Share of windows with less than half of the median throughput.
const SHARE: f64 = 0.01;

pub(super) const RULE: Rule = Rule {
    id: "M06",
    name: "the run has no stalls",
    found: "the run has stalls",
    measures: "The number of seconds in the measured phase with less than half of the median throughput. The longest time without any operation. The time of the longest operation. With planned events, only the time before the first event counts. With stages, each stage is judged separately, except ramps.",
    threshold: "warn if more than 1 % of the seconds have less than half of the median throughput. Warn if a second has no operation at all",
    source: "M. Callaghan's insert benchmark, which reports the throughput of every second; checkpoints and flushing stall servers for seconds",
    consequence: "Users wait during every stall, even if the mean is good.",
    remedy: "Report the stalls together with the mean. Check the checkpoint age and the disk in the seconds of the stalls.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    if run.is_ramp() {
        return Err(no_subject(RAMP));
    }
    let course = by_second(run);
    if course.len() < WINDOWS {
        let words = format!(
            "at least {} of the measured phase (this run has {})",
            moment(WINDOWS as f64),
            moment(course.len() as f64)
        );
        return Err(missing(words));
    }
    let stalls = stalls(&course).ok_or_else(|| missing("throughput per second"))?;
    let share = stalls.stalled_share();
    let longest = run.figures.response.as_ref().map_or(0, |it| it.max_ns);
    let evidence = format!(
        "in {} of {}, throughput was below half of its median ({}); the longest time without any operation was {}; the longest operation took {}",
        stalls.stalled,
        moment(stalls.intervals as f64),
        percent(share),
        moment(stalls.longest_gap as f64),
        duration(longest as f64)
    );
    let level = if share > SHARE || stalls.longest_gap > 0 {
        Level::Warn
    } else {
        Level::Pass
    };
    Ok(Finding::new(level, evidence)
        .with("stalled_share", share)
        .with("longest_gap_s", stalls.longest_gap as f64)
        .with("longest_operation_ms", longest as f64 / 1e6))
}

/// Operations per second of each whole second of the measured phase, before its first planned event.
fn by_second(run: &Run<'_>) -> Vec<f64> {
    let (mut course, mut operations, mut length_s) = (Vec::new(), 0, 0.0);
    for interval in run.undisturbed() {
        operations += interval.succeeded();
        length_s += interval.length_s;
        // Intervals last one second, or a fraction that divides a second almost evenly.
        if length_s >= 0.95 {
            course.push(operations as f64 / length_s);
            (operations, length_s) = (0, 0.0);
        }
    }
    course
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            for interval in record
                .intervals
                .iter_mut()
                .filter(|it| (60.0..74.0).contains(&it.t_s))
            {
                interval.operations[0].count = 0;
            }
        });
        assert_found(
            &outcome,
            Level::Warn,
            "in 14 of 120 s, throughput was below half of its median (12 %); the longest time without any operation was 14 s",
        );
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "0 of 120 s");
    }

    #[test]
    fn what_a_planned_event_stops_is_no_stall() {
        let outcome = judged(&RULE, |record| {
            for interval in record.intervals.iter_mut().filter(|it| it.t_s >= 80.0) {
                interval.operations[0].count = 0;
            }
            record.events = vec![event(80.0)];
        });
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
    }

    #[test]
    fn a_short_run_is_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.intervals.truncate(25)),
            "at least 10 s",
        );
    }
}
