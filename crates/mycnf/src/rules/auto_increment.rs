//! Rule: the server ignores the offset of automatic values.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "auto-increment-offset",
    title: "Offset of automatic values ignored",
    reason: "The server ignores auto_increment_offset if it is larger than auto_increment_increment. Two servers that both accept writes can then produce the same value.",
    source: "MySQL Reference Manual, \"auto_increment_offset\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let (option, step) = ("auto_increment_offset", "auto_increment_increment");
    let values = subject.number(option).zip(subject.number(step));
    let (Some(line), Some((offset, increment))) = (subject.set(option), values) else {
        return Vec::new();
    };
    // A cluster sets both by itself.
    if offset <= increment || subject.is_galera_node() {
        return Vec::new();
    }
    let what = format!("ignored, because it is larger than {step} ({increment})");
    let fix = format!("set {step} to the number of servers that accept writes");
    vec![RuleFinding::on(line, Level::Warning, what).fix(fix)]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn an_offset_is_not_larger_than_the_increment() {
        let found = "warning: auto_increment_offset=3: ignored, because it is larger than auto_increment_increment (2); \
                     set auto_increment_increment to the number of servers that accept writes";
        for target in ["mysql-5.5", "mysql-9.7", "mariadb-11.8"] {
            let lines = "auto_increment_increment=2\nauto_increment_offset=3";
            assert_found(&RULE, target, lines, &[found]);
            assert_found(&RULE, target, "auto_increment_offset=2", &["(1)"]);
            let lines = "auto_increment_increment=2\nauto_increment_offset=2";
            assert_found(&RULE, target, lines, &[]);
            assert_found(&RULE, target, "auto_increment_increment=2", &[]);
        }
    }
}
