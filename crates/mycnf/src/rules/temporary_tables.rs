//! Rule: one of the two limits on temporary tables has no effect.

use crate::rule::{Level, Rule, RuleFinding};
use crate::size::size;
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "temporary-table-limits",
    title: "Limits on temporary tables",
    reason: "For temporary tables in memory, the smaller of tmp_table_size and max_heap_table_size applies. Raising only the larger one has no effect.",
    source: "MySQL Reference Manual, \"Internal Temporary Table Use in MySQL\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let (Some(tmp), Some(heap)) = (
        subject.number("tmp_table_size"),
        subject.number("max_heap_table_size"),
    ) else {
        return Vec::new();
    };
    // TempTable has its own limits.
    if subject.is_one_of("internal_tmp_mem_storage_engine", &["TempTable"]) {
        return Vec::new();
    }
    let (larger, smaller, counts) = if tmp > heap {
        ("tmp_table_size", "max_heap_table_size", heap)
    } else {
        ("max_heap_table_size", "tmp_table_size", tmp)
    };
    if tmp == heap || subject.set(larger).is_none() || larger == "max_heap_table_size" {
        return Vec::new();
    }
    let what = format!(
        "has no effect beyond {smaller} = {}, because the smaller of the two limits applies",
        size(counts)
    );
    let fix = "if the counter Created_tmp_disk_tables grows, set both options to the same value";
    vec![RuleFinding::of(subject, larger, Level::Warning, what).fix(fix)]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn the_smaller_counts() {
        assert_found(
            &RULE,
            "mysql-5.6",
            "tmp_table_size=64M",
            &["warning: tmp_table_size=64M: has no effect beyond max_heap_table_size = 16M"],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "tmp_table_size=64M\nmax_heap_table_size=64M",
            &[],
        );
        assert_found(&RULE, "mysql-8.0.33", "tmp_table_size=64M", &[]);
        assert_found(&RULE, "mysql-5.6", "max_heap_table_size=64M", &[]);
    }
}
