//! What a CREATE statement of a dump makes.

use sqltext::{ExecutedTokens, Quoting, TokenKind};

/// Tokens of a CREATE before what it makes, of which a DEFINER has some.
const TOKENS_BEFORE_KIND: usize = 24;

/// What a CREATE can make.
pub(super) const KINDS: [&str; 11] = [
    "TABLE",
    "VIEW",
    "TRIGGER",
    "PROCEDURE",
    "FUNCTION",
    "EVENT",
    "PACKAGE",
    "SEQUENCE",
    "INDEX",
    "DATABASE",
    "SCHEMA",
];

/// Whether a statement creates an event, which a server executes by itself.
pub fn creates_event(statement: &[u8]) -> bool {
    created(statement).as_deref() == Some("EVENT")
}

/// What a CREATE makes, in capitals: `TABLE`, `TRIGGER`.
pub(super) fn created(statement: &[u8]) -> Option<String> {
    let tokens = ExecutedTokens::of(statement, Quoting::default());
    let mut words = tokens
        .take(TOKENS_BEFORE_KIND)
        .filter(|token| token.kind == TokenKind::Word)
        .map(|token| String::from_utf8_lossy(token.text).to_uppercase());
    if words.next()? != "CREATE" {
        return None;
    }
    words.find(|word| KINDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_known_by_their_create() {
        for (statement, is_event) in [
            (
                "/*!50106 CREATE*/ /*!50117 DEFINER=`a`@`%`*/ /*!50106 EVENT `purge` ON SCHEDULE EVERY 1 HOUR DO DELETE FROM t */",
                true,
            ),
            ("CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SET @a = 1", true),
            ("/*!50106 DROP EVENT IF EXISTS `purge` */", false),
            ("CREATE TABLE event (a int)", false),
            ("CREATE PROCEDURE event() SELECT 1", false),
        ] {
            assert_eq!(creates_event(statement.as_bytes()), is_event, "{statement}");
        }
    }
}
