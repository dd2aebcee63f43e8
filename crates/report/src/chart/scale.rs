//! The position of a value on an axis, and the ticks of an axis.

use crate::grid::level_number;

/// A y axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// In ascending order.
    pub(crate) ticks: Vec<f64>,
    pub(crate) low: f64,
    pub(crate) high: f64,
    law: AxisScale,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AxisScale {
    Linear,
    Logarithmic,
}

/// With more ticks than this, a logarithmic axis has only the powers of ten.
const LOGARITHMIC_TICKS_MAX: usize = 7;
/// Minimum length of a logarithmic axis, a decade: a shorter one would make noise look like a trend.
const LOGARITHMIC_STEPS_MIN: i32 = 3;

impl Axis {
    /// An axis from zero that contains `max`, with about `wanted` steps of 1, 2, 2.5 or 5 times a power of ten, and
    /// ends at a tick.
    pub(crate) fn from_zero(max: f64, wanted: u32) -> Self {
        let max = if max.is_finite() && max > 0.0 {
            max
        } else {
            1.0
        };
        let raw = max / f64::from(wanted.max(1));
        let power = 10f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 2.5, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            // A small tolerance; otherwise rounding would turn 0.3 / 3 into a step of 0.2.
            .find(|step| *step >= raw * (1.0 - 1e-9))
            .unwrap_or(10.0 * power);
        let steps = (max / step - 1e-9).ceil().max(1.0) as u32;
        Self {
            ticks: (0..=steps).map(|n| f64::from(n) * step).collect(),
            low: 0.0,
            high: f64::from(steps) * step,
            law: AxisScale::Linear,
        }
    }

    /// An axis that contains `low` to `high`: from zero, or from a tick near `low` if all values would otherwise be in
    /// its upper half.
    pub(crate) fn around(low: f64, high: f64, wanted: u32) -> Self {
        if !(low.is_finite() && high.is_finite() && low > high / 2.0) {
            return Self::from_zero(high, wanted);
        }
        // Otherwise a flat series would be drawn with differences of thousandths.
        let room = (high - low).max(high * 0.01);
        let step = Self::from_zero(room, wanted).ticks[1];
        let first = (low / step).floor();
        let last = (high / step).ceil().max(first + 1.0);
        Self {
            ticks: (first as i64..=last as i64)
                .map(|n| n as f64 * step)
                .collect(),
            low: first * step,
            high: last * step,
            law: AxisScale::Linear,
        }
    }

    /// A logarithmic axis that contains `low` to `high`, both above zero; its ends are 1, 2 or 5 times a power of ten.
    pub(crate) fn logarithmic(low: f64, high: f64) -> Self {
        let (mut first, mut last) = (step_below(low), step_below(high));
        if step_value(last) < high * (1.0 - 1e-9) {
            last += 1;
        }
        let missing = (LOGARITHMIC_STEPS_MIN - (last - first)).max(0);
        first -= (missing + 1) / 2;
        last += missing / 2;
        let mut ticks: Vec<i32> = (first..=last).collect();
        if ticks.len() > LOGARITHMIC_TICKS_MAX {
            ticks.retain(|step| step.rem_euclid(3) == 0);
        }
        Self {
            ticks: ticks.into_iter().map(step_value).collect(),
            low: step_value(first),
            high: step_value(last),
            law: AxisScale::Logarithmic,
        }
    }

    /// Share of the axis below `value`, 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = match self.law {
            AxisScale::Linear => (value - self.low) / (self.high - self.low),
            // Zero and negative values have no logarithm: they lie below any logarithmic axis.
            AxisScale::Logarithmic if value <= self.low => 0.0,
            AxisScale::Logarithmic => (value / self.low).ln() / (self.high / self.low).ln(),
        };
        share.clamp(0.0, 1.0)
    }

    pub(crate) fn is_above(&self, value: f64) -> bool {
        value > self.high * (1.0 + 1e-9)
    }

    pub(crate) fn is_below(&self, value: f64) -> bool {
        value < self.low * (1.0 - 1e-9)
    }
}

