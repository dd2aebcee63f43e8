//! Rule: many logins fail.

use crate::counter_rule::{Base, CounterRule, nothing_in_a_file};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::{count, percent};

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "aborted-connects",
        title: "Failed logins",
        reason: "Wrong passwords, missing privileges, port scans and slow networks abort logins. After too many aborted logins, the server may block the client's host (max_connect_errors).",
        source: "MySQL Reference Manual, \"Communication Errors and Aborted Connections\"; the limit of 5 % is our own",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Connections"],
        at_least: 100,
    },
    judge,
};

/// Minimum share of failed logins for a finding.
const SHARE: f64 = 0.05;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let share = counters.share("Aborted_connects", &["Connections"])?;
    if share < SHARE {
        return None;
    }
    let what = format!(
        "{} of {} connections failed to log in",
        percent(share),
        count(counters.get("Connections")? as f64)
    );
    let fix = "find the account and the host in the error log (log_error_verbosity=3, or log_warnings=2 in older versions); no setting solves this";
    Some(RuleFinding::of(subject, "connect_timeout", Level::Warning, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn failed_logins_are_named_by_their_share() {
        let connections = ("Connections", 2_000);
        assert_counted(
            &RULE,
            &[],
            &[connections, ("Aborted_connects", 500)],
            "warning: connect_timeout: 25 % of 2.00k connections failed to log in",
        );
        assert_silent(&RULE, &[], &[connections, ("Aborted_connects", 50)]);
        assert_too_early(&RULE, &[("Connections", 99), ("Aborted_connects", 99)]);
    }
}
