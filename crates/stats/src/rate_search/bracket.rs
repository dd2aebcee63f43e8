//! The two rates between which the limit is reached, before there is a curve.

use super::stage::{RateStage, at_rate, exceeding};

/// Ratio of the two rates at which the range is narrow.
const NARROW_AT_MOST: f64 = 1.2;

/// Stages over the limit that the upper rate of a narrow range must have: a single one may be a pause of the server.
const CONFIRMED_AT_LEAST: usize = 2;

/// The rates around the limit, as far as the stages show them. A rate exceeds the limit if more than half of its stages do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bracket {
    /// The highest rate below `exceeded`.
    kept: Option<f64>,
    /// The lowest rate that exceeds the limit.
    exceeded: Option<f64>,
    is_confirmed: bool,
}

impl Bracket {
    pub(super) fn of(stages: &[RateStage], allowed: f64) -> Self {
        let over = |rate: f64| exceeding(&at_rate(stages, rate), allowed);
        let is_exceeded = |rate: &f64| 2 * over(*rate) > at_rate(stages, *rate).len();
        let rates = || stages.iter().map(|it| it.rate_per_s);
        let exceeded = rates().filter(is_exceeded).min_by(f64::total_cmp);
        let kept = rates().filter(|rate| exceeded.is_none_or(|lowest| *rate < lowest));
        Self {
            kept: kept.max_by(f64::total_cmp),
            exceeded,
            is_confirmed: exceeded.is_some_and(|rate| over(rate) >= CONFIRMED_AT_LEAST),
        }
    }

    /// The middle of the first narrow range in the order of time.
    pub(super) fn first_narrow(stages: &[RateStage], allowed: f64) -> Option<f64> {
        (2..=stages.len()).find_map(|count| {
            let bracket = Self::of(&stages[..count], allowed);
            bracket
                .narrow()
                .filter(|_| bracket.is_confirmed)
                .map(|(kept, exceeded)| (kept * exceeded).sqrt())
        })
    }

    /// The next rate on the way to a narrow range.
    pub(super) fn next_rate(self, first_per_s: f64) -> f64 {
        match (self.kept, self.exceeded) {
            (None, None) => first_per_s,
            (Some(kept), None) => 2.0 * kept,
            (None, Some(exceeded)) => exceeded / 2.0,
            (Some(_), Some(exceeded)) if self.narrow().is_some() => exceeded,
            (Some(kept), Some(exceeded)) => (kept * exceeded).sqrt(),
        }
    }

    /// Its two rates, if they are close.
    fn narrow(self) -> Option<(f64, f64)> {
        let both = self.kept.zip(self.exceeded);
        both.filter(|(kept, exceeded)| *exceeded <= NARROW_AT_MOST * kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_doubled_then_halved_and_then_confirmed() {
        let stage = |rate_per_s: f64| RateStage {
            rate_per_s,
            operations: 1_000,
            over: if rate_per_s < 350.0 { 0 } else { 900 },
            is_offered: true,
        };
        let mut stages: Vec<RateStage> = Vec::new();
        let rates = [100.0, 200.0, 400.0, 282.84, 336.36, 400.0];
        for expected in rates {
            assert_eq!(Bracket::first_narrow(&stages, 0.01), None, "{expected}");
            let next = Bracket::of(&stages, 0.01).next_rate(100.0);
            assert!((next - expected).abs() < 0.01, "{next} {expected}");
            stages.push(stage(next));
        }
        let middle = Bracket::first_narrow(&stages, 0.01).unwrap();
        assert!((middle - 366.80).abs() < 0.01, "{middle}");
        // A rate that exceeds the limit in one of two stages keeps it.
        let mut paused = vec![stage(100.0), stage(100.0)];
        paused[0].over = 900;
        assert!((Bracket::of(&paused, 0.01).next_rate(1.0) - 200.0).abs() < 1e-9);
        assert!((Bracket::of(&paused[..1], 0.01).next_rate(1.0) - 50.0).abs() < 1e-9);
    }
}
