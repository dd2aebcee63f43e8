//! The highest rate that keeps a limit on a response time: the rate of the next run, and the answer.

use std::collections::BTreeMap;

use samples::{Cause, RATE, Record, Shortfall};
use stats::{RateAnswer, RateSearch, RateStage, SearchRules, SearchStep};
use units::{counted, fine_percent, per_s};

use crate::{
    bottleneck::{Resource, bottleneck},
    tolerance::Outcome,
};

/// Share of the searches whose interval contains the rate.
const CONFIDENCE: f64 = 0.95;
/// Fewest operations of a run at the lowest rate. If the limit allows fewer than 1 of them to be slower, they are as many
/// as the limit allows 1 of.
const OPERATIONS_AT_LEAST: f64 = 100.0;
/// The first rate as a multiple of the lowest one, unless the file says.
const FIRST_OVER_LOWEST: f64 = 10.0;
/// The highest rate that a file can have.
const RATE_PER_S_AT_MOST: f64 = 1e6;
/// Fewest runs of a search.
const RUNS_AT_LEAST: usize = 3;

/// A search for the highest rate of one combination that keeps a limit on a percentile.
#[derive(Debug, Clone, PartialEq)]
pub struct RateQuestion {
    /// Its levels, without the rate.
    pub combination: BTreeMap<String, String>,
    /// The limit in words: `p99 < 20 ms`.
    pub limit: String,
    /// The limited percentile as a share: 0.99.
    pub quantile: f64,
    /// The response time that it has to stay below, nanoseconds.
    pub limit_ns: u64,
    /// The rate of the first run, operations per second; `None` if the file does not say.
    pub from_per_s: Option<f64>,
    /// The highest rate that is tried, operations per second; `None` if the file does not say.
    pub to_per_s: Option<f64>,
    /// Half the width of the interval at which the search ends, as a share of the rate.
    pub precision: f64,
    /// Planned length of the measurement of a run, seconds.
    pub measured_s: f64,
    /// The budget.
    pub runs_at_most: usize,
    /// True if no time is left for another run.
    pub time_is_spent: bool,
}

/// The answer of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct MaxRate {
    pub question: RateQuestion,
    /// `None` if runs are missing.
    pub answer: Option<RateAnswer>,
    /// Number of complete runs.
    pub runs: usize,
    /// What prevents a higher rate, as far as it was observed.
    pub limited_by: Option<RateLimit>,
}

/// What prevents a higher rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateLimit {
    /// The resource, or the side that could not keep up, in a word or two: `CPU`, `client`, `connections`.
    pub name: &'static str,
    /// The figures behind it.
    pub evidence: String,
}

impl RateQuestion {
    /// The rate of the next run, operations per second; `None` if the search has an answer. `runs` may hold runs of other
    /// combinations.
    pub fn next_rate(&self, runs: &[Record]) -> Option<f64> {
        let (rules, stages) = (self.rules(), self.stages(runs));
        match search(rules, stages.iter().map(|(_, stage)| *stage))?.step() {
            SearchStep::Measure { rate_per_s } => Some(tried(rate_per_s, &rules)),
            SearchStep::Done(_) => None,
        }
    }

    /// The answer of these runs, which may hold runs of other combinations.
    pub fn answer(&self, runs: &[Record]) -> MaxRate {
        let stages = self.stages(runs);
        let mut rules = self.rules();
        if self.time_is_spent {
            let spent = stages.len().max(RUNS_AT_LEAST);
            rules.stages_at_most = rules.stages_at_most.min(spent);
        }
        let step = search(rules, stages.iter().map(|(_, stage)| *stage)).map(|it| it.step());
        let answer = match step {
            Some(SearchStep::Done(answer)) => Some(answer),
            Some(SearchStep::Measure { .. }) | None => None,
        };
        MaxRate {
            question: self.clone(),
            answer,
            runs: stages.len(),
            limited_by: answer.and_then(|it| self.limited_by(&it, &stages)),
        }
    }

