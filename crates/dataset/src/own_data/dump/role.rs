//! What a loader does with a statement of a dump.

use std::ops::Range;

use bstr::ByteSlice;
use sqltext::{ExecutedTokens, Quoting};

use super::{
    assignment::{Setting, setting, words},
    created::KINDS,
    default_charset::charset,
    insert::insert_head,
};

/// Bytes of a statement that are read for it.
const HEAD_BYTES: usize = 600;

/// What a loader does with a statement of a dump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// Rows of this table, for any connection.
    Rows(String),
    /// A setting of the session, for every connection: this statement, without what is not of the session.
    Session(Vec<u8>),
    /// It makes or drops this table.
    Table(String),
    /// The keys of this table are made again after its rows.
    EnableKeys(String),
    /// It names the database of the statements behind it.
    Database(String),
    /// It makes the database of this name with properties, or changes them: this statement, which does so to the database
    /// of the connection.
    AlterDatabase(String, Vec<u8>),
    /// It has no use where several connections load into a fresh server: locks, transactions, positions of a replica.
    Skipped,
    /// Anything else, after all rows before it: views, triggers, routines.
    Other,
}

impl Role {
    pub fn of(statement: &[u8]) -> Self {
        let text = words(statement);
        let head = &text[..text.len().min(HEAD_BYTES)];
        let upper = head.to_ascii_uppercase();
        let begins = |word: &str| upper.starts_with(word.as_bytes());
        if begins("INSERT ") {
            return insert_head(statement).map_or(Self::Other, |head| Self::Rows(head.table));
        }
        match setting(statement) {
            Some(Setting::None) => return Self::Skipped,
            Some(Setting::Session(text)) => return Self::Session(text),
            Some(Setting::Computed) => return Self::Other,
            None => {}
        }
        let skipped = [
            "LOCK TABLES",
            "UNLOCK TABLES",
            "COMMIT",
            "START TRANSACTION",
            "BEGIN",
            "CHANGE MASTER",
            "CHANGE REPLICATION",
            // mysqldump --apply-replica-statements: a server that is no replica refuses START.
            "STOP SLAVE",
            "STOP REPLICA",
            "STOP ALL SLAVES",
            "START SLAVE",
            "START REPLICA",
            "START ALL SLAVES",
            "FLUSH ",
        ];
        if skipped.iter().any(|word| begins(word)) {
            return Self::Skipped;
        }
        let name_behind = |word: &str| {
            let behind = head.get(word.len()..)?;
            first_name(behind)
        };
        if begins("USE ") {
            return name_behind("USE").map_or(Self::Other, Self::Database);
        }
        for word in [
            "CREATE DATABASE",
            "CREATE SCHEMA",
            "DROP DATABASE",
            "DROP SCHEMA",
        ] {
            if begins(word) {
                let Some(name) = name_behind(word) else {
                    return Self::Other;
                };
                return match charset(statement) {
                    Some(charset) => {
                        Self::AlterDatabase(name, format!("ALTER DATABASE {charset}").into_bytes())
                    }
                    None => Self::Database(name),
                };
            }
        }
        for word in ["ALTER DATABASE", "ALTER SCHEMA"] {
            if begins(word) {
                return alter_database(statement, word.len()).unwrap_or(Self::Other);
            }
        }
        if begins("ALTER TABLE")
            && (upper.contains_str("DISABLE KEYS") || upper.contains_str("ENABLE KEYS"))
        {
            let table = name_behind("ALTER TABLE").unwrap_or_default();
            return if upper.contains_str("DISABLE KEYS") {
                Self::Table(table)
            } else {
                Self::EnableKeys(table)
            };
        }
        for word in ["CREATE TABLE", "DROP TABLE"] {
            if begins(word) {
                return name_behind(word).map_or(Self::Other, Self::Table);
            }
        }
        Self::Other
    }
}

/// `ALTER DATABASE shop CHARACTER SET utf8mb4` without the name; `None` where it has none. `words_length` is that of its
/// first two words.
fn alter_database(statement: &[u8], words_length: usize) -> Option<Role> {
    let at = statement.len() - words(statement).len() + words_length;
    let behind = &statement[at..];
    let name = first_name(behind)?;
    let is_property = [
        "CHARACTER",
        "CHARSET",
        "DEFAULT",
        "COLLATE",
        "COMMENT",
        "ENCRYPTION",
        "READ",
    ];
    let is_property = is_property.iter().any(|it| name.eq_ignore_ascii_case(it));
    let quoted = format!("`{name}`");
    let (begin, length) = match behind.find(&quoted) {
        Some(begin) => (begin, quoted.len()),
        None if is_property => return None,
        None => (behind.find(&name)?, name.len()),
    };
    let mut text = statement[..at + begin].to_vec();
    text.extend_from_slice(behind[begin + length..].trim_ascii_start());
    Some(Role::AlterDatabase(name, text))
}

