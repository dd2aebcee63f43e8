//! Rule: few lookups in the query cache find a result.

use crate::counter_rule::{Base, CounterRule, nothing_in_a_file, rate};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::{bytes, count, percent};

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "query-cache-use",
        title: "Query cache with few hits",
        reason: "Every SELECT searches the query cache under a single mutex, and every change to a table removes all cached results from that table. With a low hit ratio, the cache costs more than it saves.",
        source: "MySQL Reference Manual 5.7, \"Query Cache Status and Maintenance\"; the limit of one hit in five lookups is MySQLTuner's",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Qcache_hits", "Qcache_inserts", "Qcache_not_cached"],
        at_least: 10_000,
    },
    judge,
};

/// Share of hits below which the cache costs more than it saves.
const HIT_SHARE: f64 = 0.2;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let size = subject
        .number("query_cache_size")
        .filter(|size| *size > 0)?;
    if subject.is_one_of("query_cache_type", &["OFF", "0"]) {
        return None;
    }
    let lookups = ["Qcache_hits", "Qcache_inserts", "Qcache_not_cached"];
    let share = counters.share("Qcache_hits", &lookups)?;
    if share >= HIT_SHARE {
        return None;
    }
    let prunes_per_s = counters.per_s("Qcache_lowmem_prunes").unwrap_or(0.0);
    let what = format!(
        "only {} of the lookups found a result, and the cache dropped {} results for lack of space ({})",
        percent(share),
        count(counters.get("Qcache_lowmem_prunes").unwrap_or(0) as f64),
        rate(prunes_per_s)
    );
    let fix = format!(
        "disable the query cache (query_cache_type=0, query_cache_size=0), which frees {} of memory",
        bytes(u64::try_from(size).ok()?)
    );
    Some(RuleFinding::of(subject, "query_cache_size", Level::Warning, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn few_hits_are_named_where_the_cache_is_on() {
        let on = [("query_cache_size", "16777216"), ("query_cache_type", "ON")];
        let lookups = |hits| {
            [
                ("Qcache_hits", hits),
                ("Qcache_inserts", 80_000),
                ("Qcache_not_cached", 10_000),
                ("Qcache_lowmem_prunes", 864_000),
            ]
        };
        assert_counted(
            &RULE,
            &on,
            &lookups(10_000),
            "warning: query_cache_size: only 10 % of the lookups found a result, and the cache dropped 864k results for lack of space (10 a second); disable the query cache (query_cache_type=0, query_cache_size=0), which frees 16.0 MiB of memory",
        );
        assert_silent(&RULE, &on, &lookups(100_000));
        let off = [
            ("query_cache_size", "16777216"),
            ("query_cache_type", "OFF"),
        ];
        assert_silent(&RULE, &off, &lookups(10));
        assert_too_early(&RULE, &[("Qcache_hits", 10)]);
    }
}
