//! Which percentiles are given: the one decision that every output follows.

/// Independent values beyond a percentile, without which it is the time of one outlier and is not given (rule M09).
pub const BEYOND: f64 = 10.0;

/// True where a quantile (0 to 1) of so many independent values is given: ten lie beyond it, on its nearer side. The ends
/// are exact.
pub fn is_supported(independent: f64, quantile: f64) -> bool {
    let share = (1.0 - quantile).min(quantile);
    share <= 0.0 || are_enough(independent * share)
}

/// True where so many independent values beyond a percentile are enough for it.
pub fn are_enough(beyond: f64) -> bool {
    // As far as a float counts: of 200 values ten lie beyond the 95th.
    beyond >= BEYOND - 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_lie_beyond() {
        for (values, quantile, expected) in [
            (200.0, 0.95, true),
            (199.0, 0.95, false),
            (199.0, 0.05, false),
            (20.0, 0.5, true),
            (19.0, 0.5, false),
            (1.0, 1.0, true),
            (1.0, 0.0, true),
        ] {
            assert_eq!(
                is_supported(values, quantile),
                expected,
                "{values} {quantile}"
            );
        }
    }
}
