//! The moments at which the server of a load with turns and its machine are sampled: the borders of its slices, and of the
//! time in which it is idle between them.

use std::time::Duration;

use load::Turn;
use reactor::Instant;

use crate::record::sampling::Moments;

/// Time before a turn at which the idle time before it is sampled: a sample that is late by less has nothing of the turn.
const BEFORE_A_TURN: Duration = Duration::from_millis(5);

impl Moments {
    /// Those of successive turns of one load.
    pub(super) fn of(turns: &[Turn]) -> Self {
        let mut moments = Self::default();
        let mut last_end: Option<Instant> = None;
        for (at, turn) in turns.iter().enumerate() {
            let (Some(slice), Some(to)) = (turn.slice, turn.to) else {
                continue;
            };
            let before = turn.from - BEFORE_A_TURN;
            if last_end.is_none_or(|end| end < before) {
                moments.add(&[before]);
            }
            moments.add(&[slice.from, to]);
            // The work that a slice leaves to its server is done in the settling time of the next load.
            let idle_from = to + (slice.from - turn.from);
            let next = turns.get(at + 1);
            let is_idle = next.is_some_and(|next| idle_from + BEFORE_A_TURN < next.from);
            if is_idle && idle_from > to {
                // A question to the server would be work in its idle time.
                moments.machine.push(idle_from);
            }
            last_end = Some(idle_from);
        }
        // Without a settling time, a slice can begin where the last one ends.
        moments.machine.dedup();
        moments.server.dedup();
        moments
    }

    fn add(&mut self, both: &[Instant]) {
        self.machine.extend(both);
        self.server.extend(both);
    }
}

#[cfg(test)]
mod tests {
    use load::Slice;

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_ns(ms * 1_000_000)
    }

    /// Turns of 500 ms behind a settling time, which begin at these times.
    fn turns(settle_ms: u64, from_ms: &[u64]) -> Vec<Turn> {
        let numbered = from_ms.iter().zip(1..);
        let turns = numbered.map(|(from_ms, number)| Turn {
            from: at(*from_ms),
            slice: Some(Slice {
                number,
                from: at(from_ms + settle_ms),
            }),
            to: Some(at(from_ms + settle_ms + 500)),
        });
        turns.collect()
    }

    fn moments_ms(settle_ms: u64, from_ms: &[u64]) -> [Vec<u64>; 2] {
        let moments = Moments::of(&turns(settle_ms, from_ms));
        [moments.machine, moments.server]
            .map(|all| all.into_iter().map(|it| it.as_ns() / 1_000_000).collect())
    }

    #[test]
    fn idle_time_begins_a_settling_time_after_a_slice_and_ends_before_the_next_turn() {
        let [machine, server] = moments_ms(100, &[1000, 2200]);
        assert_eq!(machine, [995, 1100, 1600, 1700, 2195, 2300, 2800]);
        assert_eq!(server, [995, 1100, 1600, 2195, 2300, 2800]);
    }

    #[test]
    fn turns_that_follow_each_other_have_no_idle_time() {
        let [machine, server] = moments_ms(100, &[1000, 1600]);
        assert_eq!(machine, [995, 1100, 1600, 1700, 2200]);
        assert_eq!(server, machine);
    }

    #[test]
    fn without_a_settling_time_all_of_a_pause_is_idle() {
        let [machine, server] = moments_ms(0, &[1000, 2000, 2500]);
        assert_eq!(machine, [995, 1000, 1500, 1995, 2000, 2500, 3000]);
        assert_eq!(server, machine);
    }

    #[test]
    fn a_warm_up_has_no_moments() {
        let warm_up = Turn {
            from: at(100),
            slice: None,
            to: None,
        };
        let moments = Moments::of(&[warm_up]);
        assert!(moments.machine.is_empty() && moments.server.is_empty());
    }
}
