//! Rule: transactions outgrow the cache of the binary log.

use crate::counter_rule::{Base, CounterRule, ONE_A_MINUTE, nothing_in_a_file, rate};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::{bytes, percent};

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "binlog-cache-on-disk",
        title: "Binary log cache too small",
        reason: "A transaction that does not fit into binlog_cache_size is written to a temporary file before it commits. Each connection has its own cache.",
        source: "MySQL Reference Manual, \"Binlog_cache_disk_use\"; the limit of 5 % is our own",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Binlog_cache_use"],
        at_least: 1_000,
    },
    judge,
};

/// Minimum share of transactions in a temporary file for a finding.
const SHARE: f64 = 0.05;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let share = counters.share("Binlog_cache_disk_use", &["Binlog_cache_use"])?;
    let per_s = counters.per_s("Binlog_cache_disk_use")?;
    if share < SHARE || per_s < ONE_A_MINUTE {
        return None;
    }
    let name = "binlog_cache_size";
    let size = u64::try_from(subject.number(name)?).ok()?;
    let what = format!(
        "{} of the transactions did not fit into the binary log cache of {} ({})",
        percent(share),
        bytes(size),
        rate(per_s)
    );
    let fix = "commit large changes in parts, or double binlog_cache_size and monitor Binlog_cache_disk_use";
    Some(RuleFinding::of(subject, name, Level::Warning, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn large_transactions_are_named_by_their_share() {
        let size = [("binlog_cache_size", "32768")];
        let used = ("Binlog_cache_use", 40_000);
        assert_counted(
            &RULE,
            &size,
            &[used, ("Binlog_cache_disk_use", 8_000)],
            "warning: binlog_cache_size: 20 % of the transactions did not fit into the binary log cache of 32.0 KiB (6 a minute)",
        );
        assert_silent(&RULE, &size, &[used, ("Binlog_cache_disk_use", 1_500)]);
        assert_too_early(&RULE, &[("Binlog_cache_use", 999)]);
    }
}
