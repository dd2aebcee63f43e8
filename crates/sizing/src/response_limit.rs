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
    /// `p99 < 20 ms up to 80 % (78 % to 82 %) of the highest throughput (measured: 3.20k/s of 4.00k/s); assumed: ...`
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
            "{} {up_to} {share} ({low} to {high}) of the highest throughput (measured: {} of {}); assumed: the same \
             limit binds, with the same service time",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{execution::Execution, testing::execution};

    const LIMIT: ResponseLimit = ResponseLimit(Duration::from_millis(20));

    /// A search on the machine whose closed loop does 4000 operations/s, with half of the data in memory.
    fn searched(per_s: Option<[f64; 3]>) -> SearchedRate {
        SearchedRate {
            quantile: 0.99,
            limit_ns: 20_000_000,
            in_words: "the answer".to_owned(),
            per_s: per_s.map(|[estimate, low, high]| Interval {
                estimate,
                low,
                high,
            }),
            is_at_least: false,
            share: Some(0.5),
        }
    }

    fn allowed(searches: Vec<SearchedRate>) -> Result<AllowedDraws, String> {
        let all = [1, 2].map(|block| Execution {
            throughput_per_s: 4000.0,
            ..execution(0.5, 4, block)
        });
        let mut executions = Executions::of("made".to_owned(), all.into());
        executions.searches = searches;
        let cells = Cells::of(&executions.all).unwrap();
        allowed_share(&executions, &cells, &cells.draws(100), LIMIT)
    }

    #[test]
    fn the_rate_of_a_search_is_a_share_of_the_closed_loop() {
        // 3200 / 4000.
        let exact = allowed(vec![searched(Some([3200.0; 3]))]).unwrap();
        assert!((exact.allowed.share.estimate - 0.8).abs() < 1e-12);
        assert!(exact.each.iter().all(|it| (it - 0.8).abs() < 1e-12));
        assert_eq!(
            exact.allowed.in_words(),
            "p99 < 20 ms up to 80 % (80 % to 80 %) of the highest throughput (measured: 3.20k/s of 4.00k/s); assumed: the \
             same limit binds, with the same service time"
        );
        // The smallest of several counts, and no open loop does more than the closed one.
        let least = [3600.0, 2000.0].map(|per_s| searched(Some([per_s; 3])));
        let least = allowed(least.into()).unwrap();
        assert!((least.allowed.share.estimate - 0.5).abs() < 1e-12);
        let more = allowed(vec![searched(Some([5000.0; 3]))]).unwrap();
        assert!((more.allowed.share.estimate - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_draws_vary_as_the_interval_of_the_search() {
        let wide = allowed(vec![searched(Some([3200.0, 2909.0, 3520.0]))]).unwrap();
        let logs: Vec<f64> = wide.each.iter().map(|it| (it / 0.8).ln()).collect();
        let variance = logs.iter().map(|it| it * it).sum::<f64>() / logs.len() as f64;
        // ln(3520 / 2909) / 2 / 1.96 = 0.0486; of 100 draws within a third of it.
        assert!((variance.sqrt() / 0.0486 - 1.0).abs() < 0.33, "{variance}");
        let share = wide.allowed.share;
        assert!(share.low < 0.75 && share.high > 0.85, "{share:?}");
    }

    #[test]
    fn without_a_search_the_answer_is_what_to_measure() {
        let why = |searches| allowed(searches).err().unwrap();
        assert_eq!(
            why(Vec::new()),
            "no search for p99 < 20 ms is among the records; measure the same load without rate and stages, but with \
             find = { p99 = \"20ms\" } in [load] and repeats = \"until decided\", and name its results, too"
        );
        let other = SearchedRate {
            limit_ns: 50_000_000,
            ..searched(Some([3200.0; 3]))
        };
        assert!(why(vec![other]).contains("(found: the answer); measure"));
        let unanswered = why(vec![searched(None)]);
        assert!(unanswered.starts_with("the search found no rate (the answer)"));
        let smaller = SearchedRate {
            share: Some(0.25),
            ..searched(Some([3200.0; 3]))
        };
        assert!(why(vec![smaller]).contains("another share of the data in memory"));
        let lines = [Duration::from_micros(2500), Duration::from_nanos(1)];
        let lines = lines.map(|limit| ResponseLimit(limit).line_to_measure());
        assert_eq!(
            lines,
            ["find = { p99 = \"2500us\" }", "find = { p99 = \"1ns\" }"]
        );
    }
}
