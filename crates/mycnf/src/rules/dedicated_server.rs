//! Rule: innodb_dedicated_server is on beside lines that it decides.

use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "dedicated-server",
    title: "innodb_dedicated_server and its own values",
    reason: "Explicit lines take precedence over the values that this option would choose.",
    source: "MySQL Reference Manual, \"Enabling Automatic InnoDB Configuration for a Dedicated MySQL Server\"",
    check,
};

const DECIDED: [&str; 5] = [
    "innodb_buffer_pool_size",
    "innodb_redo_log_capacity",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_flush_method",
];

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let name = "innodb_dedicated_server";
    let set: Vec<&str> = DECIDED
        .into_iter()
        .filter(|option| subject.set(option).is_some())
        .collect();
    if subject.is_on(name) != Some(true) || set.is_empty() {
        return Vec::new();
    }
    let what = format!("other lines override its value for {}", set.join(", "));
    vec![
        Remark::of(subject, name, Level::Note, what)
            .fix("keep the explicit lines or the option, not both"),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn explicit_lines_win() {
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "innodb_dedicated_server=1\ninnodb_buffer_pool_size=1G",
            &[
                "note: innodb_dedicated_server=1: other lines override its value for innodb_buffer_pool_size",
            ],
        );
        assert_found(&RULE, "mysql-8.0.33", "innodb_dedicated_server=1", &[]);
    }
}
