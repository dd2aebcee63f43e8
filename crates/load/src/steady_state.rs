//! Decides when a warm-up is over, and when a measurement has to start again because it was not.

use std::time::Duration;

use samples::Phase;
use units::moment;

use settings::WarmUp;

use crate::rules::{Counters, Judge, Judgement, LoadSeries, WarmUpEnd};

/// The measurement is judged after these shares of its time, so that a warm-up that ended too early is found before
/// much time is spent; the last check is one interval before the end.
const LOOKS: [f64; 3] = [0.25, 0.5, 1.0];

/// The observations of a load so far, and their judgement.
#[derive(Debug)]
pub(crate) struct SteadyState {
    warm_up: WarmUp,
    judge: Judge,
    /// Throughput of the intervals that are judged together, operations per second.
    per_s: Vec<f64>,
    /// Start of the first of them, seconds since the start of the load.
    since_s: f64,
    /// The first of them in the measurement, and its start.
    measured: Option<(usize, f64)>,
    has_begun_anew: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// Time since the start of the load.
    pub(crate) elapsed: Duration,
    /// Time since the start of the measurement.
    pub(crate) measured: Duration,
    /// Length of the whole measurement.
    pub(crate) planned: Duration,
    pub(crate) interval: Duration,
}

impl SteadyState {
    /// Before the load.
    pub(crate) fn new(warm_up: WarmUp, judge: Judge) -> Self {
        Self {
            warm_up,
            judge,
            per_s: Vec::new(),
            since_s: 0.0,
            measured: None,
            has_begun_anew: false,
        }
    }

    /// True once a measurement has become a part of the warm-up.
    pub(crate) fn has_begun_anew(&self) -> bool {
        self.has_begun_anew
    }

    /// Start of the judged time, seconds since the start of the load.
    pub(crate) fn since_s(&self) -> f64 {
        self.since_s
    }

    /// Length of a warm-up of fixed length and the reason for its end, in words; `None` for one that ends when the load is
    /// steady.
    pub(crate) fn fixed_warm_up(&self) -> Option<(Duration, String)> {
        match self.warm_up {
            WarmUp::None => Some((Duration::ZERO, "no warm-up requested".to_owned())),
            WarmUp::For(length) => {
                let why = format!("warm-up of {} over", moment(length.as_secs_f64()));
                Some((length, why))
            }
            WarmUp::UntilSteady { .. } => None,
        }
    }

    /// Adds an interval; one that a stop cut to a small part is not an observation.
    pub(crate) fn add(&mut self, phase: Phase, t_s: f64, per_s: f64, share: f64) {
        let is_judged = matches!(self.warm_up, WarmUp::UntilSteady { .. });
        if phase == Phase::Drain || !is_judged || share < 0.5 {
            return;
        }
        if self.per_s.is_empty() {
            self.since_s = t_s;
        }
        if phase == Phase::Measurement && self.measured.is_none() {
            self.measured = Some((self.per_s.len(), t_s));
        }
        self.per_s.push(per_s);
    }

    /// The end of the warm-up, which has lasted this long: the measurement can start now. `None` while the warm-up continues.
    pub(crate) fn end_of_warm_up(
        &self,
        elapsed: Duration,
        interval: Duration,
        counters: &Counters,
    ) -> Option<WarmUpEnd> {
        let planned = |why| WarmUpEnd {
            why,
            is_too_early: false,
        };
        if let Some((length, why)) = self.fixed_warm_up() {
            return (elapsed >= length).then(|| planned(why));
        }
        let WarmUp::UntilSteady { at_most } = self.warm_up else {
            return None;
        };
        let judgement = self.judge(counters)?;
        if let Some(index) = judgement.steady_from {
            let since_s = self.since_s + index as f64 * interval.as_secs_f64();
            let why = format!("throughput steady since {}", moment(since_s));
            return Some(planned(why));
        }
        let why = judgement.why_not.unwrap_or_default();
        let limit_s = at_most.as_secs_f64();
        (elapsed >= at_most).then(|| WarmUpEnd {
            why: format!("not steady after {}: {why}", moment(limit_s)),
            is_too_early: true,
        })
    }

    /// True when the measurement has reached a share after which it is judged, and it may start again.
    pub(crate) fn is_to_be_judged(&self, progress: &Progress) -> bool {
        let WarmUp::UntilSteady { at_most } = self.warm_up else {
            return false;
        };
        let planned_s = progress.planned.as_secs_f64();
        let interval_s = progress.interval.as_secs_f64();
        let measured_s = progress.measured.as_secs_f64();
        // The interval whose end is closest to the share.
        let is_near = |share: &f64| {
            let at_s = (share * planned_s).min(planned_s - interval_s);
            (-0.5..0.5).contains(&((measured_s - at_s) / interval_s))
        };
        progress.elapsed < at_most && LOOKS.iter().any(is_near)
    }

    /// The reason to start the measurement again, in words; `None` if it continues.
    pub(crate) fn why_anew(&self, counters: &Counters) -> Option<String> {
        let judgement = self.judge(counters)?;
        let why = judgement.why_not.filter(|_| judgement.wants_time)?;
        Some(format!("the measurement starts again: {why}"))
    }

    /// Makes the measurement so far a part of the warm-up, which is judged from there.
    pub(crate) fn begin_anew(&mut self) {
        if let Some((index, t_s)) = self.measured.take() {
            self.per_s.drain(..index);
            self.since_s = t_s;
        }
        self.has_begun_anew = true;
    }

