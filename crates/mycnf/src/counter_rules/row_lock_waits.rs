//! Rule: transactions wait for each other's rows.

use crate::counter_rule::{Base, CounterRule, nothing_in_a_file};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::{count, seconds};

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "row-lock-waits",
        title: "Waits for row locks",
        reason: "A transaction locks the rows that it changes until it commits. Long transactions and hot rows cause waits.",
        source: "MySQL Reference Manual, \"Innodb_row_lock_time\"; the limit of 0.1 waiting sessions on average is our own",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Innodb_row_lock_waits"],
        at_least: 100,
    },
    judge,
};

/// Minimum average number of waiting sessions for a finding.
const SESSIONS: f64 = 0.1;
const MS: f64 = 1000.0;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    // Milliseconds of waiting per second of uptime.
    let sessions = counters.per_s("Innodb_row_lock_time")? / MS;
    if sessions < SESSIONS {
        return None;
    }
    let waits = counters.get("Innodb_row_lock_waits")?;
    let mean_s = counters.get("Innodb_row_lock_time")? as f64 / MS / waits as f64;
    let what = format!(
        "{} waits for row locks with a mean of {}: on average, {sessions:.1} sessions were waiting",
        count(waits as f64),
        seconds(mean_s)
    );
    let fix =
        "find the transactions that hold the locks; a shorter timeout only makes statements fail";
    Some(RuleFinding::of(subject, "innodb_lock_wait_timeout", Level::Note, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn waiting_sessions_are_named() {
        assert_counted(
            &RULE,
            &[],
            &[
                ("Innodb_row_lock_waits", 432_000),
                ("Innodb_row_lock_time", 43_200_000),
            ],
            "note: innodb_lock_wait_timeout: 432k waits for row locks with a mean of 100 ms: on average, 0.5 sessions were waiting",
        );
        assert_silent(
            &RULE,
            &[],
            &[
                ("Innodb_row_lock_waits", 1_000),
                ("Innodb_row_lock_time", 50_000),
            ],
        );
        assert_too_early(&RULE, &[("Innodb_row_lock_waits", 99)]);
    }
}
