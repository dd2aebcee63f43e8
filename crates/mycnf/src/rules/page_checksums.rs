//! Rule: InnoDB does not verify pages that it reads.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "page-checksums",
    title: "Page checksums disabled",
    reason: "Without checksums, InnoDB does not notice pages that a disk, a file system or memory has damaged. It returns wrong rows and copies the damage into backups.",
    source: "MySQL Reference Manual, \"innodb_checksum_algorithm\"; MySQL 5.7 Reference Manual, \"innodb_checksums\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let (algorithm, switch) = ("innodb_checksum_algorithm", "innodb_checksums");
    let option = if subject.is_on(switch) == Some(false) {
        switch
    } else if subject.is_one_of(algorithm, &["none", "strict_none"]) {
        algorithm
    } else {
        return Vec::new();
    };
    let what = "InnoDB does not verify pages when it reads them, so damaged pages are not noticed";
    // The switch is deprecated in favour of the algorithm, so both advices are to write the algorithm.
    let fix = if subject.has(algorithm) {
        "set innodb_checksum_algorithm = crc32"
    } else {
        "set innodb_checksums = 1"
    };
    vec![RuleFinding::of(subject, option, Level::Risk, what).fix(fix)]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn pages_without_checksums_are_a_risk() {
        for (version, line) in [
            ("mysql-5.7", "innodb_checksums=OFF"),
            ("mysql-5.7", "innodb_checksum_algorithm=none"),
            ("mysql-8.4", "innodb_checksum_algorithm=strict_none"),
            ("mariadb-10.5", "innodb_checksum_algorithm=NONE"),
        ] {
            assert_found(
                &RULE,
                version,
                line,
                &["; set innodb_checksum_algorithm = crc32"],
            );
        }
        let old = "risk: innodb_checksums=0: InnoDB does not verify pages when it reads them, so damaged pages are not \
                   noticed; set innodb_checksums = 1";
        assert_found(&RULE, "mysql-5.5", "innodb_checksums=0", &[old]);
        for (version, line) in [
            ("mysql-5.5", ""),
            ("mysql-5.6", "innodb_checksum_algorithm=crc32"),
            ("mysql-5.7", "innodb_checksums=1"),
            ("mariadb-11.8", ""),
        ] {
            assert_found(&RULE, version, line, &[]);
        }
    }
}
