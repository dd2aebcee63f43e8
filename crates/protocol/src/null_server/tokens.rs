//! A tokenizer for statements: words, quoted texts and marks, without comments.

/// A token of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A keyword, a name or a number.
    Word(&'a [u8]),
    /// The text between quotes of any kind.
    Quoted(&'a [u8]),
    /// Any other character.
    Mark(u8),
}

impl Token<'_> {
    /// Whether it is this keyword, in any case.
    pub(super) fn is(&self, keyword: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(keyword.as_bytes()))
    }
}

/// Splits a statement into tokens.
///
/// The text inside `/*! ... */`, which a server would execute, is not treated as a comment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Position of the next token, bytes from the start.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let blank = match rest {
                [byte, ..] if byte.is_ascii_whitespace() => 1,
                [b'/', b'*', b'!', rest @ ..] => 3 + digits(rest),
                [b'/', b'*', b'M', b'!', rest @ ..] => 4 + digits(rest),
                [b'*', b'/', ..] => 2,
                [b'/', b'*', rest @ ..] => 2 + through(rest, b"*/"),
                [b'#', rest @ ..] => 1 + through(rest, b"\n"),
                [b'-', b'-', rest @ ..] if rest.first().is_none_or(u8::is_ascii_whitespace) => {
                    2 + through(rest, b"\n")
                }
                _ => return,
            };
            self.at += blank;
        }
    }

    /// The text up to the closing quote.
    fn quoted(&mut self, quote: u8) -> &'a [u8] {
        let begin = self.at;
        loop {
            match self.text.get(self.at) {
                None => return &self.text[begin..],
                Some(b'\\') if quote != b'`' => self.at = (self.at + 2).min(self.text.len()),
                Some(byte) if *byte == quote => {
                    self.at += 1;
                    return &self.text[begin..self.at - 1];
                }
                Some(_) => self.at += 1,
            }
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_blanks();
        let rest = &self.text[self.at..];
        let first = *rest.first()?;
        if is_word(first) {
            let length = rest.iter().take_while(|byte| is_word(**byte)).count();
            self.at += length;
            return Some(Token::Word(&rest[..length]));
        }
        self.at += 1;
        Some(match first {
            b'\'' | b'"' | b'`' => Token::Quoted(self.quoted(first)),
            mark => Token::Mark(mark),
        })
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Length of the text up to the end of this mark, or of the whole text.
fn through(text: &[u8], mark: &[u8]) -> usize {
    let found = text.windows(mark.len()).position(|part| part == mark);
    found.map_or(text.len(), |at| at + mark.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out_and_quotes_hold_together() {
        let cases = [
            ("SELECT c", "W:SELECT W:c"),
            ("a/* ? */b--c\n-- ?\n#?\nd", "W:a W:b M:- M:- W:c W:d"),
            ("/*!50000 x*/ /*M!100100 y */z", "W:x W:y W:z"),
            (r#"'it\'s' "a""b" `\`"#, r"Q:it\'s Q:a Q:b Q:\"),
            ("'open", "Q:open"),
            (r"'end\", r"Q:end\"),
            ("@@x.y=1.5", "M:@ M:@ W:x M:. W:y M:= W:1 M:. W:5"),
            ("/* open", ""),
            ("", ""),
        ];
        for (sql, expected) in cases {
            let tokens = Tokens::new(sql.as_bytes()).map(|token| {
                let text = |text| String::from_utf8_lossy(text);
                match token {
                    Token::Word(word) => format!("W:{}", text(word)),
                    Token::Quoted(quoted) => format!("Q:{}", text(quoted)),
                    Token::Mark(mark) => format!("M:{}", char::from(mark)),
                }
            });
            assert_eq!(tokens.collect::<Vec<_>>().join(" "), expected, "{sql}");
        }
    }
}
