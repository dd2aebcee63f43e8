//! The character sets that each version has.

use crate::catalogue::Family;
use crate::target::Target;

/// The character sets of every version since 5.5. Source: `Index.xml` of five versions of MySQL and two of MariaDB, and
/// `--character-set-server` of each.
const OF_ALL: [&str; 39] = [
    "armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850",
    "cp852", "cp866", "cp932", "dec8", "eucjpms", "euckr", "gb2312", "gbk", "geostd8", "greek",
    "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin1", "latin2", "latin5", "latin7", "macce",
    "macroman", "sjis", "swe7", "tis620", "ucs2", "ujis", "utf16", "utf32", "utf8mb3", "utf8mb4",
];

/// Whether a version has a character set, in any case of letters.
pub(crate) fn has_character_set(target: &Target, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_mysql = target.family() == Family::MySql;
    match name.as_str() {
        "utf8" => !target.is_at_least(Family::MySql, &[9]),
        "utf16le" => !is_mysql || target.is_at_least(Family::MySql, &[5, 6]),
        "gb18030" => target.is_at_least(Family::MySql, &[5, 7]),
        name => OF_ALL.contains(&name),
    }
}

/// Whether an option takes the name of a character set or of a collation.
pub(crate) fn is_of_character_set(option: &str) -> bool {
    let mut beginnings = ["character_set_", "collation_"].iter();
    beginnings.any(|beginning| option.starts_with(beginning))
}

/// A character set or a collation in lower case, and without the short name of utf8mb3: `utf8mb3_general_ci` for
/// `utf8_general_ci`.
///
/// Source: MySQL Reference Manual, "The utf8mb3 Character Set (3-Byte UTF-8 Unicode Encoding)".
pub(crate) fn with_utf8mb3(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("utf8") {
        Some(rest) if rest.is_empty() || rest.starts_with('_') => format!("utf8mb3{rest}"),
        _ => name,
    }
}

/// The character set whose name is nearest to one that no version has: `utf8mb4` for `utf8mb5`.
pub(crate) fn nearest_character_set(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let distance = |known: &str| strsim::damerau_levenshtein(known, &name);
    // Of several, the one with which new data should begin.
    let nearest = OF_ALL.iter().rev().min_by_key(|known| distance(known))?;
    (distance(nearest) <= 2).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_by_version() {
        for (target, name, has) in [
            ("mysql-5.5", "utf8mb4", true),
            ("mysql-5.5", "utf8mb3", true),
            ("mysql-5.5", "utf16le", false),
            ("mysql-5.6", "gb18030", false),
            ("mysql-5.7", "gb18030", true),
            ("mariadb-11.8", "gb18030", false),
            ("mysql-8.0.33", "utf8", true),
            ("mysql-9.7", "utf8", false),
            ("mysql-9.7", "UTF8MB4", true),
            ("mysql-8.0.33", "utf8mb5", false),
            ("mariadb-10.11", "", false),
        ] {
            let target = Target::parse(target).unwrap();
            assert_eq!(has_character_set(&target, name), has, "{target} {name}");
        }
        for (name, full) in [
            ("UTF8", "utf8mb3"),
            ("utf8_bin", "utf8mb3_bin"),
            ("utf8mb3_bin", "utf8mb3_bin"),
            ("utf8mb4", "utf8mb4"),
            ("latin1", "latin1"),
        ] {
            assert_eq!(with_utf8mb3(name), full);
        }
        assert_eq!(nearest_character_set("utf8mb5"), Some("utf8mb4"));
        assert_eq!(nearest_character_set("latin-1"), Some("latin1"));
        assert_eq!(nearest_character_set("unicode"), None);
    }
}
