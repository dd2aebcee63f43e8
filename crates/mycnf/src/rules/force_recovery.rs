//! Rule: InnoDB is in forced recovery mode.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "forced-recovery",
    title: "Recovery mode left enabled",
    reason: "If innodb_force_recovery is 1 or higher, InnoDB ignores errors, and MySQL 5.7 and later refuse INSERT, UPDATE and DELETE. If it is 4 or higher, data can be damaged permanently.",
    source: "MySQL Reference Manual, \"Forcing InnoDB Recovery\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let name = "innodb_force_recovery";
    if subject.number(name).is_none_or(|mode| mode <= 0) {
        return Vec::new();
    }
    let what = "InnoDB's forced recovery mode is enabled";
    vec![
        RuleFinding::of(subject, name, Level::Risk, what)
            .fix("dump the data with mysqldump, remove the line, and reload the data"),
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
