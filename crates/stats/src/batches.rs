//! Comparison of batches of slices: parts of one long measurement, whose noise may be correlated in time.

use crate::comparison::{
    Comparison, Difference, MeanError, compare_differences, log_ratios, subtract_differences,
};

/// Batches per side below which there is no verdict: fewer do not show a correlation between their slices.
pub const BATCHES_AT_LEAST: usize = 6;

/// Batches per side below which pairs of successive batches are not compared: so few vary too much by chance.
const BATCHES_OF_TWOS: usize = 12;

/// Standard deviation of the lasting difference between two servers with equal settings, as a share: memory and files have
/// other places. No number of batches shows it, but other sessions do. An assumption of this program; see
/// docs/methodology.md.
const LASTING_DIFFERENCE: f64 = 0.005;

/// Successive blocks of slices, with one slice of each side in every block.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The session that the batch is of: as long as it lasted, the same two servers were compared.
    pub session: usize,
    /// The values of A and of B over all slices of the batch.
    pub pair: (f64, f64),
    /// The throughputs of A and of B in each block of slices.
    pub slices: Vec<(f64, f64)>,
}

/// Compares batches in pairs, in the order of time, with an interval that allows for correlation between them.
///
/// Noise of the machine, which both sides share, does not correlate the pairs if the order within each block of slices
/// is random, whatever its own correlation in time. Noise of one server alone does (a checkpoint that takes ten
/// seconds): its batches are then less informative than their spread shows. See [`inflation`]. The lasting difference that
/// two servers with equal settings may have is a part of the error; it becomes smaller with the number of sessions.
///
/// The values are throughputs or response times. `None` as for [`compare_pairs`], and where [`inflation`] is undefined.
///
/// Source: batch means: A. M. Law and J. S. Carson, "A sequential procedure for determining the length of a
/// steady-state simulation", Operations Research 27 (1979); B. Schmeiser, "Batch size effects in the analysis of
/// simulation output", Operations Research 30 (1982).
///
/// [`compare_pairs`]: crate::compare_pairs
pub fn compare_batches(batches: &[Batch], confidence: f64) -> Option<Comparison> {
    let pairs: Vec<(f64, f64)> = batches.iter().map(|it| it.pair).collect();
    let logs = log_ratios(&pairs)?;
    compare_differences(&logs, mean_error(batches, &logs, 1.0)?, confidence)
}

/// As [`compare_batches`], by the differences themselves: the values of the batches may be zero.
pub fn subtract_batches(batches: &[Batch], confidence: f64) -> Option<Difference> {
    let differences: Vec<f64> = batches.iter().map(|it| it.pair.1 - it.pair.0).collect();
    let level = mean(batches.iter().map(|it| it.pair.0.abs()));
    let error = mean_error(batches, &differences, level)?;
    subtract_differences(&differences, error, confidence)
}

/// The error of the mean of these batches; `unit` is the size of one of `values` that stands for 100 %.
fn mean_error(batches: &[Batch], values: &[f64], unit: f64) -> Option<MeanError> {
    let sessions = sessions(batches).count() as f64;
    Some(MeanError {
        inflation: inflation(batches, values)?,
        lasting: (LASTING_DIFFERENCE * unit).powi(2) / sessions,
    })
}

fn sessions(batches: &[Batch]) -> impl Iterator<Item = &[Batch]> {
    batches.chunk_by(|one, next| one.session == next.session)
}

/// The assumed variance of the mean of these batches, as a multiple of that of independent ones; at least 1. `values`
/// are the differences of the batches, of any measure.
///
/// A batch of correlated slices varies more than independent slices would. The same holds for two successive batches
/// as one, and for all batches of a session, whose servers differ from those of the next. The three ratios of variances
/// are measured, and the product of those above 1 is assumed, because the correlation that reaches from slice to slice
/// within a batch also reaches from batch to batch. The lag-1 correlation of the batches would be the usual measure, but
/// cannot be estimated from a dozen of them. Successive batches are compared from [`BATCHES_OF_TWOS`] batches on.
///
/// `None` for fewer than [`BATCHES_AT_LEAST`], for a throughput that is not positive and finite, and where only groups
/// differ and nothing varies within them.
///
/// Source: the ratio of variances: R. A. Fisher, "Statistical Methods for Research Workers" (1925), chapter VII;
/// batches of twice the length as a check of the shorter ones: G. S. Fishman, "Grouping observations in digital
/// simulation", Management Science 24 (1978). The product is a rule of this program: simulated in `crates/verdict`,
/// with noise of one server whose correlation over 500 ms is up to 0.9.
fn inflation(batches: &[Batch], values: &[f64]) -> Option<f64> {
    if batches.len() < BATCHES_AT_LEAST {
        return None;
    }
    let slices = batches.iter().map(|it| log_ratios(&it.slices));
    let slices: Vec<Vec<f64>> = slices.collect::<Option<_>>()?;
    let (mut slices, mut values) = (slices.as_slice(), values);
    let mut of_sessions = Vec::new();
    let (mut in_batches, mut in_twos) = (Variances::default(), Variances::default());
    for session in sessions(batches) {
        let (own_slices, own_values);
        (own_slices, slices) = slices.split_at(session.len());
        (own_values, values) = values.split_at(session.len());
        in_batches.add(own_slices);
        // An odd batch is left out at the beginning.
        if batches.len() >= BATCHES_OF_TWOS {
            in_twos.add(&own_values.rchunks_exact(2).collect::<Vec<_>>());
        }
        of_sessions.push(own_values);
    }
    let mut in_sessions = Variances::default();
    in_sessions.add(&of_sessions);
    let ratios = [in_batches, in_twos, in_sessions].map(|it| it.ratio());
    ratios.into_iter().map(|it| Some(it?.max(1.0))).product()
}

