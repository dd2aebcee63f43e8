//! Rule: the value is fixed when the data directory is made.

use crate::private::FIXED_AT_CREATION;
use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "fixed-at-creation",
    title: "Fixed when the data directory is made",
    reason: "With an existing data directory the server refuses another value or passes over it.",
    source: "seen: page size, data files and undo layout are compared at start; MySQL 8.0 refuses another \
        lower_case_table_names",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let lines = subject
        .read()
        .filter(|line| line.option.is_some() && FIXED_AT_CREATION.contains(&line.name()));
    let remarks = lines.map(|line| {
        let what = "counts when the data directory is made; an existing one keeps its own";
        Remark::on(line, Level::Note, what).fix("compare with the existing data before a move")
    });
    remarks.collect()
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn layout_options_are_noted() {
        assert_found(
            &RULE,
            "mysql-5.5",
            "innodb_data_file_path=ibdata1:10M:autoextend",
            &["note: "],
        );
        assert_found(&RULE, "mysql-5.5", "innodb_page_size=4k", &[]);
        assert_found(
            &RULE,
            "mysql-5.6",
            "innodb_page_size=4k",
            &["note: innodb_page_size=4k"],
        );
    }
}
