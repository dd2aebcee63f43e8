//! The lexer: words, numbers, strings and punctuation of a .smack file.
//!
//! Super Smack skips every character outside strings that has no meaning in its grammar (`-`, `[`, letters of other
//! scripts); files depend on that, so this lexer does the same.

use bstr::BString;

use crate::diagnostic::{Diagnostic, Source};

/// A token and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// Byte offset of its first character.
    pub(super) at: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A keyword or a name; the parser distinguishes them.
    Word(String),
    Number(String),
    /// The value of a string, its escapes resolved.
    Text(BString),
    Open,
    Close,
    OpenArguments,
    CloseArguments,
    Semicolon,
    Dot,
    Comma,
    Dollar,
    Scope,
    Equals,
}

impl TokenKind {
    /// The token's description in an error.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Word(word) => format!("`{word}`"),
            Self::Number(number) => format!("`{number}`"),
            Self::Text(text) => {
                let text = text.to_string();
                let mut characters = text.chars().map(|c| if c.is_control() { ' ' } else { c });
                let shown: String = characters.by_ref().take(20).collect();
                let rest = if characters.next().is_some() {
                    "..."
                } else {
                    ""
                };
                format!("the string \"{shown}{rest}\"")
            }
            Self::Open => "`{`".to_owned(),
            Self::Close => "`}`".to_owned(),
            Self::OpenArguments => "`(`".to_owned(),
            Self::CloseArguments => "`)`".to_owned(),
            Self::Semicolon => "`;`".to_owned(),
            Self::Dot => "`.`".to_owned(),
            Self::Comma => "`,`".to_owned(),
            Self::Dollar => "`$`".to_owned(),
            Self::Scope => "`::`".to_owned(),
            Self::Equals => "`=`".to_owned(),
        }
    }
}

/// All tokens of a file, up to an unclosed string.
///
/// The error of the unclosed string is returned beside the tokens because the parser usually finds its cause earlier:
/// after a missing quote, strings and the text between them are swapped, and only the last string stays open.
pub(super) fn tokens(source: &Source<'_>) -> (Vec<Token>, Option<Box<Diagnostic>>) {
    let text = source.text;
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let start = at;
        let kind = match byte {
            b'#' => {
                at = end_of_line(text, at);
                continue;
            }
            b'/' if text.get(at + 1) == Some(&b'/') => {
                at = end_of_line(text, at);
                continue;
            }
            b'"' => {
                let (value, end) = match string(source, at) {
                    Ok(string) => string,
                    Err(fault) => return (tokens, Some(fault)),
                };
                at = end;
                TokenKind::Text(value)
            }
            b'a'..=b'z' | b'A'..=b'Z' => {
                at = end_of_run(text, at, |b| b.is_ascii_alphanumeric() || b == b'_');
                TokenKind::Word(String::from_utf8_lossy(&text[start..at]).into_owned())
            }
            b'0'..=b'9' => {
                at = end_of_run(text, at, |b| b.is_ascii_digit());
                TokenKind::Number(String::from_utf8_lossy(&text[start..at]).into_owned())
            }
            b':' if text.get(at + 1) == Some(&b':') => {
                at += 2;
                TokenKind::Scope
            }
            other => {
                at += 1;
                match punctuation(other) {
                    Some(kind) => kind,
                    None => continue,
                }
            }
        };
        tokens.push(Token { kind, at: start });
    }
    (tokens, None)
}

/// The offset after the string that opens at `open`; `None` where the string is not closed.
pub(super) fn end_of_string(source: &Source<'_>, open: usize) -> Option<usize> {
    string(source, open).ok().map(|(_, end)| end)
}

fn punctuation(byte: u8) -> Option<TokenKind> {
    Some(match byte {
        b'{' => TokenKind::Open,
        b'}' => TokenKind::Close,
        b'(' => TokenKind::OpenArguments,
        b')' => TokenKind::CloseArguments,
        b';' => TokenKind::Semicolon,
        b'.' => TokenKind::Dot,
        b',' => TokenKind::Comma,
        b'$' => TokenKind::Dollar,
        b'=' => TokenKind::Equals,
        _ => return None,
    })
}

