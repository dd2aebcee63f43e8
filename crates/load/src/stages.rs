//! The stages of a load on its time line: pure functions of the time since the start of the load.

use std::time::Duration;

use settings::{PlannedStage, WarmUp};

/// The stages of a load on its time line; without any, the load has one level.
///
/// The load before the first stage is that of its beginning, and the load after the last one that of its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stages(Vec<PlacedStage>);

/// A stage and its place, times since the start of the load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedStage {
    pub(crate) from: Duration,
    pub(crate) to: Duration,
    pub(crate) plan: PlannedStage,
}

impl PlacedStage {
    /// The share of the stage that is over, from 0 to 1.
    fn share(&self, since_start: Duration) -> f64 {
        let passed = since_start.saturating_sub(self.from).as_secs_f64();
        (passed / self.plan.length.as_secs_f64()).min(1.0)
    }
}

impl Stages {
    /// The stages behind a warm-up of fixed length.
    pub(crate) fn of(warm_up: WarmUp, stages: &[PlannedStage]) -> Self {
        let mut from = warm_up.at_most();
        let placed = stages.iter().map(|plan| {
            let placed = PlacedStage {
                from,
                to: from + plan.length,
                plan: *plan,
            };
            from = placed.to;
            placed
        });
        Self(placed.collect())
    }

    /// True for a load of one level.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in the order of time.
    pub(crate) fn placed(&self) -> &[PlacedStage] {
        &self.0
    }

    /// The number of the stage at a time of the measurement, from 1; `None` without stages.
    pub(crate) fn number_at(&self, since_start: Duration) -> Option<u32> {
        let begun = self.0.partition_point(|stage| stage.from <= since_start);
        let number = begun.max(usize::from(!self.is_empty()));
        u32::try_from(number).ok().filter(|number| *number > 0)
    }

    /// The next beginning of a stage after this time.
    pub(crate) fn begin_after(&self, since_start: Duration) -> Option<Duration> {
        let begun = self.0.partition_point(|stage| stage.from <= since_start);
        self.0.get(begun).map(|stage| stage.from)
    }

    /// Connections that have operations at this time; `None` without stages.
    pub(crate) fn connections_at(&self, since_start: Duration) -> Option<u32> {
        let stage = &self.0[self.index_at(since_start)?];
        Some(stage.plan.connections_at(stage.share(since_start)))
    }

    /// The time from which on the connection at this place, counted from 0, has operations: `since_start` itself if it
    /// has some then; `None` if it has none any more.
    pub(crate) fn active_from(&self, place: u32, since_start: Duration) -> Option<Duration> {
        let Some(index) = self.index_at(since_start) else {
            return Some(since_start);
        };
        let now = &self.0[index];
        if place < now.plan.connections_at(now.share(since_start)) {
            return Some(since_start);
        }
        self.0[index..].iter().find_map(|stage| {
            let share = stage.plan.begins_at(place)?;
            let ns = (share * stage.plan.length.as_nanos() as f64).ceil();
            let at = stage.from + Duration::from_nanos(ns as u64);
            // Of a ramp down, the connection is past its part.
            (at > since_start).then_some(at)
        })
    }

    /// The index of the stage whose load this time has.
    fn index_at(&self, since_start: Duration) -> Option<usize> {
        Some(self.number_at(since_start)? as usize - 1)
    }
}

#[cfg(test)]
mod tests {
    use settings::Level;

    use super::*;

    fn stage(from: u32, to: u32, length_s: u64) -> PlannedStage {
        PlannedStage {
            connections: Level { from, to },
            rate_per_s: None,
            length: Duration::from_secs(length_s),
        }
    }

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn the_load_around_the_stages_is_that_of_their_ends() {
        let plan = [stage(2, 2, 10), stage(4, 8, 5), stage(8, 1, 4)];
        let stages = Stages::of(WarmUp::For(3 * S), &plan);
        let cases = [
            (0, 1, 2),
            (3, 1, 2),
            (12, 1, 2),
            (13, 2, 4),
            (15, 2, 6),
            (17, 2, 8),
            (18, 3, 8),
            (20, 3, 4),
            (22, 3, 1),
            (100, 3, 1),
        ];
        for (at, number, connections) in cases {
            assert_eq!(stages.number_at(at * S), Some(number), "at {at} s");
            assert_eq!(
                stages.connections_at(at * S),
                Some(connections),
                "at {at} s"
            );
        }
        assert_eq!(stages.begin_after(Duration::ZERO), Some(3 * S));
        assert_eq!(stages.begin_after(3 * S), Some(13 * S));
        assert_eq!(stages.begin_after(18 * S), None);
        let none = Stages::of(WarmUp::None, &[]);
        assert_eq!(none.number_at(S), None);
        assert_eq!(none.connections_at(S), None);
        assert_eq!(none.active_from(1000, S), Some(S));
    }

    #[test]
    fn a_connection_waits_for_the_stage_that_needs_it() {
        let plan = [
            stage(2, 2, 10),
            stage(4, 8, 5),
            stage(1, 1, 4),
            stage(3, 3, 4),
        ];
        let stages = Stages::of(WarmUp::None, &plan);
        let cases = [
            (1, 0, Some(0)),
            (2, 0, Some(10)),
            (3, 5, Some(10)),
            (4, 5, Some(11)),
            (7, 5, Some(14)),
            (7, 12, Some(14)),
            (7, 14, Some(14)),
            (7, 15, None),
            (2, 16, Some(19)),
            (2, 30, Some(30)),
            (3, 30, None),
        ];
        for (place, at, expected) in cases {
            let found = stages.active_from(place, at * S);
            assert_eq!(found, expected.map(|at: u32| at * S), "{place} at {at} s");
        }
        // At the returned time it has operations.
        for place in 0..8 {
            for at_ms in (0..24_000).step_by(7) {
                let at = Duration::from_millis(at_ms);
                if let Some(from) = stages.active_from(place, at) {
                    assert!(
                        place < stages.connections_at(from).unwrap(),
                        "{place} at {from:?}"
                    );
                }
            }
        }
    }
}
