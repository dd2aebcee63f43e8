//! The interval of the peak of a sum, by drawing days again.

use stats::Random;

use crate::{
    alignment::{AlignedDays, Alignment},
    joint_load::JointLoad,
    resource::Demand,
};

/// Days from which there is an interval.
pub(crate) const DAYS_AT_LEAST: usize = 3;
/// Share of the draws between the ends of an interval.
pub(crate) const CONFIDENCE: f64 = 0.95;
const RESAMPLES: usize = 2_000;
/// Resamples where a draw is of many values.
const RESAMPLES_AT_LEAST: usize = 200;
/// Values that the draws of one resource may add up.
const VALUES_AT_MOST: usize = 500_000_000;
/// The same files have the same interval.
const SEED: u64 = 42;

/// The ends of the interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PeakInterval {
    pub low: f64,
    /// At most the highest sum that was measured: days that were not measured may be higher.
    pub high: f64,
}

/// Days that can be drawn: aligned ones, or those of the system with the fewest if all are aligned by time of day.
pub(crate) fn drawable_days(days: &AlignedDays, joint: &JointLoad) -> usize {
    match days.alignment {
        Alignment::Weekday | Alignment::Date => daily_peaks(days, joint).len(),
        Alignment::TimeOfDay => {
            let systems = 0..days.systems();
            let of_system = systems.map(|it| days.days_of(it).first().map_or(0, Vec::len));
            of_system.min().unwrap_or(0)
        }
    }
}

/// The 95 % interval of the peak of the sum of all systems; `None` for fewer than three days.
///
/// A day is drawn as a whole (block bootstrap), because the load of a minute depends on that of the minute before.
/// Where dates or weekdays are aligned, all systems have the same drawn days, and a load that they share stays shared.
///
/// Source: A. C. Davison and D. V. Hinkley, "Bootstrap methods and their application" (1997), section 8.2.3, blocks
/// of a day each.
pub(crate) fn peak_interval(days: &AlignedDays, joint: &JointLoad) -> Option<PeakInterval> {
    if drawable_days(days, joint) < DAYS_AT_LEAST {
        return None;
    }
    let mut random = Random::new(SEED);
    let peaks: Vec<f64> = match days.alignment {
        Alignment::Weekday | Alignment::Date => {
            highest_of_drawn(&daily_peaks(days, joint), &mut random)
        }
        Alignment::TimeOfDay => peaks_of_drawn_days(days, joint, &mut random),
    };
    let all: Vec<usize> = (0..days.systems()).collect();
    Some(ends(peaks, joint.peak(&all).value))
}

/// The 95 % interval of the highest of these peaks of days, of one system; `None` for fewer than three days.
pub(crate) fn interval_of_days(daily: &[f64]) -> Option<PeakInterval> {
    if daily.len() < DAYS_AT_LEAST {
        return None;
    }
    let peaks = highest_of_drawn(daily, &mut Random::new(SEED));
    let measured = daily.iter().copied().fold(0.0, f64::max);
    Some(ends(peaks, measured))
}

/// The highest peak of each draw of as many days.
fn highest_of_drawn(daily: &[f64], random: &mut Random) -> Vec<f64> {
    let mut draw = || {
        let drawn = daily.iter().map(|_| daily[random.below(daily.len())]);
        drawn.fold(0.0, f64::max)
    };
    (0..RESAMPLES).map(|_| draw()).collect()
}

fn ends(mut peaks: Vec<f64>, measured: f64) -> PeakInterval {
    peaks.sort_by(f64::total_cmp);
    let at = |quantile: f64| peaks[(quantile * (peaks.len() - 1) as f64).round() as usize];
    let tail = (1.0 - CONFIDENCE) / 2.0;
    // Drawn by themselves, the highest days of many systems hardly ever meet as they did.
    PeakInterval {
        low: at(tail).min(measured),
        high: at(1.0 - tail).max(measured),
    }
}

/// The highest sum of each aligned day that has one.
fn daily_peaks(days: &AlignedDays, joint: &JointLoad) -> Vec<f64> {
    let mut peaks: Vec<(usize, f64)> = Vec::new();
    for (at, slot) in joint.slots.iter().enumerate() {
        let sum: f64 = joint.uses.iter().map(|uses| uses[at]).sum();
        let key = days.key_of(*slot);
        match peaks.last_mut() {
            Some((last, peak)) if *last == key => *peak = peak.max(sum),
            _ => peaks.push((key, sum)),
        }
    }
    peaks.into_iter().map(|(_, peak)| peak).collect()
}

