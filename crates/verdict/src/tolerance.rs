//! Tolerances for continuous integration: how much worse B may be than A, and whether it is.
//!
//! A tolerance is broken if the whole interval is beyond it, held if the whole interval is within it, and undecided
//! otherwise. The interval is that of the comparison's decision, together with the others of its family, so that no
//! check contradicts the decision beside it.

use stats::{EXECUTIONS_AT_LEAST, Interval};

use crate::{
    contrast::Contrast, decision::CONFIDENCE, measure::Measure, measure_comparison::Compared,
    metric::Metric, side::Levels,
};

/// The allowed change for the worse.
#[derive(Debug, Clone, PartialEq)]
pub struct Tolerance {
    pub measure: Measure,
    /// The limit of B over A: 1.05 for `+5 %`, 0.97 for `-3 %`.
    pub ratio: f64,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ToleranceError {
    /// The text is not a measure and a change.
    #[error("{text:?} is not a measure followed by a change")]
    Form { text: String },
    /// No measure has this name.
    #[error("{name:?} is not a measure")]
    Measure {
        /// The name in the text.
        name: String,
    },
    /// The change is an improvement, or zero.
    #[error("{measure} gets worse with {sign}, so {text:?} would fail for an improvement")]
    Better {
        text: String,
        measure: &'static str,
        /// The sign of a change for the worse, `+` or `-`.
        sign: char,
    },
}

/// The check of a tolerance in one combination.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    pub tolerance: Tolerance,
    /// The combination.
    pub within: Levels,
    /// True if the executions are batches of slices of runs side by side.
    pub of_batches: bool,
    /// B over A with its interval at `confidence`; `None` with fewer than two executions on a side.
    pub ratio: Option<Interval>,
    /// B minus A in the measure's unit, if that decided: the difference is or may be negligible.
    pub amount: Option<Interval>,
    /// Confidence of the interval.
    pub confidence: f64,
    pub outcome: Outcome,
}

/// The result of the check of a tolerance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// B is not worse than allowed.
    Held,
    /// B is worse than allowed.
    Broken,
    /// These executions are not enough to decide.
    Undecided,
}

impl Outcome {
    /// The result in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Broken => "broken",
            Self::Undecided => "undecided",
        }
    }
}

impl Tolerance {
    /// Whether it is of a percentile, which only enough operations have.
    fn is_of_a_percentile(&self) -> bool {
        let percentiles = [Metric::P50, Metric::P95, Metric::P99];
        percentiles
            .iter()
            .any(|it| self.measure == Measure::Metric(*it))
    }

    /// Reads `p99 +5%` or `throughput -3 %`.
    pub fn parse(text: &str) -> Result<Self, ToleranceError> {
        let form = || ToleranceError::Form {
            text: text.to_owned(),
        };
        let (name, change) = text
            .trim()
            .split_once(char::is_whitespace)
            .ok_or_else(form)?;
        let measure = Measure::named(name).ok_or_else(|| ToleranceError::Measure {
            name: name.to_owned(),
        })?;
        let number = change.trim().strip_suffix('%').ok_or_else(form)?.trim();
        let is_signed = number.starts_with(['+', '-']);
        let percent: f64 = number.parse().map_err(|_| form())?;
        if !is_signed || !percent.is_finite() || percent <= -100.0 {
            return Err(form());
        }
        let is_loss = if measure.more_is_better() {
            percent < 0.0
        } else {
            percent > 0.0
        };
        if !is_loss {
            return Err(ToleranceError::Better {
                text: text.to_owned(),
                measure: measure.name(),
                sign: if measure.more_is_better() { '-' } else { '+' },
            });
        }
        Ok(Self {
            measure,
            ratio: 1.0 + percent / 100.0,
        })
    }

    /// The outcome, and the difference if that decided: a tolerance is held if the difference is negligible, whatever
    /// the ratio.
    fn judge(&self, ratio: Interval, compared: &Compared) -> (Outcome, Option<Interval>) {
        let by_ratio = self.outcome(ratio);
        let difference = compared.difference.filter(|_| compared.negligible > 0.0);
        let Some(amount) = difference.map(|it| it.amount) else {
            return (by_ratio, None);
        };
        match by_ratio {
            Outcome::Held => (Outcome::Held, compared.amount()),
            _ if amount.high < compared.negligible => (Outcome::Held, Some(amount)),
            _ if amount.low < compared.negligible => (Outcome::Undecided, Some(amount)),
            other => (other, compared.amount()),
        }
    }

