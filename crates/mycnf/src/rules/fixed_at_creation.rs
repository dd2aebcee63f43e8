//! Rule: the value is fixed when the data directory is created, or its tables do not fit another one.

use crate::assignment::Assignment;
use crate::catalogue::Family;
use crate::private::FIXED_AT_CREATION;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "fixed-at-creation",
    title: "Value that belongs to the data directory",
    reason: "If the value does not fit an existing data directory, the server does not start, or it no longer finds some files or tables.",
    source: "tested: at startup, the server compares the page size, the data files and the undo layout with the data directory; MySQL 8.0 rejects a lower_case_table_names that differs from the data directory's, and MySQL 5.7.22 starts with it; MySQL 5.7 Reference Manual, \"Identifier Case Sensitivity\"",
    check,
};

/// The option that tells whether names of tables are stored in lower case.
const TABLE_NAMES: &str = "lower_case_table_names";

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let lines = subject.read().filter(|line| line.option.is_some());
    lines.filter_map(|line| remark(subject, line)).collect()
}

fn remark(subject: &Subject<'_>, line: &Assignment<'_>) -> Option<RuleFinding> {
    let name = line.name();
    if !FIXED_AT_CREATION.contains(&name) {
        return None;
    }
    if !is_free(subject, name) {
        let (what, fix) = demand(name);
        return Some(RuleFinding::on(line, Level::Note, what).fix(fix));
    }
    // Only 1 changes how a server on Linux looks for tables that exist.
    if name != TABLE_NAMES || line.value().as_deref() != Some("1") {
        return None;
    }
    let what = "the server looks for all tables in lower case: if the data directory was created with 0, it no longer finds tables and databases with capital letters in their names";
    let fix = "before the change, rename such tables and databases to lower case";
    Some(RuleFinding::on(line, Level::Note, what).fix(fix))
}

/// What an existing data directory demands of an option that is not free, and what to do about it.
fn demand(name: &str) -> (&'static str, &'static str) {
    match name {
        "innodb_data_file_path" => (
            "must match the files of an existing data directory, otherwise the server does not start; new files can be added only at the end of the list",
            "list the existing files with their sizes first",
        ),
        "innodb_data_home_dir" | "innodb_undo_directory" => (
            "an existing server's files must be in this directory, otherwise the server does not find them",
            "to change the directory, shut the server down and move the files",
        ),
        "innodb_undo_tablespaces" => (
            "an existing data directory must have at least this number of undo tablespaces, otherwise the server does not start",
            "set at most the number with which the data directory was created",
        ),
        _ => (
            "is fixed when the data directory is created; with another value, the server does not start",
            "set the value with which the existing data directory was created",
        ),
    }
}

/// Whether a later start may change the value: MariaDB creates or drops undo tablespaces in 10.11 and later. MySQL
/// creates them in 8.0 (MySQL Server Blog, "New in MySQL 8.0.14: Create Undo Tablespace"), and ignores their number
/// from 8.0.14 on. Only the data dictionary of MySQL 8.0 fixes how table names are stored.
fn is_free(subject: &Subject<'_>, name: &str) -> bool {
    let target = subject.target;
    let is_at_least = |family, numbers: &[u32]| target.is_at_least(family, numbers);
    match name {
        "innodb_undo_tablespaces" => {
            is_at_least(Family::MariaDb, &[10, 11]) || is_at_least(Family::MySql, &[8])
        }
        TABLE_NAMES => !is_at_least(Family::MySql, &[8]),
        _ => false,
    }
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
            &["new files can be added only at the end of the list"],
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
            &[
                "note: innodb_undo_tablespaces=3: an existing data directory must have at least this number",
            ],
        );
        assert_found(&RULE, "mysql-8.0.12", undo, &[]);
        assert_found(&RULE, "mysql-8.0.33", undo, &[]);
        assert_found(&RULE, "mariadb-10.11", undo, &[]);
    }

    #[test]
    fn table_names_are_fixed_in_mysql_8_alone() {
        let line = "lower_case_table_names=1";
        let fixed = "is fixed when the data directory is created";
        assert_found(&RULE, "mysql-8.0.33", line, &[fixed]);
        for target in ["mysql-5.6", "mysql-5.7", "mariadb-10.11"] {
            let lost = "note: lower_case_table_names=1: the server looks for all tables";
            assert_found(&RULE, target, line, &[lost]);
            assert_found(&RULE, target, "lower_case_table_names=0", &[]);
        }
    }
}
