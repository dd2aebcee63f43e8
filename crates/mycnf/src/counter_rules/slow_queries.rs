//! Rule: many statements are slow.

use crate::counter_rule::{Base, CounterRule, nothing_in_a_file};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::{count, fine_percent, seconds};

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "slow-queries",
        title: "Slow statements",
        reason: "Statements that run for longer than long_query_time occupy connections, hold locks, and keep old row versions from being removed.",
        source: "MySQL Reference Manual, \"Slow_queries\"; the limit of one in a hundred statements is our own",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Questions"],
        at_least: 1_000,
    },
    judge,
};

/// Minimum share of slow statements for a finding.
const SHARE: f64 = 0.01;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let share = counters.share("Slow_queries", &["Questions"])?;
    if share < SHARE {
        return None;
    }
    let name = "long_query_time";
    let limit: f64 = subject.value(name)?.parse().ok()?;
    let what = format!(
        "{} of {} statements took longer than {}",
        fine_percent(share),
        count(counters.get("Questions")? as f64),
        seconds(limit)
    );
    let log = ["log_slow_query", "slow_query_log"];
    let is_logged = log.iter().any(|name| subject.is_on(name) == Some(true));
    let fix = if is_logged {
        "find the slowest statements: dbdyno sql ranks the statements in the slow log"
    } else {
        "enable the slow log for a while, and find the slowest statements in it"
    };
    Some(RuleFinding::of(subject, name, Level::Note, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn slow_statements_are_named_by_their_share() {
        let limit = [("long_query_time", "10.000000"), ("slow_query_log", "OFF")];
        let questions = ("Questions", 100_000);
        assert_counted(
            &RULE,
            &limit,
            &[questions, ("Slow_queries", 2_000)],
            "note: long_query_time: 2 % of 100k statements took longer than 10.0 s; enable the slow log",
        );
        let logged = [("long_query_time", "10.000000"), ("slow_query_log", "ON")];
        assert_counted(
            &RULE,
            &logged,
            &[questions, ("Slow_queries", 2_000)],
            "ranks the statements in the slow log",
        );
        assert_silent(&RULE, &limit, &[questions, ("Slow_queries", 500)]);
        assert_too_early(&RULE, &[("Questions", 999)]);
    }
}
