//! Rule: an option needs another option that is off.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "option-without-its-switch",
    title: "Option that needs another option",
    reason: "The option has no effect while the option on which it depends is disabled.",
    source: "the servers' own warnings (MY-010084, and the same warning in older versions); MySQL Reference Manual",
    check,
};

/// Options that have an effect only if another option is on.
const DEPENDENT: [(&str, &str); 10] = [
    ("log_queries_not_using_indexes", "slow_query_log"),
    ("log_slow_admin_statements", "slow_query_log"),
    ("log_slow_slave_statements", "slow_query_log"),
    ("log_slow_replica_statements", "slow_query_log"),
    ("long_query_time", "slow_query_log"),
    ("slow_query_log_file", "slow_query_log"),
    ("log_slave_updates", "log_bin"),
    ("log_replica_updates", "log_bin"),
    ("expire_logs_days", "log_bin"),
    ("binlog_format", "log_bin"),
];

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let mut remarks = Vec::new();
    // Galera accepts only ROW, with or without a binary log.
    let is_galera = subject.is_galera_node();
    for (option, switch) in DEPENDENT {
        if is_galera && option == "binlog_format" {
            continue;
        }
        let Some(line) = subject.set(option) else {
            continue;
        };
        // An option that is off does not need the other option.
        let is_wanted = line
            .value()
            .is_none_or(|value| !matches!(value.as_str(), "OFF" | "0"));
        // The second name of the switch in MariaDB.
        let is_on_by_other_name =
            switch == "slow_query_log" && subject.is_on("log_slow_query") == Some(true);
        if is_wanted && subject.is_on(switch) == Some(false) && !is_on_by_other_name {
            // Slow_queries counts them even without a log.
            let besides = if option == "long_query_time" {
                ", except for the counter Slow_queries"
            } else {
                ""
            };
            let what = format!("has no effect while {switch} is disabled{besides}");
            remarks.push(
                RuleFinding::on(line, Level::Note, what)
                    .fix(format!("enable {switch}, or remove the line")),
            );
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn lines_that_wait() {
        assert_found(
            &RULE,
            "mysql-5.6",
            "log_queries_not_using_indexes=ON\nlog_slave_updates",
            &[
                "has no effect while slow_query_log is disabled",
                "while log_bin is disabled",
            ],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "slow_query_log=1\nlong_query_time=1",
            &[],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "long_query_time=1",
            &[
                "has no effect while slow_query_log is disabled, except for the counter Slow_queries",
            ],
        );
        let other_name = "log_slow_query=1\nlong_query_time=1";
        assert_found(&RULE, "mariadb-10.11", other_name, &[]);
        assert_found(
            &RULE,
            "mariadb-10.11",
            "binlog_format=ROW",
            &["while log_bin is disabled"],
        );
        assert_found(
            &RULE,
            "mariadb-10.11",
            "binlog_format=ROW\nwsrep_on=ON",
            &[],
        );
        assert_found(&RULE, "mysql-8.0.33", "binlog_format=ROW", &[]);
    }
}
