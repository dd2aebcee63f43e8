//! Rule: accounts with a host name do not match.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "name-resolution",
    title: "Accounts with host names",
    reason: "With skip_name_resolve, an account whose host part is a host name does not match clients that connect over TCP. In a new data directory, root can log in only over the socket.",
    source: "tested: a new MySQL 5.7 or 8.0 server with skip_name_resolve rejects root over TCP with error 1130 instead of a greeting",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let name = "skip_name_resolve";
    if subject.set(name).is_none() || subject.is_on(name) != Some(true) {
        return Vec::new();
    }
    let what = "an account whose host part is a host name does not match clients that connect over TCP; even localhost does not match, because the server sees such a local client as 127.0.0.1";
    vec![
        RuleFinding::of(subject, name, Level::Note, what)
            .fix("create accounts with addresses, such as 'app'@'10.0.0.%'"),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn the_switch_is_noted() {
        assert_found(
            &RULE,
            "mysql-5.7",
            "skip-name-resolve",
            &["note: skip-name-resolve"],
        );
        assert_found(&RULE, "mysql-5.7", "skip_name_resolve=0", &[]);
        assert_found(&RULE, "mysql-5.7", "", &[]);
    }
}
