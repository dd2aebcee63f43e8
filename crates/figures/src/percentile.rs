//! One percentile, how much it rests on, and the decision whether it is given (rule M09).

/// The quantiles that every output gives.
pub const QUANTILES: [f64; 4] = [0.5, 0.95, 0.99, 0.999];

/// Independent operations beyond a percentile, without which it is the time of one outlier and is not given (rule M09).
pub const BEYOND: f64 = 10.0;

/// One percentile of one run, and how much it rests on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentile {
    /// Which one: 0.99 for the 99th.
    pub quantile: f64,
    /// Its value, nanoseconds, whether it is given or not.
    pub ns: u64,
    /// Operations beyond it, on its nearer side.
    pub beyond: f64,
    /// The same counted as what they are worth: where slow ones come in bursts, a burst is hardly more than one.
    pub independent: f64,
}

impl Percentile {
    /// Its value, nanoseconds; `None` where too little lies beyond it.
    pub fn given_ns(&self) -> Option<u64> {
        are_given([self]).then_some(self.ns)
    }

    /// The shortest and the longest time are exact, whatever their number.
    fn is_end(&self) -> bool {
        self.quantile <= 0.0 || self.quantile >= 1.0
    }
}

/// The one decision: whether the same percentile of these runs, or of one, is given. Each run has ten operations beyond
/// it, and all of them together ten independent ones: a run's worth is that of its bursts, another run's are others.
pub fn are_given<'p>(runs: impl IntoIterator<Item = &'p Percentile>) -> bool {
    let mut independent = 0.0;
    for run in runs {
        if run.is_end() {
            return true;
        }
        if !are_enough(run.beyond) {
            return false;
        }
        independent += run.independent;
    }
    are_enough(independent)
}

fn are_enough(beyond: f64) -> bool {
    // As far as a float counts: of 200 values ten lie beyond the 95th.
    beyond >= BEYOND - 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percentile(quantile: f64, values: f64, independent: f64) -> Percentile {
        Percentile {
            quantile,
            ns: 7,
            beyond: values * quantile.min(1.0 - quantile),
            independent,
        }
    }

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
            let found = percentile(quantile, values, 10.0).given_ns();
            assert_eq!(found.is_some(), expected, "{values} {quantile}");
        }
    }

    #[test]
    fn bursts_of_several_runs_add_up() {
        let burst = percentile(0.95, 1_000.0, 4.0);
        assert_eq!(burst.given_ns(), None);
        assert!(!are_given([&burst, &burst]));
        assert!(are_given([&burst, &burst, &burst]));
        let short = percentile(0.95, 100.0, 5.0);
        assert!(
            !are_given([&burst, &burst, &burst, &short]),
            "one run has too few"
        );
        assert!(!are_given([]));
    }
}
