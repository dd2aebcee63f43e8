//! The tokens that a server executes: also those within `/*!50003 ... */`, and none of other comments.

use std::ops::Range;

use super::{
    Quoting,
    scanner::{Scanner, Token, is_only_for_client},
};

/// Reads a statement token by token.
pub struct ExecutedTokens<'t> {
    text: &'t [u8],
    scanner: Scanner<'t>,
    /// It is within a comment that the server executes.
    is_in_comment: bool,
}

/// A token, with its place in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecutedToken<'t> {
    /// A keyword, a name without quotation marks, or a number without its point.
    Word(&'t [u8], Range<usize>),
    /// A name in backticks, or in double quotation marks where they hold names; with them.
    Name(&'t [u8], Range<usize>),
    /// A text in quotation marks; with them.
    Text(&'t [u8]),
    /// A single sign, or a comment with hints.
    Sign(u8),
}

impl<'t> ExecutedTokens<'t> {
    /// The tokens of this text, which is one statement.
    pub fn of(text: &'t [u8], quoting: Quoting) -> Self {
        Self {
            text,
            scanner: Scanner::new(text, quoting),
            is_in_comment: false,
        }
    }
}

impl<'t> Iterator for ExecutedTokens<'t> {
    type Item = ExecutedToken<'t>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.is_in_comment && self.scanner.skip_delimiter(b"*/") {
                self.is_in_comment = false;
                continue;
            }
            let (range, token) = self.scanner.next_token()?;
            let part = &self.text[range.clone()];
            // Its own end is not that of the token: texts and other comments may stand within it.
            if let Some(begin) = executed_comment(part) {
                self.scanner.go_to(range.start + begin);
                self.is_in_comment = true;
                continue;
            }
            return Some(match token {
                Token::Space | Token::Comment => continue,
                Token::Word => ExecutedToken::Word(part, range),
                Token::Name => ExecutedToken::Name(part, range),
                Token::Open(_) => return None,
                Token::Other | Token::Terminator if matches!(part[0], b'\'' | b'"') => {
                    ExecutedToken::Text(part)
                }
                Token::Other | Token::Terminator => ExecutedToken::Sign(part[0]),
            });
        }
    }
}

/// Bytes of the beginning `/*!50003` or `/*M!100300`.
fn executed_comment(part: &[u8]) -> Option<usize> {
    let begin = [&b"/*!"[..], b"/*M!"]
        .into_iter()
        .find(|begin| part.starts_with(begin))
        .filter(|_| !is_only_for_client(part))?
        .len();
    let digits = part[begin..].iter().take_while(|it| it.is_ascii_digit());
    Some(begin + digits.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_within_comments_that_are_executed_are_found() {
        let text = b"/*!999999\\- enable */ /*!50003 CREATE*/ /*!50017 TRIGGER `a`.b */ /* c */ -- d\n /*M!100 x 'it''s */' -- e*/\n */ 2*/*f*/3";
        let tokens = ExecutedTokens::of(text, Quoting::default());
        let parts: Vec<String> = tokens
            .map(|token| match token {
                ExecutedToken::Word(part, range) | ExecutedToken::Name(part, range) => {
                    assert_eq!(part, &text[range]);
                    String::from_utf8_lossy(part).into_owned()
                }
                ExecutedToken::Text(part) => String::from_utf8_lossy(part).into_owned(),
                ExecutedToken::Sign(sign) => char::from(sign).to_string(),
            })
            .collect();
        let expected = [
            "CREATE",
            "TRIGGER",
            "`a`",
            ".",
            "b",
            "x",
            "'it''s */'",
            "2",
            "*",
            "3",
        ];
        assert_eq!(parts, expected);
    }
}
