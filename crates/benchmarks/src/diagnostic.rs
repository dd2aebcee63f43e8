//! The position and text of a fault in a script, shown with the line and a caret below it.

use std::{fmt, path::Path};

use bstr::ByteSlice;

/// Maximum length of the excerpt of a line, in characters.
const EXCERPT_CHARS: usize = 100;

/// One fault of a script.
///
/// ```text
/// hp.smack, line 19, column 13: expected `;` after the value, found `9000`
///    19 |   min_rows "9000";
///       |             ^
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Name of the file as the user wrote it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    pub message: String,
    /// The part of the line around the fault; `None` where errors do not quote the file.
    pub excerpt: Option<String>,
    /// Column of the fault within the excerpt, from 1.
    pub caret: usize,
    pub hint: Option<String>,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, width) = (self.line, self.caret);
        let place = format!("{}, line {line}, column {}", self.file, self.column);
        write!(formatter, "{place}: {}", self.message)?;
        match &self.excerpt {
            Some(excerpt) => write!(formatter, "\n{line:5} | {excerpt}\n      | {:>width$}", "^"),
            None => write!(formatter, "\n({})", files::WITHHELD),
        }
    }
}

/// The text of a script, for converting byte offsets to lines and columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'s> {
    pub(crate) name: &'s str,
    pub(crate) text: &'s [u8],
}

impl Source<'_> {
    /// Line of a byte offset, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        1 + self.text[..offset.min(self.text.len())]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count()
    }

    /// Whether errors may quote the file.
    pub(crate) fn is_quotable(&self) -> bool {
        files::is_quotable(Path::new(self.name))
    }

    /// The fault at a byte offset.
    pub(crate) fn diagnostic(&self, offset: usize, message: impl Into<String>) -> Diagnostic {
        let offset = offset.min(self.text.len());
        let line_start = self.text[..offset].rfind_byte(b'\n').map_or(0, |at| at + 1);
        let line_end = self.text[line_start..]
            .find_byte(b'\n')
            .map_or(self.text.len(), |length| line_start + length);
        let before = self.text[line_start..offset].chars().count();
        // A long line is shown around the fault only.
        let skipped = before.saturating_sub(EXCERPT_CHARS * 3 / 4);
        let excerpt: String = self.text[line_start..line_end]
            .chars()
            .skip(skipped)
            .take(EXCERPT_CHARS)
            .map(|character| {
                if character.is_control() {
                    ' '
                } else {
                    character
                }
            })
            .collect();
        Diagnostic {
            file: self.name.to_owned(),
            line: self.line(offset),
            column: before + 1,
            message: message.into(),
            excerpt: self.is_quotable().then(|| excerpt.trim_end().to_owned()),
            caret: before - skipped + 1,
            hint: None,
        }
    }
}

impl Diagnostic {
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_at_the_character() {
        let source = Source {
            name: "a.smack",
            text: "eins\n\tz\u{e4}hle \"x\" hier\n".as_bytes(),
        };
        let diagnostic = source.diagnostic(13, "unexpected");
        assert_eq!(
            diagnostic.to_string(),
            "a.smack, line 2, column 8: unexpected\n    2 |  z\u{e4}hle \"x\" hier\n      |        ^"
        );
    }

    #[test]
    fn shows_the_part_of_a_long_line_around_the_fault() {
        let text = format!("{}!{}", "a".repeat(500), "b".repeat(500));
        let source = Source {
            name: "a",
            text: text.as_bytes(),
        };
        let diagnostic = source.diagnostic(500, "m");
        assert_eq!(diagnostic.column, 501);
        assert_eq!(diagnostic.caret, 76);
        let excerpt = diagnostic.excerpt.unwrap();
        assert_eq!(excerpt.chars().nth(75), Some('!'));
        assert_eq!(excerpt.chars().count(), EXCERPT_CHARS);
    }

    #[test]
    fn the_end_of_the_file_is_a_place_too() {
        let source = Source {
            name: "a",
            text: b"main {",
        };
        let diagnostic = source.diagnostic(99, "m");
        assert_eq!((diagnostic.line, diagnostic.column), (1, 7));
    }
}
