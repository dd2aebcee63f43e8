//! Rule: hashes from before 4.1 are accepted or created.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "old-password-hashes",
    title: "Old password hashes",
    reason: "Password hashes in the format used before MySQL 4.1 can be broken in seconds.",
    source: "MySQL Reference Manual, \"secure_auth\" and \"old_passwords\"; MySQL 5.7 rejects secure_auth = OFF and old_passwords = 1",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let is_5_7 = !subject.is_mariadb() && subject.target.numbers().starts_with(&[5, 7]);
    // `old_passwords` is a switch in MariaDB and MySQL 5.5, and a number later.
    let pairs: [(&str, &[&str]); 2] = [("old_passwords", &["1", "ON"]), ("secure_auth", &["OFF"])];
    let lines = pairs.iter().filter_map(|(option, values)| {
        let line = subject.set(option)?;
        let value = line.value()?;
        values.contains(&value.as_str()).then_some(line)
    });
    let remarks = lines.map(|line| {
        let (level, what) = if is_5_7 {
            (
                Level::Refused,
                "MySQL 5.7 does not support password hashes in the format used before MySQL 4.1, and does not start with this line",
            )
        } else {
            (
                Level::Risk,
                "the server accepts or creates password hashes in the format used before MySQL 4.1",
            )
        };
        RuleFinding::on(line, level, what).fix("remove the line, and set new passwords for accounts with such hashes")
    });
    remarks.collect()
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn either_option_is_enough() {
        assert_found(&RULE, "mysql-5.6", "old_passwords=1", &["risk: "]);
        assert_found(&RULE, "mysql-5.6", "secure_auth=0", &["risk: "]);
        assert_found(&RULE, "mysql-5.6", "secure_auth=1", &[]);
        for version in ["mariadb-10.2", "mariadb-10.11", "mariadb-11.8", "mysql-5.5"] {
            let cases: [(&str, &[&str]); 3] = [
                ("old_passwords=1", &["risk: old_passwords=1"]),
                ("old_passwords=ON", &["risk: old_passwords=ON"]),
                ("old_passwords=0", &[]),
            ];
            for (lines, found) in cases {
                assert_found(&RULE, version, lines, found);
            }
        }
    }
}
