//! The digest of a statement: its text without values.

use crate::script::token::{
    COMMENT, COMMENT_MYSQL, FLOAT, FUNCTION, INTEGER, LITERAL, STRING, Token, next,
};

/// Words that begin a statement and are no keywords to the tokenizer.
const LEADING: [&[u8]; 4] = [b"COMMIT", b"ROLLBACK", b"BEGIN", b"START"];

/// The statement without its values, by the rules of MySQL Proxy's tokenizer: statements of one shape have the same
/// digest. `select a from t where b = 1` and `SELECT a FROM t WHERE b=2` become
/// ``SELECT `a` FROM `t` WHERE `b` = ?``.
pub(crate) fn digest(statement: &[u8]) -> Vec<u8> {
    digest_up_to(statement, usize::MAX)
}

/// The digest, or a part of it that is longer than `bytes_max`: an INSERT may have millions of values.
pub(crate) fn digest_up_to(statement: &[u8], bytes_max: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(statement.len().min(bytes_max) + 16);
    let mut first: Option<Token> = None;
    let mut tokens = Vec::new();
    let mut at = 0;
    // One byte more, because the last blank is taken away.
    while at < statement.len() && out.len() <= bytes_max.saturating_add(1) {
        at += next(&statement[at..], &mut tokens);
        for token in tokens.drain(..) {
            match token.id {
                COMMENT => continue,
                COMMENT_MYSQL => {
                    out.extend_from_slice(b"/*!");
                    out.extend_from_slice(&token.text);
                    out.extend_from_slice(b"*/ ");
                    continue;
                }
                _ => put(&token, first.as_ref(), &mut out),
            }
            first.get_or_insert(token);
        }
    }
    while out.last() == Some(&b' ') {
        out.pop();
    }
    out
}

fn put(token: &Token, first: Option<&Token>, out: &mut Vec<u8>) {
    match token.id {
        STRING | INTEGER | FLOAT => out.push(b'?'),
        LITERAL if is_number(&token.text) => out.push(b'?'),
        LITERAL if token.text.starts_with(b"@") => out.extend_from_slice(&token.text),
        LITERAL if is_command(token, first) => put_upper(token, out),
        LITERAL => {
            out.push(b'`');
            out.extend_from_slice(&token.text);
            out.push(b'`');
        }
        // No blank before its bracket.
        FUNCTION => return put_upper(token, out),
        _ => put_upper(token, out),
    }
    out.push(b' ');
}

/// Whether a word is a value in hexadecimal or binary digits, which the tokenizer takes for a name.
fn is_number(word: &[u8]) -> bool {
    match word {
        [b'0', b'x' | b'X', digits @ ..] => digits.iter().all(u8::is_ascii_hexdigit),
        [b'0', b'b' | b'B', digits @ ..] => digits.iter().all(|digit| matches!(digit, b'0' | b'1')),
        _ => false,
    }
}

/// Whether a word is the command, or the second word of `START TRANSACTION`.
fn is_command(token: &Token, first: Option<&Token>) -> bool {
    let is = |token: &Token, word: &[u8]| token.text.eq_ignore_ascii_case(word);
    match first {
        None => LEADING.iter().any(|word| is(token, word)),
        Some(first) => is(first, b"START") && is(token, b"TRANSACTION"),
    }
}

fn put_upper(token: &Token, out: &mut Vec<u8>) {
    out.extend(token.text.iter().map(u8::to_ascii_uppercase));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> String {
        String::from_utf8_lossy(&digest(text.as_bytes())).into_owned()
    }

    #[test]
    fn the_examples_of_the_reference() {
        for (text, expected) in [
            (
                "select 1 from t where a='x' and b=count(*)",
                "SELECT ? FROM `t` WHERE `a` = ? AND `b` = COUNT( * )",
            ),
            ("update db.t set @a=1", "UPDATE `db` . `t` SET @a = ?"),
            ("/*!40000 select*/ 1", "/*!40000 select*/ ?"),
            ("select 0xAB, 0b01 from t", "SELECT ? , ? FROM `t`"),
            ("start transaction", "START TRANSACTION"),
            ("begin", "BEGIN"),
            ("select begin -- why", "SELECT `begin`"),
            ("reset query cache", "`reset` `query` `cache`"),
            ("", ""),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_long_one_is_cut_behind_the_limit() {
        let long = format!("insert into t values {}", "(1, 'x'),".repeat(100_000));
        let whole = digest(long.as_bytes());
        let head = digest_up_to(long.as_bytes(), 50);
        assert!(head.len() > 50 && head.len() < 100, "{}", head.len());
        assert!(whole.starts_with(&head));
        assert_eq!(digest_up_to(b"select 1", 8), b"SELECT ?");
    }

    proptest! {
        #[test]
        fn any_bytes_have_one(text: Vec<u8>) {
            digest(&text);
        }

        #[test]
        fn a_digest_is_its_own(text in "[a-z0-9@'=(), ]{0,60}") {
            let once = digest(text.as_bytes());
            // A quote that is not closed takes the rest.
            prop_assume!(text.matches('\'').count() % 2 == 0);
            prop_assert_eq!(digest(&once), once);
        }
    }
}
