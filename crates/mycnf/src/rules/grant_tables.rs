//! Rule: the server asks for no passwords.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "skip-grant-tables",
    title: "No passwords",
    reason: "Every client that can connect has the privileges of root. The option is meant for resetting a forgotten password, and the line is often left in the file by accident.",
    source: "MySQL Reference Manual, \"--skip-grant-tables\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let name = "skip_grant_tables";
    if subject.is_on(name) != Some(true) {
        return Vec::new();
    }
    let what = "no account needs a password, and every account has all privileges";
    vec![RuleFinding::of(subject, name, Level::Risk, what).fix("remove the line")]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn the_line_is_a_risk() {
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "skip-grant-tables",
            &["risk: skip-grant-tables"],
        );
        assert_found(&RULE, "mariadb-10.11", "skip_grant_tables=1", &["risk"]);
        assert_found(&RULE, "mysql-8.0.33", "skip_grant_tables=0", &[]);
    }
}
