//! Rule: the limit on open files is lower than the caches need.

use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "open-files-limit",
    title: "Limit on open files too low",
    reason: "If the limit on open files is too low, the server lowers table_open_cache and max_connections, and reports this only in its log, if at all.",
    source: "MySQL Reference Manual, \"How MySQL Opens and Closes Tables\"; tested: with a limit of 20000 \
        files, the server lowered table_open_cache from 10000 to 9919",
    check,
};

/// Files that the server needs for other purposes.
const OWN: i128 = 10;

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let Some(limit) = subject
        .set("open_files_limit")
        .and(subject.number("open_files_limit"))
    else {
        return Vec::new();
    };
    let (connections, tables) = (
        subject.number("max_connections"),
        subject.number("table_open_cache"),
    );
    let Some((connections, tables)) = connections.zip(tables) else {
        return Vec::new();
    };
    let needed = tables
        .saturating_mul(2)
        .saturating_add(connections)
        .saturating_add(OWN);
    if limit == 0 || needed <= limit {
        return Vec::new();
    }
    let what = format!(
        "{connections} connections and {tables} open tables need {needed} files, which exceeds the limit, so the server lowers table_open_cache"
    );
    vec![
        Remark::of(subject, "open_files_limit", Level::Warning, what).fix(format!(
            "lower table_open_cache or, if the counter Opened_tables grows, set open_files_limit to {needed}"
        )),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn the_sum_is_compared() {
        assert_found(
            &RULE,
            "mysql-5.6",
            "open_files_limit=1024",
            &["151 connections and 2000 open tables need 4161 files"],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "open_files_limit=65535\ntable_open_cache=10000",
            &[],
        );
        assert_found(&RULE, "mysql-5.6", "", &[]);
    }
}
