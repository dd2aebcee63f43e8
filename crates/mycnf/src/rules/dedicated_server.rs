//! Rule: innodb_dedicated_server is on, but other lines set the values that it would choose.

use crate::catalogue::Family;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "dedicated-server",
    title: "innodb_dedicated_server overridden by other lines",
    reason: "Values that the file sets take precedence over the values that innodb_dedicated_server chooses.",
    source: "MySQL Reference Manual, \"Enabling Automatic InnoDB Configuration for a Dedicated MySQL Server\"; MySQL 8.4 no longer chooses the flush method",
    check,
};

const DEDICATED: &str = "innodb_dedicated_server";

const DECIDED: [&str; 5] = [
    "innodb_buffer_pool_size",
    "innodb_redo_log_capacity",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_flush_method",
];

/// Whether the option is on, and chooses the value of another one that has no line. In 8.4 and later, it no longer
/// chooses the flush method.
pub(crate) fn chooses(subject: &Subject<'_>, option: &str) -> bool {
    let is_its =
        option != "innodb_flush_method" || !subject.target.is_at_least(Family::MySql, &[8, 4]);
    subject.is_on(DEDICATED) == Some(true) && DECIDED.contains(&option) && is_its
}

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let is_set = |option: &&str| subject.set(option).is_some() && chooses(subject, option);
    let set: Vec<&str> = DECIDED.into_iter().filter(is_set).collect();
    if set.is_empty() {
        return Vec::new();
    }
    let what = format!(
        "does not choose the values of options that other lines set: {}",
        set.join(", ")
    );
    vec![
        RuleFinding::of(subject, DEDICATED, Level::Note, what)
            .fix("remove either this line or the other lines"),
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
                "note: innodb_dedicated_server=1: does not choose the values of options that other lines set: innodb_buffer_pool_size",
            ],
        );
        assert_found(&RULE, "mysql-8.0.33", "innodb_dedicated_server=1", &[]);
        let flush = "innodb_dedicated_server=1\ninnodb_flush_method=O_DIRECT";
        assert_found(&RULE, "mysql-8.0.33", flush, &["innodb_flush_method"]);
        assert_found(&RULE, "mysql-8.4", flush, &[]);
    }
}
