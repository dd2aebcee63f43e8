//! Rule: the binary log is statement-based.

use crate::deprecation::deprecation;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "statement-based-binlog",
    title: "Statement-based binary log",
    reason: "Non-deterministic statements can produce different rows on a replica. With the isolation level READ-COMMITTED, InnoDB rejects statements that change data.",
    source: "MySQL Reference Manual, \"Replication Formats\"; error 1665 with READ-COMMITTED; measurements of \
        auto-increment locks published in 2009 and repeated in docs/auto-increment.md",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    if !subject.has_binary_log() || !subject.is_one_of("binlog_format", &["STATEMENT", "1"]) {
        return Vec::new();
    }
    let isolation = ["transaction_isolation", "tx_isolation"];
    let write_row = row_based(subject);
    let is_committed = isolation
        .iter()
        .any(|name| subject.is_one_of(name, &["READ-COMMITTED", "READ-UNCOMMITTED"]))
        || subject.set("transaction_isolation").is_some_and(|line| {
            line.entry
                .value
                .as_deref()
                .is_some_and(|value| value.to_ascii_uppercase().starts_with("READ-"))
        });
    let mut remarks = Vec::new();
    if is_committed {
        let what = "with this isolation level and a statement-based binary log, InnoDB rejects statements that change data (error 1665)";
        remarks.push(
            RuleFinding::of(subject, "transaction_isolation", Level::Risk, what).fix(write_row),
        );
    } else {
        let what = "the binary log is statement-based: non-deterministic statements can produce different rows on a replica";
        let level = if subject.set("binlog_format").is_some() {
            Level::Warning
        } else {
            Level::Note
        };
        remarks.push(RuleFinding::of(subject, "binlog_format", level, what).fix(write_row));
    }
    if subject.number("innodb_autoinc_lock_mode") == Some(2) {
        let what = "with this setting, auto-increment values can differ on a replica that re-executes statements";
        remarks.push(
            RuleFinding::of(subject, "innodb_autoinc_lock_mode", Level::Risk, what).fix(write_row),
        );
    }
    remarks
}

/// The advice that leads to a row-based binary log: if the option is deprecated, its line should be removed.
pub(super) fn row_based(subject: &Subject<'_>) -> &'static str {
    if deprecation(subject.target, "binlog_format").is_some() {
        "remove binlog_format: ROW is the default"
    } else {
        "set binlog_format = ROW"
    }
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn statements_and_what_they_forbid() {
        assert_found(&RULE, "mysql-5.6", "log_bin=x", &["note: binlog_format"]);
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "binlog_format=STATEMENT",
            &[
                "warning: binlog_format",
                "risk: innodb_autoinc_lock_mode: with this setting, auto-increment values can differ",
            ],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "log_bin=x\ntransaction-isolation=READ-COMMITTED",
            &["error 1665"],
        );
        assert_found(&RULE, "mysql-5.7", "log_bin=x\nserver_id=1", &[]);
        assert_found(&RULE, "mysql-5.6", "", &[]);
        assert_found(
            &RULE,
            "mysql-8.4",
            "binlog_format=STATEMENT\ninnodb_autoinc_lock_mode=1",
            &[
                "warning: binlog_format=STATEMENT: the binary log is statement-based: non-deterministic statements can produce different rows on a replica; \
               remove binlog_format: ROW is the default",
            ],
        );
    }
}
