//! The tokens of SQL that matter for splitting: words, quotations, comments.

use std::ops::Range;

use super::Quoting;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    Space,
    /// A comment that the server does not read.
    Comment,
    /// A keyword, a name or a number.
    Word,
    /// A name in backticks, or in double quotation marks where they hold names.
    Name,
    /// Anything else, such as a text, an operator, or a comment that the server reads.
    Other,
    /// `\G` or `\g`, which end a statement as its delimiter does.
    Terminator,
    /// Something without an end.
    Open(&'static str),
}

/// Reads a text token by token.
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    quoting: Quoting,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8], quoting: Quoting) -> Self {
        Self {
            text,
            quoting,
            at: 0,
        }
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
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

    /// The next token with its range; `None` at the end.
    pub(super) fn next_token(&mut self) -> Option<(Range<usize>, Token)> {
        let start = self.at;
        let rest = self.rest();
        let first = *rest.first()?;
        let (length, token) = match first {
            // A run of blanks is one token: before each token of a line's start the whole run is searched for a command.
            b' ' | b'\t' => (blanks(rest), Token::Space),
            b'\r' | b'\n' | 0x0b | 0x0c => (1, Token::Space),
            b'\'' | b'"' | b'`' => self.quotation(rest, first),
            b'#' => (line_length(rest), Token::Comment),
            b'-' if is_dash_comment(rest) => (line_length(rest), Token::Comment),
            b'/' if rest.starts_with(b"/*") => comment(rest),
            b'\\' if matches!(rest.get(1), Some(b'g' | b'G')) => (2, Token::Terminator),
            _ if is_word(first) => (
                rest.iter().take_while(|byte| is_word(**byte)).count(),
                Token::Word,
            ),
            _ => (1, Token::Other),
        };
        self.at = start + length;
        Some((start..self.at, token))
    }

    /// A quotation; its mark is doubled within it, and in texts a backslash protects the next byte unless it is plain.
    fn quotation(&self, rest: &[u8], mark: u8) -> (usize, Token) {
        let is_name = mark == b'`' || mark == b'"' && self.quoting.has_double_quoted_names;
        let is_escaping = !is_name && !self.quoting.has_plain_backslashes;
        let mut at = 1;
        while let Some(byte) = rest.get(at) {
            if *byte == b'\\' && is_escaping {
                at += 2;
            } else if *byte == mark {
                if rest.get(at + 1) != Some(&mark) {
                    let token = if is_name { Token::Name } else { Token::Other };
                    return (at + 1, token);
                }
                at += 2;
            } else {
                at += 1;
            }
        }
        (rest.len(), Token::Open("a quotation"))
    }
}

fn blanks(rest: &[u8]) -> usize {
    let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t');
    rest.iter().take_while(is_blank).count()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

/// `-- ` begins a comment, `--` before anything but white space is two signs.
fn is_dash_comment(rest: &[u8]) -> bool {
    rest.starts_with(b"--") && rest.get(2).is_none_or(u8::is_ascii_whitespace)
}

fn line_length(rest: &[u8]) -> usize {
    rest.iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(rest.len())
}

/// `/* */` is a comment; `/*! */`, `/*M! */` and `/*+ */` are read by the server.
fn comment(rest: &[u8]) -> (usize, Token) {
    match rest[2..].windows(2).position(|pair| pair == b"*/") {
        None => (rest.len(), Token::Open("a comment")),
        Some(at) => (
            at + 4,
            if is_read_by_server(rest) {
                Token::Other
            } else {
                Token::Comment
            },
        ),
    }
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

    #[test]
    fn the_comment_for_the_client_is_not_read_by_the_server() {
        for (text, token) in [
            ("/*!40101 SET NAMES utf8 */", Token::Other),
            ("/*M!100616 SET @a = 1 */", Token::Other),
            ("/*!999999\\- enable the sandbox mode */", Token::Comment),
            ("/*M!999999\\- enable the sandbox mode */", Token::Comment),
        ] {
            let mut scanner = Scanner::new(text.as_bytes(), Quoting::default());
            let found = scanner.next_token();
            assert_eq!(found, Some((0..text.len(), token)), "{text}");
        }
    }

    #[test]
    fn a_run_of_blanks_is_one_token_within_its_line() {
        let mut scanner = Scanner::new(b" \t  a  \n  \tb", Quoting::default());
        let tokens: Vec<_> = std::iter::from_fn(|| scanner.next_token()).collect();
        let expected = [
            (0..4, Token::Space),
            (4..5, Token::Word),
            (5..7, Token::Space),
            (7..8, Token::Space),
            (8..11, Token::Space),
            (11..12, Token::Word),
        ];
        assert_eq!(tokens, expected);
    }
}