/// The variance between groups and within them, each as a sum of squares and its degrees of freedom.
#[derive(Default)]
struct Variances {
    between: (f64, usize),
    within: (f64, usize),
}

impl Variances {
    /// Adds groups of values that have a mean of their own, which is not compared with that of others.
    fn add(&mut self, groups: &[impl AsRef<[f64]>]) {
        let all = groups.iter().flat_map(|it| it.as_ref()).copied();
        let mean_of_all = mean(all);
        for group in groups.iter().map(AsRef::as_ref) {
            let mean = mean(group.iter().copied());
            self.between.0 += group.len() as f64 * (mean - mean_of_all).powi(2);
            let squares = group.iter().map(|value| (value - mean).powi(2));
            self.within.0 += squares.sum::<f64>();
            self.within.1 += group.len().saturating_sub(1);
        }
        self.between.1 += groups.len().saturating_sub(1);
    }

    /// The variance between groups as a multiple of that which the variance within them explains: about 1 if all
    /// values are independent, and 1 where there is only one group. `None` where nothing varies within the groups and
    /// they differ.
    fn ratio(&self) -> Option<f64> {
        let variance = |(squares, freedom): (f64, usize)| squares / freedom as f64;
        if self.between.1 == 0 || self.between.0 == 0.0 {
            return Some(1.0);
        }
        let ratio = variance(self.between) / variance(self.within);
        ratio.is_finite().then_some(ratio)
    }
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().sum::<f64>() / values.count() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{compare_pairs, noise::Noise, subtract_pairs};

    /// Batches of five slices with these logarithms of B; A is always 1. Each session has this number of batches.
    fn batches_of_sessions(logs: &[f64], in_session: usize) -> Vec<Batch> {
        let batches = logs.chunks_exact(5).enumerate();
        batches
            .map(|(at, logs)| Batch {
                session: at / in_session,
                pair: (1.0, logs.iter().map(|log| log.exp()).sum::<f64>() / 5.0),
                slices: logs.iter().map(|log| (1.0, log.exp())).collect(),
            })
            .collect()
    }

    fn batches(logs: &[f64]) -> Vec<Batch> {
        batches_of_sessions(logs, usize::MAX)
    }

    fn pairs(batches: &[Batch]) -> Vec<(f64, f64)> {
        batches.iter().map(|it| it.pair).collect()
    }

    /// The inflation of the ratios of these batches.
    fn inflation_of(batches: &[Batch]) -> Option<f64> {
        inflation(batches, &log_ratios(&pairs(batches))?)
    }

    fn variance_ratio(parents: &[&[Vec<f64>]]) -> Option<f64> {
        let mut variances = Variances::default();
        parents.iter().for_each(|groups| variances.add(groups));
        variances.ratio()
    }

    #[test]
    fn known_ratios_of_variances() {
        // Means 1, 2, 3 and deviations ±1 within: 2 · 1 between, 2 within.
        let groups = [vec![0.0, 2.0], vec![1.0, 3.0], vec![2.0, 4.0]];
        assert_eq!(variance_ratio(&[&groups]), Some(1.0));
        // Means 0, 3, 6: 2 · 9 between, 2 within.
        let apart = [vec![-1.0, 1.0], vec![2.0, 4.0], vec![5.0, 7.0]];
        assert_eq!(variance_ratio(&[&apart]), Some(9.0));
        // Far from each other, and each pair of groups as before: (2 + 18) / 4 between, 2 within.
        let others = [vec![98.0, 100.0], vec![101.0, 103.0], vec![104.0, 106.0]];
        assert_eq!(variance_ratio(&[&groups, &others]), Some(5.0));
        assert_eq!(variance_ratio(&[&[vec![2.0; 2], vec![2.0; 2]]]), Some(1.0));
        assert_eq!(variance_ratio(&[&[vec![2.0; 2], vec![3.0; 2]]]), None);
        assert_eq!(variance_ratio(&[&[vec![1.0], vec![2.0]]]), None);
        assert_eq!(variance_ratio(&[&[vec![1.0, 2.0]]]), Some(1.0));
        assert_eq!(variance_ratio(&[]), Some(1.0));
    }

