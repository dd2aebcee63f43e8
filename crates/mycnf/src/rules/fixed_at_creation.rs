//! Rule: the value is fixed when the data directory is created.

use crate::catalogue::Family;
use crate::private::FIXED_AT_CREATION;
use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "fixed-at-creation",
    title: "Fixed when the data directory is created",
    reason: "If the value differs from the one with which the data directory was created, the server does not start, or it ignores the value.",
    source: "tested: at startup, the server compares the page size, the data files and the undo layout with the data directory; MySQL 8.0 rejects a lower_case_table_names that differs from the data directory's",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let lines = subject.read().filter(|line| {
        let name = line.name();
        line.option.is_some() && FIXED_AT_CREATION.contains(&name) && !is_free(subject, name)
    });
    let remarks = lines.map(|line| {
        let what =
            "takes effect only when the server creates the data directory; an existing data directory keeps its own value";
        Remark::on(line, Level::Note, what)
            .fix("set the value with which the existing data directory was created")
    });
    remarks.collect()
}

/// Whether a later start may change the value: MariaDB creates or drops undo tablespaces in 10.11 and later, and MySQL
/// ignores their number in 8.0.14 and later.
fn is_free(subject: &Subject<'_>, name: &str) -> bool {
    let target = subject.target;
    name == "innodb_undo_tablespaces"
        && (target.is_at_least(Family::MariaDb, &[10, 11])
            || target.is_at_least(Family::MySql, &[8, 0, 14]))
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
        let undo = "innodb_undo_tablespaces=3";
        assert_found(
            &RULE,
            "mysql-5.7",
            undo,
            &["note: innodb_undo_tablespaces=3"],
        );
        assert_found(&RULE, "mysql-8.0.33", undo, &[]);
        assert_found(&RULE, "mariadb-10.11", undo, &[]);
    }
}
