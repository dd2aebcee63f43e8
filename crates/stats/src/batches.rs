//! Comparison of batches of slices: parts of one long measurement, whose noise may be correlated in time.

use crate::comparison::{Comparison, compare_correlated_pairs, log_ratios};

/// Batches per side below which there is no verdict: fewer do not show a correlation between their slices.
pub const BATCHES_AT_LEAST: usize = 6;

/// Successive blocks of slices, with one slice of each side in every block.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The values of A and of B over all slices of the batch.
    pub pair: (f64, f64),
    /// The values of A and of B in each block of slices.
    pub slices: Vec<(f64, f64)>,
}

/// Compares batches in pairs, with an interval that allows for correlation between them.
///
/// Noise of the machine, which both sides share, does not correlate the pairs if the order within each block of slices
/// is random, whatever its own correlation in time. Noise of one server alone does (a checkpoint that takes ten
/// seconds): its batches are then less informative than their spread shows. See [`batch_inflation`].
///
/// The values are throughputs or response times. `None` as for [`compare_pairs`], and where [`batch_inflation`] is
/// undefined.
///
/// Source: batch means: A. M. Law and J. S. Carson, "A sequential procedure for determining the length of a
/// steady-state simulation", Operations Research 27 (1979); B. Schmeiser, "Batch size effects in the analysis of
/// simulation output", Operations Research 30 (1982).
///
/// [`compare_pairs`]: crate::compare_pairs
pub fn compare_batches(batches: &[Batch], confidence: f64) -> Option<Comparison> {
    let pairs: Vec<(f64, f64)> = batches.iter().map(|it| it.pair).collect();
    compare_correlated_pairs(&pairs, batch_inflation(batches)?, confidence)
}

/// The assumed variance of the mean of successive batches, as a multiple of that of independent ones; at least 1.
///
/// A batch of correlated slices varies more than independent slices would; the same holds for two successive batches as
/// one. Both ratios of variances are measured, and the product of those above 1 is assumed, because the correlation
/// that reaches from slice to slice within a batch also reaches from batch to batch. The lag-1 correlation of the
/// batches would be the usual measure, but cannot be estimated from a dozen of them.
///
/// `None` for fewer than four batches, for batches with fewer than two slices or with different numbers of them, for a
/// value that is not positive and finite, and where only groups differ and nothing varies within them.
///
/// Source: the ratio of variances: R. A. Fisher, "Statistical Methods for Research Workers" (1925), chapter VII;
/// batches of twice the length as a check of the shorter ones: G. S. Fishman, "Grouping observations in digital
/// simulation", Management Science 24 (1978). The product is a rule of this program: simulated in `crates/verdict`,
/// with noise of one server whose correlation over 500 ms is up to 0.9.
pub fn batch_inflation(batches: &[Batch]) -> Option<f64> {
    let slices: Option<Vec<Vec<f64>>> = batches.iter().map(|it| log_ratios(&it.slices)).collect();
    let pairs: Vec<(f64, f64)> = batches.iter().map(|it| it.pair).collect();
    let ratios = log_ratios(&pairs)?;
    // An odd batch is left out at the beginning.
    let twos: Vec<Vec<f64>> = ratios.rchunks_exact(2).map(<[f64]>::to_vec).collect();
    Some(variance_ratio(&slices?)?.max(1.0) * variance_ratio(&twos)?.max(1.0))
}

