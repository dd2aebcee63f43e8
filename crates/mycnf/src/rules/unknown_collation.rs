//! Rule: the version does not have the collation.

use crate::collations::{FOLLOW_CHARACTER_SET, has_collation, nearest_collation, set_of_collation};
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "unknown-collation",
    title: "Unknown collation",
    reason: "The server does not start with a collation that it does not have. MySQL and MariaDB \
        have different collations for the newer Unicode versions.",
    source: "the manuals' lists of collations; tested: MariaDB 10.11 rejects utf8mb4_0900_ai_ci",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let Some(line) = subject.set("collation_server") else {
        return Vec::new();
    };
    let Some(collation) = line
        .value()
        .filter(|name| !has_collation(subject.target, name))
    else {
        return Vec::new();
    };
    let nearest = nearest_collation(subject.target, &collation);
    let set = set_of_collation(&nearest);
    let fix = format!("write collation_server = {nearest}, or the collation of your tables");
    let of_server = subject.value("character_set_server").unwrap_or_default();
    let fix = if subject.full_name(&of_server) == subject.full_name(set) {
        fix
    } else if subject.set("character_set_server").is_some() {
        FOLLOW_CHARACTER_SET.to_owned()
    } else {
        // Otherwise the next review would refuse the new line.
        format!("{fix}, and add character_set_server = {set}")
    };
    let what = "this version does not have this collation";
    vec![RuleFinding::on(line, Level::Refused, what).fix(fix)]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn a_collation_of_the_other_product_is_refused() {
        let line = "collation_server=utf8mb4_0900_ai_ci";
        let refused = "refused: collation_server=utf8mb4_0900_ai_ci: this version does not have this collation; write \
                       collation_server = utf8mb4_uca1400_nopad_ai_ci, or the collation of your tables, and add \
                       character_set_server = utf8mb4";
        assert_found(&RULE, "mariadb-10.11", line, &[refused]);
        assert_found(&RULE, "mariadb-11.8", line, &[]);
        assert_found(&RULE, "mysql-8.0.33", line, &[]);
        let both = "character_set_server=utf8mb4\ncollation_server=utf8mb4_0900_ai_ci";
        let found = remarks(&RULE, &crate::Machine::default(), "mysql-5.7", both);
        assert!(found[0].ends_with("utf8mb4_unicode_520_ci, or the collation of your tables"));
    }

    #[test]
    fn a_character_set_of_the_file_is_not_added_again() {
        let latin1 = "character_set_server=latin1\ncollation_server=utf8mb4_0900_ai_ci";
        let fix =
            "does not have this collation; leave it out, or write a collation of the character set";
        assert_found(&RULE, "mysql-5.7", latin1, &[fix]);
        let utf8 = "character_set_server=utf8\ncollation_server=utf8mb3_uca1400_ai_ci";
        let found = remarks(&RULE, &crate::Machine::default(), "mariadb-10.6", utf8);
        assert!(found[0].ends_with("utf8mb3_unicode_520_ci, or the collation of your tables"));
    }
}
