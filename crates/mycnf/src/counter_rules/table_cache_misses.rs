//! Rule: tables are closed and opened again because the cache is full.

use crate::counter_rule::{Base, CounterRule, ONE_A_MINUTE, nothing_in_a_file, rate};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::fine_percent;

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "table-cache-misses",
        title: "Table cache too small",
        reason: "A table that is not in the cache must be opened again under a lock. On the other hand, each entry in the cache needs memory and file descriptors.",
        source: "MySQL Reference Manual, \"How MySQL Opens and Closes Tables\"; the limit of one opened table a second is our own",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Opened_tables"],
        at_least: 1_000,
    },
    judge,
};

/// Minimum number of opened tables per second for a finding.
const OPENED_PER_S: f64 = 1.0;
/// Share of the cache in use above which it counts as full.
const FULL_SHARE: f64 = 0.95;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let name = "table_open_cache";
    let size = subject.number(name)?;
    let opened_per_s = counters.per_s("Opened_tables")?;
    let overflows_per_s = counters.per_s("Table_open_cache_overflows");
    let is_full = counters
        .get("Open_tables")
        .is_some_and(|open| open as f64 >= FULL_SHARE * size as f64);
    let is_short = is_full || overflows_per_s.is_some_and(|per_s| per_s >= ONE_A_MINUTE);
    if opened_per_s < OPENED_PER_S || !is_short {
        return None;
    }
    let misses = counters.share(
        "Table_open_cache_misses",
        &["Table_open_cache_misses", "Table_open_cache_hits"],
    );
    let misses = misses.map(|share| {
        format!(
            ", and {} of all lookups find no table in the cache",
            fine_percent(share)
        )
    });
    let what = format!(
        "the table cache with {size} entries is too small: tables are opened at a rate of {}{}",
        rate(opened_per_s),
        misses.unwrap_or_default()
    );
    let fix = "increase table_open_cache in steps, as far as open_files_limit allows, and monitor Opened_tables";
    Some(RuleFinding::of(subject, name, Level::Warning, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn only_a_full_cache_is_too_small() {
        let cache = [("table_open_cache", "400")];
        let opened = ("Opened_tables", 200_000);
        assert_counted(
            &RULE,
            &cache,
            &[
                opened,
                ("Open_tables", 400),
                ("Table_open_cache_misses", 20),
                ("Table_open_cache_hits", 80),
            ],
            "warning: table_open_cache: the table cache with 400 entries is too small: tables are opened at a rate of 2 a second, and 20 % of all lookups find no table",
        );
        let overflows = [
            opened,
            ("Open_tables", 300),
            ("Table_open_cache_overflows", 50_000),
        ];
        assert_counted(
            &RULE,
            &cache,
            &overflows,
            "tables are opened at a rate of 2 a second; increase",
        );
        // FLUSH TABLES and ALTER TABLE open tables again, too.
        assert_silent(&RULE, &cache, &[opened, ("Open_tables", 300)]);
        assert_too_early(&RULE, &[("Opened_tables", 999)]);
    }
}