/// The variance between groups of values as a multiple of that which the variance within them explains: about 1 if all
/// values are independent. `None` for fewer than two groups, and for groups of different lengths or of one value.
fn variance_ratio(groups: &[Vec<f64>]) -> Option<f64> {
    let length = groups.first()?.len();
    if groups.len() < 2 || length < 2 || groups.iter().any(|group| group.len() != length) {
        return None;
    }
    let (count, length) = (groups.len() as f64, length as f64);
    let means: Vec<f64> = groups
        .iter()
        .map(|group| group.iter().sum::<f64>() / length)
        .collect();
    let mean = means.iter().sum::<f64>() / count;
    let squares_between: f64 = means.iter().map(|it| (it - mean).powi(2)).sum();
    let squares_within: f64 = groups
        .iter()
        .zip(&means)
        .flat_map(|(group, mean)| group.iter().map(move |value| (value - mean).powi(2)))
        .sum();
    let between = length * squares_between / (count - 1.0);
    let within = squares_within / (count * (length - 1.0));
    let ratio = if within > 0.0 || between > 0.0 {
        between / within
    } else {
        1.0
    };
    ratio.is_finite().then_some(ratio)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{compare_pairs, noise::Noise};

    /// Batches of five slices with these logarithms of B; A is always 1.
    fn batches(logs: &[f64]) -> Vec<Batch> {
        let batches = logs.chunks_exact(5);
        batches
            .map(|logs| Batch {
                pair: (1.0, logs.iter().map(|log| log.exp()).sum::<f64>() / 5.0),
                slices: logs.iter().map(|log| (1.0, log.exp())).collect(),
            })
            .collect()
    }

    #[test]
    fn known_ratios_of_variances() {
        // Means 1, 2, 3 and deviations ±1 within: 2 · 1 between, 2 within.
        let groups = [vec![0.0, 2.0], vec![1.0, 3.0], vec![2.0, 4.0]];
        assert_eq!(variance_ratio(&groups), Some(1.0));
        // Means 0, 3, 6: 2 · 9 between, 2 within.
        let apart = [vec![-1.0, 1.0], vec![2.0, 4.0], vec![5.0, 7.0]];
        assert_eq!(variance_ratio(&apart), Some(9.0));
        assert_eq!(variance_ratio(&[vec![2.0; 2], vec![2.0; 2]]), Some(1.0));
        assert_eq!(variance_ratio(&[vec![2.0; 2], vec![3.0; 2]]), None);
        assert_eq!(variance_ratio(&[vec![1.0, 2.0]]), None);
        assert_eq!(variance_ratio(&[vec![1.0, 2.0], vec![1.0]]), None);
        assert_eq!(variance_ratio(&[vec![1.0], vec![2.0]]), None);
        assert_eq!(variance_ratio(&[]), None);
    }

    #[test]
    fn correlated_slices_widen_the_interval() {
        let mut noise = Noise::new(91);
        let mut mean_of = |correlation: f64| {
            let inflations = (0..200).map(|_| {
                let logs = noise.autocorrelated(60, correlation);
                let logs: Vec<f64> = logs.iter().map(|log| 0.05 * log).collect();
                batch_inflation(&batches(&logs)).unwrap()
            });
            inflations.sum::<f64>() / 200.0
        };
        let (alone, correlated) = (mean_of(0.0), mean_of(0.8));
        assert!((1.0..4.0).contains(&alone), "{alone}");
        assert!(correlated > 3.0 * alone, "{correlated} {alone}");
    }

    #[test]
    fn the_interval_is_that_of_pairs_with_the_inflated_error() {
        let mut noise = Noise::new(92);
        let logs: Vec<f64> = (0..50).map(|_| 0.03 * noise.normal()).collect();
        let batches = batches(&logs);
        let pairs: Vec<(f64, f64)> = batches.iter().map(|it| it.pair).collect();
        let plain = compare_pairs(&pairs, 0.95).unwrap();
        let found = compare_batches(&batches, 0.95).unwrap();
        let inflation = batch_inflation(&batches).unwrap();
        assert!(inflation >= 1.0);
        assert!((found.error / plain.error - inflation.sqrt()).abs() < 1e-12);
        assert_eq!(found.freedom, plain.freedom);
        assert!((found.ratio.estimate - plain.ratio.estimate).abs() < 1e-12);
        assert!(found.ratio.low <= plain.ratio.low && found.ratio.high >= plain.ratio.high);
        assert!(found.p_value >= plain.p_value);
    }

    #[test]
    fn undefined_is_none() {
        let logs: Vec<f64> = (0..30).map(|at| f64::from(at % 7) / 100.0).collect();
        let usual = batches(&logs);
        assert!(compare_batches(&usual, 0.95).is_some());
        assert_eq!(compare_batches(&usual, 1.0), None);
        assert_eq!(compare_batches(&usual[..3], 0.95), None);
        let changed = |change: fn(&mut Batch)| {
            let mut batches = usual.clone();
            change(&mut batches[2]);
            compare_batches(&batches, 0.95)
        };
        assert_eq!(changed(|it| it.pair.0 = 0.0), None);
        assert_eq!(changed(|it| it.slices[1].1 = f64::NAN), None);
        assert_eq!(changed(|it| it.slices.truncate(4)), None);
        let still = vec![batches(&[0.0; 5])[0].clone(); 6];
        let found = compare_batches(&still, 0.95).unwrap();
        assert_eq!((found.ratio.low, found.ratio.high), (1.0, 1.0));
    }

    proptest! {
        #[test]
        fn never_panics_and_holds_its_estimate(
            any in prop::collection::vec(prop::num::f64::ANY, 0..60),
            finite in prop::collection::vec(-1.0..1.0_f64, 0..60),
        ) {
            let _ = compare_batches(&batches(&any), 0.95);
            if let Some(found) = compare_batches(&batches(&finite), 0.95) {
                prop_assert!(found.ratio.low <= found.ratio.estimate);
                prop_assert!(found.ratio.estimate <= found.ratio.high);
            }
        }
    }
}
