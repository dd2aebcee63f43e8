//! The times that controller and event loops share: start, start of the measurement, stages or turns, stop.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use reactor::Instant;
use samples::Phase;

use crate::{stages::Stages, turns::Turns};

/// Not decided yet.
const OPEN: u64 = u64::MAX;

/// The times that controller and event loops share, in nanoseconds of the reactor's clock.
///
/// The event loops read them with every operation, so they are plain relaxed atomics; each is set only to a time in the
/// future (except the stop, which may be "now", and a measurement that starts again).
#[derive(Debug)]
pub(crate) struct Timeline {
    start_ns: AtomicU64,
    measure_from_ns: AtomicU64,
    stop_at_ns: AtomicU64,
    cut_off: AtomicBool,
    /// How often the measurement was started again.
    begun_anew: AtomicU64,
    interval: Duration,
    stages: Stages,
    turns: Option<Arc<Turns>>,
    /// True for a load with stages or turns.
    is_divided: bool,
}

/// The part of a load in which an operation was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DueIn {
    pub(crate) phase: Phase,
    /// Of a measurement with stages, from 1.
    pub(crate) stage: Option<u32>,
    /// Of a measurement in slices, from 1.
    pub(crate) slice: Option<u32>,
}

impl From<Phase> for DueIn {
    fn from(phase: Phase) -> Self {
        Self {
            phase,
            stage: None,
            slice: None,
        }
    }
}

impl Timeline {
    pub(crate) fn new(interval: Duration, stages: Stages, turns: Option<Arc<Turns>>) -> Self {
        Self {
            start_ns: AtomicU64::new(OPEN),
            measure_from_ns: AtomicU64::new(OPEN),
            stop_at_ns: AtomicU64::new(OPEN),
            cut_off: AtomicBool::new(false),
            begun_anew: AtomicU64::new(0),
            interval,
            is_divided: !stages.is_empty() || turns.is_some(),
            stages,
            turns,
        }
    }

    pub(crate) fn stages(&self) -> &Stages {
        &self.stages
    }

    /// The turns of a load that shares its time.
    pub(crate) fn turns(&self) -> Option<&Turns> {
        self.turns.as_deref()
    }

    pub(crate) fn start(&self) -> Option<Instant> {
        decided(&self.start_ns)
    }

    pub(crate) fn set_start(&self, at: Instant) {
        self.start_ns.store(at.as_ns(), Ordering::Relaxed);
    }

    pub(crate) fn measure_from(&self) -> Option<Instant> {
        decided(&self.measure_from_ns)
    }

    pub(crate) fn set_measure_from(&self, at: Instant) {
        self.measure_from_ns.store(at.as_ns(), Ordering::Relaxed);
    }

    /// Makes the measurement so far a part of the warm-up, unless the load was stopped before `planned`; true if it
    /// did.
    pub(crate) fn begin_anew(&self, planned: Instant) -> bool {
        let order = Ordering::Relaxed;
        // A simultaneous cut-off has precedence.
        let is_taken_back = (self.stop_at_ns).compare_exchange(planned.as_ns(), OPEN, order, order);
        if is_taken_back.is_err() {
            return false;
        }
        self.measure_from_ns.store(OPEN, order);
        self.begun_anew.fetch_add(1, order);
        true
    }

    /// How often the measurement so far became a part of the warm-up.
    pub(crate) fn begun_anew(&self) -> u64 {
        self.begun_anew.load(Ordering::Relaxed)
    }

    pub(crate) fn stop_at(&self) -> Option<Instant> {
        decided(&self.stop_at_ns)
    }

    /// Moves the stop to `at`, unless it is earlier already.
    pub(crate) fn stop_by(&self, at: Instant) {
        self.stop_at_ns.fetch_min(at.as_ns(), Ordering::Relaxed);
    }

    /// Stops by `at`; operations that are due but have not started are dropped.
    pub(crate) fn cut_off(&self, at: Instant) {
        self.cut_off.store(true, Ordering::Relaxed);
        self.stop_by(at);
    }

