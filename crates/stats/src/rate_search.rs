//! The search for the highest rate at which a percentile of the response times stays below a limit.
//!
//! A search is a sequence of stages with a constant rate each. After every stage the search names the next rate, or ends
//! with an answer. It is a pure function of the stages so far: from the same stages, read from a record, it makes the same
//! steps again.
//!
//! First the rate is doubled until the limit is exceeded, and the range between the last two rates is halved until it is
//! narrow. Then all stages are close to the current estimate: below it, above it and at it in turn, so that the rate is
//! interpolated on a fitted curve. The limit on a percentile is one on a share: p99 is below 20 ms where fewer than 1 % of
//! the operations take longer.

mod bracket;
mod fit;
#[cfg(test)]
mod queue;
mod share_test;
mod stage;
#[cfg(test)]
mod tests;

pub use self::stage::RateStage;
use self::{
    bracket::Bracket,
    fit::Fit,
    share_test::ShareTest,
    stage::{at_rate, exceeding, log_odds_of},
};
use crate::{comparison::EXECUTIONS_AT_LEAST, mean_interval::Interval};

/// Ratio of the lowest rate that the client cannot send to the highest one that it can, at which the latter counts as the
/// highest rate of the client.
const CLIENT_LIMIT_WITHIN: f64 = 1.1;

/// Stages of a fit from which on its interval can end a search: fewer do not show how much stages vary.
const STAGES_AT_LEAST: usize = 8;
/// Stages near the estimate that must keep the limit, and that must exceed it: a single one that exceeds it may be a pause
/// of the server, beside which the curve would be steep.
const SIDE_AT_LEAST: usize = 3;

/// Factor on the error probability of the interval. A search ends when the interval is narrow enough, and thus more often
/// when its stages vary little by chance; the interval is then too narrow.
const FOR_STOPPING: f64 = 0.5;

/// Stages within this factor of the estimate are fitted, and the estimate moves by no more than this at a time.
const NEAR: f64 = 1.25;

/// Change of the log-odds between the estimate and the rates beside it: there a share of 1 % becomes 0.17 % or 5.8 %. At
/// rates that are closer, the slope would be uncertain; at rates that are further apart, hardly an operation is over the
/// limit, or nearly all are.
const LOG_ODDS_ASIDE: f64 = 1.8;
/// The limits of that distance, as a share of the rate.
const ASIDE_AT_LEAST: f64 = 0.01;
const ASIDE_AT_MOST: f64 = 0.1;
/// The places of successive stages, as multiples of that distance. Below the estimate fewer operations are over the
/// limit, so that more stages are needed there.
const PLACES: [f64; 4] = [-1.0, 1.0, -1.0, 0.0];

/// Log-odds from which on a stage is far above the limit (17 % in place of 1 %). An overloaded server has no steady state:
/// its share over the limit shows only how long the stage lasted.
const FAR_ABOVE: f64 = 3.0;

/// Largest number of times that the curve is fitted around its own estimate. A first range that is wrong, because the
/// server paused during a stage, is left in as many steps.
const CENTERINGS: usize = 20;
/// Change of the estimate, as a share, below which it stays.
const SETTLED_WITHIN: f64 = 1e-6;

/// The question of a search, and its limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchRules {
    /// The limited quantile of the response times: 0.99 for the 99th percentile.
    pub quantile: f64,
    /// The rate of the first stage, for example a tenth of the throughput of a closed loop.
    pub first_per_s: f64,
    /// The lowest and the highest rate that are tried.
    pub lowest_per_s: f64,
    pub highest_per_s: f64,
    /// Half the width of the interval at which the search ends, as a share of the rate: 0.05 for ±5 %.
    pub precision: f64,
    /// Share of the searches whose interval is to contain the rate: 0.95.
    pub confidence: f64,
    /// The budget.
    pub stages_at_most: usize,
}

/// What to do after a stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SearchStep {
    /// Measure a stage at this rate.
    Measure { rate_per_s: f64 },
    /// The search is over.
    Done(RateAnswer),
}

