//! Rule: many connections end without being closed by the client.

use std::time::Duration;

use crate::counter_rule::{Base, CounterRule, nothing_in_a_file};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::{count, percent, span};

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "aborted-clients",
        title: "Lost clients",
        reason: "A connection is lost if the client ends without closing it, is idle for longer than wait_timeout or sends too large a packet. The open transaction is then rolled back.",
        source: "MySQL Reference Manual, \"Communication Errors and Aborted Connections\"; the limit of 10 % is our own",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Connections"],
        at_least: 100,
    },
    judge,
};

/// Minimum share of lost connections for a finding.
const SHARE: f64 = 0.1;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let share = counters.share("Aborted_clients", &["Connections"])?;
    if share < SHARE {
        return None;
    }
    let name = "wait_timeout";
    let timeout_s = u64::try_from(subject.number(name)?).ok()?;
    let what = format!(
        "{} of {} connections ended without being closed by the client; the server closes idle connections after {}",
        percent(share),
        count(counters.get("Connections")? as f64),
        span(Duration::from_secs(timeout_s))
    );
    let fix = "make the application close its connections, and make its connection pool close idle connections before the server does";
    Some(RuleFinding::of(subject, name, Level::Note, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn lost_clients_are_named_by_their_share() {
        let timeout = [("wait_timeout", "28800")];
        let connections = ("Connections", 2_000);
        assert_counted(
            &RULE,
            &timeout,
            &[connections, ("Aborted_clients", 500)],
            "note: wait_timeout: 25 % of 2.00k connections ended",
        );
        assert_silent(&RULE, &timeout, &[connections, ("Aborted_clients", 100)]);
        assert_too_early(&RULE, &[("Connections", 99), ("Aborted_clients", 99)]);
    }
}