/// The first name behind IF [NOT] EXISTS and comments.
fn first_name(text: &[u8]) -> Option<String> {
    let mut rest = text.trim_ascii_start();
    loop {
        if rest.starts_with(b"/*") {
            let end = rest.find("*/")?;
            rest = rest[end + 2..].trim_ascii_start();
            continue;
        }
        let word = rest.split(u8::is_ascii_whitespace).next()?;
        let is_condition = ["IF", "NOT", "EXISTS"]
            .iter()
            .any(|it| word.eq_ignore_ascii_case(it.as_bytes()));
        if !is_condition {
            break;
        }
        rest = rest[word.len()..].trim_ascii_start();
    }
    let name = match rest.strip_prefix(b"`") {
        Some(quoted) => quoted.split(|byte| *byte == b'`').next()?,
        None => rest
            .split(|byte| byte.is_ascii_whitespace() || matches!(byte, b'(' | b';' | b'*'))
            .next()?,
    };
    let name = String::from_utf8(name.to_vec()).ok()?;
    (!name.is_empty()).then_some(name)
}

/// A statement without the DEFINER that names an account: on another server there is no such account, and what it owns
/// could not be used.
pub fn without_definer(statement: Vec<u8>) -> Vec<u8> {
    match definer(&statement) {
        Some(place) => [&statement[..place.start], &statement[place.end..]].concat(),
        None => statement,
    }
}

/// The place of ``DEFINER=`a`@`%` `` of a CREATE, before the word for what it makes.
fn definer(statement: &[u8]) -> Option<Range<usize>> {
    let mut tokens = ExecutedTokens::of(statement, Quoting::default());
    tokens.next().filter(|token| token.is_word("CREATE"))?;
    let mut tokens = tokens.take_while(|token| !KINDS.iter().any(|kind| token.is_word(kind)));
    let start = tokens.find(|token| token.is_word("DEFINER"))?.start;
    tokens.next().filter(|token| token.is_sign(b'='))?;
    let mut end = tokens.next()?.end();
    for token in tokens {
        // No blank stands within an account.
        if token.start != end {
            break;
        }
        end = token.end();
    }
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_of_a_dump_has_its_role() {
        let name = |name: &str| name.to_owned();
        for (text, role) in [
            (
                "/*!40101 SET NAMES utf8mb4 */",
                Role::Session(b"/*!40101 SET NAMES utf8mb4 */".to_vec()),
            ),
            (
                "SET autocommit=0, unique_checks=0",
                Role::Session(b"SET unique_checks=0".to_vec()),
            ),
            ("SET @a = LAST_INSERT_ID()", Role::Other),
            ("DROP SCHEMA IF EXISTS `shop`", Role::Database(name("shop"))),
            (
                "ALTER DATABASE `shop` CHARACTER SET latin1 COLLATE latin1_swedish_ci",
                Role::AlterDatabase(
                    name("shop"),
                    b"ALTER DATABASE CHARACTER SET latin1 COLLATE latin1_swedish_ci".to_vec(),
                ),
            ),
            ("ALTER DATABASE CHARACTER SET latin1", Role::Other),
            ("SET @@SESSION.SQL_LOG_BIN= 0", Role::Skipped),
            (
                "SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ 'x:1-5'",
                Role::Skipped,
            ),
            ("set autocommit=0", Role::Skipped),
            (
                "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop` /*!40100 DEFAULT CHARACTER SET x */",
                Role::AlterDatabase(name("shop"), b"ALTER DATABASE CHARACTER SET x".to_vec()),
            ),
            (
                "CREATE DATABASE `shop` /*!80016 DEFAULT ENCRYPTION='N' */",
                Role::Database(name("shop")),
            ),
            ("USE `shop`", Role::Database(name("shop"))),
            ("DROP TABLE IF EXISTS `t`", Role::Table(name("t"))),
            ("CREATE TABLE `t` (\n  `a` int\n)", Role::Table(name("t"))),
            ("LOCK TABLES `t` WRITE", Role::Skipped),
            ("STOP SLAVE", Role::Skipped),
            ("START REPLICA", Role::Skipped),
            (
                "/*!40000 ALTER TABLE `t` DISABLE KEYS */",
                Role::Table(name("t")),
            ),
            (
                "/*!40000 ALTER TABLE `t` ENABLE KEYS */",
                Role::EnableKeys(name("t")),
            ),
            ("INSERT INTO `t` VALUES (1)", Role::Rows(name("t"))),
            ("INSERT IGNORE INTO `t` VALUES (1)", Role::Other),
            ("/*!50001 CREATE ALGORITHM=UNDEFINED */", Role::Other),
        ] {
            assert_eq!(Role::of(text.as_bytes()), role, "{text}");
        }
    }

    #[test]
    fn definers_are_taken_out() {
        for (text, without) in [
            (
                "/*!50003 CREATE*/ /*!50017 DEFINER=`a b`@`%`*/ /*!50003 TRIGGER x */",
                "/*!50003 CREATE*/ /*!50017 */ /*!50003 TRIGGER x */",
            ),
            (
                "CREATE DEFINER=`root`@`localhost` PROCEDURE p()",
                "CREATE  PROCEDURE p()",
            ),
            (
                "CREATE TABLE t (a int COMMENT 'DEFINER=`a` ')",
                "CREATE TABLE t (a int COMMENT 'DEFINER=`a` ')",
            ),
            (
                "CREATE DEFINER = 'a b'@'%' VIEW v AS SELECT 1 FROM u WHERE definer='c'",
                "CREATE  VIEW v AS SELECT 1 FROM u WHERE definer='c'",
            ),
            (
                "INSERT INTO t VALUES ('DEFINER=`a`@`b` ')",
                "INSERT INTO t VALUES ('DEFINER=`a`@`b` ')",
            ),
        ] {
            assert_eq!(
                without_definer(text.as_bytes().to_vec()),
                without.as_bytes()
            );
        }
    }
}
