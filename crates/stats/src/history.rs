//! Change points in a history of results, one value per result, the oldest first.

use std::ops::Range;

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::{
    energy::{Split, best_split},
    random::Random,
    spread::Spread,
    trend::median,
};

/// Results per level from which a level is recognised: of three, one may be an outlier without moving the median.
const RESULTS_AT_LEAST: usize = 3;

/// Share of the change of the mean that the median must show: an outlier moves the mean but not the median.
const MEDIAN_AT_LEAST: f64 = 0.5;

/// Results in a window, so that an old large change does not hide a new small one.
const WINDOW: usize = 50;

/// Factor by which the p-value of a change may exceed the limit while its neighbours are still being searched.
const WEAK: f64 = 10.0;

/// A point in the history where the level changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the first result of the new level.
    pub at: usize,
    /// Mean of the results since the previous change, in their unit.
    pub before: f64,
    /// Mean of the results up to the next change, in their unit.
    pub after: f64,
    /// Probability of a change at least this clear if there were none.
    pub p_value: f64,
}

impl ChangePoint {
    /// The new level divided by the old one: 0.95 is 5 % less.
    pub fn ratio(&self) -> f64 {
        self.after / self.before
    }
}

/// The limits from which a difference is called a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// Largest probability of a change that is kept.
    pub p_value: f64,
    /// Smallest change that is kept, as a share of the level before: 0.02 is 2 %.
    pub change: f64,
}

impl Threshold {
    /// For a history that a person reviews: the error rate of each test is one in a thousand, and a change of any size
    /// counts. A history has many tests, so its error rate is higher: docs/methodology.md lists the rates.
    pub const USUAL: Self = Self {
        p_value: 0.001,
        change: 0.0,
    };
}

/// The change points of a history. Windows of fifty results are split where they differ most. Weak changes are kept at
/// first so that they do not hide their neighbours. In the end each change must be significant against the adjacent
/// segments.
///
/// In ascending order; empty for fewer than six results and for values that are not finite. Deterministic, without
/// random numbers. The most recent change is found from its third result; a single outlier is not a change.
///
/// Source: M. Fleming et al., "Hunter: Using change point detection to hunt for performance regressions", ICPE 2023,
/// section 4: E-Divisive with Student's t in place of the permutations, windows, and weak change points. The condition
/// on the median is our own.
pub fn change_points(history: &[f64], threshold: Threshold) -> Vec<ChangePoint> {
    if history.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let mut places = Vec::new();
    let mut from = 0;
    while from < history.len() {
        let to = (from + WINDOW).min(history.len());
        let found = split(&history[from..to], threshold.p_value * WEAK);
        let found: Vec<usize> = found.into_iter().map(|at| from + at).collect();
        let latest = found.last().copied().unwrap_or(0);
        places.extend(found);
        if to == history.len() {
            break;
        }
        from = latest.max(from + WINDOW / 2);
    }
    places.sort_unstable();
    places.dedup();
    merge(history, places, threshold)
}

/// The change points of a history by the original E-Divisive: it splits where the distributions differ most, as long as
/// fewer than `significance` of `permutations` shuffled histories split as clearly.
///
/// In ascending order; empty for fewer than six results, for values that are not finite and without permutations. The
/// seed determines the shuffling. Suited to long stable histories in which more than the mean changes;
/// [`change_points`] finds small recent changes better and needs no seed. The time of each permutation is quadratic in
/// the length of the history.
///
/// Source: Matteson and James, "A nonparametric approach for multiple change point analysis of multivariate data",
/// Journal of the American Statistical Association 109 (2014), sections 2.3 and 2.4.
pub fn e_divisive(
    history: &[f64],
    significance: f64,
    permutations: usize,
    seed: u64,
) -> Vec<ChangePoint> {
    if permutations == 0 || history.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    let mut random = Random::new(seed);
    let mut places = vec![0, history.len()];
    let mut p_values = vec![1.0, 1.0];
    while let Some(Split { at, statistic }) = clearest(history, &places) {
        let mut shuffled = history.to_vec();
        let as_clear = (0..permutations)
            .filter(|_| {
                for segment in places.windows(2) {
                    random.shuffle(&mut shuffled[segment[0]..segment[1]]);
                }
                clearest(&shuffled, &places).is_some_and(|other| other.statistic >= statistic)
            })
            .count();
        let p_value = (as_clear + 1) as f64 / (permutations + 1) as f64;
        if p_value > significance {
            break;
        }
        let index = places.partition_point(|place| *place < at);
        places.insert(index, at);
        p_values.insert(index, p_value);
    }
    let levels = places.windows(3).zip(&p_values[1..]);
    levels
        .map(|(places, p_value)| ChangePoint {
            at: places[1],
            before: mean(&history[places[0]..places[1]]),
            after: mean(&history[places[1]..places[2]]),
            p_value: *p_value,
        })
        .collect()
}

