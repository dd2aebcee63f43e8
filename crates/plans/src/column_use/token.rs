//! The tokens of a rewritten statement.

use sqltext::{Quoting, Scanner, TokenKind};

/// The word by which a server marks a value that it computes once: `<cache>(now())`.
pub(super) const MARK_OF_VALUE: &str = "cache";
/// How MariaDB begins the list of columns for whose values it keeps the results of a query: `<expr_cache><c>(`.
const KEPT_RESULT: &str = "<expr_cache><";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A quoted name with its parts: schema, table, column.
    Name(Vec<String>),
    /// A word in small letters.
    Word(String),
    /// A quoted value.
    Text(String),
    Number,
    Open,
    Close,
    /// A sign or several: `<=`.
    Sign(String),
}

impl Token {
    /// The kind of comparison that it stands for: `=`, `like`, or `<` for a range.
    pub(super) fn comparison(&self) -> Option<&'static str> {
        match self {
            Self::Sign(sign) => match sign.as_str() {
                "=" | "<=>" => Some("="),
                "<" | ">" | "<=" | ">=" => Some("<"),
                _ => None,
            },
            Self::Word(word) => match word.as_str() {
                "in" | "is" => Some("="),
                "between" => Some("<"),
                "like" => Some("like"),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Splits a text; comments and blanks are left out.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let (mut skipped_to, mut sign_end) = (0, 0);
    for token in Scanner::new(text.as_bytes(), Quoting::default()) {
        if token.start < skipped_to {
            continue;
        }
        let written = &text[token.range()];
        let value = || String::from_utf8_lossy(&token.unquoted()).into_owned();
        let token = match token.kind {
            TokenKind::Space | TokenKind::Comment | TokenKind::ServerComment => continue,
            TokenKind::Name => {
                let is_part = text[..token.start].ends_with("`.");
                if is_part && let [.., Token::Name(parts), _] = found.as_mut_slice() {
                    parts.push(value());
                    // The point.
                    found.pop();
                    continue;
                }
                Token::Name(vec![value()])
            }
            TokenKind::Text => Token::Text(value()),
            TokenKind::Number => Token::Number,
            TokenKind::Word => Token::Word(written.to_lowercase()),
            _ => match written {
                "(" => Token::Open,
                ")" => Token::Close,
                // Its columns are those of the query behind it.
                "<" if text[token.start..].starts_with(KEPT_RESULT) => {
                    let end = text[token.start..].find(">(");
                    skipped_to = end.map_or(text.len(), |end| token.start + end + 1);
                    continue;
                }
                "<" | ">" | "=" | "!" => {
                    let is_second = sign_end == token.start;
                    sign_end = token.end();
                    if is_second && let Some(Token::Sign(sign)) = found.last_mut() {
                        sign.push_str(written);
                        continue;
                    }
                    Token::Sign(written.to_owned())
                }
                _ => Token::Sign(written.to_owned()),
            },
        };
        found.push(token);
    }
    found
}

/// The word that a token is, if it is one.
pub(super) fn is_word(token: Option<&Token>) -> Option<&str> {
    match token {
        Some(Token::Word(word)) => Some(word),
        _ => None,
    }
}
