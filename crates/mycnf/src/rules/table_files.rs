//! Rule: all tables are in one file that never shrinks.

use crate::deprecation::deprecation;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "shared-tablespace",
    title: "Tables in the shared tablespace",
    reason: "When a table in ibdata1 is dropped or rebuilt, the file does not shrink, so the disk space is not freed.",
    source: "MySQL Reference Manual, \"InnoDB File-Per-Table Tablespaces\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let name = "innodb_file_per_table";
    if !(subject.is_on(name) == Some(false)
        && (subject.set(name).is_some() || subject.target.numbers().starts_with(&[5, 5])))
    {
        return Vec::new();
    }
    let what = "new tables are stored in ibdata1, which never shrinks";
    // If the option is deprecated, removing its line has the same effect.
    let fix = if deprecation(subject.target, name).is_some() {
        "remove the line: the default is one file per table"
    } else {
        "set innodb_file_per_table = 1"
    };
    vec![RuleFinding::of(subject, name, Level::Warning, what).fix(fix)]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn off_by_line_or_default() {
        assert_found(
            &RULE,
            "mysql-5.7",
            "innodb_file_per_table=0",
            &["warning: innodb_file_per_table=0"],
        );
        assert_found(
            &RULE,
            "mysql-5.5",
            "",
            &["warning: innodb_file_per_table: new tables"],
        );
        assert_found(&RULE, "mysql-5.6", "", &[]);
    }
}