    /// The complete runs of this combination, in their order, with what the search needs of them.
    fn stages<'r>(&self, runs: &'r [Record]) -> Vec<(&'r Record, RateStage)> {
        let own = runs.iter().filter(|it| it.is_complete() && self.has(it));
        own.filter_map(|it| Some((it, self.stage(it)?))).collect()
    }

    /// True for a run of this combination, at any rate.
    pub fn has(&self, record: &Record) -> bool {
        let levels = record.header.combination.iter();
        let levels = levels.filter(|(factor, _)| *factor != RATE);
        levels.eq(self.combination.iter())
    }

    /// `None` for a run without a rate.
    fn stage(&self, record: &Record) -> Option<RateStage> {
        let offered = record.offered.as_ref()?;
        let totals = record.totals();
        let errors: u64 = totals.operations.values().map(|it| it.errors).sum();
        let slow = totals.response().histogram.count_above(self.limit_ns);
        // A late start is a part of the response time.
        let over = slow + errors + offered.not_started + offered.unfinished;
        Some(RateStage {
            rate_per_s: offered.rate_per_s?,
            operations: offered.due,
            over: over.min(offered.due),
            is_offered: is_offered(record),
        })
    }

    fn rules(&self) -> SearchRules {
        let highest_per_s = self.to_per_s.unwrap_or(RATE_PER_S_AT_MOST);
        let operations = OPERATIONS_AT_LEAST.max(1.0 / (1.0 - self.quantile));
        let lowest_per_s = rounded(operations / self.measured_s).min(highest_per_s);
        let usual_per_s = rounded(FIRST_OVER_LOWEST * lowest_per_s);
        let first_per_s = self.from_per_s.unwrap_or(usual_per_s).min(highest_per_s);
        SearchRules {
            quantile: self.quantile,
            first_per_s,
            lowest_per_s: lowest_per_s.min(first_per_s),
            highest_per_s,
            precision: self.precision,
            confidence: CONFIDENCE,
            stages_at_most: self.runs_at_most,
        }
    }

    /// What limits the run with the lowest rate above the answer that exceeds the limit, or that was not sent as planned.
    fn limited_by(
        &self,
        answer: &RateAnswer,
        stages: &[(&Record, RateStage)],
    ) -> Option<RateLimit> {
        let mut stages = stages.to_vec();
        stages.sort_by(|(_, a), (_, b)| a.rate_per_s.total_cmp(&b.rate_per_s));
        let of_client = |above_per_s: f64| {
            let refused = stages.iter().filter(|(_, stage)| !stage.is_offered);
            let mut refused = refused.filter(|(_, stage)| stage.rate_per_s > above_per_s);
            refused.find_map(|(record, _)| behind(record))
        };
        let from_per_s = match answer {
            RateAnswer::Found(found) | RateAnswer::Spent(Some(found)) => found.estimate,
            RateAnswer::NeverKept { .. } | RateAnswer::Spent(None) => 0.0,
            RateAnswer::KeptUpTo {
                rate_per_s,
                is_client_limit,
            } => return is_client_limit.then(|| of_client(*rate_per_s)).flatten(),
            RateAnswer::NotOffered { .. } => return of_client(0.0),
        };
        let allowed = 1.0 - self.quantile;
        let exceed = stages.iter().filter(|(_, stage)| {
            let share = stage.over as f64 / stage.operations.max(1) as f64;
            stage.is_offered && stage.rate_per_s >= from_per_s && share > allowed
        });
        let exceed: Vec<&Record> = exceed.map(|(record, _)| *record).collect();
        let by_resource = exceed.iter().find_map(|record| scarce(record));
        by_resource.or_else(|| exceed.iter().find_map(|record| behind(record)))
    }
}

impl MaxRate {
    /// Whether the limit is kept at the answer's rate; undecided without a rate that answers the question.
    pub fn outcome(&self) -> Outcome {
        match self.answer {
            Some(RateAnswer::Found(_)) => Outcome::Held,
            Some(RateAnswer::KeptUpTo {
                is_client_limit: false,
                ..
            }) => Outcome::Held,
            Some(RateAnswer::NeverKept { .. }) => Outcome::Broken,
            _ => Outcome::Undecided,
        }
    }

    /// True if the client prevented a higher rate.
    pub fn is_client_limit(&self) -> bool {
        match self.answer {
            Some(RateAnswer::KeptUpTo {
                is_client_limit, ..
            }) => is_client_limit,
            Some(RateAnswer::NotOffered { .. }) => true,
            _ => {
                let limit = self.limited_by.as_ref();
                limit.is_some_and(|it| it.name == Resource::Client.name())
            }
        }
    }