/// Number `step` of the values ..., 0.5, 1, 2, 5, 10, ...: step 0 is 1, step 3 is 10.
fn step_value(step: i32) -> f64 {
    [1.0, 2.0, 5.0][step.rem_euclid(3) as usize] * 10f64.powi(step.div_euclid(3))
}

/// The highest step at or below `value`.
fn step_below(value: f64) -> i32 {
    let decade = 3 * value.log10().floor() as i32;
    // The next decade too: the logarithm of 1000 may come out as 2.999.
    let steps = (decade..=decade + 3).rev();
    steps
        .into_iter()
        .find(|step| step_value(*step) <= value * (1.0 + 1e-9))
        .unwrap_or(decade)
}

/// The levels of a factor along x.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Levels {
    pub(crate) labels: Vec<String>,
    /// Share of the axis, 0 to 1, for each label.
    pub(crate) at: Vec<f64>,
    /// The first and the last number of a log2 axis.
    ends: Option<(f64, f64)>,
}

impl Levels {
    /// Positive ascending numbers get a log2 axis with exactly these ticks, all others equal distances.
    pub(crate) fn of(labels: &[String]) -> Self {
        let numbers: Option<Vec<f64>> = labels.iter().map(|label| level_number(label)).collect();
        let numbers = numbers.filter(|numbers| is_rising(numbers) && numbers[0] > 0.0);
        Self {
            labels: labels.to_vec(),
            at: match &numbers {
                Some(numbers) => log2_shares(numbers),
                None => equal_shares(labels.len()),
            },
            ends: numbers.map(|numbers| (numbers[0], numbers[numbers.len() - 1])),
        }
    }

    /// The levels at equal distances, whatever their values.
    pub(crate) fn equally_spaced(labels: &[String]) -> Self {
        Self {
            labels: labels.to_vec(),
            at: equal_shares(labels.len()),
            ends: None,
        }
    }

    /// Whether the levels are not ascending numbers, so that no values lie between them.
    pub(crate) fn are_categories(&self) -> bool {
        self.ends.is_none()
    }

    /// The number at a share of the axis; `None` if the levels are not ascending numbers.
    pub(crate) fn number_at(&self, share: f64) -> Option<f64> {
        let (first, last) = self.ends?;
        Some(first * (last / first).powf(share))
    }

    /// The share of the axis for a number; `None` if it is beyond the ends.
    pub(crate) fn share_of(&self, number: f64) -> Option<f64> {
        let (first, last) = self.ends?;
        let share = (number / first).ln() / (last / first).ln();
        (0.0..=1.0).contains(&share).then_some(share)
    }
}

fn is_rising(numbers: &[f64]) -> bool {
    numbers.len() > 1 && numbers.windows(2).all(|pair| pair[0] < pair[1])
}

fn log2_shares(numbers: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> = numbers.iter().map(|number| number.log2()).collect();
    let (first, last) = (logs[0], logs[logs.len() - 1]);
    logs.iter()
        .map(|log| (log - first) / (last - first))
        .collect()
}

