//! The course of fio's requests as intervals of a run's record.

use std::{collections::BTreeMap, ops::ControlFlow, time::Duration};

use load::{LoadListener, OperationTotal, Outcome, Termination};
use samples::{
    Durations, Interval, OfferedLoad, OperationInterval, Phase, PhaseMark, ReturnedRows,
};
use settings::WarmUp;
use storage::{FioInterval, FioLoad};

/// The load's name in a record.
const LOAD: &str = "storage";
/// A phase is over this much before its time, where a report comes then, seconds.
const EARLY_S: f64 = 0.05;

/// What was measured so far of a run.
pub(super) struct Course<'a> {
    load: &'a FioLoad,
    warm_up: WarmUp,
    duration: Duration,
    pub(super) observer: &'a mut dyn LoadListener,
    phase: Option<Phase>,
    /// When fio's jobs began, seconds since the start; `None` before the first report.
    begin_s: Option<f64>,
    /// When the last report came, seconds since the start.
    reported_s: Option<f64>,
    measured_from_s: f64,
    /// By operation, over all phases.
    totals: BTreeMap<String, Durations>,
    succeeded: u64,
}

impl<'a> Course<'a> {
    /// A run of this load of which nothing was measured yet.
    pub(super) fn new(
        load: &'a FioLoad,
        warm_up: WarmUp,
        duration: Duration,
        observer: &'a mut dyn LoadListener,
    ) -> Self {
        Self {
            load,
            warm_up,
            duration,
            observer,
            phase: None,
            begin_s: None,
            reported_s: None,
            measured_from_s: 0.0,
            totals: BTreeMap::new(),
            succeeded: 0,
        }
    }

