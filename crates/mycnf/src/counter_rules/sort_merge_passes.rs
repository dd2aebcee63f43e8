//! Rule: sorts do not fit into the sort buffer.

use crate::counter_rule::{Base, CounterRule, ONE_A_MINUTE, nothing_in_a_file, rate};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::{bytes, count};

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "sort-merge-passes",
        title: "Sorts that merge temporary files",
        reason: "A sort that does not fit into sort_buffer_size writes sorted parts to a temporary file and merges them. A larger buffer uses more memory in every sorting connection.",
        source: "MySQL Reference Manual, \"Sort_merge_passes\"; the limit of one merge pass in ten sorts is MySQLTuner's",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Sort_range", "Sort_scan"],
        at_least: 1_000,
    },
    judge,
};

/// Minimum number of merge passes per sort for a finding.
const SHARE: f64 = 0.1;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let share = counters.share("Sort_merge_passes", &["Sort_range", "Sort_scan"])?;
    let per_s = counters.per_s("Sort_merge_passes")?;
    if share < SHARE || per_s < ONE_A_MINUTE {
        return None;
    }
    let name = "sort_buffer_size";
    let size = u64::try_from(subject.number(name)?).ok()?;
    let what = format!(
        "{} merge passes for every 100 sorts ({}), with a sort buffer of {}",
        count((share * 100.0).round()),
        rate(per_s),
        bytes(size)
    );
    let fix = "add an index that returns the rows in sorted order, or test a larger sort_buffer_size in the sessions that sort";
    Some(RuleFinding::of(subject, name, Level::Warning, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn passes_are_named_by_their_share() {
        let size = [("sort_buffer_size", "262144")];
        let sorts = [("Sort_range", 4_000), ("Sort_scan", 6_000)];
        assert_counted(
            &RULE,
            &size,
            &[&sorts[..], &[("Sort_merge_passes", 5_000)]].concat(),
            "warning: sort_buffer_size: 50 merge passes for every 100 sorts (3 a minute), with a sort buffer of 256 KiB",
        );
        assert_silent(
            &RULE,
            &size,
            &[&sorts[..], &[("Sort_merge_passes", 900)]].concat(),
        );
        assert_too_early(&RULE, &[("Sort_range", 400), ("Sort_scan", 500)]);
    }
}
