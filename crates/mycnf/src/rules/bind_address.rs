//! Rule: the server listens on every address.

use crate::catalogue::Family;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;
use crate::target::Target;

pub(super) const RULE: Rule = Rule {
    id: "bind-to-everything",
    title: "Server listens on every address",
    reason: "Clients in every network of the machine can reach the server. Only its accounts and a firewall protect it.",
    source: "MySQL Reference Manual, \"bind_address\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let name = "bind_address";
    if subject.is_on("skip_networking") == Some(true) {
        let without_effect = subject.set(name).map(|line| {
            let what = "has no effect: skip_networking disables all networking";
            RuleFinding::on(line, Level::Note, what).fix("keep one of the two lines")
        });
        return without_effect.into_iter().collect();
    }
    if let Some(line) = subject.set(name).filter(|_| !takes_lists(subject.target))
        && line
            .entry
            .value
            .as_deref()
            .is_some_and(|value| value.contains(','))
    {
        let what = "this version listens on one address, and does not start with a list of them";
        return vec![RuleFinding::on(line, Level::Refused, what).fix("set one address")];
    }
    if !subject
        .set(name)
        .is_some_and(|line| matches!(line.entry.value.as_deref(), Some("*" | "0.0.0.0" | "::")))
    {
        return Vec::new();
    }
    let what = "the server accepts connections from every network of the machine";
    vec![
        RuleFinding::of(subject, name, Level::Warning, what)
            .fix("set the machine's address in the network that needs access, or 127.0.0.1"),
    ]
}

/// Whether a version listens on several addresses. Source: MySQL 8.0.13 release notes (WL 11652); MariaDB documentation,
/// "bind_address": 10.6 and before take one address.
fn takes_lists(target: &Target) -> bool {
    target.is_at_least(Family::MySql, &[8, 0, 13]) || target.is_at_least(Family::MariaDb, &[10, 11])
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn all_addresses_are_a_warning() {
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "bind-address=0.0.0.0",
            &["warning: bind-address=0.0.0.0"],
        );
        assert_found(&RULE, "mariadb-11.8", "bind_address=*", &["warning"]);
        assert_found(&RULE, "mysql-5.6", "bind_address=127.0.0.1", &[]);
        assert_found(&RULE, "mysql-5.6", "", &[]);
        let list = "bind_address=127.0.0.1,10.0.0.5";
        let refused = "refused: bind_address=127.0.0.1,10.0.0.5: this version listens on one";
        let cases: [(&str, &[&str]); 4] = [
            ("mysql-5.7", &[refused]),
            ("mariadb-10.6", &[refused]),
            ("mysql-8.0.33", &[]),
            ("mariadb-11.4", &[]),
        ];
        for (target, found) in cases {
            assert_found(&RULE, target, list, found);
        }
        for (target, lines) in [
            ("mariadb-10.11", "skip-networking\nbind-address=0.0.0.0"),
            ("mysql-8.0.33", "bind-address=127.0.0.1\nskip_networking=ON"),
        ] {
            let part = "has no effect: skip_networking disables all networking; keep one";
            assert_found(&RULE, target, lines, &[part]);
        }
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "bind-address=*\nskip-networking=0",
            &["warning"],
        );
    }
}