fn equal_shares(count: usize) -> Vec<f64> {
    match count {
        1 => vec![0.5],
        _ => (0..count).map(|n| n as f64 / (count - 1) as f64).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_are_round_and_hold_the_maximum() {
        let cases: [(f64, &[f64]); 4] = [
            (100.0, &[0.0, 25.0, 50.0, 75.0, 100.0]),
            (13.0, &[0.0, 5.0, 10.0, 15.0]),
            (8.0, &[0.0, 2.0, 4.0, 6.0, 8.0]),
            (0.0, &[0.0, 0.25, 0.5, 0.75, 1.0]),
        ];
        for (max, ticks) in cases {
            assert_eq!(Axis::from_zero(max, 4).ticks, ticks, "{max}");
        }
    }

    #[test]
    fn an_axis_around_far_values_does_not_begin_at_zero() {
        let axis = Axis::around(9_620.0, 10_130.0, 4);
        assert_eq!((axis.low, axis.high), (9_600.0, 10_200.0));
        assert_eq!(axis.ticks, [9_600.0, 9_800.0, 10_000.0, 10_200.0]);
        assert!((axis.share(9_900.0) - 0.5).abs() < 1e-9);
        assert_eq!(Axis::around(10.0, 100.0, 4).low, 0.0);
        let flat = Axis::around(500.0, 500.0, 4);
        assert!(flat.low < flat.high && flat.ticks.len() >= 2, "{flat:?}");
    }

    proptest! {
        #[test]
        fn every_axis_holds_its_maximum_with_few_ticks(max in 1e-6f64..1e12) {
            let axis = Axis::from_zero(max, 4);
            prop_assert!(axis.high >= max * (1.0 - 1e-6) && !axis.is_above(max));
            prop_assert!((2..=6).contains(&axis.ticks.len()), "{:?}", axis.ticks);
            prop_assert!(axis.share(max) <= 1.0);
        }
    }

    #[test]
    fn logarithmic_ticks_are_1_2_5_or_decades() {
        let cases: [(f64, f64, &[f64]); 5] = [
            (30.0, 400.0, &[20.0, 50.0, 100.0, 200.0, 500.0]),
            (27e3, 15e6, &[1e5, 1e6, 1e7]),
            // At least a decade, however small the range.
            (30.0, 30.0, &[10.0, 20.0, 50.0, 100.0]),
            (1e3, 1e3, &[200.0, 500.0, 1e3, 2e3]),
            (0.04, 0.9, &[0.02, 0.05, 0.1, 0.2, 0.5, 1.0]),
        ];
        for (low, high, ticks) in cases {
            let axis = Axis::logarithmic(low, high);
            assert_eq!(axis.ticks.len(), ticks.len(), "{axis:?}");
            for (tick, wanted) in axis.ticks.iter().zip(ticks) {
                assert!((tick / wanted - 1.0).abs() < 1e-9, "{axis:?}");
            }
        }
        let axis = Axis::logarithmic(27e3, 15e6);
        assert_eq!((axis.low, axis.high), (2e4, 2e7));
    }

    proptest! {
        #[test]
        fn every_logarithmic_axis_holds_its_ends_in_proportion(low in 1e-3f64..1e10, factor in 1.0f64..1e8) {
            let axis = Axis::logarithmic(low, low * factor);
            prop_assert!(!axis.is_below(low) && !axis.is_above(low * factor), "{axis:?}");
            prop_assert!((2..=9).contains(&axis.ticks.len()), "{axis:?}");
            let middle = (axis.low * axis.high).sqrt();
            prop_assert!((axis.share(middle) - 0.5).abs() < 1e-6);
            prop_assert_eq!((axis.share(-1.0), axis.share(0.0), axis.share(axis.high * 2.0)), (0.0, 0.0, 1.0));
        }
    }

    #[test]
    fn client_counts_stand_on_a_log2_axis_and_names_at_equal_distances() {
        let levels = |labels: &[&str]| {
            let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
            Levels::of(&labels).at
        };
        assert_eq!(levels(&["1", "2", "4", "16"]), [0.0, 0.25, 0.5, 1.0]);
        let axis = Levels::of(&["1", "2", "4", "16"].map(str::to_owned));
        assert_eq!(
            (axis.number_at(0.5), axis.share_of(4.0)),
            (Some(4.0), Some(0.5))
        );
        assert_eq!(axis.share_of(17.0), None);
        assert_eq!(levels(&["xfs", "ext4", "zfs"]), [0.0, 0.5, 1.0]);
        assert_eq!(levels(&["0", "64M"]), [0.0, 1.0]);
        assert_eq!(levels(&["8"]), [0.5]);
    }
}
