//! The tokens of a rewritten statement.

/// The word by which a server marks a value that it computes once: `<cache>(now())`.
pub(super) const MARK_OF_VALUE: &str = "cache";
/// How MariaDB begins the list of columns for whose values it keeps the results of a query: `<expr_cache><c>(`.
const KEPT_RESULT: &str = "<expr_cache><";

/// A token.
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
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '/' if rest.starts_with("/*") => (
                None,
                rest.find("*/").map_or(rest.len(), |end| end + "*/".len()),
            ),
            // Its columns are those of the query behind it.
            '<' if rest.starts_with(KEPT_RESULT) => {
                (None, rest.find(">(").map_or(rest.len(), |end| end + 1))
            }
            '`' => {
                let (parts, length) = name(rest);
                (Some(Token::Name(parts)), length)
            }
            '\'' | '"' => {
                let (value, length) = quoted(rest, first);
                (Some(Token::Text(value)), length)
            }
            '(' => (Some(Token::Open), 1),
            ')' => (Some(Token::Close), 1),
            '0'..='9' => {
                let is_of_number = |letter: char| letter.is_ascii_alphanumeric() || letter == '.';
                let length = rest
                    .find(|letter| !is_of_number(letter))
                    .unwrap_or(rest.len());
                (Some(Token::Number), length)
            }
            _ if first.is_alphanumeric() || first == '_' => {
                let is_of_word =
                    |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
                let length = rest
                    .find(|letter| !is_of_word(letter))
                    .unwrap_or(rest.len());
                (Some(Token::Word(rest[..length].to_lowercase())), length)
            }
            _ if first.is_whitespace() => (None, first.len_utf8()),
            '<' | '>' | '=' | '!' => {
                let length = rest.find(|sign| !matches!(sign, '<' | '>' | '=' | '!'));
                let length = match length.unwrap_or(rest.len()) {
                    // The mark behind the sign of a negation is one of its own.
                    _ if rest[1..].starts_with(KEPT_RESULT) => 1,
                    length => length,
                };
                (Some(Token::Sign(rest[..length].to_owned())), length)
            }
            other => (Some(Token::Sign(other.to_string())), other.len_utf8()),
        };
        found.extend(token);
        rest = &rest[length..];
    }
    found
}

/// A name with its parts and its length: `` `a`.`b` ``.
fn name(text: &str) -> (Vec<String>, usize) {
    let (mut parts, mut length) = (Vec::new(), 0);
    loop {
        let (part, of_part) = quoted(&text[length..], '`');
        parts.push(part);
        length += of_part;
        if !text[length..].starts_with(".`") {
            return (parts, length);
        }
        length += 1;
    }
}

/// A quotation without its marks, and its length; a doubled mark stands for one, and so does one after a backslash.
fn quoted(text: &str, mark: char) -> (String, usize) {
    let mut value = String::new();
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && mark != '`' {
            value.extend(letters.next().map(|(_, next)| next));
        } else if letter != mark {
            value.push(letter);
        } else if letters.next_if(|(_, next)| *next == mark).is_some() {
            value.push(mark);
        } else {
            return (value, at + mark.len_utf8());
        }
    }
    (value, text.len())
}

/// The word that a token is, if it is one.
pub(super) fn is_word(token: Option<&Token>) -> Option<&str> {
    match token {
        Some(Token::Word(word)) => Some(word),
        _ => None,
    }
}
