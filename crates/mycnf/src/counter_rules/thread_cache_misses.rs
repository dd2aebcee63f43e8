//! Rule: most connections need a new thread.

use crate::counter_rule::{Base, CounterRule, nothing_in_a_file, rate};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::percent;

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "thread-cache-misses",
        title: "Thread cache too small",
        reason: "If the cache contains no thread, a new connection waits until the server has created a thread.",
        source: "MySQL Reference Manual, \"thread_cache_size\"; the limits of one in ten connections and one thread a second are our own",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Connections"],
        at_least: 1_000,
    },
    judge,
};

/// Minimum share of connections with a new thread for a finding.
const SHARE: f64 = 0.1;
/// Minimum number of threads created per second for a finding.
const CREATED_PER_S: f64 = 1.0;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let share = counters.share("Threads_created", &["Connections"])?;
    let per_s = counters.per_s("Threads_created")?;
    let is_pool = subject.is_one_of(
        "thread_handling",
        &["pool-of-threads", "loaded-dynamically"],
    );
    if share < SHARE || per_s < CREATED_PER_S || is_pool {
        return None;
    }
    let name = "thread_cache_size";
    let what = format!(
        "{} of the connections needed a new thread ({}), with a thread cache of {}",
        percent(share),
        rate(per_s),
        subject.value(name)?
    );
    let fix = "keep connections open with a connection pool in the application, or raise thread_cache_size";
    Some(RuleFinding::of(subject, name, Level::Warning, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn new_threads_are_named_unless_a_pool_serves() {
        let cache = [("thread_cache_size", "8")];
        let counters = [("Connections", 400_000), ("Threads_created", 200_000)];
        assert_counted(
            &RULE,
            &cache,
            &counters,
            "warning: thread_cache_size: 50 % of the connections needed a new thread (2 a second), with a thread cache of 8",
        );
        let pool = [
            ("thread_cache_size", "8"),
            ("thread_handling", "pool-of-threads"),
        ];
        assert_silent(&RULE, &pool, &counters);
        assert_silent(
            &RULE,
            &cache,
            &[("Connections", 400_000), ("Threads_created", 900)],
        );
        assert_too_early(&RULE, &[("Connections", 999)]);
    }
}
