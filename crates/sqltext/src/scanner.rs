//! The tokenizer for all SQL: statements, dumps, logs, and texts that a server has rewritten.

use std::ops::Range;

use memchr::{memchr, memchr2};

use super::{
    Quoting,
    token::{Token, TokenKind},
};

/// Reads a text token by token, without an allocation. Its tokens, joined, are the text.
#[derive(Debug, Clone, Copy)]
pub struct Scanner<'a> {
    text: &'a [u8],
    quoting: Quoting,
    at: usize,
}

impl<'a> Scanner<'a> {
    /// The tokens of this text.
    pub fn new(text: &'a [u8], quoting: Quoting) -> Self {
        Self {
            text,
            quoting,
            at: 0,
        }
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    /// Offset of the byte behind the last token.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Continues at this byte.
    pub(super) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Skips a delimiter; false if none is here.
    pub(super) fn skip_delimiter(&mut self, delimiter: &[u8]) -> bool {
        let is_here = self.rest().starts_with(delimiter);
        if is_here {
            self.at += delimiter.len();
        }
        is_here
    }

    /// A command of the client at the beginning of a line: `delimiter //`, `source FILE`, `\. FILE`, `use NAME`, with the
    /// range of its line and that of its argument; a `;` at the end of a path or a name is dropped, as in the client.
    pub(super) fn client_command(&mut self) -> Option<(Range<usize>, String, Range<usize>)> {
        let is_line_start = self.text[..self.at]
            .iter()
            .rev()
            .find(|byte| !matches!(byte, b' ' | b'\t'));
        if is_line_start.is_some_and(|byte| *byte != b'\n') {
            return None;
        }
        let rest = self.rest();
        let skipped = blanks(rest);
        let line = rest[skipped..].split(|byte| *byte == b'\n').next()?;
        let line = line.trim_ascii_end();
        let word = line.split(u8::is_ascii_whitespace).next()?;
        let command = String::from_utf8_lossy(word).to_lowercase();
        let command = match command.as_str() {
            "delimiter" | "source" | "use" => command,
            "\\." => "source".to_owned(),
            _ => return None,
        };
        let start = self.at + skipped;
        let mut argument = line[word.len()..].trim_ascii();
        if command != "delimiter" {
            argument = argument
                .strip_suffix(b";")
                .unwrap_or(argument)
                .trim_ascii_end();
        }
        // Several statements on one line are no command of the client.
        if command == "use" && (argument.is_empty() || argument.contains(&b';')) {
            return None;
        }
        let argument_start = start + line.len() - line[word.len()..].trim_ascii_start().len();
        let end = if command == "delimiter" {
            start + line.len()
        } else {
            argument_start + argument.len()
        };
        self.at = start + line.len();
        Some((
            start..end,
            command,
            argument_start..argument_start + argument.len(),
        ))
    }

    /// A name or a text; its mark is doubled within it, and in texts a backslash protects the next byte unless it is plain.
    fn quotation(&self, rest: &[u8], mark: u8) -> (usize, TokenKind, bool) {
        let is_name = mark == b'`' || mark == b'"' && self.quoting.has_double_quoted_names;
        let is_escaping = !is_name && !self.quoting.has_plain_backslashes;
        let kind = if is_name {
            TokenKind::Name
        } else {
            TokenKind::Text
        };
        let mut at = 1;
        loop {
            let behind = rest.get(at..).unwrap_or_default();
            let found = if is_escaping {
                memchr2(mark, b'\\', behind)
            } else {
                memchr(mark, behind)
            };
            let Some(found) = found else {
                return (rest.len(), kind, true);
            };
            at += found;
            if rest[at] == mark && rest.get(at + 1) != Some(&mark) {
                return (at + 1, kind, false);
            }
            at += 2;
        }
    }

    /// A number, or a word that begins with a digit: behind the point of a name, digits are a name.
    fn number(&self, rest: &[u8]) -> (usize, TokenKind) {
        let is_behind_point = self.text[..self.at].ends_with(b".");
        match number_length(rest).filter(|_| !is_behind_point) {
            Some(length) => (length, TokenKind::Number),
            None => (word_length(rest), TokenKind::Word),
        }
    }

    /// Whether the point here begins a number; behind a name it is that of the name.
    fn begins_fraction(&self, rest: &[u8]) -> bool {
        let before = self.text[..self.at].last();
        rest.get(1).is_some_and(u8::is_ascii_digit)
            && !before.is_some_and(|byte| is_word_byte(*byte) || matches!(byte, b'`' | b'"'))
    }
}

impl<'a> Iterator for Scanner<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let start = self.at;
        let rest = self.rest();
        let first = *rest.first()?;
        let mut is_open = false;
        let (length, kind) = match first {
            // A run of blanks is one token: before each token of a line's start the whole run is searched for a command.
            b' ' | b'\t' => (blanks(rest), TokenKind::Space),
            b'\r' | b'\n' | 0x0b | 0x0c => (1, TokenKind::Space),
            b'\'' | b'"' | b'`' => {
                let (length, kind, is_cut) = self.quotation(rest, first);
                is_open = is_cut;
                (length, kind)
            }
            b'#' => (line_length(rest), TokenKind::Comment),
            b'-' if is_dash_comment(rest) => (line_length(rest), TokenKind::Comment),
            b'/' if rest.starts_with(b"/*") => {
                let end = rest[2..].windows(2).position(|pair| pair == b"*/");
                is_open = end.is_none();
                let kind = if is_read_by_server(rest) {
                    TokenKind::ServerComment
                } else {
                    TokenKind::Comment
                };
                (end.map_or(rest.len(), |end| end + 4), kind)
            }
            b'\\' if matches!(rest.get(1), Some(b'g' | b'G')) => (2, TokenKind::Terminator),
            b'0'..=b'9' => self.number(rest),
            b'.' if self.begins_fraction(rest) => {
                (1 + fraction_length(&rest[1..]), TokenKind::Number)
            }
            _ if is_word_byte(first) => (word_length(rest), TokenKind::Word),
            _ => (1, TokenKind::Sign),
        };
        self.at = start + length;
        Some(Token {
            kind,
            text: &rest[..length],
            start,
            is_open,
        })
    }
}

