//! The share of the highest throughput that keeps a limit on the response time.

use std::time::Duration;

use stats::{Interval, Random};

use crate::{
    cells::{Cells, Draw, is_same_share},
    execution::Executions,
    prediction::interval,
    searched_rate::SearchedRate,
};

/// The percentile that is limited.
const QUANTILE: f64 = 0.99;
/// Standard deviations between the ends of a 95 % interval of a normal distribution, halved.
const DEVIATIONS: f64 = 1.96;
/// The same searches have the same draws.
const SEED: u64 = 43;

/// A limit on the 99th percentile of the response time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseLimit(pub Duration);

impl ResponseLimit {
    /// `p99 < 20 ms`
    pub fn in_words(self) -> String {
        format!("p99 < {}", units::duration_tick(self.nanos()))
    }

    fn nanos(self) -> f64 {
        self.0.as_nanos() as f64
    }

    fn is_that_of(self, searched: &SearchedRate) -> bool {
        searched.quantile == QUANTILE && u128::from(searched.limit_ns) == self.0.as_nanos()
    }

    /// What to measure, as a line of an experiment file.
    fn line_to_measure(self) -> String {
        let ns = self.0.as_nanos();
        let limit = match ns {
            _ if ns.is_multiple_of(1_000_000) => format!("{}ms", ns / 1_000_000),
            _ if ns.is_multiple_of(1_000) => format!("{}us", ns / 1_000),
            _ => format!("{ns}ns"),
        };
        format!("find = {{ p99 = \"{limit}\" }}")
    }
}

/// The share of the highest throughput that keeps a limit.
///
/// On the measured machine, it is the highest rate that keeps the limit in an open loop, divided by the highest
/// throughput in a closed loop: the utilisation of the binding limit at that rate. The model: on another machine, the
/// same utilisation keeps the same limit, where the same limit binds and its service time is the same.
///
/// Source: in a queue with Poisson arrivals and exponential service times, R = S / (1 - U), and the percentile p of the
/// response times is R ln(1 / (1 - p)): both depend on nothing but the service time S and the utilisation U (R. Jain,
/// "The Art of Computer Systems Performance Analysis", 1991, chapter 31, M/M/1).
#[derive(Debug, Clone, PartialEq)]
pub struct AllowedShare {
    pub limit: ResponseLimit,
    /// At most 1.
    pub share: Interval,
    /// The highest rate that keeps the limit on the measured machine, operations per second.
    pub rate_per_s: f64,
    /// Whether higher rates may keep it, too.
    pub is_at_least: bool,
    /// The highest throughput in a closed loop there, operations per second.
    pub closed_loop_per_s: f64,
}

impl AllowedShare {
    /// `p99 < 20 ms up to 80 % (78 % to 82 %) of the throughput, as measured (3.20k/s of 4.00k/s); assumed: ...`
    pub(crate) fn in_words(&self) -> String {
        let up_to = if self.is_at_least {
            "at least up to"
        } else {
            "up to"
        };
        let [share, low, high] = [
            self.share.estimate,
            self.share.low,
            self.share.high.min(1.0),
        ]
        .map(units::percent);
        format!(
            "{} {up_to} {share} ({low} to {high}) of the throughput, as measured ({} of {}); assumed: the same limit \
             binds, with the same service time",
            self.limit.in_words(),
            units::per_s(self.rate_per_s),
            units::per_s(self.closed_loop_per_s)
        )
    }
}

/// An allowed share with that of each draw.
pub(crate) struct AllowedDraws {
    pub(crate) allowed: AllowedShare,
    pub(crate) each: Vec<f64>,
}

/// The share that the searches among the executions allow, by all executions and by each draw; of several searches that
/// of the smallest. If there is none, what to measure.
pub(crate) fn allowed_share(
    executions: &Executions,
    cells: &Cells<'_>,
    draws: &[Draw<'_>],
    limit: ResponseLimit,
) -> Result<AllowedDraws, String> {
    let searches = executions.searches.iter();
    let searches: Vec<&SearchedRate> = searches.filter(|it| limit.is_that_of(it)).collect();
    let found = searches.iter().filter_map(|searched| {
        let per_s = searched.per_s?;
        let fastest = cells.fastest(memory_of(searched, cells)?)?;
        let throughput = |draw: &Draw<'_>| draw.mean(fastest, |it| Some(it.throughput_per_s));
        Some((*searched, per_s, throughput(&cells.all())?, fastest))
    });
    let share = |per_s: Interval, closed_loop_per_s: f64| per_s.estimate / closed_loop_per_s;
    let least = found.min_by(|a, b| share(a.1, a.2).total_cmp(&share(b.1, b.2)));
    let Some((searched, per_s, closed_loop_per_s, fastest)) = least else {
        return Err(what_to_measure(executions, &searches, limit));
    };
    // The search is independent of the executions: its own error is drawn beside theirs.
    let deviation = (per_s.high / per_s.low).ln() / 2.0 / DEVIATIONS;
    let mut random = Random::new(SEED);
    let each = draws.iter().map(|draw| {
        let throughput = draw.mean(fastest, |it| Some(it.throughput_per_s));
        let rate_per_s = per_s.estimate * (deviation * normal(&mut random)).exp();
        (rate_per_s / throughput.unwrap_or(closed_loop_per_s)).min(1.0)
    });
    let each: Vec<f64> = each.collect();
    let estimate = share(per_s, closed_loop_per_s).min(1.0);
    let allowed = AllowedShare {
        limit,
        share: interval(estimate, &each, cells.fewest()),
        rate_per_s: per_s.estimate,
        is_at_least: searched.is_at_least,
        closed_loop_per_s,
    };
    Ok(AllowedDraws { allowed, each })
}

/// The memory of the cells that a search had; `None` if they had another one.
fn memory_of(searched: &SearchedRate, cells: &Cells<'_>) -> Option<usize> {
    let Some(share) = searched.share.filter(|_| !cells.shares.is_empty()) else {
        return (cells.shares.len() < 2).then_some(0);
    };
    let mut shares = cells.shares.iter();
    shares.position(|measured| is_same_share(share, *measured))
}

/// Approximately normal with a mean of 0 and a deviation of 1: the sum of twelve uniform numbers, less 6.
fn normal(random: &mut Random) -> f64 {
    const STEPS: usize = 1 << 30;
    let sum: f64 = (0..12)
        .map(|_| random.below(STEPS) as f64 / STEPS as f64)
        .sum();
    sum - 6.0
}

fn what_to_measure(
    executions: &Executions,
    searches: &[&SearchedRate],
    limit: ResponseLimit,
) -> String {
    if let Some(unanswered) = searches.iter().find(|it| it.per_s.is_none()) {
        return format!(
            "the search found no rate ({}); continue it with --resume and a larger at_most, or allow a longer response \
             time",
            unanswered.in_words
        );
    }
    if let Some(other) = searches.first() {
        return format!(
            "the search ({}) had another share of the data in memory than all records of a closed loop; repeat it with \
             their buffer pool",
            other.in_words
        );
    }
    let others = executions.searches.iter().map(|it| it.in_words.as_str());
    let others: Vec<&str> = others.collect();
    let others = if others.is_empty() {
        String::new()
    } else {
        format!(" (found: {})", others.join("; "))
    };
    format!(
        "no search for {} is among the records{others}; measure the same load without rate and stages, but with \
         {} in [load] and repeats = \"until decided\", and name its results, too",
        limit.in_words(),
        limit.line_to_measure()
    )
}
