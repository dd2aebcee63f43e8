//! M03: the measured phase is steady.

use stats::{Evidence, Steadiness, Unjudged, judge_run};
use units::moment;

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
};

/// A mean that moves by less than this share is the same mean.
const MOVED: f64 = 0.02;
/// A trend over the judged part, as a share of its median, that makes the mean one of no state.
const DRIFT: f64 = 0.05;

pub(super) const RULE: Rule = Rule {
    id: "M03",
    name: "the measured phase is steady",
    measures: "The throughput of each interval of the measured phase: where MSER-5 ends the warm-up, whether the rest has a trend, \
        and whether it moves between levels.",
    threshold: "warming or slowing by more than 5 %: invalid; by less, moving between levels, or too noisy to tell: warn; swinging, or \
        steady after a part that moves the mean by more than 2 %: note",
    source: "K. P. White, Simulation 69 (1997), with a test for trend (Sen, 1968); the article of November 2012 on ioDrive and \
        my.cnf: 60 s of warm-up for a pool of 20 GB would take 340 MiB/s of misses",
    consequence: "The mean is one of two different states; a longer run gives another one.",
    remedy: "warmup = \"auto\", a longer warm-up or a longer measurement.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let measured_s = run.sustained_s()?;
    let course = run.course();
    let state = match judge_run(&course, &Evidence::default()) {
        Ok(state) => state,
        Err(Unjudged::Short(intervals)) => {
            let words =
                format!("at least 12 intervals of the measured phase (there are {intervals})");
            return Err(missing(words));
        }
        Err(why) => {
            let evidence = format!("not shown to be steady in {}: {why}", moment(measured_s));
            return Ok(Finding::new(Level::Warn, evidence));
        }
    };
    let reasons: Vec<_> = state.reasons.iter().map(ToString::to_string).collect();
    let drift = state.drift.estimate;
    let share = state.from as f64 / course.len() as f64;
    let level = match state.steadiness {
        Steadiness::Steady if matters(&course, state.from) => Level::Note,
        Steadiness::Steady => Level::Pass,
        Steadiness::Cyclic => Level::Note,
        Steadiness::Warming | Steadiness::Slowing if drift.abs() > DRIFT => Level::Invalid,
        Steadiness::Warming | Steadiness::Slowing | Steadiness::NeverSteady => Level::Warn,
    };
    let word = state.steadiness.word();
    let evidence = match level {
        Level::Pass => format!("steady over all {}", moment(measured_s)),
        Level::Note if reasons.is_empty() => {
            let from_s = share * measured_s;
            format!(
                "steady from {} on, of {} measured",
                moment(from_s),
                moment(measured_s)
            )
        }
        _ => format!("{word} over {}: {}", moment(measured_s), reasons.join("; ")),
    };
    Ok(Finding::new(level, evidence)
        .with("drift", drift)
        .with("warming_share", share))
}

/// Whether the part before the cut moves the mean.
fn matters(course: &[f64], cut: usize) -> bool {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
    let rest = mean(&course[cut..]);
    (mean(course) / rest - 1.0).abs() > MOVED
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    fn rising(depth: f64, tau: f64) -> Outcome {
        judged(&RULE, |record| {
            for interval in &mut record.intervals {
                let share = 1.0 - depth * (-(interval.t_s - 20.0).max(0.0) / tau).exp();
                let operation = &mut interval.operations[0];
                operation.count = (operation.count as f64 * share) as u64;
            }
        })
    }

    #[test]
    fn found() {
        let outcome = rising(0.8, 60.0);
        assert_found(&outcome, Level::Invalid, "warming over 120 s");
        assert_found(&rising(0.9, 4.0), Level::Note, "steady from");
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "steady over all 120 s");
    }

    #[test]
    fn a_short_run_is_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.intervals.truncate(25)),
            "at least 12 intervals",
        );
    }
}
