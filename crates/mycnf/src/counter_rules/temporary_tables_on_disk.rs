//! Rule: statements' temporary tables are written to disk.

use crate::counter_rule::{Base, CounterRule, ONE_A_MINUTE, nothing_in_a_file, rate};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use units::percent;

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "temporary-tables-on-disk",
        title: "Temporary tables on disk",
        reason: "A temporary table on disk costs far more than one in memory. TEXT and BLOB columns and sorts without an index are the usual causes.",
        source: "MySQL Reference Manual, \"Internal Temporary Table Use in MySQL\"; the limit of a quarter is MySQLTuner's",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Created_tmp_tables"],
        at_least: 1_000,
    },
    judge,
};

/// Minimum share of temporary tables on disk for a finding.
const SHARE: f64 = 0.25;

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let share = counters.share("Created_tmp_disk_tables", &["Created_tmp_tables"])?;
    let per_s = counters.per_s("Created_tmp_disk_tables")?;
    if share < SHARE || per_s < ONE_A_MINUTE {
        return None;
    }
    let what = format!(
        "{} of the temporary tables are written to disk ({})",
        percent(share),
        rate(per_s)
    );
    let fix = "find the statements (tmp_disk_tables in the statement digests) and check them for TEXT and BLOB columns and missing indexes; if these are not the cause, test a higher tmp_table_size";
    Some(RuleFinding::of(subject, "tmp_table_size", Level::Warning, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn a_quarter_on_disk_is_named() {
        let tables = ("Created_tmp_tables", 100_000);
        assert_counted(
            &RULE,
            &[],
            &[tables, ("Created_tmp_disk_tables", 86_400)],
            "warning: tmp_table_size: 86 % of the temporary tables are written to disk (1 a second)",
        );
        assert_silent(&RULE, &[], &[tables, ("Created_tmp_disk_tables", 20_000)]);
        assert_too_early(&RULE, &[("Created_tmp_tables", 999)]);
    }
}
