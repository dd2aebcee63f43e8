//! Rule: the limit on open files is nearly reached.

use crate::counter_rule::{Base, CounterRule, nothing_in_a_file};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::percent;

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "open-files-used",
        title: "Number of open files near the limit",
        reason: "A server that runs out of file descriptors refuses statements and connections.",
        source: "MySQL Reference Manual, \"File Not Found and Similar Errors\"; the limit of 85 % is MySQLTuner's",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Open_files"],
        at_least: 1,
    },
    judge,
};

/// Minimum share of the limit in use for a finding.
const SHARE: f64 = 0.85;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let name = "open_files_limit";
    let limit = u64::try_from(subject.number(name)?)
        .ok()
        .filter(|limit| *limit > 0)?;
    let open = counters.get("Open_files")?;
    let share = open as f64 / limit as f64;
    (share >= SHARE).then(|| {
        let what = format!("{open} of {limit} allowed files are open ({})", percent(share));
        RuleFinding::of(subject, name, Level::Warning, what)
            .fix("raise open_files_limit and the limit of the systemd service (LimitNOFILE), or lower table_open_cache")
    })
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn a_nearly_reached_limit_is_named() {
        let limit = [("open_files_limit", "1024")];
        assert_counted(
            &RULE,
            &limit,
            &[("Open_files", 1_000)],
            "warning: open_files_limit: 1000 of 1024 allowed files are open (97.7 %)",
        );
        assert_silent(&RULE, &limit, &[("Open_files", 500)]);
        assert_too_early(&RULE, &[("Open_files", 0)]);
    }
}