    /// Why the measurement was not steady, in words; `None` if it was, or if this was not requested.
    pub(crate) fn why_not(&self, counters: &Counters) -> Option<String> {
        self.measured?;
        let why = self.judge(counters)?.why_not?;
        Some(format!("not steady: {why}"))
    }

    fn judge(&self, counters: &Counters) -> Option<Judgement> {
        let is_judged = matches!(self.warm_up, WarmUp::UntilSteady { .. });
        is_judged.then(|| {
            (self.judge)(&LoadSeries {
                per_s: &self.per_s,
                measured_from: self.measured.map(|(index, _)| index),
                counters,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steady if the last ten values are equal; an unsteady measurement needs more time.
    fn judge(course: &LoadSeries<'_>) -> Judgement {
        let judged = &course.per_s[course.measured_from.unwrap_or(0)..];
        let last = &judged[judged.len().saturating_sub(10)..];
        let is_steady = last.len() == 10 && last.iter().all(|value| *value == last[0]);
        Judgement {
            steady_from: is_steady.then(|| judged.len() - 10),
            wants_time: !is_steady,
            why_not: (!is_steady).then(|| format!("{} values", judged.len())),
        }
    }

    fn until_steady(at_most_s: u64) -> SteadyState {
        let at_most = Duration::from_secs(at_most_s);
        SteadyState::new(WarmUp::UntilSteady { at_most }, judge)
    }

    const SECOND: Duration = Duration::from_secs(1);

    fn ended(state: &SteadyState, elapsed_s: u64) -> Option<WarmUpEnd> {
        state.end_of_warm_up(SECOND * elapsed_s as u32, SECOND, &Counters::default())
    }

    fn end(state: &SteadyState, elapsed_s: u64) -> Option<String> {
        ended(state, elapsed_s).map(|end| end.why)
    }

    #[test]
    fn a_warm_up_ends_when_it_is_steady_or_at_its_limit() {
        let mut state = until_steady(30);
        (0..5).for_each(|t| state.add(Phase::WarmUp, t.into(), t.into(), 1.0));
        assert_eq!(end(&state, 5), None);
        assert_eq!(
            end(&state, 30).as_deref(),
            Some("not steady after 30 s: 5 values")
        );
        assert!(ended(&state, 30).unwrap().is_too_early);
        (5..15).for_each(|t| state.add(Phase::WarmUp, t.into(), 9.0, 1.0));
        assert!(!ended(&state, 15).unwrap().is_too_early);
        assert_eq!(
            end(&state, 15).as_deref(),
            Some("throughput steady since 5 s")
        );
    }

    #[test]
    fn a_warm_up_of_fixed_length_ends_after_it() {
        let state = SteadyState::new(WarmUp::For(5 * SECOND), judge);
        assert_eq!(end(&state, 4), None);
        assert_eq!(end(&state, 5).as_deref(), Some("warm-up of 5 s over"));
        assert!(!ended(&state, 5).unwrap().is_too_early);
        let state = SteadyState::new(WarmUp::None, judge);
        assert_eq!(end(&state, 0).as_deref(), Some("no warm-up requested"));
    }

    #[test]
    fn a_warm_up_that_begins_late_is_judged_from_there() {
        let mut state = until_steady(60);
        (20..30).for_each(|t| state.add(Phase::WarmUp, t.into(), 9.0, 1.0));
        assert_eq!(state.since_s(), 20.0);
        assert_eq!(
            end(&state, 10).as_deref(),
            Some("throughput steady since 20 s")
        );
    }

    #[test]
    fn a_measurement_that_is_not_steady_becomes_warm_up() {
        let nothing = Counters::default();
        let mut state = until_steady(60);
        (0..10).for_each(|t| state.add(Phase::WarmUp, t.into(), 1.0, 1.0));
        assert_eq!(state.why_not(&nothing), None, "nothing was measured yet");
        (10..30).for_each(|t| state.add(Phase::Measurement, t.into(), t.into(), 1.0));
        state.add(Phase::Measurement, 30.0, 77.0, 0.1);
        assert_eq!(
            state.why_not(&nothing).as_deref(),
            Some("not steady: 20 values"),
            "what was cut short is no observation"
        );
        assert_eq!(
            state.why_anew(&nothing).as_deref(),
            Some("the measurement starts again: 20 values")
        );
        state.begin_anew();
        assert_eq!(state.since_s(), 10.0);
        assert!(state.has_begun_anew());
        (31..41).for_each(|t| state.add(Phase::WarmUp, t.into(), 5.0, 1.0));
        assert_eq!(
            end(&state, 41).as_deref(),
            Some("throughput steady since 30 s")
        );
    }

    #[test]
    fn a_measurement_is_judged_three_times_while_the_limit_allows() {
        let state = until_steady(60);
        let judged = |elapsed_s: u64| -> Vec<u64> {
            let is_judged = |measured_s: &u64| {
                state.is_to_be_judged(&Progress {
                    elapsed: SECOND * elapsed_s as u32,
                    measured: SECOND * *measured_s as u32,
                    planned: SECOND * 30,
                    interval: SECOND,
                })
            };
            (1..=30).filter(is_judged).collect()
        };
        assert_eq!(judged(59), [7, 15, 29]);
        assert!(judged(60).is_empty());
        assert!(
            !SteadyState::new(WarmUp::None, judge).is_to_be_judged(&Progress {
                elapsed: SECOND,
                measured: SECOND,
                planned: SECOND,
                interval: SECOND,
            })
        );
    }
}
