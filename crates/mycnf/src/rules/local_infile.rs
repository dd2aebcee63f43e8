//! Rule: clients may send their own files to the server.

use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "local-infile",
    title: "LOAD DATA LOCAL allowed",
    reason: "A malicious server or an injected SQL statement can read files on the client's machine.",
    source: "MySQL Reference Manual, \"Security Considerations for LOAD DATA LOCAL\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let name = "local_infile";
    if !(subject.set(name).is_some() && subject.is_on(name) == Some(true)) {
        return Vec::new();
    }
    let what = "LOAD DATA LOCAL is allowed: a statement can read any file that the client can read";
    vec![
        Remark::of(subject, name, Level::Warning, what)
            .fix("set local_infile = 0, and enable it only while you load data that needs it"),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn on_by_the_file_is_a_warning() {
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "local_infile=1",
            &["warning: local_infile=1"],
        );
        assert_found(&RULE, "mysql-5.6", "", &[]);
        assert_found(&RULE, "mysql-5.6", "local_infile=0", &[]);
    }
}
