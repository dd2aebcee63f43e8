//! Rule: binary logs are kept for ever.

use crate::log_expiry::{AUTO_PURGE, DAYS, SECONDS, expiry_option};
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "binary-logs-for-ever",
    title: "Binary logs never expire",
    reason: "Old binary logs fill the disk, and a full disk stops every write.",
    source: "MySQL Reference Manual, \"binlog_expire_logs_seconds\": the value 0 disables automatic removal",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    // By default, a binary log either expires or does not exist.
    let expiry = [AUTO_PURGE, SECONDS, DAYS];
    let is_set = |name: &&str| subject.set(name).is_some();
    if !subject.has_binary_log() || !(is_set(&"log_bin") || expiry.iter().any(is_set)) {
        return Vec::new();
    }
    let has_limit = |size: i128| size > 0;
    if subject.log_expiry_s().is_some_and(|period_s| period_s > 0)
        || subject
            .number("max_binlog_total_size")
            .is_some_and(has_limit)
    {
        return Vec::new();
    }
    let what = "binary logs are never removed and eventually fill the disk";
    if subject.is_on(AUTO_PURGE) == Some(false) {
        let fix = format!("set {AUTO_PURGE} to ON, or remove binary logs with PURGE BINARY LOGS");
        return vec![RuleFinding::of(subject, AUTO_PURGE, Level::Warning, what).fix(fix)];
    }
    let name = expiry_option(subject);
    let fix = format!("set {name} to the time for which binary logs are needed");
    let deciding = subject.expiry_line();
    let remark = match deciding {
        Some(line) => RuleFinding::on(line, Level::Warning, what),
        None => RuleFinding::of(subject, "log_bin", Level::Warning, what),
    };
    vec![remark.fix(fix)]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn some_limit_is_needed() {
        assert_found(
            &RULE,
            "mysql-5.6",
            "log_bin=x",
            &[
                "warning: log_bin=x: binary logs are never removed and eventually fill the disk; set \
                    expire_logs_days",
            ],
        );
        assert_found(&RULE, "mysql-5.6", "log_bin=x\nexpire_logs_days=14", &[]);
        assert_found(&RULE, "mysql-8.0.33", "log_bin=x", &[]);
        assert_found(
            &RULE,
            "mariadb-10.11",
            "log_bin=x",
            &["binlog_expire_logs_seconds"],
        );
        assert_found(&RULE, "mysql-5.6", "", &[]);
        assert_found(&RULE, "mysql-8.0.33", "", &[]);
        assert_found(&RULE, "mariadb-10.11", "expire_logs_days=0", &[]);
    }

    /// The binary log of MySQL 8.0 is on by default, and one line decides how long it is kept.
    #[test]
    fn the_limit_that_counts_is_judged() {
        let days = "warning: expire_logs_days=0: binary logs are never removed and eventually fill the disk; set \
                    binlog_expire_logs_seconds";
        assert_found(&RULE, "mysql-8.0.33", "expire_logs_days=0", &[days]);
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "expire_logs_days=0\nbinlog_expire_logs_seconds=86400",
            &[],
        );
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "binlog_expire_logs_auto_purge=OFF",
            &[
                "warning: binlog_expire_logs_auto_purge=OFF: binary logs are never removed and eventually fill the \
                 disk; set binlog_expire_logs_auto_purge to ON",
            ],
        );
        assert_found(
            &RULE,
            "mariadb-10.11",
            "log_bin=x\nexpire_logs_days=7\nbinlog_expire_logs_seconds=0",
            &["binlog_expire_logs_seconds=0: binary logs are never removed"],
        );
    }
}
