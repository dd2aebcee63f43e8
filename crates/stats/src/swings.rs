//! Whether a part of a series swings more than the rest.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

/// Shares of a series at which its first part may end.
const ENDS: [f64; 3] = [0.25, 1.0 / 3.0, 0.5];
/// Observations of a part at least.
const OBSERVATIONS_AT_LEAST: usize = 10;
/// How many times as large as that of the other part the standard deviation has to be.
const TIMES: f64 = 3.0;

/// A series whose first or last part swings more than the rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Swings {
    /// Index of the first observation of the second part.
    pub until: usize,
    /// Standard deviation of the first part, as a share of its mean.
    pub first: f64,
    /// The same of the second part.
    pub second: f64,
}

/// The division of a series (one value per equal interval) of whose two parts one swings at least three times as much
/// as the other, if noise alone shows one with less than `chance`; the clearest of three places.
///
/// Each part is judged about a line of its own, by the F test of two variances; neighbouring observations are correlated,
/// so that a part counts as half as many. Source: any textbook of the F test; the halving is our own, simulated in this
/// file's tests.
pub fn uneven_swings(series: &[f64], chance: f64) -> Option<Swings> {
    let of = |share: f64| {
        let until = (series.len() as f64 * share).round() as usize;
        let (first, second) = series.split_at(until);
        if first.len().min(second.len()) < OBSERVATIONS_AT_LEAST {
            return None;
        }
        let (first, second) = (Part::of(first)?, Part::of(second)?);
        let (wild, calm) = if first.deviation > second.deviation {
            (&first, &second)
        } else {
            (&second, &first)
        };
        let ratio = wild.deviation / calm.deviation.max(f64::MIN_POSITIVE);
        let f = FisherSnedecor::new(wild.freedom, calm.freedom).ok()?;
        let is_clear = ratio >= TIMES && f.sf(ratio * ratio) < chance / (2 * ENDS.len()) as f64;
        is_clear.then_some((
            ratio,
            Swings {
                until,
                first: first.deviation,
                second: second.deviation,
            },
        ))
    };
    let clear = ENDS.iter().filter_map(|share| of(*share));
    let clearest = clear.max_by(|a, b| a.0.total_cmp(&b.0));
    clearest.map(|(_, swings)| swings)
}

struct Part {
    /// As a share of the mean.
    deviation: f64,
    freedom: f64,
}

impl Part {
    /// The deviation from a straight line; `None` without a mean.
    fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let middle = (count - 1.0) / 2.0;
        let at = |index: usize| index as f64 - middle;
        let spread: f64 = (0..values.len()).map(|index| at(index).powi(2)).sum();
        let along: f64 = values
            .iter()
            .enumerate()
            .map(|(index, value)| at(index) * value)
            .sum();
        let slope = along / spread;
        let left = values.iter().enumerate();
        let squares: f64 = left
            .map(|(index, value)| (value - mean - slope * at(index)).powi(2))
            .sum();
        let is_sound = mean > 0.0 && squares.is_finite();
        is_sound.then(|| Self {
            deviation: (squares / (count - 2.0)).sqrt() / mean,
            freedom: (count / 2.0 - 2.0).max(1.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::Noise;

    /// A series of this length with a lag-1 correlation, whose first `wild` observations swing `times` as much.
    fn series(
        noise: &mut Noise,
        length: usize,
        correlation: f64,
        wild: usize,
        times: f64,
    ) -> Vec<f64> {
        let noise = noise.autocorrelated(length, correlation);
        let swing = |at: usize| if at < wild { times } else { 1.0 };
        let values = noise.iter().enumerate();
        values
            .map(|(at, it)| 1000.0 + 10.0 * it * swing(at))
            .collect()
    }

    #[test]
    fn swings_of_a_part_are_found_and_noise_is_none() {
        let mut noise = Noise::new(7);
        let (mut found, mut by_noise) = (0, 0);
        let rounds = 400;
        for _ in 0..rounds {
            let wild = series(&mut noise, 60, 0.3, 20, 6.0);
            found += usize::from(uneven_swings(&wild, 0.01).is_some());
            for correlation in [0.0, 0.5] {
                let even = series(&mut noise, 60, correlation, 0, 1.0);
                by_noise += usize::from(uneven_swings(&even, 0.01).is_some());
            }
        }
        assert!(found > rounds * 9 / 10, "{found} of {rounds}");
        assert!(by_noise <= 2 * rounds / 100, "{by_noise} of {}", 2 * rounds);
        let swings = uneven_swings(&series(&mut noise, 60, 0.0, 20, 10.0), 0.01).unwrap();
        assert!(swings.first > 3.0 * swings.second, "{swings:?}");
        assert_eq!(swings.until, 20);
        assert_eq!(uneven_swings(&[1000.0; 60], 0.01), None);
        assert_eq!(uneven_swings(&[1000.0, 900.0], 0.01), None);
    }
}