    #[test]
    fn correlated_slices_widen_the_interval() {
        let mut noise = Noise::new(91);
        let mut mean_of = |correlation: f64| {
            let inflations = (0..200).map(|_| {
                let logs = noise.autocorrelated(60, correlation);
                let logs: Vec<f64> = logs.iter().map(|log| 0.05 * log).collect();
                inflation_of(&batches(&logs)).unwrap()
            });
            inflations.sum::<f64>() / 200.0
        };
        let (alone, correlated) = (mean_of(0.0), mean_of(0.8));
        assert!((1.0..4.0).contains(&alone), "{alone}");
        assert!(correlated > 3.0 * alone, "{correlated} {alone}");
    }

    #[test]
    fn sessions_that_differ_widen_the_interval() {
        let mut noise = Noise::new(93);
        let logs: Vec<f64> = (0..200).map(|_| 0.03 * noise.normal()).collect();
        let apart = |at: usize, log: &f64| if at < 100 { log + 0.1 } else { *log };
        let apart: Vec<f64> = logs
            .iter()
            .enumerate()
            .map(|(at, log)| apart(at, log))
            .collect();
        let of = |logs: &[f64]| inflation_of(&batches_of_sessions(logs, 20)).unwrap();
        assert!(
            of(&apart) > 10.0 * of(&logs),
            "{} {}",
            of(&apart),
            of(&logs)
        );
    }

    #[test]
    fn more_sessions_reduce_the_lasting_difference_of_servers() {
        let logs = [0.0; 100];
        let error = |in_session| {
            let batches = batches_of_sessions(&logs, in_session);
            compare_batches(&batches, 0.95).unwrap().error
        };
        let (one, four) = (error(20), error(5));
        assert!((one - 0.005).abs() < 1e-12, "{one}");
        assert!((one - 2.0 * four).abs() < 1e-12, "{one} {four}");
        let amount = subtract_batches(&batches(&logs), 0.95).unwrap().amount;
        assert!((0.009..0.012).contains(&amount.high), "{amount:?}");
    }

    #[test]
    fn the_interval_is_that_of_pairs_with_the_inflated_error() {
        let mut noise = Noise::new(92);
        let logs: Vec<f64> = (0..50).map(|_| 0.03 * noise.normal()).collect();
        let batches = batches(&logs);
        let pairs = pairs(&batches);
        let plain = compare_pairs(&pairs, 0.95).unwrap();
        let found = compare_batches(&batches, 0.95).unwrap();
        let inflation = inflation_of(&batches).unwrap();
        assert!(inflation >= 1.0);
        let error = (inflation * plain.error.powi(2) + 0.005_f64.powi(2)).sqrt();
        assert!((found.error - error).abs() < 1e-12);
        assert_eq!(found.freedom, plain.freedom);
        assert!((found.ratio.estimate - plain.ratio.estimate).abs() < 1e-12);
        assert!(found.ratio.low <= plain.ratio.low && found.ratio.high >= plain.ratio.high);
        assert!(found.p_value >= plain.p_value);
        let plain = subtract_pairs(&pairs, 0.95).unwrap();
        let found = subtract_batches(&batches, 0.95).unwrap();
        assert!(found.amount.low <= plain.amount.low && found.amount.high >= plain.amount.high);
    }

    #[test]
    fn undefined_is_none() {
        let logs: Vec<f64> = (0..30).map(|at| f64::from(at % 7) / 100.0).collect();
        let usual = batches(&logs);
        assert!(compare_batches(&usual, 0.95).is_some());
        assert_eq!(compare_batches(&usual, 1.0), None);
        assert_eq!(compare_batches(&usual[1..], 0.95), None);
        assert_eq!(subtract_batches(&usual[1..], 0.95), None);
        let changed = |change: fn(&mut Batch)| {
            let mut batches = usual.clone();
            change(&mut batches[2]);
            compare_batches(&batches, 0.95)
        };
        assert_eq!(changed(|it| it.pair.0 = 0.0), None);
        assert_eq!(changed(|it| it.slices[1].1 = f64::NAN), None);
        let still = vec![batches(&[0.0; 5])[0].clone(); 6];
        let found = compare_batches(&still, 0.95).unwrap();
        assert_eq!((found.ratio.estimate, found.p_value), (1.0, 1.0));
    }

    proptest! {
        #[test]
        fn never_panics_and_holds_its_estimate(
            any in prop::collection::vec(prop::num::f64::ANY, 0..60),
            finite in prop::collection::vec(-1.0..1.0_f64, 0..60),
            in_session in 1..5_usize,
        ) {
            let _ = compare_batches(&batches(&any), 0.95);
            if let Some(found) = compare_batches(&batches_of_sessions(&finite, in_session), 0.95) {
                prop_assert!(found.ratio.low <= found.ratio.estimate);
                prop_assert!(found.ratio.estimate <= found.ratio.high);
            }
        }
    }
}
