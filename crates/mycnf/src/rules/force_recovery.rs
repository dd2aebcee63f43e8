//! Rule: InnoDB is in its rescue mode.

use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "forced-recovery",
    title: "Rescue mode left on",
    reason: "With 1 or more, errors are ignored; with 4 or more, data can be damaged permanently, and writes are refused.",
    source: "MySQL Reference Manual, \"Forcing InnoDB Recovery\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let name = "innodb_force_recovery";
    if subject.number(name).is_none_or(|mode| mode <= 0) {
        return Vec::new();
    }
    let what = "the rescue mode of InnoDB is on";
    vec![
        Remark::of(subject, name, Level::Risk, what)
            .fix("take the data out with mysqldump, remove the line, and load it anew"),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn any_mode_is_a_risk() {
        assert_found(
            &RULE,
            "mysql-5.7",
            "innodb_force_recovery=1",
            &["risk: innodb_force_recovery=1"],
        );
        assert_found(&RULE, "mysql-5.7", "innodb_force_recovery=0", &[]);
    }
}
