//! Rule: every statement is written to the general log, or the general and slow logs are written to tables.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "general-log",
    title: "General log enabled",
    reason: "Every statement of every session is also written to a single log, including the passwords that statements contain.",
    source: "MySQL Reference Manual, \"The General Query Log\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let mut remarks = Vec::new();
    if subject.set("general_log").is_some() && subject.is_on("general_log") == Some(true) {
        let what = "every statement of every session is written to a single log";
        remarks.push(
            RuleFinding::of(subject, "general_log", Level::Warning, what)
                .fix("remove the line; if you need the log, enable it for a few minutes with SET GLOBAL general_log = 1"),
        );
    }
    let output = subject
        .value("log_output")
        .unwrap_or_default()
        .to_ascii_uppercase();
    let is_logging = ["slow_query_log", "log_slow_query", "general_log"]
        .iter()
        .any(|name| subject.is_on(name) == Some(true));
    if output.contains("TABLE") && subject.set("log_output").is_some() {
        let what = if is_logging {
            "the logs are written to CSV tables without indexes, and tools that analyse the slow log read only files"
        } else {
            "neither the general log nor the slow log is enabled, so the line has no effect"
        };
        remarks.push(
            RuleFinding::of(subject, "log_output", Level::Note, what)
                .fix("set log_output = FILE, or remove the line"),
        );
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn logs_and_their_place() {
        assert_found(
            &RULE,
            "mysql-5.6",
            "general_log=1",
            &["warning: general_log=1"],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "log_output=TABLE",
            &["neither the general log nor the slow log is enabled"],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "log_output=TABLE\nslow_query_log=1",
            &["CSV tables"],
        );
        assert_found(&RULE, "mysql-5.6", "log_output=FILE", &[]);
    }
}
