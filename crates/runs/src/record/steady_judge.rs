//! Detection of a load's steady state, as used to end a warm-up and to judge a run.

use load::{Counters, Judgement, LoadSeries};
use samples::{JudgedSteadiness, Stalls};
use stats::{Evidence, Indeterminate, RunState, judge_measurement, judge_run, why_not_steady};

/// Judges the state of a load while it runs.
pub(crate) fn judge(course: &LoadSeries<'_>) -> Judgement {
    let evidence = evidence(course.counters);
    match course.measured_from {
        None => {
            let judged = judge_run(course.per_s, &evidence);
            let why_not = why_not_warm(&judged, course.counters.are_awaited);
            let over = judged.ok().filter(|_| why_not.is_none());
            Judgement {
                steady_from: over.as_ref().map(|state| state.from),
                wants_time: over.is_none(),
                why_not,
            }
        }
        Some(from) => {
            let judged = judge_measurement(course.per_s, from, &evidence);
            Judgement {
                steady_from: None,
                wants_time: judged.as_ref().is_ok_and(RunState::wants_time),
                why_not: why_not_steady(&judged),
            }
        }
    }
}

/// As [`judge`], for a measurement with planned events: it never begins anew, since its events are not repeated, and what
/// they do is no unsteadiness.
pub(crate) fn judge_warm_up(course: &LoadSeries<'_>) -> Judgement {
    match course.measured_from {
        None => judge(course),
        Some(_) => Judgement {
            steady_from: None,
            wants_time: false,
            why_not: None,
        },
    }
}

/// The reason why a warm-up continues, in words: its state, noise at this level, or the server's missing counters.
fn why_not_warm(judged: &Result<RunState, Indeterminate>, are_awaited: bool) -> Option<String> {
    match judged {
        Ok(state) if state.is_steady() && are_awaited => {
            Some("throughput is level, but no server counters were read yet".to_owned())
        }
        Ok(state) if state.is_steady() => state.why_no_end(),
        _ => why_not_steady(judged),
    }
}

/// The steadiness of a run over its measurement, for its record.
pub(crate) fn steadiness(course: &verdict::TimeSeries) -> JudgedSteadiness {
    let state = course.state();
    let reasons = match &state {
        Ok(state) => state.reasons.iter().map(ToString::to_string).collect(),
        Err(why) => vec![why.to_string()],
    };
    JudgedSteadiness {
        class: (state.as_ref().ok()).map(|state| state.steadiness.word().to_owned()),
        reasons,
        drift: state.as_ref().ok().map(|state| state.drift.estimate),
        stalls: course.stalls().map(|stalls| Stalls {
            stalled_s: stalls.stalled_s,
            longest_s: stalls.longest_s,
            longest_gap_s: stalls.longest_gap_s,
        }),
    }
}

fn evidence(counters: &Counters) -> Evidence<'_> {
    Evidence {
        misses_per_s: &counters.misses_per_s,
        checkpoint_age_bytes: &counters.checkpoint_age_bytes,
        dirty_pages: &counters.dirty_pages,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(per_s: &[f64], measured_from: Option<usize>, counters: &Counters) -> Judgement {
        judge(&LoadSeries {
            per_s,
            measured_from,
            counters,
        })
    }

    #[test]
    fn throughput_and_counters_decide() {
        let nothing = Counters::default();
        let flat: Vec<f64> = (0..60).map(|at| f64::from(1000 + at % 3)).collect();
        let rising: Vec<f64> = (0..60).map(|at| f64::from(500 + 10 * at)).collect();
        let warm = of(&flat, None, &nothing);
        assert_eq!((warm.steady_from, warm.why_not), (Some(0), None));
        for measured_from in [None, Some(20)] {
            let cold = of(&rising, measured_from, &nothing);
            assert!(cold.wants_time && cold.steady_from.is_none());
            assert!(cold.why_not.unwrap().starts_with("still warming: "));
        }
        let filling = Counters {
            misses_per_s: (0..60).map(|at| f64::from(6000 - 90 * at)).collect(),
            ..Counters::default()
        };
        for measured_from in [None, Some(20)] {
            let cold = of(&flat, measured_from, &filling);
            assert!(cold.wants_time && cold.steady_from.is_none());
            let why = cold.why_not.unwrap();
            assert!(
                why.starts_with("still warming: misses per second changed by -"),
                "{why}"
            );
        }
        let awaited = Counters {
            are_awaited: true,
            ..Counters::default()
        };
        let early = of(&flat, None, &awaited);
        assert_eq!(early.steady_from, None);
        assert_eq!(
            early.why_not.as_deref(),
            Some("throughput is level, but no server counters were read yet")
        );
        let with_events = judge_warm_up(&LoadSeries {
            per_s: &rising,
            measured_from: Some(20),
            counters: &nothing,
        });
        assert!(!with_events.wants_time && with_events.why_not.is_none());
        let short = of(&flat[..5], None, &nothing);
        assert_eq!(
            short.why_not.as_deref(),
            Some("undecided: 5 observations, fewer than 12")
        );
    }
}
