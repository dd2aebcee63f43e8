//! Which tables a rewritten statement changes.

use super::token::Token;

/// The aliases of the tables whose rows an UPDATE or a DELETE changes.
pub(super) fn changed(tokens: &[Token]) -> Vec<&str> {
    let mut words = tokens.iter().filter_map(|token| match token {
        Token::Word(word) => Some(word.as_str()),
        _ => None,
    });
    match words.next() {
        Some("update") => assigned(tokens),
        Some("delete") => deleted(tokens),
        _ => Vec::new(),
    }
}

/// The tables of the columns that are assigned: `` set `shop`.`i`.`price` = 3 ``.
fn assigned(tokens: &[Token]) -> Vec<&str> {
    let is_begin = |token: &Token| match token {
        Token::Word(word) => word == "set",
        Token::Sign(sign) => sign == ",",
        _ => false,
    };
    let is_equal = |token: &Token| matches!(token, Token::Sign(sign) if sign == "=");
    let places = tokens.windows(3);
    let names = places.filter_map(|place| match place {
        [before, Token::Name(parts), after] if is_begin(before) && is_equal(after) => {
            parts.iter().rev().nth(1)
        }
        _ => None,
    });
    names.map(String::as_str).collect()
}

/// The tables that a DELETE names before its FROM, or behind it.
fn deleted(tokens: &[Token]) -> Vec<&str> {
    let mut named: Vec<&str> = Vec::new();
    for token in tokens {
        match token {
            Token::Word(word) => match word.as_str() {
                "from" if named.is_empty() => {}
                "from" | "where" | "using" | "order" | "limit" => break,
                _ => {}
            },
            Token::Name(parts) => named.extend(parts.last().map(String::as_str)),
            _ => {}
        }
    }
    named
}
