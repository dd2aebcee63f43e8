//! The default character set of a dump's database, which its routines and triggers take for parameters and variables.

use std::collections::BTreeMap;

use sqltext::{ExecutedTokens, Quoting, Token, TokenKind};

use super::{assignment::words, created::created};

/// `CHARACTER SET latin1 COLLATE latin1_swedish_ci` of a CREATE DATABASE, ALTER DATABASE or CREATE TABLE; `None` where it
/// says neither. Those of columns and partitions, which stand in brackets, are not the table's.
pub(super) fn charset(statement: &[u8]) -> Option<String> {
    let mut depth = 0_usize;
    let mut outside = Vec::new();
    for token in ExecutedTokens::of(statement, Quoting::default()) {
        match (token.kind, token.text) {
            (TokenKind::Sign, b"(") => depth += 1,
            (TokenKind::Sign, b")") => depth = depth.saturating_sub(1),
            (TokenKind::Sign, b"=") => {}
            _ if depth == 0 => outside.push(token),
            _ => {}
        }
    }
    let is = |at: usize, word: &str| {
        outside
            .get(at)
            .is_some_and(|it: &Token<'_>| it.is_word(word))
    };
    let value = |at: usize| {
        let value = outside.get(at)?.inner();
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let is_name = !value.is_empty() && value.iter().all(is_plain);
        is_name.then(|| String::from_utf8_lossy(value).into_owned())
    };
    let (mut set, mut collation) = (None, None);
    for at in 0..outside.len() {
        if is(at, "CHARSET") {
            set = value(at + 1);
        } else if is(at, "CHARACTER") && is(at + 1, "SET") {
            set = value(at + 2);
        } else if is(at, "COLLATE") {
            collation = value(at + 1);
        }
    }
    let set = set.map(|it| format!("CHARACTER SET {it}"));
    let collation = collation.map(|it| format!("COLLATE {it}"));
    let parts: Vec<String> = set.into_iter().chain(collation).collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// What is known of the character set of a dump's database so far.
#[derive(Debug, Default)]
pub struct DefaultCharset {
    /// A statement has said it, or it cannot be concluded.
    is_settled: bool,
    /// Those of tables, and how many have each.
    of_tables: BTreeMap<String, u32>,
    /// The one that was concluded last.
    concluded: Option<String>,
}

impl DefaultCharset {
    /// A statement says it.
    pub fn settle(&mut self) {
        self.is_settled = true;
    }

    /// Takes a statement over. Before a trigger or a routine the result is the character set that most tables have, if it is
    /// not in force yet: where no statement says the database's, it is probably that one. Under the server's own, a
    /// comparison of a parameter with a column is an error ("illegal mix of collations"), or reads no index.
    pub fn before(&mut self, statement: &[u8]) -> Option<&str> {
        if self.is_settled {
            return None;
        }
        let kind = created(statement)?;
        if kind == "TABLE" {
            // In older dumps a table stands for a view until all tables are there: in a comment, without a character set.
            if words(statement).len() == statement.len() {
                match charset(statement) {
                    Some(charset) => *self.of_tables.entry(charset).or_default() += 1,
                    // It is no dump as tools write it, and its tables have the database's own.
                    None => self.is_settled = true,
                }
            }
            return None;
        }
        if !["TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "PACKAGE"].contains(&kind.as_str()) {
            return None;
        }
        let most = self.of_tables.iter().max_by_key(|(_, count)| **count)?;
        if self.concluded.as_ref() == Some(most.0) {
            return None;
        }
        self.concluded = Some(most.0.clone());
        self.concluded.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn character_sets_are_those_of_the_whole() {
        for (statement, expected) in [
            (
                "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `prod` /*!40100 DEFAULT CHARACTER SET latin1 COLLATE latin1_swedish_ci */ \
                 /*!80016 DEFAULT ENCRYPTION='N' */",
                Some("CHARACTER SET latin1 COLLATE latin1_swedish_ci"),
            ),
            ("CREATE DATABASE `charset`", None),
            (
                "create schema a default charset = 'utf8mb3'",
                Some("CHARACTER SET utf8mb3"),
            ),
            (
                "CREATE DATABASE a COLLATE=utf8mb4_bin",
                Some("COLLATE utf8mb4_bin"),
            ),
            (
                "CREATE TABLE `t` (\n  `a` char(3) CHARACTER SET ascii COLLATE ascii_bin\n) ENGINE=InnoDB AUTO_INCREMENT=3 \
                 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='charset=x'\n/*!50100 PARTITION BY HASH (`a`) (PARTITION p) */",
                Some("CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci"),
            ),
            ("CREATE TABLE t (a char(3) CHARSET ascii)", None),
        ] {
            assert_eq!(
                charset(statement.as_bytes()).as_deref(),
                expected,
                "{statement}"
            );
        }
    }

    #[test]
    fn a_character_set_is_concluded_from_tables_where_none_is_said() {
        let latin1 = "CREATE TABLE a (b int) DEFAULT CHARSET=latin1";
        let utf8 =
            "CREATE TABLE c (d int) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin";
        let view = "/*!50001 CREATE TABLE `v` (\n  `id` tinyint NOT NULL\n) ENGINE=MyISAM */";
        let trigger = "/*!50003 CREATE*/ /*!50017 DEFINER=`a`@`%`*/ /*!50003 TRIGGER x BEFORE INSERT ON a FOR EACH ROW SET @a = 1 */";
        let function = "CREATE DEFINER=`table`@`%` FUNCTION f(a text) RETURNS int RETURN 1";
        let mut charset = DefaultCharset::default();
        for (statement, concluded) in [
            ("CREATE PROCEDURE p() SELECT 1", None),
            (latin1, None),
            (view, None),
            (trigger, Some("CHARACTER SET latin1")),
            (trigger, None),
            (utf8, None),
            (utf8, None),
            ("CREATE VIEW function AS SELECT 1", None),
            (function, Some("CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")),
            (function, None),
        ] {
            assert_eq!(
                charset.before(statement.as_bytes()),
                concluded,
                "{statement}"
            );
        }
        // A table by hand, whose texts have the database's character set.
        for settled in ["CREATE TABLE a (b text)", ""] {
            let mut charset = DefaultCharset::default();
            charset.before(latin1.as_bytes());
            match settled {
                "" => charset.settle(),
                table => assert_eq!(charset.before(table.as_bytes()), None),
            }
            assert_eq!(charset.before(function.as_bytes()), None);
        }
    }
}