    /// The kind of the answer in a word or two.
    pub fn word(&self) -> &'static str {
        match self.answer {
            Some(RateAnswer::Found(_)) => "found",
            Some(RateAnswer::Spent(Some(_))) => "imprecise",
            Some(RateAnswer::Spent(None)) => "spent",
            Some(RateAnswer::KeptUpTo {
                is_client_limit: false,
                ..
            }) => "kept",
            Some(RateAnswer::KeptUpTo {
                is_client_limit: true,
                ..
            }) => "client limit",
            Some(RateAnswer::NeverKept { .. }) => "never kept",
            Some(RateAnswer::NotOffered { .. }) => "not offered",
            None => "open",
        }
    }

    /// The rate and its bounds, operations per second: `None` without a rate, and both bounds `None` for a rate that was
    /// measured itself.
    pub fn rate(&self) -> Option<(f64, Option<(f64, f64)>)> {
        match self.answer? {
            RateAnswer::Found(found) | RateAnswer::Spent(Some(found)) => {
                Some((found.estimate, Some((found.low, found.high))))
            }
            RateAnswer::KeptUpTo { rate_per_s, .. } => Some((rate_per_s, None)),
            RateAnswer::Spent(None)
            | RateAnswer::NeverKept { .. }
            | RateAnswer::NotOffered { .. } => None,
        }
    }

    /// The answer without its combination and without its limit: `p99 < 20 ms up to 4.12k/s (3.98k/s to 4.20k/s)`.
    pub fn in_words(&self) -> String {
        let limit = &self.question.limit;
        let runs = counted(self.runs, "run");
        let rate = self.rate().map(|(rate, bounds)| match bounds {
            Some((low, high)) => {
                format!("{} ({} to {})", per_s(rate), per_s(low), per_s(high))
            }
            None => per_s(rate),
        });
        let rate = rate.unwrap_or_default();
        match self.answer {
            Some(RateAnswer::Found(_)) => format!("{limit} up to {rate}"),
            Some(RateAnswer::Spent(Some(_))) => {
                let precision = fine_percent(self.question.precision);
                format!("{limit} up to {rate}, less precise than ±{precision} after {runs}")
            }
            Some(RateAnswer::Spent(None)) => format!("{limit}: no answer after {runs}"),
            Some(RateAnswer::KeptUpTo {
                is_client_limit: false,
                ..
            }) => format!("{limit} up to {rate}, the highest rate tried"),
            Some(RateAnswer::KeptUpTo {
                is_client_limit: true,
                ..
            }) => {
                format!("{limit} at least up to {rate}, the highest rate that the client can send")
            }
            Some(RateAnswer::NeverKept { rate_per_s }) => {
                format!("{limit} is not kept even at {}", per_s(rate_per_s))
            }
            Some(RateAnswer::NotOffered { rate_per_s }) => {
                let rate = per_s(rate_per_s);
                format!("{limit}: no answer, because the client cannot send even {rate}")
            }
            None => format!("{limit}: not answered yet, after {runs}"),
        }
    }
}

/// A search with these stages; `None` if its rules are not valid.
fn search(rules: SearchRules, stages: impl Iterator<Item = RateStage>) -> Option<RateSearch> {
    let mut search = RateSearch::new(rules)?;
    stages.for_each(|stage| search.add(stage));
    Some(search)
}

/// The resource that limited a run; `None` if none is known. A rate that is reached explains no response time.
fn scarce(record: &Record) -> Option<RateLimit> {
    let found = bottleneck(record)?.limiting?;
    (found.resource != Resource::Load).then(|| RateLimit {
        name: found.resource.name(),
        evidence: found.evidence,
    })
}

/// The side that could not keep up with the rate of a run; `None` if the rate was reached.
fn behind(record: &Record) -> Option<RateLimit> {
    let shortfall = shortfall(record)?;
    Some(RateLimit {
        name: match shortfall.cause {
            Cause::Server => "server",
            Cause::Client => "client",
            Cause::Connections => "connections",
            Cause::ServerOrConnections => "server or connections",
        },
        evidence: shortfall.why.clone(),
    })
}

fn shortfall(record: &Record) -> Option<&Shortfall> {
    record.offered.as_ref()?.shortfall.as_ref()
}

/// True if the client sent as planned. Where all connections were busy, the operations that waited for one are late, which
/// is a part of their response time.
fn is_offered(record: &Record) -> bool {
    shortfall(record).is_none_or(|it| it.cause != Cause::Client)
}

/// The rate as it is tried, readable as a level. The ends of the search stay what they are, because it recognises them.
fn tried(rate_per_s: f64, rules: &SearchRules) -> f64 {
    let (lowest, highest) = (rules.lowest_per_s, rules.highest_per_s);
    if rate_per_s <= lowest || rate_per_s >= highest {
        rate_per_s
    } else {
        rounded(rate_per_s).clamp(lowest, highest)
    }
}

/// A rate with four significant digits.
fn rounded(rate_per_s: f64) -> f64 {
    // Through text, because only then its digits are those of the nearest number.
    let text = format!("{rate_per_s:.3e}");
    text.parse().unwrap_or(rate_per_s)
}

#[cfg(test)]
mod tests;