/// The clearest split of each segment between `places`, as an index of all values.
fn splits<'a>(
    values: &'a [f64],
    places: &'a [usize],
) -> impl Iterator<Item = (Range<usize>, Split)> + 'a {
    places.windows(2).filter_map(|ends| {
        let segment = ends[0]..ends[1];
        let split = best_split(&values[segment.clone()], RESULTS_AT_LEAST)?;
        let at = segment.start + split.at;
        Some((segment, Split { at, ..split }))
    })
}

/// The clearest split of all.
fn clearest(values: &[f64], places: &[usize]) -> Option<Split> {
    splits(values, places)
        .map(|(_, split)| split)
        .max_by(|a, b| a.statistic.total_cmp(&b.statistic))
}

/// Splits while the clearest split of some segment is significant between its neighbours.
fn split(values: &[f64], p_value_at_most: f64) -> Vec<usize> {
    let mut places = vec![0, values.len()];
    loop {
        let significant = splits(values, &places).filter(|(segment, split)| {
            let (before, after) = values[segment.clone()].split_at(split.at - segment.start);
            difference(before, after) <= p_value_at_most && is_of_the_median(before, after)
        });
        let clearest = significant.max_by(|(_, a), (_, b)| a.statistic.total_cmp(&b.statistic));
        let Some((_, Split { at, .. })) = clearest else {
            return places[1..places.len() - 1].to_vec();
        };
        places.insert(places.partition_point(|place| *place < at), at);
    }
}

/// Removes the least clear change and tests its neighbours again, until all are clear and large enough.
fn merge(history: &[f64], mut places: Vec<usize>, threshold: Threshold) -> Vec<ChangePoint> {
    loop {
        let mut ends = vec![0];
        ends.extend(&places);
        ends.push(history.len());
        let points: Vec<ChangePoint> = ends
            .windows(3)
            .map(|ends| {
                let (before, after) = (&history[ends[0]..ends[1]], &history[ends[1]..ends[2]]);
                ChangePoint {
                    at: ends[1],
                    before: mean(before),
                    after: mean(after),
                    p_value: difference(before, after),
                }
            })
            .collect();
        let change = |point: &ChangePoint| ((point.after - point.before) / point.before).abs();
        let too_weak = points
            .iter()
            .enumerate()
            .filter(|(index, point)| {
                point.p_value > threshold.p_value
                    || change(point) < threshold.change
                    || !is_of_the_median(
                        &history[ends[*index]..point.at],
                        &history[point.at..ends[index + 2]],
                    )
            })
            .max_by(|(_, a), (_, b)| a.p_value.total_cmp(&b.p_value));
        match too_weak {
            Some((index, _)) => places.remove(index),
            None => return points,
        };
    }
}

/// Probability of means as different as these if there were no difference: Student's t with the variance of both.
fn difference(before: &[f64], after: &[f64]) -> f64 {
    let (Some(before), Some(after)) = (Spread::of(before), Spread::of(after)) else {
        return 1.0;
    };
    let freedom = before.count + after.count - 2.0;
    let pooled =
        ((before.count - 1.0) * before.variance + (after.count - 1.0) * after.variance) / freedom;
    let error = (pooled * (1.0 / before.count + 1.0 / after.count)).sqrt();
    let difference = (after.mean - before.mean).abs();
    // Two means of equal values differ by rounding alone.
    if difference <= 1e-12 * before.mean.abs().max(after.mean.abs()) {
        return 1.0;
    }
    let student = StudentsT::new(0.0, 1.0, freedom);
    student.map_or(1.0, |student| 2.0 * student.sf(difference / error))
}

