//! The split of a list of values into the two parts that differ most, by the energy distance.

/// A possible change point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Split {
    /// Index of the first value of the second part.
    pub(crate) at: usize,
    /// How much the parts differ: the energy statistic, in the values' unit.
    pub(crate) statistic: f64,
}

/// The split with the largest energy statistic that leaves at least `part` values, two or more, on either side; `None`
/// if there is none. The time is quadratic in the number of values.
///
/// Source: the statistic Q of D. S. Matteson and N. A. James, "A nonparametric approach for multiple change point
/// analysis of multivariate data", Journal of the American Statistical Association 109 (2014), equations 5 and 6, with
/// the exponent 1.
pub(crate) fn best_split(values: &[f64], part: usize) -> Option<Split> {
    let part = part.max(2);
    let count = values.len();
    let distances = |at: usize, from: usize, to: usize| -> f64 {
        values[from..to]
            .iter()
            .map(|other| (values[at] - other).abs())
            .sum()
    };
    // Sums of the distances between the parts and within each; the first part is still empty.
    let (mut between, mut left) = (0.0, 0.0);
    let mut right: f64 = (0..count).map(|at| distances(at, at + 1, count)).sum();
    let mut best: Option<Split> = None;
    for at in 1..count {
        let moved = at - 1;
        let (to_left, to_right) = (distances(moved, 0, moved), distances(moved, at, count));
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        if at < part || count - at < part {
            continue;
        }
        let (n, m) = (at as f64, (count - at) as f64);
        let within = left / (n * (n - 1.0) / 2.0) + right / (m * (m - 1.0) / 2.0);
        let statistic = n * m / (n + m) * (2.0 * between / (n * m) - within);
        if best.is_none_or(|best| statistic > best.statistic) {
            best = Some(Split { at, statistic });
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        // Between 16 / 4 = 4 on average, within 1 and 1: Q = 2 · 2 / 4 · (8 - 2).
        let found = best_split(&[1.0, 2.0, 5.0, 6.0], 2).unwrap();
        assert_eq!(found.at, 2);
        assert!((found.statistic - 6.0).abs() < 1e-12, "{found:?}");
        assert_eq!(best_split(&[1.0, 2.0, 3.0], 2), None);
        assert_eq!(best_split(&[], 2), None);
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let values: Vec<f64> = (0..30).map(|at| if at < 11 { 5.0 } else { 7.0 }).collect();
        assert_eq!(best_split(&values, 2).unwrap().at, 11);
        // A single outlier is not a part.
        let mut values = vec![5.0; 20];
        values[19] = 9.0;
        assert!(best_split(&values, 2).unwrap().at <= 18);
    }
}
