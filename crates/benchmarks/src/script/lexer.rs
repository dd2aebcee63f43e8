//! The tokens of an expression.

use std::ops::Range;

/// A token with its byte offset in the script.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub(super) at: usize,
    pub(super) kind: TokenKind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    Int(i64),
    /// 2^63, which has a meaning only behind a minus sign.
    TwoTo63,
    Double(f64),
    /// `:name`, without the colon.
    Variable(String),
    /// A keyword or the name of a function, in lower case.
    Word(String),
    Symbol(&'static str),
    End,
}

/// The symbols; of two that begin alike the longer one comes first.
const SYMBOLS: [&str; 25] = [
    "<<", ">>", "<=", ">=", "<>", "!=", "||", "&&", "<", ">", "=", "+", "-", "*", "/", "%", "&",
    "|", "#", "~", "!", "(", ")", ",", ";",
];

/// A fault with its byte offset in the script.
pub(super) type Fault = (usize, String);

/// The tokens of a part of the script, the last one `End`; a backslash before a line's end continues the line.
pub(super) fn tokens(script: &[u8], part: Range<usize>) -> Result<Vec<Token>, Fault> {
    let mut tokens = Vec::new();
    let mut at = part.start;
    while at < part.end {
        let rest = &script[at..part.end];
        if rest[0].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if let Some(length) = continuation(rest) {
            at += length;
            continue;
        }
        let (kind, length) = token(rest).map_err(|fault| (at, fault))?;
        tokens.push(Token { at, kind });
        at += length;
    }
    tokens.push(Token {
        at: part.end,
        kind: TokenKind::End,
    });
    Ok(tokens)
}

/// Length of a backslash with the line break after it.
pub(super) fn continuation(text: &[u8]) -> Option<usize> {
    match text {
        [b'\\', b'\n', ..] => Some(2),
        [b'\\', b'\r', b'\n', ..] => Some(3),
        _ => None,
    }
}

/// Length of the name of a variable at the start of a text; 0 where there is none.
pub(super) fn name_length(text: &[u8]) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
    match text.first() {
        Some(first) if is_part(first) && !first.is_ascii_digit() => {
            text.iter().take_while(|byte| is_part(byte)).count()
        }
        _ => 0,
    }
}

fn token(text: &[u8]) -> Result<(TokenKind, usize), String> {
    let second_is_digit = text.get(1).is_some_and(u8::is_ascii_digit);
    match text[0] {
        b':' => match name_length(&text[1..]) {
            0 => Err("expected the name of a variable after `:`".to_owned()),
            length => {
                let name = String::from_utf8_lossy(&text[1..=length]).into_owned();
                Ok((TokenKind::Variable(name), 1 + length))
            }
        },
        b'0'..=b'9' => number(text),
        b'.' if second_is_digit => number(text),
        byte if byte.is_ascii_alphabetic() || byte == b'_' => {
            let length = name_length(text);
            let word = String::from_utf8_lossy(&text[..length]).to_ascii_lowercase();
            Ok((TokenKind::Word(word), length))
        }
        _ => match SYMBOLS.iter().find(|it| text.starts_with(it.as_bytes())) {
            Some(symbol) => Ok((TokenKind::Symbol(symbol), symbol.len())),
            None => {
                let shown = String::from_utf8_lossy(&text[..text.len().min(4)]).into_owned();
                let first = shown.chars().next().unwrap_or_default();
                Err(format!("unexpected {first:?} in an expression"))
            }
        },
    }
}

/// `12`, `1.5`, `.5`, `1e3`.
fn number(text: &[u8]) -> Result<(TokenKind, usize), String> {
    let digits = |from: usize| {
        let rest = text[from.min(text.len())..].iter();
        rest.take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut length = digits(0);
    let mut is_int = true;
    if text.get(length) == Some(&b'.') {
        is_int = false;
        length += 1 + digits(length + 1);
    }
    if matches!(text.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            is_int = false;
            length += 1 + sign + exponent;
        }
    }
    if name_length(&text[length..]) > 0 {
        return Err("a letter follows a number".to_owned());
    }
    let written = String::from_utf8_lossy(&text[..length]).into_owned();
    if !is_int {
        let double: Option<f64> = written.parse().ok().filter(|it: &f64| it.is_finite());
        let double = double.ok_or_else(|| format!("{written} is too large for a double"))?;
        return Ok((TokenKind::Double(double), length));
    }
    match written.parse::<u64>() {
        Ok(number) if number == 1 << 63 => Ok((TokenKind::TwoTo63, length)),
        Ok(number) if number < 1 << 63 => Ok((TokenKind::Int(number as i64), length)),
        _ => Err(format!("{written} does not fit into a 64-bit integer")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let tokens = tokens(text.as_bytes(), 0..text.len()).unwrap();
        tokens.into_iter().map(|token| token.kind).collect()
    }

    #[test]
    fn an_expression_is_taken_apart() {
        use TokenKind::{Double, End, Int, Symbol, TwoTo63, Variable, Word};
        assert_eq!(
            kinds("1 +\\\n :aid<=RANDOM(.5,1e3)"),
            [
                Int(1),
                Symbol("+"),
                Variable("aid".to_owned()),
                Symbol("<="),
                Word("random".to_owned()),
                Symbol("("),
                Double(0.5),
                Symbol(","),
                Double(1000.0),
                Symbol(")"),
                End
            ]
        );
        assert_eq!(kinds("9223372036854775808"), [TwoTo63, End]);
        for text in [":", ":1", "$", "1x", "9223372036854775809", "1e999", "'a'"] {
            assert!(tokens(text.as_bytes(), 0..text.len()).is_err(), "{text}");
        }
    }
}