/// The end of a search; rates are operations per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RateAnswer {
    /// The highest rate that keeps the limit.
    Found(Interval),
    /// The budget is used up: the interval is wider than requested, or there is none.
    Spent(Option<Interval>),
    /// The limit is kept at the highest rate.
    KeptUpTo {
        rate_per_s: f64,
        /// True if the client cannot send at a higher rate; otherwise no higher rate was to be tried.
        is_client_limit: bool,
    },
    /// The limit is exceeded even at the lowest rate.
    NeverKept { rate_per_s: f64 },
    /// The client cannot send even at the lowest rate.
    NotOffered { rate_per_s: f64 },
}

/// A search with its stages so far.
#[derive(Debug, Clone, PartialEq)]
pub struct RateSearch {
    rules: SearchRules,
    stages: Vec<RateStage>,
}

/// The highest rate that can be tried.
#[derive(Debug, Clone, Copy)]
struct Ceiling {
    rate_per_s: f64,
    is_client_limit: bool,
}

/// The curve around the current estimate.
#[derive(Debug, Clone, Copy)]
struct Estimate {
    rate_per_s: f64,
    /// Distance of the rates below and above it, as a share.
    aside: f64,
    interval: Option<Interval>,
}

impl RateSearch {
    /// A search before its first stage. `None` if the rates are not positive and in order, the quantile, the precision
    /// or the confidence is not between 0 and 1, or the budget has fewer than three stages.
    pub fn new(rules: SearchRules) -> Option<Self> {
        let is_share = |value: f64| value > 0.0 && value < 1.0;
        let shares = [rules.quantile, rules.precision, rules.confidence];
        let rates = [rules.lowest_per_s, rules.first_per_s, rules.highest_per_s];
        let are_rates = rates.iter().all(|it| it.is_finite() && *it > 0.0) && rates.is_sorted();
        let is_enough = rules.stages_at_most >= EXECUTIONS_AT_LEAST;
        let is_valid = shares.into_iter().all(is_share) && are_rates && is_enough;
        is_valid.then_some(Self {
            rules,
            stages: Vec::new(),
        })
    }

    /// Adds the next stage. Its rate is usually that of [`Self::step`], but need not be.
    pub fn add(&mut self, stage: RateStage) {
        self.stages.push(stage);
    }

    /// The stages so far.
    pub fn stages(&self) -> &[RateStage] {
        &self.stages
    }

    /// What to do after the stages so far.
    ///
    /// The search ends when its interval is narrow enough. An interval contains all rates between the two measured ones
    /// that are next to the estimate, whatever the curve says. It holds for this server in this run: another start may
    /// have another rate. Whether the limit is kept at the highest rate, or exceeded at the lowest, is a sequential test.
    ///
    /// Source: stages around the estimate of a logistic curve: C. F. J. Wu, "Efficient sequential designs with binary
    /// data", Journal of the American Statistical Association 80 (1985); stages as batches: A. M. Law and J. S. Carson,
    /// Operations Research 27 (1979); the end at a fixed width: Y. S. Chow and H. Robbins, Annals of Mathematical
    /// Statistics 36 (1965); the tests as for [`crate::UntilDecided`]. Simulated in this module's tests with queues whose
    /// percentiles have a closed form.
    pub fn step(&self) -> SearchStep {
        let rules = &self.rules;
        let refused = self.lowest_refused();
        if refused <= rules.lowest_per_s {
            let rate_per_s = refused;
            return SearchStep::Done(RateAnswer::NotOffered { rate_per_s });
        }
        let stages = self.usable();
        let ceiling = self.ceiling(&stages, refused);
        if let Some(answer) = self.answer_at_ends(&stages, ceiling) {
            return SearchStep::Done(answer);
        }
        let middle = Bracket::first_narrow(&stages, self.allowed());
        let estimate = middle.map(|middle| self.estimate(&stages, middle, ceiling));
        let interval = estimate.and_then(|it| it.interval);
        if let Some(found) = interval.filter(|it| self.is_precise(it)) {
            return SearchStep::Done(RateAnswer::Found(found));
        }
        if self.stages.len() >= rules.stages_at_most {
            return SearchStep::Done(RateAnswer::Spent(interval));
        }
        let rate_per_s = match estimate {
            Some(estimate) => estimate.rate_of_stage(self.stages.len()),
            None => Bracket::of(&stages, self.allowed()).next_rate(rules.first_per_s),
        };
        SearchStep::Measure {
            rate_per_s: self.within(rate_per_s, ceiling),
        }
    }