    /// Takes the part of the course that a report adds, `now_s` after the start; breaks when the time is over.
    ///
    /// The times are those of the reports' arrival: fio stamps a report, then waits for its threads before it reads their
    /// counts, so that its own time of a report is seconds too early while an `fsync` lasts.
    pub(super) fn add(&mut self, part: &FioInterval, now_s: f64) -> ControlFlow<()> {
        let began_s = || (now_s - part.to_ms as f64 / 1000.0).max(0.0);
        let begin_s = *self.begin_s.get_or_insert_with(began_s);
        let (from_s, to_s) = (self.reported_s.unwrap_or(begin_s), now_s);
        self.reported_s = Some(now_s);
        self.enter_phase(from_s, from_s - begin_s);
        let phase = self.phase.expect("it was entered above");
        let operations: Vec<OperationInterval> = part
            .requests
            .iter()
            .map(|done| OperationInterval {
                load: LOAD.to_owned(),
                operation: self.load.operation(&done.job, done.are_reads),
                count: done.count,
                errors: 0,
                sum_ns: done.sum_ns,
                min_ns: done.min_ns,
                max_ns: done.max_ns,
                histogram: done.histogram.clone(),
                service: None,
                returned: ReturnedRows::default(),
            })
            .collect();
        for operation in &operations {
            let known = self.totals.entry(operation.operation.clone());
            known.or_default().add(&operation.response());
            if phase == Phase::Measurement {
                self.succeeded += operation.count;
            }
        }
        self.observer.interval(Interval {
            t_s: from_s,
            length_s: to_s - from_s,
            phase,
            stage: None,
            slice: None,
            operations,
            statements: Vec::new(),
            send_lag: None,
            client_lag: None,
            pace: None,
            carried: Vec::new(),
        });
        if phase == Phase::Measurement {
            // Reports come a little early now and then: the last one must not be waited for in vain.
            let measured_s = to_s - self.measured_from_s + EARLY_S;
            if measured_s >= self.duration.as_secs_f64() {
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    /// A phase begins with the first interval that is wholly in it.
    fn enter_phase(&mut self, from_s: f64, since_begin_s: f64) {
        let warm_up = self.warm_up.at_most();
        let phase = if since_begin_s + EARLY_S < warm_up.as_secs_f64() {
            Phase::WarmUp
        } else {
            Phase::Measurement
        };
        if self.phase == Some(phase) {
            return;
        }
        let why = match phase {
            Phase::WarmUp => "start".to_owned(),
            _ if warm_up.is_zero() => "no warm-up".to_owned(),
            _ => format!("warm-up of {} over", units::span(warm_up)),
        };
        if phase == Phase::Measurement {
            self.measured_from_s = from_s;
        }
        self.phase = Some(phase);
        self.observer.phase(PhaseMark {
            t_s: from_s,
            phase,
            why,
        });
    }

    pub(super) fn outcome(self, ended: Termination, elapsed: Duration) -> Outcome {
        let totals = self.totals.into_iter();
        let totals = totals.map(|(operation, all)| OperationTotal {
            load: LOAD.to_owned(),
            operation,
            count: all.count,
            errors: 0,
            min_ns: all.min_ns,
            max_ns: all.max_ns,
            sum_ns: all.sum_ns,
            histogram: all.histogram,
        });
        Outcome {
            ended,
            elapsed,
            offered: OfferedLoad::of_closed_loop(self.succeeded),
            stages: Vec::new(),
            stop_why: None,
            connects: Vec::new(),
            totals: totals.collect(),
            users: Vec::new(),
            succeeded: self.succeeded,
            unfinished: 0,
            errors: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use samples::Histogram;
    use settings::Values;
    use storage::CompletedRequests;

    use super::*;

    /// Keeps what is reported.
    #[derive(Default)]
    struct Told {
        phases: Vec<(f64, Phase, String)>,
        intervals: Vec<(f64, f64, Phase)>,
    }

    impl LoadListener for Told {
        fn connected(&mut self, _: u64, _: u64) {}
        fn started(&mut self) {}
        fn phase(&mut self, mark: PhaseMark) {
            self.phases.push((mark.t_s, mark.phase, mark.why));
        }
        fn interval(&mut self, it: Interval) {
            self.intervals.push((it.t_s, it.length_s, it.phase));
        }
    }

    fn reads(from_ms: u64, to_ms: u64, count: u64) -> FioInterval {
        let mut histogram = Histogram::new();
        (0..count).for_each(|_| histogram.record(100_000));
        FioInterval {
            from_ms,
            to_ms,
            requests: vec![CompletedRequests {
                job: "requests".to_owned(),
                are_reads: true,
                count,
                sum_ns: count * 100_000,
                min_ns: 100_000,
                max_ns: 100_000,
                histogram,
            }],
        }
    }

    #[test]
    fn a_warm_up_is_measured_apart_and_the_end_is_not_waited_for_in_vain() {
        let load = FioLoad::of(&Values::default()).unwrap();
        let mut told = Told::default();
        let warm_up = WarmUp::For(Duration::from_secs(1));
        let mut course = Course::new(&load, warm_up, Duration::from_secs(2), &mut told);
        // fio's jobs began half a second after it was started.
        assert!(course.add(&reads(0, 1_000, 10), 1.5).is_continue());
        assert!(course.add(&reads(1_000, 2_001, 20), 2.5).is_continue());
        // The second report of the measurement is a little early.
        assert!(course.add(&reads(2_001, 2_960, 30), 3.5).is_break());
        let outcome = course.outcome(Termination::Planned, Duration::from_secs(4));
        assert_eq!(outcome.succeeded, 50, "without the warm-up");
        let [total] = &outcome.totals[..] else {
            panic!("{:?}", outcome.totals)
        };
        assert_eq!(
            (total.operation.as_str(), total.count, total.sum_ns),
            ("read", 60, 6_000_000)
        );
        let phases = told
            .phases
            .iter()
            .map(|(at, phase, why)| (*at, *phase, why.as_str()));
        assert_eq!(
            phases.collect::<Vec<_>>(),
            [
                (0.5, Phase::WarmUp, "start"),
                (1.5, Phase::Measurement, "warm-up of 1 s over"),
            ]
        );
        let measured = told
            .intervals
            .iter()
            .filter(|it| it.2 == Phase::Measurement);
        assert_eq!(measured.count(), 2);
    }

    #[test]
    fn a_report_that_waited_for_an_fsync_is_of_when_it_came() {
        let load = FioLoad::of(&Values::default()).unwrap();
        let mut told = Told::default();
        let none = WarmUp::For(Duration::ZERO);
        let mut course = Course::new(&load, none, Duration::from_secs(5), &mut told);
        assert!(course.add(&reads(0, 1_000, 9), 1.0).is_continue());
        // Stamped at 2.0 s and at 4.0 s.
        assert!(course.add(&reads(1_000, 2_000, 1), 3.5).is_continue());
        assert!(course.add(&reads(2_000, 4_000, 9), 5.0).is_break());
        let times = told.intervals.iter().map(|it| (it.0, it.0 + it.1));
        let expected = [(0.0, 1.0), (1.0, 3.5), (3.5, 5.0)];
        assert_eq!(times.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn without_a_warm_up_everything_is_measured() {
        let load = FioLoad::of(&Values::default()).unwrap();
        let mut told = Told::default();
        let none = WarmUp::For(Duration::ZERO);
        let mut course = Course::new(&load, none, Duration::from_secs(1), &mut told);
        assert!(course.add(&reads(0, 500, 5), 0.5).is_continue());
        assert!(course.add(&reads(500, 1_000, 5), 1.0).is_break());
        assert_eq!(
            course
                .outcome(Termination::Interrupted, Duration::from_secs(1))
                .succeeded,
            10
        );
        assert_eq!(
            told.phases,
            [(0.0, Phase::Measurement, "no warm-up".to_owned())]
        );
    }
}