fn end_of_line(text: &[u8], from: usize) -> usize {
    end_of_run(text, from, |byte| byte != b'\n')
}

fn end_of_run(text: &[u8], from: usize, belongs: impl Fn(u8) -> bool) -> usize {
    from + text[from..]
        .iter()
        .take_while(|&&byte| belongs(byte))
        .count()
}

/// The string that opens at `open`, and the offset after its closing quote.
///
/// `\\` and `\"` represent the second character, and a backslash at the end of a line joins the lines. Any other
/// backslash stays in the string, so that SQL's own escapes reach the server (Super Smack dropped the text after it,
/// which is useful in no file).
fn string(source: &Source<'_>, open: usize) -> Result<(BString, usize), Box<Diagnostic>> {
    let text = source.text;
    let mut value = Vec::new();
    let mut at = open + 1;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match (byte, text.get(at)) {
            (b'"', _) => return Ok((value.into(), at)),
            (b'\\', Some(&escaped @ (b'\\' | b'"'))) => {
                value.push(escaped);
                at += 1;
            }
            (b'\\', Some(b'\n')) => at += 1,
            (b'\\', Some(b'\r')) if text.get(at + 1) == Some(&b'\n') => at += 2,
            _ => value.push(byte),
        }
    }
    Err(Box::new(
        source
            .diagnostic(open, "this string is not closed")
            .hint("a string ends at the next `\"`; write `\\\"` for a quote inside it"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let source = Source {
            name: "t",
            text: text.as_bytes(),
        };
        let (tokens, fault) = tokens(&source);
        assert_eq!(fault, None);
        tokens.into_iter().map(|token| token.kind).collect()
    }

    fn value(text: &str) -> String {
        match kinds(text).remove(0) {
            TokenKind::Text(value) => value.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn words_numbers_and_punctuation() {
        use TokenKind::*;
        assert_eq!(
            kinds("a_1.b($2, c::d) = 7;{}"),
            [
                Word("a_1".into()),
                Dot,
                Word("b".into()),
                OpenArguments,
                Dollar,
                Number("2".into()),
                Comma,
                Word("c".into()),
                Scope,
                Word("d".into()),
                CloseArguments,
                Equals,
                Number("7".into()),
                Semicolon,
                Open,
                Close,
            ]
        );
    }

    #[test]
    fn what_means_nothing_is_skipped() {
        use TokenKind::*;
        for text in [
            "a;",
            "- a [] ;",
            "a / ;",
            "\u{fc}a\u{3042};",
            "# x\na // y \" z\n;",
            "a : ;",
        ] {
            assert_eq!(kinds(text), [Word("a".into()), Semicolon], "{text}");
        }
    }

    #[test]
    fn a_digit_begins_a_number_not_a_word() {
        assert_eq!(
            kinds("12ab"),
            [TokenKind::Number("12".into()), TokenKind::Word("ab".into())]
        );
    }

    #[test]
    fn strings() {
        for (text, expected) in [
            (r#""plain""#, "plain"),
            ("\"two\nlines\"", "two\nlines"),
            (r#""a \"b\" \\ c""#, r#"a "b" \ c"#),
            ("\"joined \\\nlines\"", "joined lines"),
            ("\"joined \\\r\nlines\"", "joined lines"),
            // Super Smack dropped the text after such a backslash.
            (r#""tab \t quote \' end""#, r"tab \t quote \' end"),
            (r##""# no // comment""##, "# no // comment"),
            ("\"\"", ""),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn an_open_string_is_named_where_it_opens() {
        let source = Source {
            name: "t",
            text: b"query \"x\"\n{ query \"select 1; }\n main {}",
        };
        let diagnostic = tokens(&source).1.unwrap();
        assert_eq!((diagnostic.line, diagnostic.column), (2, 9));
        assert_eq!(diagnostic.message, "this string is not closed");
    }
}
