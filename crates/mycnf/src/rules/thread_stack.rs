//! Rule: the stack of a thread is smaller than the version's default.

use crate::rule::{Level, Rule, RuleFinding};
use crate::size::size;
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "thread-stack",
    title: "Small thread stack",
    reason: "Later versions need more stack for the same statements and have a larger default. With the value of an older version, statements fail with error 1436 (thread stack overrun).",
    source: "MySQL Reference Manual, \"thread_stack\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let name = "thread_stack";
    let default = subject.catalogue.default_value(name);
    let default: Option<i128> = default.and_then(|default| default.parse().ok());
    let (Some(line), Some(own), Some(default)) = (subject.set(name), subject.number(name), default)
    else {
        return Vec::new();
    };
    if own >= default {
        return Vec::new();
    }
    let what = format!(
        "smaller than the default of this version ({}): statements can fail with error 1436",
        size(default)
    );
    vec![RuleFinding::on(line, Level::Warning, what).fix("remove the line")]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn the_value_of_an_older_version_is_small() {
        // The line of Debian's my.cnf for MySQL 5.5.
        let line = "thread_stack = 192K";
        let part = "warning: thread_stack=192K: smaller than the default of this version (1M): statements can fail with \
                    error 1436; remove the line";
        assert_found(&RULE, "mysql-8.0.33", line, &[part]);
        assert_found(&RULE, "mariadb-10.11", line, &["(292K)"]);
        assert_found(&RULE, "mysql-5.7", line, &["(256K)"]);
        assert_found(&RULE, "mysql-8.0.20", line, &["(280K)"]);
        for (version, line) in [
            ("mysql-5.6", "thread_stack = 256K"),
            ("mysql-8.0.33", "thread_stack = 1M"),
            ("mysql-8.0.33", "thread_stack = 2M"),
            ("mysql-8.0.33", ""),
        ] {
            assert_found(&RULE, version, line, &[]);
        }
    }
}
