//! Rule: statements may read and write files anywhere.

use crate::catalogue::Family;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "secure-file-priv",
    title: "File access in every directory",
    reason: "An account with the FILE privilege can read every file that the server can read, and can create files in every directory that the server can write to.",
    source: "MySQL Reference Manual, \"secure_file_priv\"; MySQL 8.0 warns about it (MY-010097)",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let name = "secure_file_priv";
    if !(subject
        .set(name)
        .is_some_and(|line| matches!(line.entry.value.as_deref(), None | Some("" | "/"))))
    {
        return Vec::new();
    }
    let what = "LOAD DATA and SELECT INTO OUTFILE can access every directory";
    // Older versions and MariaDB take NULL for the name of a directory.
    let first: &[u32] = match subject.target.numbers() {
        [5, 5, ..] => &[5, 5, 53],
        [5, 6, ..] => &[5, 6, 34],
        _ => &[5, 7, 6],
    };
    let fix = if subject.target.is_at_least(Family::MySql, first) {
        "set one directory, or NULL to disable file access"
    } else {
        "set one directory"
    };
    vec![RuleFinding::of(subject, name, Level::Risk, what).fix(fix)]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn empty_means_everywhere() {
        for (target, fix) in [
            ("mysql-8.0.33", "; set one directory, or NULL to disable"),
            ("mysql-5.5.62", "; set one directory, or NULL to disable"),
            ("mysql-5.6.34", "; set one directory, or NULL to disable"),
            (
                "mariadb-10.11",
                "can access every directory; set one directory",
            ),
        ] {
            assert_found(&RULE, target, "secure_file_priv=", &[fix]);
        }
        for target in ["mariadb-10.11", "mysql-5.6.33", "mysql-5.7.5"] {
            let machine = crate::Machine::default();
            let fixes = remarks(&RULE, &machine, target, "secure_file_priv=");
            assert!(fixes.iter().all(|fix| !fix.contains("NULL")), "{fixes:?}");
        }
        assert_found(&RULE, "mysql-8.0.33", "secure-file-priv=/", &["risk"]);
        assert_found(&RULE, "mysql-8.0.33", "secure_file_priv=/tmp", &[]);
        assert_found(&RULE, "mysql-8.0.33", "", &[]);
    }
}
