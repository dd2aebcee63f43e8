//! Rule: connections were refused, or nearly all allowed connections were in use.

use crate::counter_rule::{Base, CounterRule, nothing_in_a_file};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::rules::memory_sum::option_to_lower;
use crate::subject::Subject;
use units::{counted, percent};

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "connection-limit",
        title: "Connection limit reached",
        reason: "The server refuses clients while all allowed connections are in use. Each additional connection can need memory for its own buffers.",
        source: "MySQL Reference Manual, \"Too many connections\"; the limit of 85 % is MySQLTuner's",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Connections"],
        at_least: 1,
    },
    judge,
};

/// Minimum share of max_connections in use at the same time for a finding.
const SHARE: f64 = 0.85;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let name = "max_connections";
    let limit = u64::try_from(subject.number(name)?).ok()?;
    let most = counters.get("Max_used_connections")?;
    let refused = counters
        .get("Connection_errors_max_connections")
        .filter(|count| *count > 0);
    if let Some(refused) = refused {
        let what = format!(
            "the server refused {} because all {limit} allowed connections were in use",
            counted(usize::try_from(refused).unwrap_or(usize::MAX), "connection")
        );
        let fix = if option_to_lower(subject).is_some() {
            "find connections that are never closed (SHOW PROCESSLIST), or use a connection pool in the application; the machine has no memory for more connections"
        } else {
            "find connections that are never closed (SHOW PROCESSLIST), use a connection pool in the application, or raise max_connections if the machine has enough memory"
        };
        return Some(RuleFinding::of(subject, name, Level::Warning, what).fix(fix));
    }
    let share = most as f64 / limit as f64;
    (share >= SHARE).then(|| {
        let what = format!(
            "{most} of {limit} allowed connections were in use at the same time ({})",
            percent(share)
        );
        RuleFinding::of(subject, name, Level::Note, what).fix(
            "monitor Max_used_connections; the server refuses connections beyond max_connections",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn refused_connections_are_worse_than_nearly_refused_ones() {
        let limit = [("max_connections", "100")];
        let connections = ("Connections", 5_000);
        let most = |most| [connections, ("Max_used_connections", most)];
        assert_counted(
            &RULE,
            &limit,
            &most(90),
            "note: max_connections: 90 of 100 allowed connections were in use at the same time (90 %)",
        );
        assert_counted(
            &RULE,
            &limit,
            &[&most(101)[..], &[("Connection_errors_max_connections", 7)]].concat(),
            "warning: max_connections: the server refused 7 connections because all 100 allowed connections were in use",
        );
        assert_silent(&RULE, &limit, &most(50));
        assert_too_early(&RULE, &[("Connections", 0)]);
    }
}
