//! Rule: most rows are read by scans.

use crate::counter_rule::{Base, CounterRule, nothing_in_a_file, rate};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::percent;

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "full-scans",
        title: "Rows read by scans",
        reason: "Rows that a scan reads and discards cost CPU time and push useful pages out of the buffer pool.",
        source: "MySQL Reference Manual, \"Handler_read_rnd_next\"; the limit of nine in ten rows is our own",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &[
            "Handler_read_rnd_next",
            "Handler_read_next",
            "Handler_read_key",
        ],
        at_least: 1_000_000,
    },
    judge,
};

/// Minimum share of rows read by scans for a finding.
const SHARE: f64 = 0.9;

fn judge(_: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let name = "Handler_read_rnd_next";
    let all = [
        name,
        "Handler_read_first",
        "Handler_read_key",
        "Handler_read_last",
        "Handler_read_next",
        "Handler_read_prev",
        "Handler_read_rnd",
    ];
    let share = counters.share(name, &all)?;
    if share < SHARE {
        return None;
    }
    let what = format!(
        "full table scans read {} of all rows ({})",
        percent(share),
        rate(counters.per_s(name)?)
    );
    let fix = "find the statements that examine the most rows (rows examined in the statement digests); no setting solves this";
    Some(RuleFinding::about(name, Level::Note, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn scans_are_information() {
        assert_counted(
            &RULE,
            &[],
            &[
                ("Handler_read_rnd_next", 950_000_000),
                ("Handler_read_key", 50_000_000),
            ],
            "note: Handler_read_rnd_next: full table scans read 95 % of all rows (11.0k a second)",
        );
        assert_silent(
            &RULE,
            &[],
            &[
                ("Handler_read_rnd_next", 1_000_000),
                ("Handler_read_key", 1_000_000),
            ],
        );
        assert_too_early(&RULE, &[("Handler_read_rnd_next", 999_999)]);
    }
}
