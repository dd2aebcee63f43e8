//! Rule: threads wait for a free page in the buffer pool.

use crate::counter_rule::{Base, CounterRule, nothing_in_a_file, rate};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "free-page-waits",
        title: "Waits for a free page",
        reason: "A thread that needs a free page waits until a page is flushed and freed. Either pages are not flushed fast enough, or the buffer pool is far too small.",
        source: "MySQL Reference Manual, \"Innodb_buffer_pool_wait_free\": \"this value should be small\"; the limit of one wait a second is our own",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Innodb_buffer_pool_read_requests"],
        at_least: 100_000,
    },
    judge,
};

/// Minimum number of waits per second for a finding.
const WAITS_PER_S: f64 = 1.0;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let waits_per_s = counters.per_s("Innodb_buffer_pool_wait_free")?;
    if waits_per_s < WAITS_PER_S {
        return None;
    }
    let what = format!(
        "threads waited for a free page (waits: {}), because pages are not flushed fast enough",
        rate(waits_per_s)
    );
    let fix = "test a higher innodb_io_capacity within the disk's limits (measure them with dbdyno storage), then a larger buffer pool";
    Some(RuleFinding::of(subject, "innodb_io_capacity", Level::Warning, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn waits_are_named_from_one_a_second() {
        let requests = ("Innodb_buffer_pool_read_requests", 1_000_000);
        assert_counted(
            &RULE,
            &[],
            &[requests, ("Innodb_buffer_pool_wait_free", 200_000)],
            "warning: innodb_io_capacity: threads waited for a free page (waits: 2 a second)",
        );
        assert_silent(
            &RULE,
            &[],
            &[requests, ("Innodb_buffer_pool_wait_free", 80_000)],
        );
        assert_too_early(&RULE, &[("Innodb_buffer_pool_read_requests", 10)]);
    }
}
