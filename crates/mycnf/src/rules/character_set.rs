//! Rule: the character set is the old utf8, or latin1 by default.

use crate::assignment::Assignment;
use crate::character_sets::has_character_set;
use crate::rule::{Level, Rewrite, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "character-set",
    title: "Character set",
    reason: "The character set utf8 (utf8mb3) cannot store emoji or many rare characters. Existing tables keep their character set if the default changes.",
    source: "tested: MySQL 8.0 accepts utf8 as an alias and warns, and MySQL 9.7 rejects it; MySQL Reference Manual, \"The \
        utf8mb3 Character Set\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let name = "character_set_server";
    let Some(line) = subject.set(name) else {
        let collation = subject.set("collation_server").and_then(Assignment::value);
        // The rules about collations say which character set this one needs.
        let is_of_another = collation.is_some_and(|collation| {
            let set = collation.split('_').next().unwrap_or_default();
            // Of `binary`, no other rule says anything.
            let is_own = ["latin1", "binary"]
                .iter()
                .any(|own| set.eq_ignore_ascii_case(own));
            !is_own && has_character_set(subject.target, set)
        });
        if is_of_another || !subject.is_one_of(name, &["latin1"]) {
            return Vec::new();
        }
        let what = "not set: new tables use latin1; MySQL 8.0, MariaDB 11.8 and later versions use a different default";
        return vec![
            RuleFinding::about(name, Level::Note, what)
                .fix("set character_set_server = utf8mb4, or latin1 if you need it"),
        ];
    };
    let value = line.value().unwrap_or_default();
    if value.eq_ignore_ascii_case("utf8") {
        if subject.has_utf8_as_utf8mb4() {
            return Vec::new();
        }
        let (level, what) = if !has_character_set(subject.target, "utf8") {
            let what = "this version has no character set named utf8";
            (Level::Refused, what)
        } else {
            (
                Level::Warning,
                "utf8 means utf8mb3 in this version: values with 4-byte characters, such as emoji, are rejected or truncated",
            )
        };
        let new = format!("{} = utf8mb3", line.entry.name);
        let mut remark = RuleFinding::on(line, level, what)
            .fix("set utf8mb4 for new data, or utf8mb3 to keep the current character set");
        // Older versions do not know the name utf8mb3.
        if subject.target.is_at_least(crate::Family::MySql, &[8]) {
            remark = remark.rewrite(Rewrite::Replace(new));
        }
        return vec![remark];
    }
    if value.eq_ignore_ascii_case("utf8mb3") {
        let what = "values with 4-byte characters, such as emoji, are rejected or truncated";
        return vec![RuleFinding::on(line, Level::Note, what).fix("set utf8mb4 for new data")];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn old_sets_by_version() {
        let line = "character-set-server=utf8";
        assert_found(
            &RULE,
            "mysql-5.5",
            line,
            &["warning: character-set-server=utf8: utf8 means utf8mb3 in this version"],
        );
        assert_found(&RULE, "mysql-9.7", line, &["refused"]);
        assert_found(
            &RULE,
            "mysql-5.6",
            "",
            &["note: character_set_server: not set"],
        );
        assert_found(&RULE, "mysql-8.0.33", "", &[]);
        assert_found(&RULE, "mysql-5.6", "character_set_server=utf8mb4", &[]);
        let by_mode = "old_mode=\ncharacter_set_server=utf8";
        assert_found(&RULE, "mariadb-10.11", by_mode, &[]);
    }

    #[test]
    fn one_rule_names_the_character_set_of_a_collation() {
        let utf8mb3 = "collation_server=utf8mb3_general_ci";
        assert_found(&RULE, "mariadb-10.11", utf8mb3, &[]);
        let latin1 = "collation_server=latin1_german1_ci";
        assert_found(&RULE, "mariadb-10.11", latin1, &["new tables use latin1"]);
    }
}
