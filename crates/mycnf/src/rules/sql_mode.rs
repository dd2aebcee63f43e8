//! Rule: the SQL mode is not strict.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "sql-mode",
    title: "SQL mode",
    reason: "Without a strict mode, the server truncates values that do not fit into their column, and stores the result.",
    source: "MySQL Reference Manual, \"Server SQL Modes\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let Some(line) = subject.set("sql_mode") else {
        return Vec::new();
    };
    let value = line.entry.value.as_deref().unwrap_or_default();
    let is_strict = value.split(',').any(|word| {
        let word = word.trim().to_ascii_uppercase();
        word.starts_with("STRICT_") || word == "TRADITIONAL"
    });
    if is_strict {
        return Vec::new();
    }
    let what = "not strict: values that do not fit into their column are truncated and stored with a warning";
    vec![
        RuleFinding::on(line, Level::Warning, what)
            .fix("add STRICT_TRANS_TABLES, if the application allows it"),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn words_and_strictness() {
        assert_found(&RULE, "mysql-8.0.33", "sql_mode=STRICT_TRANS_TABLES", &[]);
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
