//! M03: the measured phase is steady.

use stats::steady_from;

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
    words::percent,
};

/// Intervals without which nothing can be said.
const INTERVALS: usize = 12;
/// Share of the measured phase that warming up may take.
const CUT: f64 = 0.5;
/// A mean that moves by less than this share is the same mean.
const MOVED: f64 = 0.02;
/// Change from the first to the last third, as a share, that is no noise.
const TREND: f64 = 0.2;

pub(super) const RULE: Rule = Rule {
    id: "M03",
    name: "the measured phase is steady",
    measures: "The throughput of each interval of the measured phase: where MSER-5 ends the warm-up, and whether the rest has a trend.",
    threshold: "warming up took half of the measured phase, or throughput changed by more than 20 % from its first to its last third \
        without becoming steady: invalid; not steady otherwise: warn; steady after a part of it that moves the mean by more \
        than 2 %: note",
    source: "K. P. White, Simulation 69 (1997), with a test for trend (Sen, 1968); the article of November 2012 on ioDrive and \
        my.cnf: 60 s of warm-up for a pool of 20 GB would take 340 MiB/s of misses",
    consequence: "The mean is one of two different states; a longer run gives another one.",
    remedy: "warmup = \"auto\", a longer warm-up or a longer measurement.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let measured_s = run.measured_s()?;
    if run.record.loaded.is_some() {
        return Err(crate::finding::no_subject(
            "the load of a table is measured from its start to its end",
        ));
    }
    let course = run.course();
    if course.len() < INTERVALS {
        return Err(missing(format!(
            "at least {INTERVALS} intervals of the measured phase (there are {})",
            course.len()
        )));
    }
    let third = course.len() / 3;
    let median = |part: &[f64]| {
        let mut part = part.to_vec();
        part.sort_by(f64::total_cmp);
        part[part.len() / 2]
    };
    let (first, last) = (
        median(&course[..third]),
        median(&course[course.len() - third..]),
    );
    let change = if first > 0.0 { last / first - 1.0 } else { 0.0 };
    let per_interval_s = measured_s / course.len() as f64;
    let cut = steady_from(&course);
    let share = cut.map(|cut| cut as f64 / course.len() as f64);
    let (level, evidence) = match share {
        Some(0.0) => (Level::Pass, format!("steady over all {measured_s:.0} s")),
        Some(share) if share < CUT && !matters(&course, share) => {
            (Level::Pass, format!("steady over all {measured_s:.0} s"))
        }
        Some(share) if share < CUT => {
            let from_s = share * course.len() as f64 * per_interval_s;
            (
                Level::Note,
                format!("steady from {from_s:.1} s on, of {measured_s:.1} s measured"),
            )
        }
        Some(share) => (
            Level::Invalid,
            format!("warming up took {} of the measured phase", percent(share)),
        ),
        None => {
            let level = if change.abs() > TREND {
                Level::Invalid
            } else {
                Level::Warn
            };
            let words = format!(
                "not shown to be steady in {measured_s:.1} s; from its first to its last third throughput changed by {}",
                percent(change)
            );
            (level, words)
        }
    };
    let finding = Finding::new(level, evidence).with("change_over_run", change);
    Ok(match share {
        Some(share) => finding.with("warming_share", share),
        None => finding,
    })
}

/// Whether the part before the cut moves the mean.
fn matters(course: &[f64], share: f64) -> bool {
    let cut = (share * course.len() as f64).round() as usize;
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
        assert_found(&rising(0.8, 60.0), Level::Invalid, "not shown to be steady");
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
