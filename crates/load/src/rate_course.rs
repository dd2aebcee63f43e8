//! The course of a rate over time: the time at which a number of operations has been due.

use settings::{Level, PlannedStage};

use crate::stages::Stages;

/// The course of a rate since the start of the load, in pieces that each change evenly.
#[derive(Debug, Clone)]
pub(crate) struct RateCourse {
    pieces: Vec<RateSegment>,
    /// The piece of the last number asked for: numbers only rise.
    current: usize,
}

#[derive(Debug, Clone, Copy)]
struct RateSegment {
    from_ns: f64,
    /// Operations per second at the beginning.
    rate_per_s: f64,
    /// Change of the rate, operations per second in each second.
    slope: f64,
    /// Operations that were due before it.
    due_before: f64,
}

impl RateCourse {
    /// A constant rate, or that of stages with one.
    pub(crate) fn of(rate_per_s: f64, stages: &Stages) -> Self {
        let placed = stages.placed();
        let level = |plan: &PlannedStage| plan.rate_per_s.unwrap_or(Level::constant(rate_per_s));
        // Up to the first stage, or without any, the rate is constant.
        let first = placed.first().map(|stage| level(&stage.plan).from);
        let mut pieces = vec![RateSegment {
            from_ns: 0.0,
            rate_per_s: first.unwrap_or(rate_per_s),
            slope: 0.0,
            due_before: 0.0,
        }];
        let mut due = first.unwrap_or(0.0) * placed.first().map_or(0.0, |it| it.from.as_secs_f64());
        for stage in placed {
            let (rate, length_s) = (level(&stage.plan), stage.plan.length.as_secs_f64());
            pieces.push(RateSegment {
                from_ns: stage.from.as_nanos() as f64,
                rate_per_s: rate.from,
                slope: (rate.to - rate.from) / length_s,
                due_before: due,
            });
            due += rate.mean() * length_s;
        }
        if let Some(last) = placed.last() {
            pieces.push(RateSegment {
                from_ns: last.to.as_nanos() as f64,
                rate_per_s: level(&last.plan).to,
                slope: 0.0,
                due_before: due,
            });
        }
        Self { pieces, current: 0 }
    }

    /// The time at which this number of operations has been due, nanoseconds; the numbers of one course only rise.
    pub(crate) fn at_ns(&mut self, due: f64) -> f64 {
        let behind = self.pieces[self.current + 1..].iter();
        self.current += behind.take_while(|piece| piece.due_before <= due).count();
        let piece = &self.pieces[self.current];
        // The time t at which rate * t + slope * t² / 2 operations are due, in the form that also holds for no slope.
        let (rate, left) = (piece.rate_per_s, due - piece.due_before);
        let root = (rate * rate + 2.0 * piece.slope * left).max(0.0).sqrt();
        piece.from_ns + 1e9 * 2.0 * left / (rate + root)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use settings::WarmUp;

    use super::*;

    fn stage(from: f64, to: f64, length_s: u64) -> PlannedStage {
        PlannedStage {
            connections: Level::constant(1),
            rate_per_s: Some(Level { from, to }),
            length: Duration::from_secs(length_s),
        }
    }

    /// Operations due by each of these seconds.
    fn due_by(course: &RateCourse, seconds: &[f64]) -> Vec<u64> {
        let mut course = course.clone();
        let mut due = 0;
        let by = seconds.iter().map(|second| {
            while course.at_ns(due as f64) < second * 1e9 - 0.5 {
                due += 1;
            }
            due
        });
        by.collect()
    }

    #[test]
    fn a_constant_rate_has_equal_distances() {
        let mut course = RateCourse::of(1_000.0, &Stages::default());
        for due in 0..10_000 {
            let off = course.at_ns(f64::from(due)) - f64::from(due) * 1e6;
            assert!(off.abs() < 1e-3, "{due}: {off}");
        }
    }

    #[test]
    fn stages_and_ramps_have_the_operations_of_their_area() {
        let plan = [
            stage(100.0, 300.0, 10),
            stage(50.0, 50.0, 4),
            stage(400.0, 100.0, 6),
        ];
        let stages = Stages::of(WarmUp::For(Duration::from_secs(2)), &plan);
        let course = RateCourse::of(1.0, &stages);
        // 2 s at 100/s, half of a ramp with 100 to 200/s, the other half, the constant stage, half of the ramp down with
        // 400 to 250/s, its end, and a second at 100/s.
        let seconds = [2.0, 7.0, 12.0, 16.0, 19.0, 22.0, 23.0];
        let expected = [200, 950, 2_200, 2_400, 3_375, 3_900, 4_000];
        assert_eq!(due_by(&course, &seconds), expected);
    }
}
