//! Rule: a replica continues after errors.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "skipped-errors",
    title: "Replica that skips errors",
    reason: "A replica stops at an error because its data differs from that of its source. If it skips the error, the difference remains and grows.",
    source: "MySQL Reference Manual, \"replica_skip_errors\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let Some(name) = subject.name_in_effect(&["replica_skip_errors", "slave_skip_errors"]) else {
        return Vec::new();
    };
    let errors = subject.value(name).unwrap_or_default();
    if ["", "OFF", "0"]
        .iter()
        .any(|none| errors.eq_ignore_ascii_case(none))
    {
        return Vec::new();
    }
    let what = if errors.eq_ignore_ascii_case("all") {
        "the replica skips every statement that fails, so its data can differ from the source's without an error"
            .to_owned()
    } else {
        format!(
            "the replica skips statements that fail with these errors ({errors}), so its data can differ from the source's"
        )
    };
    vec![
        RuleFinding::of(subject, name, Level::Risk, what)
            .fix("let the replica stop at errors, and compare its data with the source's"),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn skipped_errors_are_a_risk() {
        assert_found(
            &RULE,
            "mysql-5.7",
            "slave-skip-errors=all",
            &["risk: slave-skip-errors=all: the replica skips every statement that fails"],
        );
        assert_found(
            &RULE,
            "mysql-8.4",
            "replica_skip_errors=1062,1032",
            &["these errors (1062,1032)"],
        );
        assert_found(&RULE, "mysql-8.0.33", "slave_skip_errors=1062", &["risk: "]);
        assert_found(
            &RULE,
            "mariadb-10.11",
            "slave_skip_errors=1062",
            &["risk: "],
        );
        for line in ["", "slave_skip_errors=OFF", "slave_skip_errors="] {
            assert_found(&RULE, "mysql-8.0.33", line, &[]);
        }
    }
}
