//! The load of a system by day and step.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::Error,
    load_curve::{LoadCurve, Sample},
    moment::DAY_S,
    resource::{Demand, Resource},
};

/// Values of all systems that are held at once.
const VALUES_AT_MOST: usize = 3_000_000;
/// Part of a step that samples must cover for it to have a value.
const COVERED_AT_LEAST: f64 = 0.5;
/// A sample that covers less of a step, or of itself, does not tell of the step's highest level.
const TOUCHED_AT_LEAST: f64 = 0.1;
/// Steps from which the default is chosen, seconds; each is a part of a day.
const ROUND_STEPS_S: [u32; 20] = [
    1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10_800, 21_600,
    43_200, 86_400,
];
/// By which an interval may be longer than the step: sar's timer is late by a second now and then.
const TOLERANCE: f64 = 1.05;

/// One day of a system.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Day {
    /// Days since 1970-01-01.
    pub(crate) date: i64,
    /// The use in each step of the day.
    pub(crate) steps: Vec<Demand>,
}

/// The step for curves: as wished, or the coarsest interval, lengthened to a round part of a day.
pub(crate) fn step_s(curves: &[LoadCurve], wished_s: Option<u32>) -> Result<u32, Error> {
    let holds = |step_s: u32, interval_s: f64| interval_s <= f64::from(step_s) * TOLERANCE;
    let Some(step_s) = wished_s else {
        let coarsest = curves.iter().map(LoadCurve::interval_s).fold(0.0, f64::max);
        let mut steps = ROUND_STEPS_S.into_iter();
        return Ok(steps.find(|it| holds(*it, coarsest)).unwrap_or(DAY_S));
    };
    if step_s == 0 || !DAY_S.is_multiple_of(step_s) {
        return Err(Error::Step { step_s });
    }
    let mut curves = curves.iter();
    match curves.find(|it| !holds(step_s, it.interval_s())) {
        Some(curve) => Err(Error::StepTooShort {
            name: curve.name.clone(),
            step_s,
        }),
        None => Ok(step_s),
    }
}

/// The days of each curve, in order: of a rate each step has the mean, weighted by time; of memory it has the highest
/// value.
pub(crate) fn days(curves: &[LoadCurve], step_s: u32) -> Result<Vec<Vec<Day>>, Error> {
    let dates = curves.iter().map(|curve| dates(curve).len());
    let days: usize = dates.sum();
    if days.saturating_mul((DAY_S / step_s) as usize) > VALUES_AT_MOST {
        return Err(Error::TooManyValues { step_s, days });
    }
    Ok(curves.iter().map(|curve| of_curve(curve, step_s)).collect())
}

/// The days that samples touch.
fn dates(curve: &LoadCurve) -> BTreeSet<i64> {
    let ends = |it: &Sample| [it.start_s, it.start_s + it.length_s].map(date_of);
    curve.samples.iter().flat_map(ends).collect()
}

fn date_of(time_s: f64) -> i64 {
    (time_s / f64::from(DAY_S)).floor() as i64
}

/// Sums over the samples of one step.
#[derive(Clone, Copy)]
struct Step {
    /// Of a rate, the amount; of a level, the highest value.
    values: Demand,
    covered_s: [f64; Resource::ALL.len()],
}

impl Step {
    const EMPTY: Self = Self {
        values: [None; Resource::ALL.len()],
        covered_s: [0.0; Resource::ALL.len()],
    };

    /// Adds a sample that covers `overlap_s` of the step.
    fn add(&mut self, sample: &Sample, overlap_s: f64, step_s: f64) {
        for resource in Resource::ALL {
            let at = resource.index();
            let Some(value) = sample.demand[at] else {
                continue;
            };
            self.covered_s[at] += overlap_s;
            if !resource.is_level() {
                *self.values[at].get_or_insert(0.0) += value * overlap_s;
            } else if overlap_s >= TOUCHED_AT_LEAST * step_s.min(sample.length_s) {
                let highest = self.values[at].get_or_insert(value);
                *highest = highest.max(value);
            }
        }
    }

    fn demand(&self, step_s: f64) -> Demand {
        let mut demand = Demand::default();
        for resource in Resource::ALL {
            let at = resource.index();
            let covered_s = self.covered_s[at];
            let known = self.values[at].filter(|_| covered_s >= COVERED_AT_LEAST * step_s);
            demand[at] = if resource.is_level() {
                known
            } else {
                known.map(|amount| amount / covered_s)
            };
        }
        demand
    }
}

