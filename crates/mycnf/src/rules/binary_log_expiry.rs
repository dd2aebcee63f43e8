//! Rule: binary logs are kept for ever.

use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "binary-logs-for-ever",
    title: "Binary logs never expire",
    reason: "Old binary logs fill the disk, and a full disk stops every write.",
    source: "MySQL Reference Manual, \"binlog_expire_logs_seconds\": the value 0 disables automatic removal",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    if subject.set("log_bin").is_none() || !subject.has_binary_log() {
        return Vec::new();
    }
    let limits = ["expire_logs_days", "binlog_expire_logs_seconds"];
    let is_limited = limits.iter().any(|name| {
        let value = subject
            .value(name)
            .and_then(|value| value.parse::<f64>().ok());
        value.is_some_and(|value| value > 0.0)
    });
    if is_limited
        || subject
            .number("max_binlog_total_size")
            .is_some_and(|size| size > 0)
    {
        return Vec::new();
    }
    let name = if subject.has("binlog_expire_logs_seconds") {
        limits[1]
    } else {
        limits[0]
    };
    let what = "binary logs are never removed and eventually fill the disk";
    vec![
        Remark::of(subject, "log_bin", Level::Warning, what).fix(format!(
            "set {name} to the time for which binary logs are needed"
        )),
    ]
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
    }
}
