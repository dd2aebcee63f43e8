//! A position in the experiment file, with the line for display.

use std::{
    fmt,
    ops::Range,
    path::{Path, PathBuf},
};

/// Maximum length of a displayed line, characters; a longer one is cut off around the position.
const SHOWN_AT_MOST: usize = 100;

/// A position in a file; displayed as `hp-sizing.toml:12:8`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePosition {
    pub path: PathBuf,
    /// Line, starting at 1.
    pub line: usize,
    /// Column in characters, starting at 1.
    pub column: usize,
    /// The line, cut; `None` where errors do not quote the file.
    shown: Option<String>,
    caret: Range<usize>,
}

impl SourcePosition {
    /// The position of a range of bytes in `text`.
    pub(crate) fn new(path: &Path, text: &str, span: Range<usize>) -> Self {
        let start = char_boundary(text, span.start);
        let end = char_boundary(text, span.end.max(start));
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..]
            .find('\n')
            .map_or(text.len(), |newline| start + newline);
        let column = text[line_start..start].chars().count();
        let width = text[start..end.min(line_end)].chars().count().max(1);
        // A position far to the right is displayed with some of the text before it.
        let skipped = column.saturating_sub(SHOWN_AT_MOST * 3 / 4);
        let shown = text[line_start..line_end]
            .chars()
            .skip(skipped)
            .take(SHOWN_AT_MOST)
            .map(|character| match character {
                '\t' => ' ',
                // The content of a file must not control the terminal.
                other if other.is_control() => char::REPLACEMENT_CHARACTER,
                other => other,
            })
            .collect::<String>();
        let caret = column - skipped;
        Self {
            path: path.to_owned(),
            line: before.matches('\n').count() + 1,
            column: column + 1,
            caret: caret..(caret + width).min(SHOWN_AT_MOST).max(caret + 1),
            shown: files::is_quotable(path).then(|| shown.trim_end().to_owned()),
        }
    }

    /// The line with its number and a caret under the position, three lines of text; without its text if the file is
    /// not to be quoted.
    pub fn excerpt(&self) -> String {
        let Some(shown) = &self.shown else {
            return format!("({})", files::WITHHELD);
        };
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let space = " ".repeat(self.caret.start);
        let carets = "^".repeat(self.caret.len());
        format!("{margin} |\n{number} | {shown}\n{margin} | {space}{carets}")
    }
}

impl fmt::Display for SourcePosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}:{}:{}",
            self.path.display(),
            self.line,
            self.column
        )
    }
}

/// The last start of a character at or before `offset`.
fn char_boundary(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let text = "a = 1\nüb = \"日本\"\n\tc = 3";
        let cases = [
            (0..1, "f:1:1", "  |\n1 | a = 1\n  | ^"),
            (6..9, "f:2:1", "  |\n2 | üb = \"日本\"\n  | ^^"),
            (12..20, "f:2:6", "  |\n2 | üb = \"日本\"\n  |      ^^^^"),
            (22..23, "f:3:2", "  |\n3 |  c = 3\n  |  ^"),
            // Inside a character, after the end, across the end of a line.
            (7..8, "f:2:1", "  |\n2 | üb = \"日本\"\n  | ^"),
            (99..120, "f:3:7", "  |\n3 |  c = 3\n  |       ^"),
            (4..9, "f:1:5", "  |\n1 | a = 1\n  |     ^"),
        ];
        for (span, shown, excerpt) in cases {
            let place = SourcePosition::new(Path::new("f"), text, span.clone());
            assert_eq!(place.to_string(), shown, "{span:?}");
            assert_eq!(place.excerpt(), excerpt, "{span:?}");
        }
    }

    #[test]
    fn long_lines_and_control_characters() {
        let text = format!("{}x\u{1b}[31m", "-".repeat(500));
        let place = SourcePosition::new(Path::new("f"), &text, 500..501);
        assert_eq!(place.column, 501);
        let excerpt = place.excerpt();
        assert!(excerpt.lines().all(|line| line.chars().count() < 120));
        assert!(!excerpt.contains('\u{1b}'));
        let lines: Vec<&str> = excerpt.lines().collect();
        assert_eq!(lines[1].find('x'), lines[2].find('^'));
    }
}
