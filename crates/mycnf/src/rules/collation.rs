//! Rule: the collation belongs to a character set other than the server's.

use crate::character_sets::{has_character_set, nearest_character_set};
use crate::collations::{FOLLOW_CHARACTER_SET, has_collation};
use crate::fix::Fix;
use crate::rule::{Level, Rewrite, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "collation-without-character-set",
    title: "Collation of another character set",
    reason: "Each collation belongs to one character set. The server does not start if its character set and its collation do not match.",
    source: "tested: collation_server=utf8mb4_general_ci without character_set_server is rejected if the default character set is latin1",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let Some(line) = subject.set("collation_server") else {
        return Vec::new();
    };
    let (Some(collation), Some(set)) = (line.value(), subject.value("character_set_server")) else {
        return Vec::new();
    };
    // `unknown-collation` reports it, with a collation in its place.
    if !has_collation(subject.target, &collation) {
        return Vec::new();
    }
    let own_set = collation.split('_').next().unwrap_or_default();
    let own_set = own_set.to_ascii_lowercase();
    // The names of MariaDB's Unicode collations contain no character set.
    if own_set == "uca1400" || collation.eq_ignore_ascii_case("binary") {
        return Vec::new();
    }
    if !has_character_set(subject.target, &own_set) {
        let what = format!("this version has no character set {own_set}");
        let remark = RuleFinding::on(line, Level::Refused, what);
        return vec![match nearest_character_set(&own_set) {
            // Its name in MySQL 8.0 and later.
            _ if own_set == "utf8" => {
                let rest = &collation[own_set.len()..];
                let new = format!("{} = utf8mb3{rest}", line.entry.name);
                remark
                    .fix(format!("write {new}"))
                    .rewrite(Rewrite::Replace(new))
            }
            Some(nearest) => remark.fix(format!("is a collation of {nearest} meant?")),
            None => remark,
        }];
    }
    if subject.full_name(&own_set) == subject.full_name(&set) {
        return Vec::new();
    }
    let what = format!("this collation does not belong to the character set {set}");
    let fix = if subject.set("character_set_server").is_some() {
        Fix::from(FOLLOW_CHARACTER_SET)
    } else {
        Fix::Add(format!("character_set_server = {own_set}"))
    };
    vec![RuleFinding::on(line, Level::Refused, what).fix(fix)]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn a_collation_that_the_version_does_not_have_needs_no_character_set() {
        let line = "collation_server=utf8mb4_0900_ai_ci";
        assert_found(&RULE, "mariadb-10.11", line, &[]);
        assert_found(&RULE, "mysql-8.0.33", line, &[]);
    }

    #[test]
    fn a_character_set_of_the_file_is_not_to_be_changed() {
        assert_found(
            &RULE,
            "mysql-5.7",
            "character_set_server=utf8\ncollation_server=latin1_swedish_ci",
            &["does not belong to the character set utf8; leave it out, or write a collation"],
        );
    }

    #[test]
    fn a_collation_needs_its_character_set() {
        let line = "collation_server=utf8mb4_general_ci";
        assert_found(
            &RULE,
            "mysql-5.6",
            line,
            &["does not belong to the character set latin1; add character_set_server = utf8mb4"],
        );
        assert_found(&RULE, "mysql-8.0.33", line, &[]);
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "collation_server=utf8mb5_general_ci",
            &["this version has no character set utf8mb5; is a collation of utf8mb4 meant?"],
        );
        assert_found(
            &RULE,
            "mysql-9.7",
            "character_set_server=utf8mb3\ncollation_server=utf8_unicode_ci",
            &["no character set utf8; write collation_server = utf8mb3_unicode_ci"],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "character-set-server=utf8mb4\ncollation_server=utf8mb4_general_ci",
            &[],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "character-set-server=utf8\ncollation_server=utf8_bin",
            &[],
        );
        let both = "character_set_server=utf8\ncollation_server=utf8mb3_bin";
        assert_found(&RULE, "mariadb-10.11", both, &[]);
    }

    #[test]
    fn mariadb_takes_utf8_for_utf8mb4_by_its_old_mode() {
        let lines = "character_set_server=utf8\ncollation_server=utf8mb4_bin";
        let refused = "does not belong to the character set utf8; leave it out";
        assert_found(&RULE, "mariadb-10.11", lines, &[refused]);
        let lines = format!("old_mode=\n{lines}");
        assert_found(&RULE, "mariadb-10.11", &lines, &[]);
        assert_found(&RULE, "mariadb-10.5", &lines, &[refused]);
    }
}