/// The peaks of sums for which each system's days were drawn by themselves.
fn peaks_of_drawn_days(days: &AlignedDays, joint: &JointLoad, random: &mut Random) -> Vec<f64> {
    let by_day: Vec<Vec<Vec<Option<f64>>>> = (0..days.systems())
        .map(|system| {
            let of_system = days.days_of(system).iter().flatten();
            let values = |slot: &usize, steps: &[Demand]| {
                steps[slot % days.steps_per_day][joint.resource.index()]
            };
            let of_day = |steps: &[Demand]| -> Vec<Option<f64>> {
                joint.slots.iter().map(|slot| values(slot, steps)).collect()
            };
            of_system.map(|day| of_day(&day.steps)).collect()
        })
        .collect();
    let all_days: usize = by_day.iter().map(Vec::len).sum();
    let per_draw = all_days * joint.slots.len();
    let resamples = (VALUES_AT_MOST / per_draw.max(1)).clamp(RESAMPLES_AT_LEAST, RESAMPLES);
    let mut sums = Vec::new();
    (0..resamples)
        .map(|_| {
            sums.clear();
            sums.resize(joint.slots.len(), 0.0);
            for of_system in &by_day {
                let drawn: Vec<&Vec<Option<f64>>> = of_system
                    .iter()
                    .map(|_| &of_system[random.below(of_system.len())])
                    .collect();
                for (at, sum) in sums.iter_mut().enumerate() {
                    let values = drawn.iter().filter_map(|day| day[at]);
                    *sum += values.fold(0.0, f64::max);
                }
            }
            sums.iter().copied().fold(0.0, f64::max)
        })
        .collect()
}

/// How an interval was made, or why there is none, as text.
pub(crate) fn interval_in_words(days: &AlignedDays, joint: &[JointLoad]) -> String {
    let drawable = joint.iter().map(|it| drawable_days(days, it));
    days_in_words(drawable.min().unwrap_or(0))
}

/// The same for this number of days.
pub(crate) fn days_in_words(fewest: usize) -> String {
    if fewest >= DAYS_AT_LEAST {
        let confidence = units::percent(CONFIDENCE);
        return format!("{confidence} intervals of the peaks by resampling the {fewest} days");
    }
    match fewest {
        0 | 1 => "one day: no interval".to_owned(),
        days => format!("{days} days: no interval ({DAYS_AT_LEAST} are needed)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{days::Day, resource::Resource};

    /// A day of two steps with this use of each resource.
    fn day(date: i64, uses: [f64; 2]) -> Day {
        Day {
            date,
            steps: uses.map(|it| [Some(it); 8]).to_vec(),
        }
    }

    fn interval(systems: Vec<Vec<Day>>) -> (usize, Option<PeakInterval>) {
        let days = AlignedDays::of(systems, 2, 43_200);
        let joint = JointLoad::of(Resource::Writes, &days).unwrap();
        (drawable_days(&days, &joint), peak_interval(&days, &joint))
    }

    #[test]
    fn an_interval_takes_three_days() {
        let system = |days: i64| (0..days).map(|date| day(date, [1.0, 2.0])).collect();
        assert_eq!(interval(vec![system(2), system(2)]), (2, None));
        let (days, found) = interval(vec![system(3), system(5)]);
        assert_eq!(days, 3);
        assert_eq!(
            found,
            Some(PeakInterval {
                low: 4.0,
                high: 4.0
            })
        );
    }

    #[test]
    fn days_that_differ_make_an_interval_up_to_the_highest() {
        let system = |from: i64| {
            let days = (0..5).map(|at| day(from + at, [10.0 * at as f64, 1.0]));
            days.collect::<Vec<_>>()
        };
        // Peaks of the days: 0 + 1 steps give 2, 20, 40, 60, 80.
        let (_, found) = interval(vec![system(0), system(0)]);
        let found = found.unwrap();
        assert_eq!(found.high, 80.0);
        assert!((20.0..80.0).contains(&found.low), "{found:?}");
        // By time of day each system draws its own days.
        let (days, found) = interval(vec![system(0), system(100)]);
        let found = found.unwrap();
        assert_eq!((days, found.high), (5, 80.0));
        assert!((20.0..80.0).contains(&found.low), "{found:?}");
    }
}
