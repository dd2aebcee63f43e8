//! Where a value lies on an axis, and which ticks an axis has.

use crate::grid::level_number;

/// A y axis that begins at zero and ends at a tick.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FromZero {
    /// Rising, from 0 to the end of the axis.
    pub(crate) ticks: Vec<f64>,
}

impl FromZero {
    /// An axis that holds `max` with about `wanted` steps of 1, 2, 2.5 or 5 times a power of ten.
    pub(crate) fn up_to(max: f64, wanted: u32) -> Self {
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
            // A hair of tolerance, or rounding would turn 0.3 / 3 into a step of 0.2.
            .find(|step| *step >= raw * (1.0 - 1e-9))
            .unwrap_or(10.0 * power);
        let steps = (max / step - 1e-9).ceil().max(1.0) as u32;
        Self {
            ticks: (0..=steps).map(|n| f64::from(n) * step).collect(),
        }
    }

    /// The end of the axis.
    pub(crate) fn max(&self) -> f64 {
        self.ticks.last().copied().unwrap_or(1.0)
    }

    /// Share of the axis below `value`, 0 to 1.
    pub(crate) fn share(&self, value: f64) -> f64 {
        (value / self.max()).clamp(0.0, 1.0)
    }
}

/// The levels of a factor along x.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Levels {
    pub(crate) labels: Vec<String>,
    /// Share of the axis, 0 to 1, for each label.
    pub(crate) at: Vec<f64>,
}

impl Levels {
    /// Positive rising numbers stand on a log2 axis with exactly these ticks, all others at equal distances.
    pub(crate) fn of(labels: &[String]) -> Self {
        let numbers: Option<Vec<f64>> = labels.iter().map(|label| level_number(label)).collect();
        let at = match numbers {
            Some(numbers) if is_rising(&numbers) && numbers[0] > 0.0 => log2_shares(&numbers),
            _ => equal_shares(labels.len()),
        };
        Self {
            labels: labels.to_vec(),
            at,
        }
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
            assert_eq!(FromZero::up_to(max, 4).ticks, ticks, "{max}");
        }
    }

    proptest! {
        #[test]
        fn every_axis_holds_its_maximum_with_few_ticks(max in 1e-6f64..1e12) {
            let axis = FromZero::up_to(max, 4);
            prop_assert!(axis.max() >= max * (1.0 - 1e-6));
            prop_assert!((2..=6).contains(&axis.ticks.len()), "{:?}", axis.ticks);
            prop_assert!(axis.share(max) <= 1.0);
        }
    }

    #[test]
    fn client_counts_stand_on_a_log2_axis_and_names_at_equal_distances() {
        let levels = |labels: &[&str]| {
            let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
            Levels::of(&labels).at
        };
        assert_eq!(levels(&["1", "2", "4", "16"]), [0.0, 0.25, 0.5, 1.0]);
        assert_eq!(levels(&["xfs", "ext4", "zfs"]), [0.0, 0.5, 1.0]);
        assert_eq!(levels(&["0", "64M"]), [0.0, 1.0]);
        assert_eq!(levels(&["8"]), [0.5]);
    }
}
