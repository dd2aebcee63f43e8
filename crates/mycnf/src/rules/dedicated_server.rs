//! Rule: innodb_dedicated_server is on, but other lines set the values that it would choose.

use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "dedicated-server",
    title: "innodb_dedicated_server overridden by other lines",
    reason: "Values that the file sets take precedence over the values that innodb_dedicated_server chooses.",
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
    let what = format!(
        "does not choose the values of options that other lines set: {}",
        set.join(", ")
    );
    vec![
        Remark::of(subject, name, Level::Note, what)
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
    }
}