    /// The share of operations that may exceed the limit.
    fn allowed(&self) -> f64 {
        1.0 - self.rules.quantile
    }

    /// Whether stages keep the limit.
    fn share_test(&self) -> ShareTest {
        ShareTest {
            allowed: self.allowed(),
            stages_at_most: self.rules.stages_at_most,
            alpha: 1.0 - self.rules.confidence,
        }
    }

    /// The lowest rate that the client cannot send; infinite if there is none. In a single stage it may have paused, and so it
    /// did in stages with a rate that it could send in others.
    fn lowest_refused(&self) -> f64 {
        let sent = self.stages.iter().filter(|it| it.is_offered);
        let sent = sent.map(|it| it.rate_per_s).fold(0.0, f64::max);
        let is_refused = |it: &&RateStage| !it.is_offered && it.rate_per_s > sent;
        let refused = self.stages.iter().filter(is_refused);
        let mut refused: Vec<f64> = refused.map(|it| it.rate_per_s).collect();
        refused.sort_by(f64::total_cmp);
        refused.get(1).copied().unwrap_or(f64::INFINITY)
    }

    /// The stages that say something about the server, in the order of time.
    fn usable(&self) -> Vec<RateStage> {
        let usable = |it: &&RateStage| {
            it.is_offered && it.operations > 0 && it.rate_per_s.is_finite() && it.rate_per_s > 0.0
        };
        self.stages.iter().filter(usable).copied().collect()
    }

    fn ceiling(&self, stages: &[RateStage], refused: f64) -> Ceiling {
        if refused > self.rules.highest_per_s {
            return Ceiling {
                rate_per_s: self.rules.highest_per_s,
                is_client_limit: false,
            };
        }
        let sent = stages.iter().map(|it| it.rate_per_s);
        let sent = sent.fold(0.0, f64::max);
        let rate_per_s = if sent == 0.0 {
            refused / 2.0
        } else if refused <= CLIENT_LIMIT_WITHIN * sent {
            sent
        } else {
            (sent * refused).sqrt()
        };
        Ceiling {
            rate_per_s: rate_per_s.max(self.rules.lowest_per_s),
            is_client_limit: true,
        }
    }

    /// A rate within the limits of the search.
    fn within(&self, rate_per_s: f64, ceiling: Ceiling) -> f64 {
        rate_per_s
            .min(ceiling.rate_per_s)
            .max(self.rules.lowest_per_s)
    }

    /// The answer if the limit is kept at the highest rate, or exceeded at the lowest.
    fn answer_at_ends(&self, stages: &[RateStage], ceiling: Ceiling) -> Option<RateAnswer> {
        let lowest = self.rules.lowest_per_s;
        let Ceiling {
            rate_per_s,
            is_client_limit,
        } = ceiling;
        let test = self.share_test();
        if test.is_kept(&at_rate(stages, rate_per_s)) == Some(true) {
            return Some(RateAnswer::KeptUpTo {
                rate_per_s,
                is_client_limit,
            });
        }
        let is_never_kept = test.is_kept(&at_rate(stages, lowest)) == Some(false);
        is_never_kept.then_some(RateAnswer::NeverKept { rate_per_s: lowest })
    }

