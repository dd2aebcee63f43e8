//! The collations that only some versions have, and the names of character sets that mean several things.

use crate::catalogue::Family;
use crate::character_sets::with_utf8mb3;
use crate::subject::Subject;
use crate::target::Target;

/// The sensitivities that UCA 9.0.0 of MySQL and UCA 14.0.0 of MariaDB both have.
const SENSITIVITIES: [&str; 3] = ["ai_ci", "as_ci", "as_cs"];

/// What to do about a collation if the file sets a character set to which it does not belong. The character set is to
/// stay, or to become utf8mb4, as `character-set` advises.
pub(crate) const FOLLOW_CHARACTER_SET: &str =
    "leave it out, or write a collation of the character set that you choose";

impl Subject<'_> {
    /// Whether `utf8` is the name of utf8mb4, which an `old_mode` of the file can say to MariaDB.
    ///
    /// Source: MariaDB documentation, "OLD Mode", UTF8_IS_UTF8MB3, which is the default from 10.6 on.
    pub(crate) fn has_utf8_as_utf8mb4(&self) -> bool {
        let is_without = |modes: &str| {
            let mut modes = modes.split(',').map(str::trim);
            !modes.any(|mode| mode.eq_ignore_ascii_case("UTF8_IS_UTF8MB3"))
        };
        let modes = self.value("old_mode");
        // A number stands for modes, too, and is not judged.
        let modes = modes.filter(|modes| modes.parse::<u64>().is_err());
        self.target.is_at_least(Family::MariaDb, &[10, 6])
            && modes.is_some_and(|modes| is_without(&modes))
    }

    /// A character set or a collation by the name that means only one thing.
    pub(crate) fn full_name(&self, name: &str) -> String {
        let full = with_utf8mb3(name);
        if !full.eq_ignore_ascii_case(name) && self.has_utf8_as_utf8mb4() {
            full.replacen("utf8mb3", "utf8mb4", 1)
        } else {
            full
        }
    }
}

/// Whether a version has a collation, as far as its name tells; other names are not judged.
///
/// Source: the manuals' lists of collations; release notes of MariaDB 10.10.1, of 11.4.5 and of MySQL 8.0.1. MariaDB
/// 11.4.5 and 11.7.2 made the names of MySQL 8.0 aliases of their own collations.
pub(crate) fn has_collation(target: &Target, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_mysql = target.family() == Family::MySql;
    if name.contains("_0900_") {
        let numbers = target.numbers();
        // Of a series, the newest version is meant.
        let is_new_11_4 = numbers.starts_with(&[11, 4]) && !matches!(numbers, [_, _, 0..5, ..]);
        return target.is_at_least(Family::MySql, &[8])
            || is_new_11_4
            || target.is_at_least(Family::MariaDb, &[11, 7]);
    }
    if name.contains("uca1400_") {
        return target.is_at_least(Family::MariaDb, &[10, 10]);
    }
    !(is_mysql && name.contains("_nopad_"))
}

/// A collation that the version has, in the place of one that it does not have: as near as its names allow.
pub(crate) fn nearest_collation(target: &Target, name: &str) -> String {
    let name = name.to_ascii_lowercase();
    // Such as `latin1_swedish_nopad_ci`: only MariaDB has them beside those that pad.
    if name.contains("_nopad_") && !name.contains("uca1400") {
        return name.replace("_nopad_", "_");
    }
    let set = set_of_collation(&name);
    let sensitivity = SENSITIVITIES
        .iter()
        .find(|sensitivity| name.ends_with(*sensitivity))
        .filter(|_| set == "utf8mb4");
    if let Some(sensitivity) = sensitivity {
        if target.is_at_least(Family::MariaDb, &[10, 10]) {
            return format!("utf8mb4_uca1400_nopad_{sensitivity}");
        }
        if target.is_at_least(Family::MySql, &[8]) {
            return format!("utf8mb4_0900_{sensitivity}");
        }
    }
    let is_insensitive = name.ends_with("_ci");
    let is_5_5 = target.family() == Family::MySql && !target.is_at_least(Family::MySql, &[5, 6]);
    match (is_insensitive, is_5_5) {
        (false, _) => format!("{set}_bin"),
        _ if !(set.starts_with("utf") || set == "ucs2") => format!("{set}_bin"),
        (true, true) => format!("{set}_unicode_ci"),
        (true, false) => format!("{set}_unicode_520_ci"),
    }
}

/// The character set of a collation, by its name; a Unicode collation of MariaDB may have none in its name.
pub(crate) fn set_of_collation(name: &str) -> &str {
    match name.split('_').next().unwrap_or_default() {
        "uca1400" => "utf8mb4",
        set => set,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collations_by_version() {
        let nopad = "utf8mb4_uca1400_nopad_ai_ci";
        for (target, name, instead) in [
            ("mysql-8.0.33", "utf8mb4_0900_ai_ci", None),
            (
                "mysql-5.7",
                "utf8mb4_0900_ai_ci",
                Some("utf8mb4_unicode_520_ci"),
            ),
            (
                "mysql-5.5",
                "utf8mb4_0900_ai_ci",
                Some("utf8mb4_unicode_ci"),
            ),
            ("mariadb-10.5", "utf8mb4_0900_as_cs", Some("utf8mb4_bin")),
            ("mariadb-10.11", "UTF8MB4_0900_AI_CI", Some(nopad)),
            ("mariadb-11.4.4", "utf8mb4_0900_ai_ci", Some(nopad)),
            ("mariadb-11.4.5", "utf8mb4_0900_ai_ci", None),
            ("mariadb-11.4", "utf8mb4_0900_ai_ci", None),
            ("mariadb-11.6", "utf8mb4_0900_ai_ci", Some(nopad)),
            ("mariadb-11.8", "utf8mb4_de_pb_0900_ai_ci", None),
            ("mariadb-10.11", nopad, None),
            ("mysql-8.0.33", nopad, Some("utf8mb4_0900_ai_ci")),
            ("mysql-8.0.33", "uca1400_as_cs", Some("utf8mb4_0900_as_cs")),
            (
                "mysql-5.7",
                "latin1_swedish_nopad_ci",
                Some("latin1_swedish_ci"),
            ),
            ("mysql-5.7", "utf8mb4_unicode_ci", None),
        ] {
            let target = Target::parse(target).unwrap();
            let nearest = nearest_collation(&target, name);
            let found = (!has_collation(&target, name)).then_some(nearest.as_str());
            assert_eq!(found, instead, "{target} {name}");
        }
    }
}