fn of_curve(curve: &LoadCurve, step_s: u32) -> Vec<Day> {
    let per_day = (DAY_S / step_s) as usize;
    let step = f64::from(step_s);
    let mut days: BTreeMap<i64, Vec<Step>> = BTreeMap::new();
    for sample in &curve.samples {
        let end_s = sample.start_s + sample.length_s;
        let first = (sample.start_s / step).floor() as i64;
        let last = (end_s / step).floor() as i64;
        for number in first..=last {
            let begin_s = number as f64 * step;
            let overlap_s = end_s.min(begin_s + step) - sample.start_s.max(begin_s);
            if overlap_s <= 0.0 {
                continue;
            }
            let date = number.div_euclid(per_day as i64);
            let at = number.rem_euclid(per_day as i64) as usize;
            let steps = days
                .entry(date)
                .or_insert_with(|| vec![Step::EMPTY; per_day]);
            steps[at].add(sample, overlap_s, step);
        }
    }
    let days = days.into_iter().map(|(date, steps)| Day {
        date,
        steps: steps.iter().map(|it| it.demand(step)).collect(),
    });
    // A day on which a sample only ends has no value.
    let has_value = |day: &Day| day.steps.iter().flatten().any(Option::is_some);
    days.filter(has_value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(samples: &[(f64, f64, f64)]) -> LoadCurve {
        let mut curve = LoadCurve::new("a", "sadf");
        for (start_s, length_s, value) in samples {
            let mut demand = Demand::default();
            demand[Resource::Writes.index()] = Some(*value);
            demand[Resource::Memory.index()] = Some(*value);
            curve.push(Sample {
                start_s: *start_s,
                length_s: *length_s,
                demand,
                cpu_share: None,
            });
        }
        curve
    }

    #[test]
    fn a_step_is_the_coarsest_interval_as_part_of_a_day() {
        for (interval_s, step) in [(1.0, 1), (601.0, 600), (599.0, 600), (7.0, 10), (0.1, 1)] {
            let curves = [curve(&[(0.0, interval_s, 1.0)]), curve(&[(0.0, 0.1, 1.0)])];
            assert_eq!(step_s(&curves, None).unwrap(), step, "{interval_s}");
        }
        let curves = [curve(&[(0.0, 600.0, 1.0)])];
        assert_eq!(step_s(&curves, Some(3600)).unwrap(), 3600);
        assert!(matches!(
            step_s(&curves, Some(7000)),
            Err(Error::Step { .. })
        ));
        assert!(matches!(
            step_s(&curves, Some(300)),
            Err(Error::StepTooShort { .. })
        ));
    }

    #[test]
    fn rates_have_their_mean_and_memory_its_highest_value() {
        // 100 for 6 s and 200 for 4 s of a step of 10 s: 140; the next step is covered for 3 s of 10, too little.
        let curves = [curve(&[(0.0, 6.0, 100.0), (6.0, 7.0, 200.0)])];
        let days = days(&curves, 10).unwrap();
        let steps = &days[0][0].steps;
        assert_eq!(steps.len(), 8640);
        assert_eq!(steps[0][Resource::Writes.index()], Some(140.0));
        assert_eq!(steps[0][Resource::Memory.index()], Some(200.0));
        assert_eq!(steps[1], Demand::default());
    }

    #[test]
    fn a_sample_over_midnight_belongs_to_both_days() {
        let curves = [curve(&[(86_340.0, 120.0, 5.0)])];
        let days = days(&curves, 60).unwrap();
        let dates: Vec<i64> = days[0].iter().map(|day| day.date).collect();
        assert_eq!(dates, [0, 1]);
        assert_eq!(days[0][1].steps[0][Resource::Writes.index()], Some(5.0));
    }

    #[test]
    fn too_many_values_are_refused() {
        let many: Vec<_> = (0..200)
            .map(|day| (f64::from(day) * 86_400.0, 1.0, 1.0))
            .collect();
        assert!(matches!(
            days(&[curve(&many)], 1),
            Err(Error::TooManyValues { .. })
        ));
    }
}