    /// True when no operation may start any more, whenever it was due.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.cut_off.load(Ordering::Relaxed)
    }

    /// True when no operation may start at `now` any more.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        now.as_ns() >= self.stop_at_ns.load(Ordering::Relaxed)
    }

    /// End of the interval that starts at `from`: one interval later, cut off at the start of a phase or a stage, and at the
    /// begin or end of a turn or a slice.
    pub(crate) fn interval_end(&self, from: Instant) -> Instant {
        let regular = from + self.interval;
        // Event loops ask several times per operation: a load without stages and turns has one check for both.
        let part = self.is_divided.then(|| self.part_after(from)).flatten();
        [self.measure_from(), self.stop_at(), part]
            .into_iter()
            .flatten()
            .filter(|&cut| cut > from)
            .fold(regular, Instant::min)
    }

    /// The next border between two parts after this time: of stages or of turns.
    fn part_after(&self, from: Instant) -> Option<Instant> {
        if let Some(turns) = &self.turns {
            return turns.border_after(from);
        }
        let start = self.start()?;
        Some(start + self.stages.begin_after(from - start)?)
    }

    /// Phase of the interval that starts at `from`.
    pub(crate) fn phase(&self, from: Instant) -> Phase {
        if self.is_over(from) {
            return Phase::Drain;
        }
        match (self.measure_from(), &self.turns) {
            (Some(begin), _) if from >= begin => Phase::Measurement,
            (None, Some(turns)) => phase_in(turns, from),
            (Some(_), _) | (None, None) => Phase::WarmUp,
        }
    }

    /// Phase, and stage or slice, of what is due at this time.
    pub(crate) fn due_in(&self, at: Instant) -> DueIn {
        let phase = self.phase(at);
        if phase != Phase::Measurement {
            return phase.into();
        }
        let stage = |start: Instant| self.stages.number_at(at - start);
        let slice = |turns: &Turns| turns.begun_last(at)?.slice_at(at);
        DueIn {
            phase,
            stage: self.start().and_then(stage),
            slice: self.turns().and_then(slice),
        }
    }
}

/// The phase of a load with turns before its stop. Its measurement has no begin of its own: each slice is a part of it.
fn phase_in(turns: &Turns, at: Instant) -> Phase {
    match turns.begun_last(at) {
        Some(turn) if turn.slice_at(at).is_some() => Phase::Measurement,
        Some(turn) if turn.slice.is_some() => Phase::Pause,
        // Turns with a slice come after those without.
        Some(_) | None => Phase::WarmUp,
    }
}

fn decided(moment: &AtomicU64) -> Option<Instant> {
    match moment.load(Ordering::Relaxed) {
        OPEN => None,
        ns => Some(Instant::from_ns(ns)),
    }
}

#[cfg(test)]
mod tests {
    use settings::{Level, PlannedStage, WarmUp};

    use super::*;
    use crate::turns::{Slice, Turn};

    #[test]
    fn intervals_are_cut_where_a_phase_begins() {
        let at = |ms: u64| Instant::from_ns(ms * 1_000_000);
        let timeline = Timeline::new(Duration::from_secs(1), Stages::default(), None);
        timeline.set_start(at(0));
        timeline.set_measure_from(at(1_500));
        timeline.stop_by(at(3_700));
        let cases = [
            (0, 1_000, Phase::WarmUp),
            (1_000, 1_500, Phase::WarmUp),
            (1_500, 2_500, Phase::Measurement),
            (2_500, 3_500, Phase::Measurement),
            (3_500, 3_700, Phase::Measurement),
            (3_700, 4_700, Phase::Drain),
        ];
        for (from, to, phase) in cases {
            assert_eq!(timeline.interval_end(at(from)), at(to), "from {from} ms");
            assert_eq!(timeline.phase(at(from)), phase, "from {from} ms");
        }
    }

    #[test]
    fn intervals_are_cut_where_a_stage_begins() {
        let at = |ms: u64| Instant::from_ns(ms * 1_000_000);
        let stage = |length_ms| PlannedStage {
            connections: Level::constant(1),
            rate_per_s: None,
            length: Duration::from_millis(length_ms),
        };
        let warm_up = WarmUp::For(Duration::from_millis(500));
        let stages = Stages::of(warm_up, &[stage(1_300), stage(2_000)]);
        let timeline = Timeline::new(Duration::from_secs(1), stages, None);
        timeline.set_start(at(100));
        timeline.set_measure_from(at(600));
        timeline.stop_by(at(3_900));
        let part = |phase, stage| DueIn {
            phase,
            stage,
            slice: None,
        };
        let cases = [
            (100, 600, part(Phase::WarmUp, None)),
            (600, 1_600, part(Phase::Measurement, Some(1))),
            (1_600, 1_900, part(Phase::Measurement, Some(1))),
            (1_900, 2_900, part(Phase::Measurement, Some(2))),
            (2_900, 3_900, part(Phase::Measurement, Some(2))),
            (3_900, 4_900, part(Phase::Drain, None)),
        ];
        for (from, to, due_in) in cases {
            assert_eq!(timeline.interval_end(at(from)), at(to), "from {from} ms");
            assert_eq!(timeline.due_in(at(from)), due_in, "from {from} ms");
        }
    }

