//! Rule: an option that needs a value has none.

use crate::catalogue::Kind;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "empty-value",
    title: "Missing value",
    reason: "If the value is missing, the server does not start, or it treats the option as a switch.",
    source: "tested: MySQL 5.6 and 5.7 reject report_host without a value",
    check,
};

/// Numbers that need no value: `log-warnings` raises the level by one.
///
/// Source: MySQL 5.7 Reference Manual, "Server Command Options": `--log-warnings[=level]`.
const WITHOUT_VALUE: [&str; 1] = ["log_warnings"];

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let is_strict = !subject.is_mariadb()
        && [[5, 6], [5, 7]]
            .iter()
            .any(|series| subject.target.numbers().starts_with(series));
    let mut remarks = Vec::new();
    for line in subject.read() {
        let Some(option) = line.option else { continue };
        let value = line.entry.value.as_deref();
        let is_number = matches!(option.kind, Kind::Integer { .. } | Kind::Decimal);
        let is_missing = match value {
            None => {
                is_number
                    && !WITHOUT_VALUE.contains(&option.name)
                    && !line.entry.name.switches_off()
                    && !subject.is_mariadb()
            }
            Some(value) => value.is_empty() && option.name == "report_host" && is_strict,
        };
        if is_missing {
            let what = "this option needs a value";
            remarks.push(
                RuleFinding::on(line, Level::Refused, what).fix("add a value, or remove the line"),
            );
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn a_number_needs_a_value() {
        assert_found(
            &RULE,
            "mysql-5.6",
            "report_host=",
            &["refused: report_host=: this option needs a value"],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "max_connections",
            &["this option needs a value"],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "innodb_file_per_table\nslow_query_log\nlog-bin\nlog-warnings",
            &[],
        );
    }
}
