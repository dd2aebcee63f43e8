//! What to do about syntax of a MariaDB dump that MySQL refuses.

use protocol::{PARSE_ERROR, ServerError};

/// Words at which MySQL stops in a dump of MariaDB: table options, types, objects, and parts of definitions.
///
/// Source: MariaDB documentation, "CREATE TABLE", "System-Versioned Tables", "CREATE SEQUENCE" and "Ignored Indexes".
const OF_MARIADB: [&str; 16] = [
    "ENCRYPTED",
    "ENCRYPTION_KEY_ID",
    "FOR SYSTEM_TIME",
    "IGNORED",
    "INET4",
    "INET6",
    "NEXTVAL",
    "PAGE_CHECKSUM",
    "PAGE_COMPRESSED",
    "ROW START",
    "SEQUENCE",
    "SYSTEM VERSIONING",
    "TRANSACTIONAL",
    "UUID",
    "VERSIONING",
    "WITH SYSTEM VERSIONING",
];

/// A server's message about a syntax error: `... the manual that corresponds to your MariaDB server version for the right
/// syntax to use near 'FORM page' at line 2`.
///
/// Source: ER_SYNTAX_ERROR and ER_PARSE_ERROR in share/messages_to_clients.txt of MySQL and in sql/share/errmsg-utf8.txt of
/// MariaDB.
struct SyntaxError<'a> {
    is_of_mariadb: bool,
    /// The statement from the place at which the parser stopped.
    near: &'a str,
}

impl<'a> SyntaxError<'a> {
    /// `None` for any other error.
    fn of(error: &'a ServerError) -> Option<Self> {
        let message = error.message.as_str();
        let (_, near) = message.split_once(" near '")?;
        (error.number == PARSE_ERROR).then(|| Self {
            is_of_mariadb: message.contains("MariaDB server version"),
            near,
        })
    }
}

/// The remedy if MySQL refuses a statement because of MariaDB's syntax; `None` for all other errors.
///
/// Source: MySQL Reference Manual, "Data Type Default Values".
pub(super) fn hint_to_syntax(error: &ServerError, statement: &[u8]) -> Option<String> {
    let error = SyntaxError::of(error).filter(|it| !it.is_of_mariadb)?;
    let near = error.near.trim_start_matches('`').to_ascii_uppercase();
    if let Some(function) = function_as_default(&near, statement) {
        let function = function.to_ascii_lowercase();
        return Some(format!(
            "MySQL requires parentheses around an expression as a default: write DEFAULT ({function}(...)); MySQL \
             before 8.0.13 does not support such defaults"
        ));
    }
    let is_near = |words: &&&str| {
        let rest = near.strip_prefix(**words);
        rest.is_some_and(|rest| !rest.starts_with(is_of_word))
    };
    let words = OF_MARIADB.iter().find(is_near)?;
    Some(format!(
        "{words} is syntax of MariaDB that this server does not have: remove or replace it"
    ))
}

fn is_of_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// The function at which MySQL stops, in capitals, if the statement calls it as the default of a column.
fn function_as_default<'n>(near: &'n str, statement: &[u8]) -> Option<&'n str> {
    let (function, _) = near.split_once('(')?;
    // MySQL has no sequences, so parentheses do not help there.
    if function.is_empty() || function == "NEXTVAL" || !function.chars().all(is_of_word) {
        return None;
    }
    let statement = String::from_utf8_lossy(statement).to_ascii_uppercase();
    statement
        .contains(&format!("DEFAULT {function}("))
        .then_some(function)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_of_mariadb_has_a_remedy_on_mysql() {
        for (product, statement, near, hint) in [
            (
                "MySQL",
                "CREATE TABLE `log` (`msg` varchar(100) DEFAULT uuid(),\n `at` datetime)",
                "uuid(),\n `at` datetime)",
                Some("write DEFAULT (uuid(...))"),
            ),
            (
                "MariaDB",
                "CREATE TABLE `log` (`msg` varchar(100) DEFAULT uuid())",
                "uuid())",
                None,
            ),
            (
                "MySQL",
                "CREATE TABLE `t` (`a` int) ENGINE=InnoDB PAGE_CHECKSUM=1",
                "PAGE_CHECKSUM=1",
                Some("PAGE_CHECKSUM is syntax of MariaDB"),
            ),
            (
                "MySQL",
                "CREATE TABLE `t` (`a` int) ENGINE=InnoDB `ENCRYPTED`=YES",
                "`ENCRYPTED`=YES",
                Some("ENCRYPTED is syntax of MariaDB"),
            ),
            (
                "MySQL",
                "CREATE TABLE `t` (`a` uuid DEFAULT NULL)",
                "uuid DEFAULT NULL)",
                Some("UUID is syntax of MariaDB"),
            ),
            (
                "MySQL",
                "CREATE TABLE `t` (`a` int DEFAULT nextval(`s`))",
                "nextval(`s`))",
                Some("NEXTVAL is syntax of MariaDB"),
            ),
            (
                "MySQL",
                "CREATE TABLE `t` (`a` int) ENGINE=InnoDB WITH SYSTEM VERSIONING",
                "VERSIONING",
                Some("VERSIONING is syntax of MariaDB"),
            ),
            ("MySQL", "CREATE TABLE u (a wrong)", "wrong)", None),
            ("MySQL", "CREATE TABLE u (a uuids)", "uuids)", None),
            ("MySQL", "CREATE TABLE u (a int", "", None),
        ] {
            let error = ServerError {
                number: PARSE_ERROR,
                sqlstate: "42000".to_owned(),
                message: format!(
                    "You have an error in your SQL syntax; check the manual that corresponds to your {product} server \
                     version for the right syntax to use near '{near}' at line 1"
                ),
            };
            let found = hint_to_syntax(&error, statement.as_bytes());
            match hint {
                Some(hint) => assert!(
                    found.as_ref().is_some_and(|found| found.contains(hint)),
                    "{statement}: {found:?}"
                ),
                None => assert_eq!(found, None, "{statement}"),
            }
        }
        let other = ServerError {
            number: 1146,
            sqlstate: "42S02".to_owned(),
            message: "Table 'test.sequence' doesn't exist".to_owned(),
        };
        let statement = b"INSERT INTO sequence VALUES (1)";
        assert_eq!(hint_to_syntax(&other, statement), None);
    }
}
