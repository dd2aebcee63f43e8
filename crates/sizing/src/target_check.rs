//! Whether a target carries a throughput, and the rate at which it keeps a limit on the response time.

use stats::Interval;

use crate::{
    cells::Cells,
    error::Error,
    execution::Executions,
    prediction::{Draws, Prediction, PredictionRequest, interval},
    response_limit::{AllowedDraws, AllowedShare, ResponseLimit, allowed_share},
    validated_prediction::validated_with_draws,
};

/// What is checked.
#[derive(Debug, Clone)]
pub struct CheckRequest {
    pub prediction: PredictionRequest,
    /// Operations per second that the target is to carry.
    pub per_s: Option<f64>,
    pub response_limit: Option<ResponseLimit>,
}

/// A prediction, compared with a throughput and with a limit on the response time.
#[derive(Debug, Clone)]
pub struct TargetCheck {
    pub prediction: Prediction,
    /// The rate that keeps the limit on the response time, or what to measure; `None` without a limit.
    pub response: Option<Result<AllowedRate, String>>,
    /// `None` if no throughput is given.
    pub carried: Option<Carried>,
}

/// The rate of a target that keeps a limit on the response time.
#[derive(Debug, Clone, PartialEq)]
pub struct AllowedRate {
    pub share: AllowedShare,
    /// Operations per second; `None` if no known limit bounds the load.
    pub per_s: Option<Interval>,
}

/// Whether a target carries a throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carried {
    /// Operations per second.
    pub per_s: f64,
    pub verdict: CarriedVerdict,
    /// What the target can do, divided by this throughput; `None` if no known limit bounds the load.
    pub ratio: Option<Interval>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarriedVerdict {
    Yes,
    No,
    /// The throughput lies within the interval, or what the target can do is known only as an upper bound.
    Undecided,
}

impl CarriedVerdict {
    /// Its name in formats for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Undecided => "undecided",
        }
    }
}

impl TargetCheck {
    /// Whether everything that was asked is known.
    pub fn is_known(&self) -> bool {
        let is_measured = !matches!(self.response, Some(Err(_)));
        match &self.carried {
            Some(carried) => carried.verdict != CarriedVerdict::Undecided,
            None => is_measured && self.prediction.is_known(),
        }
    }
}

/// Predicts the throughput of a target with its test ([`crate::predict_validated`]), and compares it.
///
/// The errors are those of [`crate::predict`].
pub fn check_target(executions: &Executions, request: &CheckRequest) -> Result<TargetCheck, Error> {
    let (prediction, draws) = validated_with_draws(executions, &request.prediction)?;
    let response = match request.response_limit {
        None => None,
        Some(limit) => {
            let cells = Cells::of(&executions.all)?;
            let drawn = cells.draws(request.prediction.draws);
            Some(allowed_share(executions, &cells, &drawn, limit))
        }
    };
    let share = response.as_ref().and_then(|it| it.as_ref().ok());
    let rate = rate(&prediction, &draws, share);
    // A search that ended at its highest rate leaves room for more, up to the throughput.
    let most = match share {
        Some(share) if share.allowed.is_at_least => prediction.throughput.as_ref(),
        _ => None,
    };
    // Only the CPUs have a scaling model, without which they are an upper bound.
    let has_bound = !prediction.upper_bounds().is_empty();
    let carried = request.per_s.map(|per_s| {
        let needed_per_s = per_s / share.map_or(1.0, |it| it.allowed.share.low);
        let range = Range {
            low: rate.map(|it| it.low),
            high: most.map(|it| it.per_s).or(rate).map(|it| it.high),
            // A limit that is not known, or only as an upper bound, leaves room for less.
            is_bound: !prediction.is_known()
                || has_bound && !prediction.is_without_contention(needed_per_s)
                || matches!(response, Some(Err(_))),
        };
        Carried {
            per_s,
            verdict: range.verdict(per_s),
            ratio: rate.map(|it| Interval {
                estimate: it.estimate / per_s,
                low: it.low / per_s,
                high: it.high / per_s,
            }),
        }
    });
    let response = response.map(|response| {
        response.map(|it| AllowedRate {
            share: it.allowed,
            per_s: rate,
        })
    });
    Ok(TargetCheck {
        prediction,
        response,
        carried,
    })
}

/// The throughput of the target times the share that keeps the limit, if any, from the same draws.
fn rate(prediction: &Prediction, draws: &Draws, share: Option<&AllowedDraws>) -> Option<Interval> {
    let throughput = prediction.throughput.as_ref()?;
    let Some(share) = share else {
        return Some(throughput.per_s);
    };
    let each = draws.each.iter().zip(&share.each);
    let each: Vec<f64> = each.map(|(draw, share)| share / draw.time_s).collect();
    let estimate = share.allowed.share.estimate / draws.all.time_s;
    Some(interval(estimate, &each, draws.executions))
}

/// What a target can do, operations per second; `None` for an end without a known limit.
#[derive(Debug, Clone, Copy)]
struct Range {
    low: Option<f64>,
    high: Option<f64>,
    /// Whether it may be less than `low`.
    is_bound: bool,
}

impl Range {
    fn verdict(&self, per_s: f64) -> CarriedVerdict {
        if self.high.is_some_and(|high| high < per_s) {
            CarriedVerdict::No
        } else if self.is_bound || self.low.is_some_and(|low| low < per_s) {
            CarriedVerdict::Undecided
        } else {
            CarriedVerdict::Yes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_throughput_within_the_interval_or_below_a_bound_is_undecided() {
        let (low, high) = (Some(3800.0), Some(4200.0));
        for (low, high, is_bound, per_s, expected) in [
            (low, high, false, 3800.0, CarriedVerdict::Yes),
            (low, high, false, 3900.0, CarriedVerdict::Undecided),
            (low, high, false, 4300.0, CarriedVerdict::No),
            // It may be able to do less, and never more.
            (low, high, true, 3000.0, CarriedVerdict::Undecided),
            (low, high, true, 4300.0, CarriedVerdict::No),
            (None, None, false, 4300.0, CarriedVerdict::Yes),
            (None, None, true, 4300.0, CarriedVerdict::Undecided),
        ] {
            let range = Range {
                low,
                high,
                is_bound,
            };
            assert_eq!(range.verdict(per_s), expected, "{range:?} {per_s}");
        }
    }
}
