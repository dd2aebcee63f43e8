//! A stage of a load: a part of the measurement with a level of its own.

use serde::{Deserialize, Serialize};

use crate::offered::OfferedLoad;

/// A stage of a load. A record has one line when the stage has begun and another one at the end of the load; the later
/// one counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadStage {
    /// Its place, from 1.
    pub number: u32,
    /// Begin, seconds since the start of the load.
    pub t_s: f64,
    /// Planned length, seconds.
    pub length_s: f64,
    /// Connections that have operations at its begin.
    pub connections_from: u32,
    /// Connections that have operations at its end; a ramp holds each number between for the same time.
    pub connections_to: u32,
    /// Requested operations per second at its begin; `None` in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_from_per_s: Option<f64>,
    /// Requested operations per second at its end; a ramp changes evenly. `None` in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_to_per_s: Option<f64>,
    /// The load that was offered in it; `None` before the end of the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<OfferedLoad>,
}

impl LoadStage {
    /// The mean number of connections that have operations, rounded.
    pub fn connections(&self) -> u32 {
        let mean = f64::midpoint(self.connections_from.into(), self.connections_to.into());
        mean.round() as u32
    }

    /// Connections that have operations at this time, seconds since the start of the load.
    pub fn connections_at(&self, t_s: f64) -> u32 {
        let (from, to) = (self.connections_from, self.connections_to);
        let share = ((t_s - self.t_s) / self.length_s).clamp(0.0, 1.0);
        let steps = f64::from(from.abs_diff(to)) + 1.0;
        let step = ((share * steps) as u32).min(from.abs_diff(to));
        if to < from { from - step } else { from + step }
    }

    /// The requested operations per second in the mean; `None` in a closed loop.
    pub fn rate_per_s(&self) -> Option<f64> {
        Some(f64::midpoint(self.rate_from_per_s?, self.rate_to_per_s?))
    }

    /// True if its level changes.
    pub fn is_ramp(&self) -> bool {
        self.connections_from != self.connections_to || self.rate_from_per_s != self.rate_to_per_s
    }

    /// Its level in words: `64 connections`, `100 to 2000/s over 16 connections`.
    pub fn in_words(&self) -> String {
        let connections = match self.connections_from {
            1 if self.connections_to == 1 => "1 connection".to_owned(),
            from => format!("{} connections", ramp(from, self.connections_to)),
        };
        match (self.rate_from_per_s, self.rate_to_per_s) {
            (Some(from), Some(to)) => format!("{}/s over {connections}", ramp(from, to)),
            _ => connections,
        }
    }
}

fn ramp<T: std::fmt::Display + PartialEq>(from: T, to: T) -> String {
    if from == to {
        from.to_string()
    } else {
        format!("{from} to {to}")
    }
}

/// Adds a line about a stage, which replaces the earlier line about the same one.
pub(crate) fn take(stages: &mut Vec<LoadStage>, stage: LoadStage) {
    match stages.iter_mut().find(|it| it.number == stage.number) {
        Some(earlier) => *earlier = stage,
        None => stages.push(stage),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_said_in_words() {
        let stage = |connections: (u32, u32), rate: Option<(f64, f64)>| LoadStage {
            number: 1,
            t_s: 0.0,
            length_s: 60.0,
            connections_from: connections.0,
            connections_to: connections.1,
            rate_from_per_s: rate.map(|it| it.0),
            rate_to_per_s: rate.map(|it| it.1),
            offered: None,
        };
        let cases = [
            (stage((1, 1), None), "1 connection"),
            (stage((1, 9), None), "1 to 9 connections"),
            (stage((64, 64), None), "64 connections"),
            (
                stage((16, 16), Some((100.0, 2000.0))),
                "100 to 2000/s over 16 connections",
            ),
            (stage((1, 1), Some((0.5, 0.5))), "0.5/s over 1 connection"),
        ];
        for (stage, words) in cases {
            assert_eq!(stage.in_words(), words);
        }
        assert!(stage((1, 9), None).is_ramp() && !stage((1, 1), None).is_ramp());
        assert!(stage((2, 2), Some((1.0, 2.0))).is_ramp());
        assert_eq!(stage((1, 9), None).connections(), 5);
        let at = |connections, t_s| stage(connections, None).connections_at(t_s);
        assert_eq!(
            [at((2, 5), 0.0), at((2, 5), 15.0), at((2, 5), 60.0)],
            [2, 3, 5]
        );
        assert_eq!(
            [at((5, 2), 14.0), at((5, 2), 50.0), at((8, 8), 30.0)],
            [5, 2, 8]
        );
        assert_eq!(
            stage((1, 9), Some((100.0, 300.0))).rate_per_s(),
            Some(200.0)
        );
    }
}
