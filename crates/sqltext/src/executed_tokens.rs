//! The tokens that a server executes: also those within `/*!50003 ... */`, and none of other comments.

use super::{
    Quoting,
    scanner::Scanner,
    token::{Token, TokenKind},
};

/// Reads a statement token by token, without white space, comments and hints.
#[derive(Debug, Clone, Copy)]
pub struct ExecutedTokens<'t> {
    scanner: Scanner<'t>,
    /// It is within a comment that the server executes.
    is_in_comment: bool,
}

impl<'t> ExecutedTokens<'t> {
    /// The tokens of this text, which is one statement.
    pub fn of(text: &'t [u8], quoting: Quoting) -> Self {
        Self {
            scanner: Scanner::new(text, quoting),
            is_in_comment: false,
        }
    }

    /// Whether the last token stands in a comment.
    pub fn is_in_comment(&self) -> bool {
        self.is_in_comment
    }

    /// Offset of the byte behind the last token.
    pub fn at(&self) -> usize {
        self.scanner.at()
    }
}

impl<'t> Iterator for ExecutedTokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.is_in_comment && self.scanner.skip_delimiter(b"*/") {
                self.is_in_comment = false;
                continue;
            }
            let token = self.scanner.next()?;
            match token.kind {
                TokenKind::Space | TokenKind::Comment => {}
                TokenKind::ServerComment => {
                    // Its own end is not that of the token: texts and other comments may stand within it.
                    if let Some(begin) = executed_comment(token.text) {
                        self.scanner.go_to(token.start + begin);
                        self.is_in_comment = true;
                    }
                }
                _ => return Some(token),
            }
        }
    }
}

/// Bytes of the beginning `/*!50003` or `/*M!100300`.
fn executed_comment(part: &[u8]) -> Option<usize> {
    let begin = [&b"/*!"[..], b"/*M!"]
        .into_iter()
        .find(|begin| part.starts_with(begin))?
        .len();
    let digits = part[begin..].iter().take_while(|it| it.is_ascii_digit());
    Some(begin + digits.count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_within_comments_that_are_executed_are_found() {
        let text = b"/*!999999\\- enable */ /*!50003 CREATE*/ /*!50017 TRIGGER `a`.b */ /* c */ /*+ e */ -- d\n /*M!100 x 'it''s */' -- e*/\n */ 2*/*f*/3";
        let tokens = ExecutedTokens::of(text, Quoting::default());
        let parts: Vec<_> = tokens
            .map(|token| String::from_utf8_lossy(&text[token.range()]))
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
