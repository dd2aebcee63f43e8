//! Rule: a time has a unit, which is a multiplier for the server.

use crate::assignment::Assignment;
use crate::catalogue::Kind;
use crate::judge::parse_number;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "unit-of-time",
    title: "Unit of a time",
    reason: "The server knows no units of time: K, M and G multiply a number by powers of 1024. With 10m, a time becomes about ten million seconds.",
    source: "MySQL Reference Manual, \"Using Options to Set Program Variables\"",
    check,
};

/// What the names of options with a time end with.
const TIMES: [&str; 4] = ["_timeout", "_seconds", "_time", "_days"];

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    subject.read().filter_map(remark).collect()
}

fn remark(line: &Assignment<'_>) -> Option<RuleFinding> {
    let option = line.option?;
    let is_time = TIMES.iter().any(|end| option.name.ends_with(end));
    let value = line.entry.value.as_deref()?;
    if !is_time || !matches!(option.kind, Kind::Integer { .. }) {
        return None;
    }
    let unit = value.chars().find(char::is_ascii_alphabetic)?;
    // Other units are refused, or are beyond every limit.
    if !"kKmMgG".contains(unit) {
        return None;
    }
    let number = parse_number(value)?;
    let what = format!("{unit} is not a unit of time but a multiplier: the server reads {number}");
    let fix = "write the number without a unit";
    Some(RuleFinding::on(line, Level::Warning, what).fix(fix))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn minutes_are_millions() {
        let part = "warning: wait_timeout=10m: m is not a unit of time but a multiplier: the server reads 10485760; write the \
                    number without a unit";
        assert_found(&RULE, "mysql-8.0.33", "wait_timeout=10m", &[part]);
        for line in [
            "innodb_lock_wait_timeout=1M",
            "interactive_timeout = 10min",
            "max_execution_time=30K",
            "binlog_expire_logs_seconds=1M",
        ] {
            assert_found(&RULE, "mysql-8.0.33", line, &["multiplier"]);
        }
        for line in [
            "wait_timeout=600",
            "innodb_rollback_on_timeout=ON",
            // Refused in any case.
            "wait_timeout=30s",
            "max_allowed_packet=64M",
        ] {
            assert_found(&RULE, "mysql-8.0.33", line, &[]);
        }
    }
}
