//! Rule: the SQL mode has words that the version refuses, or accepts wrong values.

use crate::Family;
use crate::rule::Rewrite;
use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "sql-mode",
    title: "SQL mode",
    reason: "A word that the version does not know keeps the server from starting; without a strict mode wrong \
        values are cut and stored.",
    source: "MySQL Reference Manual, \"Server SQL Modes\"; 8.0 removed NO_AUTO_CREATE_USER and the modes of other \
        databases",
    check,
};

/// Words that MySQL 8.0 removed.
const REMOVED: [&str; 11] = [
    "NO_AUTO_CREATE_USER",
    "DB2",
    "MAXDB",
    "MSSQL",
    "MYSQL323",
    "MYSQL40",
    "ORACLE",
    "POSTGRESQL",
    "NO_FIELD_OPTIONS",
    "NO_KEY_OPTIONS",
    "NO_TABLE_OPTIONS",
];

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let Some(line) = subject.set("sql_mode") else {
        return Vec::new();
    };
    let value = line.entry.value.as_deref().unwrap_or_default();
    let words = || {
        value
            .split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
    };
    let is_removed = |word: &str| {
        REMOVED
            .iter()
            .any(|removed| removed.eq_ignore_ascii_case(word))
    };
    let mut remarks = Vec::new();
    let gone: Vec<&str> = words().filter(|word| is_removed(word)).collect();
    if subject.target.is_at_least(Family::MySql, &[8]) && !gone.is_empty() {
        let kept: Vec<&str> = words().filter(|word| !is_removed(word)).collect();
        let new = format!("{} = {}", line.entry.name, kept.join(","));
        let what = format!("8.0 and later do not know {}", gone.join(", "));
        remarks.push(
            Remark::on(line, Level::Refused, what)
                .fix(format!("write {new}"))
                .rewrite(Rewrite::Replace(new)),
        );
    }
    let is_strict = words().any(|word| {
        let word = word.to_ascii_uppercase();
        word.starts_with("STRICT_") || word == "TRADITIONAL"
    });
    if !is_strict {
        let what = "not strict: values that do not fit are cut and stored with a warning";
        remarks.push(
            Remark::on(line, Level::Warning, what)
                .fix("add STRICT_TRANS_TABLES, if the application allows it"),
        );
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn words_and_strictness() {
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "sql_mode=STRICT_TRANS_TABLES,NO_AUTO_CREATE_USER",
            &["write sql_mode = STRICT_TRANS_TABLES"],
        );
        assert_found(
            &RULE,
            "mysql-5.7",
            "sql_mode=NO_ENGINE_SUBSTITUTION",
            &["warning: sql_mode=NO_ENGINE_SUBSTITUTION: not strict"],
        );
        assert_found(&RULE, "mysql-5.6", "sql_mode=TRADITIONAL", &[]);
        assert_found(&RULE, "mysql-5.6", "", &[]);
    }
}