    fn outcome(&self, ratio: Interval) -> Outcome {
        let (best, worst) = if self.measure.more_is_better() {
            (ratio.high, ratio.low)
        } else {
            (ratio.low, ratio.high)
        };
        let is_beyond = |value: f64| {
            if self.measure.more_is_better() {
                value < self.ratio
            } else {
                value > self.ratio
            }
        };
        match (is_beyond(best), is_beyond(worst)) {
            (true, _) => Outcome::Broken,
            (false, true) => Outcome::Undecided,
            (false, false) => Outcome::Held,
        }
    }
}

/// Every tolerance in every combination that has its measure, in the order given. A percentile that a side has too few
/// operations for is undecided: more of them would tell.
pub fn checks(contrast: &Contrast, tolerances: &[Tolerance]) -> Vec<Check> {
    let found: Vec<_> = tolerances
        .iter()
        .flat_map(|tolerance| {
            let places = contrast.places.iter();
            places.filter_map(move |place| {
                let mut all = place.metrics.iter().chain(&place.costs);
                let compared = all.find(|it| it.measure == tolerance.measure);
                let is_thin = tolerance.is_of_a_percentile() && !place.metrics.is_empty();
                (compared.is_some() || is_thin).then_some((tolerance, place, compared))
            })
        })
        .collect();
    found
        .into_iter()
        .map(|(tolerance, place, compared)| {
            let comparison = compared.and_then(|it| it.comparison);
            let is_enough = comparison.is_some_and(|it| it.executions >= EXECUTIONS_AT_LEAST);
            let (outcome, amount) = match (comparison, compared) {
                (Some(comparison), Some(compared)) if is_enough => {
                    tolerance.judge(comparison.ratio, compared)
                }
                _ => (Outcome::Undecided, None),
            };
            Check {
                tolerance: tolerance.clone(),
                within: place.within.clone(),
                of_batches: place.of_batches,
                ratio: comparison.map(|comparison| comparison.ratio),
                amount,
                confidence: CONFIDENCE,
                outcome,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_read() {
        for (text, name, ratio) in [
            ("p99 +5%", "p99", 1.05),
            ("throughput -3 %", "throughput", 0.97),
            (" fsyncs  +50% ", "fsyncs", 1.5),
            ("new_orders_per_min -0.5%", "new_orders_per_min", 0.995),
        ] {
            let tolerance = Tolerance::parse(text).unwrap();
            assert_eq!(tolerance.measure.name(), name);
            assert!((tolerance.ratio - ratio).abs() < 1e-12);
        }
    }

    #[test]
    fn what_cannot_be_meant() {
        for text in [
            "p99",
            "p99 5%",
            "p99 +5",
            "p99 +x%",
            "p99 +inf%",
            "",
            "throughput -100%",
        ] {
            let error = Tolerance::parse(text).unwrap_err();
            assert!(
                matches!(error, ToleranceError::Form { .. }),
                "{text:?}: {error}"
            );
        }
        let error = Tolerance::parse("speed -5%").unwrap_err();
        assert_eq!(error.to_string(), "\"speed\" is not a measure");
        for (text, sign) in [("p99 -5%", '+'), ("throughput +3%", '-'), ("p50 +0%", '+')] {
            let error = Tolerance::parse(text).unwrap_err();
            let is_sign =
                matches!(error, ToleranceError::Better { sign: found, .. } if found == sign);
            assert!(is_sign, "{text:?}: {error}");
        }
    }

    #[test]
    fn an_interval_beside_a_tolerance() {
        let of = |low, high| Interval {
            estimate: (low + high) / 2.0,
            low,
            high,
        };
        let slower = Tolerance {
            measure: Measure::Metric(Metric::P99),
            ratio: 1.05,
        };
        let cases = [
            (of(1.06, 1.2), Outcome::Broken),
            (of(1.04, 1.2), Outcome::Undecided),
            (of(0.9, 1.05), Outcome::Held),
        ];
        for (ratio, outcome) in cases {
            assert_eq!(slower.outcome(ratio), outcome, "{ratio:?}");
        }
        let fewer = Tolerance {
            measure: Measure::Metric(Metric::Throughput),
            ratio: 0.97,
        };
        let cases = [
            (of(0.8, 0.96), Outcome::Broken),
            (of(0.8, 0.98), Outcome::Undecided),
            (of(0.97, 1.2), Outcome::Held),
        ];
        for (ratio, outcome) in cases {
            assert_eq!(fewer.outcome(ratio), outcome, "{ratio:?}");
        }
    }
}
