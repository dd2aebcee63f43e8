//! The end of a burst: where a disk falls from the rate that it lends to the rate that it keeps.

use crate::levels::levels;

/// A fall to this share or less is the end of a burst; smaller ones are what disks do anyway.
pub const BURST_FALLS_TO: f64 = 0.7;
/// What the levels are exact to, observations; the end is searched for within this distance.
const AROUND: usize = 10;

/// A burst that ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// The first observation after the burst: the number of those in it.
    pub end: usize,
    /// Mean before the end, in the unit of the series.
    pub before: f64,
    /// Mean from the end on.
    pub after: f64,
}

impl Burst {
    /// What was lent: what the burst did above the rate after it, in the unit of the series times observations.
    pub fn credit(&self) -> f64 {
        (self.before - self.after) * self.end as f64
    }
}

/// The end of the burst of a series (one value per equal interval); `None` where it never falls for good to
/// [`BURST_FALLS_TO`] of what was before, and for a series that is too short for [`levels`].
pub fn burst(series: &[f64]) -> Option<Burst> {
    let changes = levels(series);
    let starts = changes.iter().skip(1).map(|level| level.observations.start);
    let split = |end: usize| Burst {
        end,
        before: mean(&series[..end]),
        after: mean(&series[end..]),
    };
    let falls = |at: &usize| {
        let burst = split(*at);
        burst.after <= burst.before * BURST_FALLS_TO
    };
    // Noise may begin a level inside the burst: of all changes the one that splits the series best.
    let whole = |at: &usize| squares(&series[..*at]) + squares(&series[*at..]);
    let coarse = starts
        .filter(falls)
        .min_by(|a, b| whole(a).total_cmp(&whole(b)))?;
    // To the observation: the split that leaves the smallest squares around the change.
    let from = coarse.saturating_sub(2 * AROUND);
    let to = (coarse + 2 * AROUND).min(series.len());
    let near = (coarse.saturating_sub(AROUND)).max(from + 1)..(coarse + AROUND).min(to);
    let around = |at: &usize| squares(&series[from..*at]) + squares(&series[*at..to]);
    let end = near.min_by(|a, b| around(a).total_cmp(&around(b)));
    Some(split(end.unwrap_or(coarse)))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    fn series(lengths: &[(usize, f64)], noise: f64) -> Vec<f64> {
        let mut random = Noise::new(7);
        let levels = lengths.iter();
        let levels = levels.flat_map(|(count, level)| std::iter::repeat_n(*level, *count));
        levels
            .map(|level| level * (1.0 + noise * random.normal()))
            .collect()
    }

    #[test]
    fn the_end_is_found_at_its_second() {
        for end in [17, 33, 60, 148] {
            let course = series(&[(end, 14_000.0), (180 - end, 450.0)], 0.1);
            let found = burst(&course).unwrap();
            assert_eq!(found.end, end);
            assert!((found.before / 14_000.0 - 1.0).abs() < 0.1);
            assert!((found.after / 450.0 - 1.0).abs() < 0.1);
            assert!((found.credit() / (13_550.0 * end as f64) - 1.0).abs() < 0.1);
        }
    }

    #[test]
    fn the_end_of_a_short_course_is_found_within_two_seconds() {
        for end in 6..=18 {
            for seed in 0..20 {
                let mut random = Noise::new(seed);
                let level = |second: usize| if second < end { 1_000.0 } else { 200.0 };
                let course: Vec<f64> = (0..24)
                    .map(|second| level(second) * (1.0 + 0.05 * random.normal()))
                    .collect();
                let found = burst(&course).unwrap();
                assert!(found.end.abs_diff(end) <= 2, "{end} {seed}: {found:?}");
                assert!((found.before / 1_000.0 - 1.0).abs() < 0.15, "{found:?}");
                assert!((found.after / 200.0 - 1.0).abs() < 0.15, "{found:?}");
            }
        }
    }

    /// A volume that is throttled step by step.
    #[test]
    fn the_end_of_a_ramp_lies_in_it() {
        for length in [5, 10, 20] {
            let ramp = (0..length).map(|it| 10_000.0 - 9_000.0 * f64::from(it) / f64::from(length));
            let mut course = series(&[(60, 10_000.0)], 0.05);
            course.extend(ramp);
            course.extend(series(&[(100, 1_000.0)], 0.05));
            let end = burst(&course).unwrap().end;
            assert!(
                (60..=60 + length as usize).contains(&end),
                "{length}: {end}"
            );
        }
    }

    #[test]
    fn of_two_falls_one_is_taken() {
        let course = series(&[(40, 12_000.0), (40, 6_000.0), (100, 500.0)], 0.05);
        let end = burst(&course).unwrap().end;
        assert!(end == 40 || end == 80, "{end}");
    }

    #[test]
    fn noise_alone_ends_no_burst() {
        let mut ended = 0;
        for seed in 0..200 {
            let mut random = Noise::new(seed);
            let course: Vec<f64> = (0..180)
                .map(|_| 5_000.0 * (1.0 + 0.3 * random.normal()).max(0.0))
                .collect();
            ended += usize::from(burst(&course).is_some());
        }
        assert!(ended <= 4, "{ended} of 200 courses of noise");
        // Single seconds without a request, as a stall leaves them.
        let mut course = series(&[(180, 5_000.0)], 0.05);
        for second in [20, 21, 90, 150] {
            course[second] = 0.0;
        }
        assert_eq!(burst(&course), None);
    }

    #[test]
    fn a_disk_that_keeps_its_rate_has_none() {
        assert_eq!(burst(&series(&[(180, 5_000.0)], 0.2)), None);
        assert_eq!(burst(&series(&[(90, 5_000.0), (90, 4_500.0)], 0.05)), None);
        // It becomes faster.
        assert_eq!(burst(&series(&[(60, 500.0), (120, 5_000.0)], 0.1)), None);
        assert_eq!(burst(&[1.0, 2.0]), None);
        assert_eq!(burst(&[]), None);
    }
}