fn blanks(rest: &[u8]) -> usize {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
    rest.iter().take_while(is_blank).count()
}

/// Whether a byte can be part of a keyword, or of a name without quotation marks.
pub fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

fn word_length(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| is_word_byte(**byte)).count()
}

fn digits(rest: &[u8]) -> usize {
    rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Bytes of the number at the beginning; `None` for a word that begins with digits, such as `1st`.
fn number_length(rest: &[u8]) -> Option<usize> {
    let word = word_length(rest);
    let is_of_base = match &rest[..word] {
        [b'0', b'x' | b'X', digits @ ..] => digits.iter().all(u8::is_ascii_hexdigit),
        [b'0', b'b' | b'B', digits @ ..] => digits.iter().all(|digit| matches!(digit, b'0' | b'1')),
        _ => false,
    };
    if is_of_base && word > 2 {
        return Some(word);
    }
    let whole = digits(rest);
    if rest.get(whole) == Some(&b'.') {
        return Some(whole + 1 + fraction_length(&rest[whole + 1..]));
    }
    let length = whole + exponent_length(&rest[whole..]);
    (length > whole || word == whole).then_some(length)
}

/// Bytes of the digits behind a point, and of the exponent behind them.
fn fraction_length(rest: &[u8]) -> usize {
    let length = digits(rest);
    length + exponent_length(&rest[length..])
}

fn exponent_length(rest: &[u8]) -> usize {
    let sign = match rest {
        [b'e' | b'E', b'+' | b'-', ..] => 2,
        [b'e' | b'E', ..] => 1,
        _ => return 0,
    };
    match digits(&rest[sign..]) {
        0 => 0,
        digits => sign + digits,
    }
}

/// `-- ` begins a comment, `--` before anything but white space is two signs.
pub fn is_dash_comment(rest: &[u8]) -> bool {
    rest.starts_with(b"--") && rest.get(2).is_none_or(u8::is_ascii_whitespace)
}

fn line_length(rest: &[u8]) -> usize {
    rest.iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(rest.len())
}

/// Whether the comment that begins here is one that a server reads.
pub fn is_read_by_server(comment: &[u8]) -> bool {
    let begins = [&b"/*!"[..], b"/*M!", b"/*+"];
    begins.iter().any(|it| comment.starts_with(it)) && !is_only_for_client(comment)
}

/// Whether the comment that begins here is the one with which mariadb-dump switches its client to the sandbox mode: no
/// server executes it, and no delimiter ends it.
///
/// Source: dumps of MariaDB 10.6.18, 10.11.8 and 11.4.2 (`/*!`), and of later versions (`/*M!`).
pub fn is_only_for_client(comment: &[u8]) -> bool {
    let begins = [&b"/*!999999"[..], b"/*M!999999"];
    begins.iter().any(|it| comment.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quoting::tests::{DOUBLE_QUOTED_NAMES, PLAIN_BACKSLASHES};

    /// Each token without white space as a letter for its kind and its text, `!` for a missing end.
    fn tokens(text: &str, quoting: Quoting) -> String {
        let mut joined = Vec::new();
        let mut found = Vec::new();
        for token in Scanner::new(text.as_bytes(), quoting) {
            assert_eq!(token.text, &text.as_bytes()[token.range()]);
            joined.extend_from_slice(token.text);
            let letter = match token.kind {
                TokenKind::Space => continue,
                TokenKind::Comment => "c",
                TokenKind::ServerComment => "C",
                TokenKind::Word => "w",
                TokenKind::Number => "n",
                TokenKind::Name => "N",
                TokenKind::Text => "T",
                TokenKind::Sign => "s",
                TokenKind::Terminator => "t",
            };
            let end = if token.is_open { "!" } else { "" };
            found.push(format!(
                "{letter}:{}{end}",
                String::from_utf8_lossy(token.text)
            ));
        }
        assert_eq!(joined, text.as_bytes());
        found.join(" ")
    }

    #[test]
    fn every_kind_of_token_has_its_end() {
        for (text, expected) in [
            ("a_$é1 b", "w:a_$é1 w:b"),
            ("a.b=`c``d`", "w:a s:. w:b s:= N:`c``d`"),
            (
                r#"'it''s \' x' "a""b" '\\'"#,
                r#"T:'it''s \' x' T:"a""b" T:'\\'"#,
            ),
            (r"'a\", r"T:'a\!"),
            ("`a", "N:`a!"),
            ("'", "T:'!"),
            ("1--1 -- a\n#b", "n:1 s:- s:- n:1 c:-- a c:#b"),
            ("a/* b */c/*", "w:a c:/* b */ w:c c:/*!"),
            (
                "/*! a */ /*M!1 b */ /*+ c",
                "C:/*! a */ C:/*M!1 b */ C:/*+ c!",
            ),
            (
                "/*!999999\\- a */ /*M!999999\\- b */",
                "c:/*!999999\\- a */ c:/*M!999999\\- b */",
            ),
            ("a\\G;", "w:a t:\\G s:;"),
        ] {
            assert_eq!(tokens(text, Quoting::default()), expected, "{text}");
        }
    }

    #[test]
    fn numbers_are_distinguished_from_words_and_names() {
        for (text, expected) in [
            (
                "1 1.5 .5 1. 1e5 1.5E-3 .5e+2",
                "n:1 n:1.5 n:.5 n:1. n:1e5 n:1.5E-3 n:.5e+2",
            ),
            ("0x1F 0b01 0xfg 0b2 0x", "n:0x1F n:0b01 w:0xfg w:0b2 w:0x"),
            ("1st 1e 1e+", "w:1st w:1e w:1e s:+"),
            ("t.1 `t`.5 t.1e3", "w:t s:. w:1 N:`t` s:. w:5 w:t s:. w:1e3"),
            ("(.5,-1)", "s:( n:.5 s:, s:- n:1 s:)"),
        ] {
            assert_eq!(tokens(text, Quoting::default()), expected, "{text}");
        }
    }

    #[test]
    fn the_mode_says_where_a_quotation_ends() {
        let text = r#"'a\' "b\"#;
        for (quoting, expected) in [
            (Quoting::default(), r#"T:'a\' "b\!"#),
            (PLAIN_BACKSLASHES, r#"T:'a\' T:"b\!"#),
            (DOUBLE_QUOTED_NAMES, r#"T:'a\' "b\!"#),
        ] {
            assert_eq!(tokens(text, quoting), expected, "{quoting:?}");
        }
        assert_eq!(tokens(r#""b\" a"#, DOUBLE_QUOTED_NAMES), r#"N:"b\" w:a"#);
    }

    #[test]
    fn names_lose_their_marks() {
        for (text, quoting, expected) in [
            ("`a``b`", Quoting::default(), "a`b"),
            ("\"a\"\"b\"", DOUBLE_QUOTED_NAMES, "a\"b"),
            ("`", Quoting::default(), ""),
            ("`a``", Quoting::default(), "a`"),
            ("''", Quoting::default(), ""),
            ("a", Quoting::default(), "a"),
        ] {
            let token = Scanner::new(text.as_bytes(), quoting).next().unwrap();
            assert_eq!(&*token.unquoted(), expected.as_bytes(), "{text}");
        }
    }

    #[test]
    fn a_run_of_blanks_is_one_token_within_its_line() {
        let scanner = Scanner::new(b" \t  a  \n  \tb", Quoting::default());
        let ranges: Vec<_> = scanner.map(|token| token.range()).collect();
        assert_eq!(ranges, [0..4, 4..5, 5..7, 7..8, 8..11, 11..12]);
    }
}
