//! SQL modes that stand for several others, and modes whose loss changes what statements do.

/// Modes that MySQL 8.0 removed, each with those of its parts that MySQL 8.0 still has. The other parts only shorten the
/// output of SHOW CREATE TABLE.
///
/// Source: MySQL 5.7 Reference Manual, "Combination SQL Modes"; MariaDB documentation, "SQL_MODE".
static COMBINED: [(&str, &[&str]); 7] = [
    ("DB2", &OTHER_PRODUCT),
    ("MAXDB", &OTHER_PRODUCT),
    ("MSSQL", &OTHER_PRODUCT),
    ("MYSQL323", &["HIGH_NOT_PRECEDENCE"]),
    ("MYSQL40", &["HIGH_NOT_PRECEDENCE"]),
    ("ORACLE", &OTHER_PRODUCT),
    ("POSTGRESQL", &OTHER_PRODUCT),
];

const OTHER_PRODUCT: [&str; 3] = ["PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE"];

/// The list of modes in which each combined mode that the version does not know is replaced by its parts; no mode is
/// repeated. `ORACLE,ANSI_QUOTES` becomes `PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE`.
pub(crate) fn with_parts(list: &str, is_known: impl Fn(&str) -> bool) -> String {
    let mut modes: Vec<&str> = Vec::new();
    for mode in list.split(',').map(str::trim) {
        let mut combined = COMBINED.iter();
        let parts = combined.find(|(name, _)| mode.eq_ignore_ascii_case(name));
        let replacing: Vec<&str> = match parts {
            Some((_, parts)) if !is_known(mode) => parts.to_vec(),
            _ => vec![mode],
        };
        for mode in replacing {
            if !modes.iter().any(|one| one.eq_ignore_ascii_case(mode)) {
                modes.push(mode);
            }
        }
    }
    modes.join(",")
}

/// What a mode does that no mode of a version without it does; `None` if nothing is lost. Only MariaDB from 10.3 on has
/// PL/SQL.
pub(crate) fn lost_effect(mode: &str, has_pl_sql: bool) -> Option<&'static str> {
    Some(match mode.to_ascii_uppercase().as_str() {
        "MAXDB" => "TIMESTAMP columns have the type DATETIME",
        "EMPTY_STRING_IS_NULL" => "an empty string is NULL",
        "ORACLE" if has_pl_sql => "stored programs are written in PL/SQL",
        "SIMULTANEOUS_ASSIGNMENT" => "UPDATE reads all old values before it assigns new ones",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unknown_modes_are_replaced_by_their_parts() {
        let parts = "PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE";
        let strict = format!("STRICT_ALL_TABLES,{parts}");
        for (list, expected) in [
            ("oracle", parts),
            ("STRICT_ALL_TABLES, MSSQL,ansi_quotes", strict.as_str()),
            ("MYSQL40,MYSQL323", "HIGH_NOT_PRECEDENCE"),
            ("ANSI,FOO", "ANSI,FOO"),
        ] {
            assert_eq!(with_parts(list, |_| false), expected, "{list}");
        }
        assert_eq!(with_parts("ORACLE", |mode| mode == "ORACLE"), "ORACLE");
    }
}
