//! How alike successive differences in a session are, and how much sessions differ beyond the spread within them.

/// Correlation of each value with the next one in its session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LagOne {
    pub(crate) correlation: f64,
    /// The correlation that values without any would show: in a session of n values about -1/n, because the deviations
    /// from the session's own mean add up to zero.
    pub(crate) of_unrelated: f64,
}

/// The lag-1 correlation over all sessions; `None` if none has two values, or if no value deviates from its mean.
///
/// Source: G. E. P. Box and G. M. Jenkins, "Time Series Analysis" (1970): the sum of the products of successive
/// deviations by the sum of their squares; here both sums are over all sessions. The expected value is that of
/// M. G. Kendall, "Note on bias in the estimation of autocorrelation", Biometrika 41 (1954).
pub(crate) fn lag_one<'s>(sessions: impl Iterator<Item = &'s [f64]>) -> Option<LagOne> {
    let (mut products, mut squares, mut expected, mut freedom) = (0.0, 0.0, 0.0, 0.0);
    for values in sessions.filter(|values| values.len() > 1) {
        let (count, mean) = (values.len() as f64, mean(values));
        let deviations: Vec<f64> = values.iter().map(|value| value - mean).collect();
        products += deviations.windows(2).map(|it| it[0] * it[1]).sum::<f64>();
        squares += deviations.iter().map(|it| it * it).sum::<f64>();
        expected -= (count - 1.0) / count;
        freedom += count - 1.0;
    }
    (squares > 0.0).then(|| LagOne {
        correlation: products / squares,
        of_unrelated: expected / freedom,
    })
}

/// How far the means of sessions of equal servers are apart, as standard deviations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SessionSpread {
    pub(crate) sessions: usize,
    /// Of the means of the sessions.
    pub(crate) of_means: f64,
    /// Of these means as it would be if only the values within the sessions varied.
    pub(crate) from_within: f64,
    /// The part that is left: what the placement of a pair of servers adds to all its values. At least 0.
    pub(crate) of_placement: f64,
}

/// The spread between sessions and within them; `None` with fewer than two sessions of at least two values.
///
/// Values that resemble the next one in their session make the part from within too small, and that of the placement
/// too large.
///
/// Source: variance components by the method of moments (S. R. Searle, G. Casella and C. E. McCulloch, "Variance
/// Components", 1992): the variance of the means, less the mean of the variances that each of them has by itself.
pub(crate) fn session_spread<'s>(
    sessions: impl Iterator<Item = &'s [f64]>,
) -> Option<SessionSpread> {
    let (mut means, mut own) = (Vec::new(), Vec::new());
    for values in sessions {
        if let Some(variance) = variance(values) {
            means.push(mean(values));
            own.push(variance / values.len() as f64);
        }
    }
    let (of_means, from_within) = (variance(&means)?, mean(&own));
    Some(SessionSpread {
        sessions: means.len(),
        of_means: of_means.sqrt(),
        from_within: from_within.sqrt(),
        of_placement: (of_means - from_within).max(0.0).sqrt(),
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sample variance; `None` for fewer than two values.
pub(crate) fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| squares / (values.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(sessions: &[Vec<f64>]) -> impl Iterator<Item = &[f64]> {
        sessions.iter().map(Vec::as_slice)
    }

    /// About normal, with mean 0 and standard deviation 1 (the sum of 12 uniform values, less 6).
    fn normal(random: &mut fastrand::Rng) -> f64 {
        (0..12).map(|_| random.f64()).sum::<f64>() - 6.0
    }

    /// Sessions of 8 values, each the last one times `correlation` plus noise, plus what the session has in common.
    fn simulated(correlation: f64, placement: f64, count: usize) -> Vec<Vec<f64>> {
        let mut random = fastrand::Rng::with_seed(1);
        let noise = (1.0 - correlation * correlation).sqrt();
        let session = |random: &mut fastrand::Rng| -> Vec<f64> {
            let common = placement * normal(random);
            let mut value = normal(random);
            let values = (0..8).map(|_| {
                value = correlation * value + noise * normal(random);
                common + value
            });
            values.collect()
        };
        (0..count).map(|_| session(&mut random)).collect()
    }

    #[test]
    fn the_lag_one_correlation_of_a_worked_example() {
        // Deviations -1, 0, 1 and 1, -1: products -1, squares 2 + 2.
        let found = lag_one(slices(&[vec![1.0, 2.0, 3.0], vec![5.0, 3.0], vec![9.0]])).unwrap();
        assert!((found.correlation + 0.25).abs() < 1e-12, "{found:?}");
        // 2/3 and 1/2 by 2 and 1.
        assert!(
            (found.of_unrelated + (2.0 / 3.0 + 0.5) / 3.0).abs() < 1e-12,
            "{found:?}"
        );
        assert_eq!(lag_one(slices(&[vec![], vec![1.0]])), None);
        assert_eq!(lag_one(slices(&[vec![1.0, 1.0]])), None);
    }

    #[test]
    fn unrelated_values_have_the_correlation_that_is_expected_of_them() {
        let found = lag_one(slices(&simulated(0.0, 0.0, 4000))).unwrap();
        assert!((found.of_unrelated + 0.125).abs() < 1e-12, "{found:?}");
        assert!(
            (found.correlation - found.of_unrelated).abs() < 0.02,
            "{found:?}"
        );
        let alike = lag_one(slices(&simulated(0.6, 0.0, 4000))).unwrap();
        assert!(alike.correlation > alike.of_unrelated + 0.3, "{alike:?}");
    }

    #[test]
    fn the_placement_is_separated_from_the_spread_within() {
        let none = session_spread(slices(&simulated(0.0, 0.0, 4000))).unwrap();
        assert_eq!(none.sessions, 4000);
        let expected = 1.0 / 8.0_f64.sqrt();
        assert!((none.of_means - expected).abs() < 0.02, "{none:?}");
        assert!((none.from_within - expected).abs() < 0.02, "{none:?}");
        assert!(none.of_placement < 0.1, "{none:?}");
        let some = session_spread(slices(&simulated(0.0, 0.5, 4000))).unwrap();
        assert!((some.of_placement - 0.5).abs() < 0.03, "{some:?}");
    }

    #[test]
    fn one_session_has_no_spread_between_sessions() {
        assert_eq!(session_spread(slices(&[vec![1.0, 2.0], vec![3.0]])), None);
        // Means 2 and 2, and variances of 2 / 2 each.
        let alike = session_spread(slices(&[vec![1.0, 3.0], vec![3.0, 1.0]])).unwrap();
        let found = (alike.of_means, alike.from_within, alike.of_placement);
        assert_eq!(found, (0.0, 1.0, 0.0));
    }
}
