//! Detection of executions that fall into two groups, for which the mean describes neither.

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoGroups {
    /// Geometric mean of the lower group, in the unit of the values.
    pub low: f64,
    /// Geometric mean of the higher group, in the unit of the values.
    pub high: f64,
    pub low_count: usize,
    pub high_count: usize,
}

/// Number of executions below which a wide gap is expected by chance.
const EXECUTIONS_AT_LEAST: usize = 5;

/// Limits of the widest gap between neighbours, in standard deviations within the two groups that it separates, each
/// with the number of executions from which it applies. One in a hundred experiments with log-normal executions exceeds
/// them. Simulated: [`tests::trust_normal_executions_are_one_group`].
const GAP_LIMITS: [(usize, f64); 9] = [
    (5, 13.5),
    (6, 9.0),
    (7, 7.0),
    (8, 5.8),
    (9, 5.0),
    (10, 4.5),
    (12, 3.7),
    (15, 3.2),
    (20, 2.7),
];

/// Ratio of the group means below which the groups do not matter.
const RATIO_AT_LEAST: f64 = 1.02;

/// The two groups of executions, if the gap between them is wider than chance explains: the coverage of a Student's t
/// interval is then lower than stated. `None` for fewer than five executions, for values that are not above 0, and if
/// there is only one group.
pub fn two_groups(values: &[f64]) -> Option<TwoGroups> {
    let limit = GAP_LIMITS
        .iter()
        .rev()
        .find(|(from, _)| values.len() >= *from)?
        .1;
    if values.len() < EXECUTIONS_AT_LEAST || !values.iter().all(|it| it.is_finite() && *it > 0.0) {
        return None;
    }
    let mut logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    logs.sort_by(f64::total_cmp);
    let (split, gap) = widest_gap(&logs)?;
    let (low, high) = logs.split_at(split);
    let within = (squares(low) + squares(high)) / (logs.len() - 2) as f64;
    let is_apart = gap > limit * within.sqrt() && gap > RATIO_AT_LEAST.ln();
    is_apart.then(|| TwoGroups {
        low: mean(low).exp(),
        high: mean(high).exp(),
        low_count: low.len(),
        high_count: high.len(),
    })
}

/// Index of the upper of the two adjacent values that are farthest apart, and their distance.
fn widest_gap(sorted: &[f64]) -> Option<(usize, f64)> {
    let gaps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
    (1..).zip(gaps).max_by(|a, b| a.1.total_cmp(&b.1))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use units::fine_percent;

    use super::*;
    use crate::noise::Noise;

    fn executions(noise: &mut Noise, count: usize, slow: f64) -> Vec<f64> {
        (0..count)
            .map(|_| {
                let level = if noise.uniform() < slow { 0.7 } else { 1.0 };
                level * (0.02 * noise.normal()).exp()
            })
            .collect()
    }

    #[test]
    fn groups_are_told_apart() {
        let found = two_groups(&[100.0, 99.0, 70.0, 101.0, 100.5, 70.5]).unwrap();
        assert_eq!((found.low_count, found.high_count), (2, 4));
        assert!((found.low - 70.25).abs() < 0.01 && (found.high - 100.1).abs() < 0.1);
        assert_eq!(two_groups(&[100.0, 70.0, 100.0, 70.0]), None, "too few");
        assert_eq!(two_groups(&[100.0, 101.0, 102.0, 103.0, 104.0]), None);
        assert_eq!(two_groups(&[100.0; 7]), None);
        assert_eq!(two_groups(&[0.0, 1.0, 1.0, 1.0, 1.0]), None);
        let exact = two_groups(&[1.0, 1.0, 1.0, 2.0, 2.0]).unwrap();
        assert_eq!((exact.low, exact.high_count), (1.0, 2));
    }

    #[test]
    fn trust_normal_executions_are_one_group() {
        let is_long = std::env::var_os("DBDYNO_TRUST").is_some();
        let repetitions = if is_long { 40_000 } else { 4_000 };
        for count in [5, 6, 7, 8, 12, 15, 20, 40] {
            let mut noise = Noise::new(81);
            let mut share = |slow: f64| {
                let found = (0..repetitions)
                    .filter(|_| two_groups(&executions(&mut noise, count, slow)).is_some());
                found.count() as f64 / f64::from(repetitions)
            };
            let (false_alarms, found) = (share(0.0), share(0.3));
            println!(
                "{count} executions: two groups are seen in {} where there is one, and in {} where three of ten executions are \
                 30 % slower",
                fine_percent(false_alarms),
                fine_percent(found)
            );
            assert!(false_alarms <= 0.014, "{count}: {false_alarms}");
        }
    }
}
