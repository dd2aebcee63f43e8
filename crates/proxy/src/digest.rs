//! The digest of a statement: its text without values.

use crate::script::token::{
    COMMENT, COMMENT_MYSQL, FLOAT, FUNCTION, INTEGER, LITERAL, STRING, Token, tokenize,
};

/// Words that begin a statement and are no keywords to the tokenizer.
const LEADING: [&[u8]; 4] = [b"COMMIT", b"ROLLBACK", b"BEGIN", b"START"];

/// The statement without its values, by the rules of MySQL Proxy's tokenizer: statements of one shape have the same
/// digest. `select a from t where b = 1` and `SELECT a FROM t WHERE b=2` become
/// ``SELECT `a` FROM `t` WHERE `b` = ?``.
pub(crate) fn digest(statement: &[u8]) -> Vec<u8> {
    let tokens = tokenize(statement);
    let mut out = Vec::with_capacity(statement.len() + tokens.len());
    let mut first: Option<&Token> = None;
    for token in tokens.iter().filter(|token| token.id != COMMENT) {
        if token.id == COMMENT_MYSQL {
            out.extend_from_slice(b"/*!");
            out.extend_from_slice(&token.text);
            out.extend_from_slice(b"*/ ");
            continue;
        }
        put(token, first, &mut out);
        first = first.or(Some(token));
    }
    while out.last() == Some(&b' ') {
        out.pop();
    }
    out
}

fn put(token: &Token, first: Option<&Token>, out: &mut Vec<u8>) {
    match token.id {
        STRING | INTEGER | FLOAT => out.push(b'?'),
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
            ("start transaction", "START TRANSACTION"),
            ("begin", "BEGIN"),
            ("select begin -- why", "SELECT `begin`"),
            ("reset query cache", "`reset` `query` `cache`"),
            ("", ""),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
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
