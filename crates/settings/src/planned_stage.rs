//! The stages of a load: a level of connections and of the rate, each for a time.

use std::time::Duration;

/// Length of a record's shortest interval, and thus of the shortest stage.
pub const INTERVAL_AT_LEAST: Duration = Duration::from_millis(100);

/// A value that is constant, or changes evenly from one to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level<T> {
    pub from: T,
    pub to: T,
}

impl<T: Copy + PartialOrd + Into<f64>> Level<T> {
    pub fn constant(value: T) -> Self {
        Self {
            from: value,
            to: value,
        }
    }

    /// The mean over its time.
    pub fn mean(self) -> f64 {
        f64::midpoint(self.from.into(), self.to.into())
    }

    pub fn max(self) -> T {
        if self.to > self.from {
            self.to
        } else {
            self.from
        }
    }
}

/// A part of a measurement with a level of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlannedStage {
    /// Connections that have operations; a ramp holds each number for the same time.
    pub connections: Level<u32>,
    /// Operations per second over all connections; a ramp changes evenly. `None` in a closed loop.
    pub rate_per_s: Option<Level<f64>>,
    pub length: Duration,
}

impl PlannedStage {
    /// Connections that have operations when this share of the stage is over, from 0 to 1.
    pub fn connections_at(&self, share: f64) -> u32 {
        let Level { from, to } = self.connections;
        let steps = f64::from(from.abs_diff(to) + 1);
        let step = ((share * steps) as u32).min(from.abs_diff(to));
        if to < from { from - step } else { from + step }
    }

    /// The share of the stage after which the connection at this place, counted from 0, has operations; `None` for one
    /// that has none in it.
    pub fn begins_at(&self, place: u32) -> Option<f64> {
        let Level { from, to } = self.connections;
        if place < from {
            return Some(0.0);
        }
        let steps = f64::from(from.abs_diff(to) + 1);
        (place < to).then(|| f64::from(place - from + 1) / steps)
    }
}

/// The mean rate over stages, operations per second; `None` in a closed loop.
pub fn mean_rate(stages: &[PlannedStage]) -> Option<f64> {
    let length_s: f64 = stages.iter().map(|it| it.length.as_secs_f64()).sum();
    let due = stages
        .iter()
        .map(|it| Some(it.rate_per_s?.mean() * it.length.as_secs_f64()));
    let due: f64 = due.sum::<Option<f64>>()?;
    (length_s > 0.0).then(|| due / length_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(from: u32, to: u32) -> PlannedStage {
        PlannedStage {
            connections: Level { from, to },
            rate_per_s: None,
            length: Duration::from_secs(1),
        }
    }

    #[test]
    fn a_ramp_holds_each_number_of_connections_for_the_same_time() {
        for (from, to) in [(2, 5), (5, 2), (3, 3), (1, 1000)] {
            let ramp = stage(from, to);
            let mut held = std::collections::BTreeMap::new();
            for step in 0..100_000 {
                let at = ramp.connections_at(f64::from(step) / 100_000.0);
                *held.entry(at).or_insert(0_u32) += 1;
            }
            let numbers = from.abs_diff(to) + 1;
            assert_eq!(held.len(), numbers as usize, "{from}..{to}");
            let even = 100_000 / numbers;
            assert!(held.values().all(|count| count.abs_diff(even) <= 1));
            assert_eq!(ramp.connections_at(0.0), from);
            assert_eq!(ramp.connections_at(1.0), to);
        }
    }

    #[test]
    fn a_connection_begins_when_the_ramp_reaches_it() {
        let ramp = stage(2, 5);
        let begins: Vec<Option<f64>> = (0..6).map(|place| ramp.begins_at(place)).collect();
        let expected = [
            Some(0.0),
            Some(0.0),
            Some(0.25),
            Some(0.5),
            Some(0.75),
            None,
        ];
        assert_eq!(begins, expected);
        for place in 2..5 {
            let share = ramp.begins_at(place).unwrap();
            assert_eq!(ramp.connections_at(share), place + 1);
            assert_eq!(ramp.connections_at(share - 1e-9), place);
        }
        let falling = stage(5, 2);
        assert_eq!(falling.begins_at(4), Some(0.0));
        assert_eq!(falling.begins_at(5), None);
    }

    #[test]
    fn the_mean_rate_counts_the_lengths() {
        let rate = |from, to, s| PlannedStage {
            rate_per_s: Some(Level { from, to }),
            length: Duration::from_secs(s),
            ..stage(4, 4)
        };
        let stages = [rate(100.0, 300.0, 10), rate(50.0, 50.0, 30)];
        assert_eq!(mean_rate(&stages), Some(87.5));
        assert_eq!(mean_rate(&[stages[0], stage(1, 1)]), None);
        assert_eq!(mean_rate(&[]), None);
    }
}
