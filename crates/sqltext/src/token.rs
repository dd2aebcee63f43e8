//! A token of a text.

use std::{borrow::Cow, ops::Range};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// A run of blanks, or one other byte of white space.
    Space,
    /// A comment that the server does not read.
    Comment,
    /// `/*! */`, `/*M! */` or `/*+ */`, which the server reads.
    ServerComment,
    /// A keyword, or a name without quotation marks.
    Word,
    /// `1`, `1.5`, `.5`, `1e-5`, `0x1f`, `0b1`; its sign is a token of its own.
    Number,
    /// A name in backticks, or in double quotation marks where they hold names.
    Name,
    /// A value in quotation marks.
    Text,
    /// Any other byte: an operator of two is two tokens.
    Sign,
    /// `\G` or `\g`, which end a statement as its delimiter does.
    Terminator,
}

/// A token; it borrows its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'t> {
    /// Its kind.
    pub kind: TokenKind,
    /// Its bytes, with all marks.
    pub text: &'t [u8],
    /// Offset of its first byte in the text that is scanned.
    pub start: usize,
    /// A quotation or a comment whose end is missing.
    pub is_open: bool,
}

impl<'t> Token<'t> {
    /// Offset of the byte behind it.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Its place in the text that is scanned.
    pub fn range(&self) -> Range<usize> {
        self.start..self.end()
    }

    /// Whether it is this word, in any case.
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(word.as_bytes())
    }

    /// Whether it is this sign.
    pub fn is_sign(&self, sign: u8) -> bool {
        self.kind == TokenKind::Sign && self.text == [sign]
    }

    /// Whether it is a name or a text in quotation marks.
    pub fn is_quoted(&self) -> bool {
        matches!(self.kind, TokenKind::Name | TokenKind::Text)
    }

    /// A name or a text as it is written between its marks; any other token as it is.
    pub fn inner(&self) -> &'t [u8] {
        match self.is_quoted() {
            true if self.is_open => &self.text[1..],
            true => &self.text[1..self.text.len() - 1],
            false => self.text,
        }
    }

    /// Like [`inner`](Self::inner), with one mark for each that is doubled. What backslashes mean in a text is not applied.
    pub fn unquoted(&self) -> Cow<'t, [u8]> {
        let (inner, mark) = (self.inner(), self.text[0]);
        if !self.is_quoted() || !inner.contains(&mark) {
            return Cow::Borrowed(inner);
        }
        let mut plain = Vec::with_capacity(inner.len());
        let mut bytes = inner.iter().copied();
        while let Some(byte) = bytes.next() {
            plain.push(byte);
            if byte == mark {
                bytes.next();
            }
        }
        Cow::Owned(plain)
    }
}