/// True if the medians differ in the same direction as the means, and not much less.
fn is_of_the_median(before: &[f64], after: &[f64]) -> bool {
    let of_means = mean(after) - mean(before);
    (median(after) - median(before)) * of_means.signum() >= MEDIAN_AT_LEAST * of_means.abs()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::noise::Noise;

    /// Levels with their lengths, with 2 % noise.
    fn history(noise: &mut Noise, levels: &[(usize, f64)]) -> Vec<f64> {
        levels
            .iter()
            .flat_map(|(length, level)| {
                let values = (0..*length).map(|_| level * (1.0 + 0.02 * noise.normal()));
                values.collect::<Vec<_>>()
            })
            .collect()
    }

    fn places(points: &[ChangePoint]) -> Vec<usize> {
        points.iter().map(|point| point.at).collect()
    }

    #[test]
    fn large_changes_are_found_where_they_are() {
        let mut noise = Noise::new(41);
        let history = history(&mut noise, &[(30, 1000.0), (25, 850.0), (30, 1100.0)]);
        for found in [
            change_points(&history, Threshold::USUAL),
            e_divisive(&history, 0.05, 199, 7),
        ] {
            assert_eq!(places(&found), [30, 55], "{found:?}");
            assert!((found[0].ratio() - 0.85).abs() < 0.02);
            assert!(found[1].before < found[1].after);
        }
    }

    #[test]
    fn a_long_history_is_looked_at_through_windows() {
        let mut noise = Noise::new(42);
        // Neither the huge old change nor the 300 results hide the small recent one.
        let levels = [(140, 100.0), (150, 1000.0), (10, 940.0)];
        let history = history(&mut noise, &levels);
        let found = places(&change_points(&history, Threshold::USUAL));
        assert!(found.contains(&140), "{found:?}");
        assert!(found.iter().any(|at| (289..=291).contains(at)), "{found:?}");
    }

    #[test]
    fn one_outlier_is_no_change_and_a_third_result_is() {
        let mut noise = Noise::new(43);
        let mut history = history(&mut noise, &[(40, 1000.0)]);
        history[20] = 800.0;
        assert_eq!(change_points(&history, Threshold::USUAL), []);
        history[20] = 1000.0;
        history[37] = 851.0;
        assert_eq!(change_points(&history, Threshold::USUAL), []);
        history[38] = 853.0;
        history[39] = 855.0;
        assert_eq!(places(&change_points(&history, Threshold::USUAL)), [37]);
        let only_halves = Threshold {
            change: 0.5,
            ..Threshold::USUAL
        };
        assert_eq!(change_points(&history, only_halves), []);
    }

    /// Few stable histories show a change; nearly all changes of 5 % at 2 % noise are found in time.
    #[test]
    fn false_alarms_and_recall() {
        let mut noise = Noise::new(44);
        let (mut alarms, mut permuted_alarms, mut seen) = (0, 0, 0);
        for seed in 0..200 {
            let stable = history(&mut noise, &[(60, 1000.0)]);
            alarms += usize::from(!change_points(&stable, Threshold::USUAL).is_empty());
            let permuted = e_divisive(&stable[..30], 0.05, 99, seed);
            permuted_alarms += usize::from(!permuted.is_empty());
            let changed = history(&mut noise, &[(30, 1000.0), (10, 950.0)]);
            let found = change_points(&changed, Threshold::USUAL);
            seen += usize::from(found.iter().any(|point| point.at.abs_diff(30) <= 2));
        }
        assert!(alarms <= 20, "{alarms} of 200");
        assert!(permuted_alarms <= 20, "{permuted_alarms} of 200");
        assert!(seen >= 180, "{seen} of 200");
    }

    #[test]
    fn nothing_to_say_is_empty() {
        for history in [
            vec![],
            vec![5.0; 3],
            vec![5.0; 60],
            vec![1.0, 1.0, 1.0, f64::NAN, 9.0, 9.0, 9.0],
            vec![0.1 + 0.2, 0.3, 0.1 + 0.2, 0.3],
        ] {
            assert_eq!(change_points(&history, Threshold::USUAL), []);
            assert_eq!(e_divisive(&history, 0.05, 99, 1), []);
        }
        // Without noise a step is certain.
        let step = [5.0, 5.0, 5.0, 6.0, 6.0, 6.0];
        assert_eq!(places(&change_points(&step, Threshold::USUAL)), [3]);
    }

    proptest! {
        #[test]
        fn never_panics_and_points_ascend(
            any in prop::collection::vec(prop::num::f64::ANY, 0..40),
            counts in prop::collection::vec(0_u8..4, 0..120),
        ) {
            change_points(&any, Threshold::USUAL);
            e_divisive(&any, 0.05, 9, 1);
            let history: Vec<f64> = counts.iter().map(|count| f64::from(*count)).collect();
            for points in [
                change_points(&history, Threshold::USUAL),
                e_divisive(&history, 0.2, 9, 1),
            ] {
                let places = places(&points);
                prop_assert!(places.is_sorted_by(|a, b| a + 1 < *b));
                prop_assert!(points.iter().all(|point| (0.0..=1.0).contains(&point.p_value)));
            }
        }
    }
}