    #[test]
    fn intervals_are_cut_at_the_borders_of_turns_and_slices() {
        let at = |ms: u64| Instant::from_ns(ms * 1_000_000);
        let slice = |number, from_ms| Slice {
            number,
            from: at(from_ms),
        };
        let turns = Arc::new(Turns::default());
        let second = Duration::from_secs(1);
        let timeline = Timeline::new(second, Stages::default(), Some(Arc::clone(&turns)));
        timeline.set_start(at(0));
        let added = [
            (200, None, 1_500),
            (2_000, Some(slice(1, 2_100)), 2_600),
            (4_000, Some(slice(2, 4_000)), 5_200),
        ];
        for (from_ms, slice, to_ms) in added {
            turns.add(Turn {
                from: at(from_ms),
                slice,
                to: Some(at(to_ms)),
            });
        }
        timeline.stop_by(at(5_900));
        let part = |phase, slice| DueIn {
            phase,
            stage: None,
            slice,
        };
        let cases = [
            (0, 200, part(Phase::WarmUp, None)),
            (200, 1_200, part(Phase::WarmUp, None)),
            (1_200, 1_500, part(Phase::WarmUp, None)),
            (1_500, 2_000, part(Phase::WarmUp, None)),
            (2_000, 2_100, part(Phase::Pause, None)),
            (2_100, 2_600, part(Phase::Measurement, Some(1))),
            (2_600, 3_600, part(Phase::Pause, None)),
            (3_600, 4_000, part(Phase::Pause, None)),
            (4_000, 5_000, part(Phase::Measurement, Some(2))),
            (5_000, 5_200, part(Phase::Measurement, Some(2))),
            (5_200, 5_900, part(Phase::Pause, None)),
            (5_900, 6_900, part(Phase::Drain, None)),
        ];
        for (from, to, due_in) in cases {
            assert_eq!(timeline.interval_end(at(from)), at(to), "from {from} ms");
            assert_eq!(timeline.due_in(at(from)), due_in, "from {from} ms");
            assert_eq!(timeline.due_in(at(to - 1)), due_in, "until {to} ms");
        }
    }

    #[test]
    fn a_stop_within_a_slice_ends_it() {
        let at = |ms: u64| Instant::from_ns(ms * 1_000_000);
        let turns = Arc::new(Turns::default());
        turns.add(Turn {
            from: at(100),
            slice: Some(Slice {
                number: 1,
                from: at(200),
            }),
            to: None,
        });
        let second = Duration::from_secs(1);
        let timeline = Timeline::new(second, Stages::default(), Some(turns));
        timeline.set_start(at(0));
        assert_eq!(timeline.phase(at(700)), Phase::Measurement);
        timeline.cut_off(at(600));
        assert_eq!(timeline.interval_end(at(200)), at(600));
        assert_eq!(timeline.phase(at(599)), Phase::Measurement);
        assert_eq!(timeline.phase(at(700)), Phase::Drain);
    }

    #[test]
    fn what_was_measured_becomes_warm_up_unless_the_load_was_cut_off() {
        let at = Instant::from_ns;
        let timeline = Timeline::new(Duration::from_nanos(10), Stages::default(), None);
        timeline.set_start(at(0));
        timeline.set_measure_from(at(20));
        timeline.stop_by(at(60));
        assert_eq!(timeline.phase(at(30)), Phase::Measurement);
        assert!(timeline.begin_anew(at(60)));
        assert_eq!((timeline.stop_at(), timeline.begun_anew()), (None, 1));
        assert_eq!(timeline.phase(at(30)), Phase::WarmUp);
        timeline.set_measure_from(at(50));
        timeline.stop_by(at(90));
        assert_eq!(timeline.phase(at(40)), Phase::WarmUp);
        assert_eq!(timeline.phase(at(50)), Phase::Measurement);
        timeline.cut_off(at(70));
        assert!(!timeline.begin_anew(at(90)));
        assert_eq!(timeline.phase(at(60)), Phase::Measurement);
        assert_eq!(timeline.stop_at(), Some(at(70)));
    }

    #[test]
    fn a_stop_is_never_moved_back() {
        let timeline = Timeline::new(Duration::from_secs(1), Stages::default(), None);
        timeline.stop_by(Instant::from_ns(5));
        timeline.stop_by(Instant::from_ns(9));
        assert_eq!(timeline.stop_at(), Some(Instant::from_ns(5)));
    }
}
