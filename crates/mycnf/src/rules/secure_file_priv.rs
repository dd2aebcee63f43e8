//! Rule: statements may read and write files anywhere.

use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "secure-file-priv",
    title: "File access in every directory",
    reason: "An account with the FILE privilege can read every file that the server can read, and can create files in every directory that the server can write to.",
    source: "MySQL Reference Manual, \"secure_file_priv\"; MySQL 8.0 warns about it (MY-010097)",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let name = "secure_file_priv";
    if !(subject
        .set(name)
        .is_some_and(|line| matches!(line.entry.value.as_deref(), None | Some("" | "/"))))
    {
        return Vec::new();
    }
    let what = "LOAD DATA and SELECT INTO OUTFILE can access every directory";
    vec![
        Remark::of(subject, name, Level::Risk, what)
            .fix("set one directory, or NULL to disable file access"),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn empty_means_everywhere() {
        assert_found(&RULE, "mysql-8.0.33", "secure_file_priv=", &["risk"]);
        assert_found(&RULE, "mysql-8.0.33", "secure-file-priv=/", &["risk"]);
        assert_found(&RULE, "mysql-8.0.33", "secure_file_priv=/tmp", &[]);
        assert_found(&RULE, "mysql-8.0.33", "", &[]);
    }
}
