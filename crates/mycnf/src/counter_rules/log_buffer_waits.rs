//! Rule: transactions wait for space in the log buffer.

use crate::counter_rule::{Base, CounterRule, ONE_A_MINUTE, nothing_in_a_file, rate};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::bytes;

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "log-buffer-waits",
        title: "Waits for the log buffer",
        reason: "If the log buffer is full, transactions wait until the server has written it to the redo log.",
        source: "MySQL Reference Manual, \"Innodb_log_waits\"; the limit of one wait a minute is our own",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Innodb_log_write_requests"],
        at_least: 10_000,
    },
    judge,
};

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let waits_per_s = counters.per_s("Innodb_log_waits")?;
    if waits_per_s < ONE_A_MINUTE {
        return None;
    }
    let name = "innodb_log_buffer_size";
    let size = u64::try_from(subject.number(name)?).ok()?;
    let what = format!(
        "transactions waited for space in the log buffer of {} (waits: {})",
        bytes(size),
        rate(waits_per_s)
    );
    let fix = "double innodb_log_buffer_size and monitor Innodb_log_waits; if the waits remain, the limit is the disk with the redo log";
    Some(RuleFinding::of(subject, name, Level::Warning, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn waits_are_named_from_one_a_minute() {
        let size = [("innodb_log_buffer_size", "8388608")];
        let requests = ("Innodb_log_write_requests", 1_000_000);
        assert_counted(
            &RULE,
            &size,
            &[requests, ("Innodb_log_waits", 17_280)],
            "warning: innodb_log_buffer_size: transactions waited for space in the log buffer of 8.00 MiB (waits: 12 a minute)",
        );
        assert_silent(&RULE, &size, &[requests, ("Innodb_log_waits", 100)]);
        assert_too_early(&RULE, &[("Innodb_log_write_requests", 9_999)]);
    }
}