    /// The estimate by the curve through the stages near `middle`, and from there on near the estimate.
    fn estimate(&self, stages: &[RateStage], middle: f64, ceiling: Ceiling) -> Estimate {
        let mut rate_per_s = self.within(middle, ceiling);
        let mut aside = ASIDE_AT_MOST;
        let mut interval = None;
        for centering in 1..=CENTERINGS {
            let center = rate_per_s;
            let near = near(stages, center);
            let fitted = self.fitted(&near);
            let Some(fit) = Fit::of(&fitted, self.allowed(), center) else {
                break;
            };
            rate_per_s = self.within(center * factor(&fit), ceiling);
            aside = LOG_ODDS_ASIDE / fit.slope.max(f64::MIN_POSITIVE);
            let is_settled = (rate_per_s / center - 1.0).abs() < SETTLED_WITHIN;
            if is_settled || centering == CENTERINGS {
                interval = self.interval(&fit, &near, &fitted);
                break;
            }
        }
        Estimate {
            rate_per_s,
            aside: aside.clamp(ASIDE_AT_LEAST, ASIDE_AT_MOST),
            interval,
        }
    }

    /// Of these stages near the estimate, those that are fitted: not those far above the limit, but the lowest of them
    /// while there are hardly any others that exceed it.
    fn fitted(&self, near: &[RateStage]) -> Vec<RateStage> {
        let allowed = self.allowed();
        let (far, mut fitted): (Vec<RateStage>, Vec<RateStage>) =
            (near.iter().copied()).partition(|it| log_odds_of(it, allowed) > FAR_ABOVE);
        if exceeding(&fitted, allowed) < SIDE_AT_LEAST {
            let lowest = far.iter().map(|it| it.rate_per_s);
            fitted.extend(at_rate(&far, lowest.fold(f64::INFINITY, f64::min)));
        }
        fitted
    }

    /// The interval of the rate, given the fit of the stages near it. `None` for too few stages in the fit or on one side of
    /// the limit, and while neither curve nor tests limit the rate on both sides.
    ///
    /// The curve's interval is extended to the fitted rates next to the estimate, because between them the curve is an
    /// assumption. Where the share over the limit leaps, the slope of a curve is not known: tests of the stages on both
    /// sides give the interval instead.
    fn interval(&self, fit: &Fit, near: &[RateStage], fitted: &[RateStage]) -> Option<Interval> {
        let exceeding = exceeding(near, self.allowed());
        let smaller_side = exceeding.min(near.len() - exceeding);
        if fitted.len() < STAGES_AT_LEAST || smaller_side < SIDE_AT_LEAST {
            return None;
        }
        let estimate = fit.estimate()?;
        let Some(found) = fit.interval(FOR_STOPPING * (1.0 - self.rules.confidence)) else {
            return self.share_test().bounds(near, estimate);
        };
        let rates = || fitted.iter().map(|it| it.rate_per_s);
        let below = rates().filter(|it| *it <= estimate);
        let above = rates().filter(|it| *it >= estimate);
        Some(Interval {
            estimate,
            low: found.low.min(below.max_by(f64::total_cmp)?),
            high: found.high.max(above.min_by(f64::total_cmp)?),
        })
    }

    fn is_precise(&self, found: &Interval) -> bool {
        (found.high - found.low) / 2.0 <= self.rules.precision * found.estimate
    }
}

impl Estimate {
    /// The rate of the stage with this number.
    fn rate_of_stage(&self, stage: usize) -> f64 {
        self.rate_per_s * (1.0 + PLACES[stage % PLACES.len()] * self.aside)
    }
}

/// The estimate of a fit as a multiple of its center. Without a rising curve, the rate is higher if the limit is kept and
/// lower if it is not.
fn factor(fit: &Fit) -> f64 {
    if fit.slope > 0.0 {
        (1.0 - fit.level / fit.slope).clamp(1.0 / NEAR, NEAR)
    } else if fit.level <= 0.0 {
        NEAR
    } else {
        1.0 / NEAR
    }
}

/// The stages within a factor of this rate.
fn near(stages: &[RateStage], center_per_s: f64) -> Vec<RateStage> {
    let is_near = |it: &&RateStage| {
        let ratio = it.rate_per_s / center_per_s;
        (1.0 / NEAR..=NEAR).contains(&ratio)
    };
    stages.iter().filter(is_near).copied().collect()
}
