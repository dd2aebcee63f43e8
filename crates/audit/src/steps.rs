//! Steps and uneven swings of a course, in words.

use stats::{Level, levels, uneven_swings};
use units::{fine_percent, moment, per_s};

/// Height of a step, as a share of the higher level, from which it is named, and in standard deviations within levels.
const STEP: f64 = 0.05;
const STEP_DEVIATIONS: f64 = 3.0;
/// Length of the levels beside a step, as a share of the course.
const STEP_LENGTH: f64 = 0.1;
/// Swings of a part, as a share of its mean, from which they are named.
const SWINGS: f64 = 0.05;

/// The largest step from one level to another that is clearly larger than what the course does within its levels.
pub(crate) fn step(mean: &[f64], begin_s: f64, every_s: f64) -> Option<String> {
    let levels = levels(mean);
    let within = levels.iter().flat_map(|level| {
        let values = &mean[level.observations.clone()];
        values.iter().map(|value| (value - level.mean).powi(2))
    });
    let deviation = (within.sum::<f64>() / mean.len() as f64).sqrt();
    let is_long =
        |level: &&Level| level.observations.len() as f64 >= STEP_LENGTH * mean.len() as f64;
    let long: Vec<&Level> = levels.iter().filter(is_long).collect();
    let steps = long.windows(2).map(|pair| (pair[0], pair[1]));
    let height = |(before, after): &(&Level, &Level)| (after.mean - before.mean).abs();
    let (before, after) = steps.max_by(|a, b| height(a).total_cmp(&height(b)))?;
    let by = height(&(before, after));
    (by > STEP * before.mean.max(after.mean) && by > STEP_DEVIATIONS * deviation).then(|| {
        format!(
            "a step at {}: {} before, {} after",
            moment(begin_s + after.observations.start as f64 * every_s),
            per_s(before.mean),
            per_s(after.mean)
        )
    })
}

/// A part of the course that swings more than the rest.
pub(crate) fn swings(mean: &[f64], chance: f64, begin_s: f64, every_s: f64) -> Option<String> {
    let swings = uneven_swings(mean, chance)?;
    let (wild, calm) = (
        swings.first.max(swings.second),
        swings.first.min(swings.second),
    );
    (wild > SWINGS).then(|| {
        format!(
            "until {} the throughput varies by {} (standard deviation), after that by {}: {} times as much in one part as in the other",
            moment(begin_s + swings.until as f64 * every_s),
            fine_percent(swings.first),
            fine_percent(swings.second),
            (wild / calm.max(f64::MIN_POSITIVE)).round().min(1000.0)
        )
    })
}
