//! Splits a dump into statements while it is read: only the statement that is being read is in memory.
//!
//! It searches only for what can end a statement and continues within a quotation or a comment when the next piece has
//! come, at the speed of `memchr`; the tokenizer of `sqltext` would look at every word of every row.

use memchr::{memchr, memchr2};

use sqltext::{is_dash_comment, is_read_by_server};

pub const STATEMENT_BYTES_MAX: usize = 64 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpStatement {
    /// Its text without its delimiter and without comments before it.
    pub text: Vec<u8>,
    /// The line of its first byte, from 1.
    pub line: u64,
    /// Bytes of the dump before it: its text is what stands there.
    pub at: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SplitError {
    #[error("line {line}: the file ends within the statement that begins here")]
    Open { line: u64 },
    /// A statement is longer than what is kept in memory.
    #[error("line {line}: a statement is longer than 64 MiB")]
    Long { line: u64 },
}

/// Where the scan is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Between statements.
    Between,
    /// In a statement.
    Plain,
    /// In a quotation with this mark.
    Quoted(u8),
    /// In a comment up to the end of its line, in a statement or before one.
    Line { inside: bool },
    /// In a comment up to `*/`.
    Block { inside: bool },
}

/// Splits what it is fed.
#[derive(Debug)]
pub struct Splitter {
    bytes: Vec<u8>,
    /// Bytes of the dump before those.
    dropped: u64,
    /// Everything before it has been handed out.
    start: usize,
    /// Everything before it has been read.
    at: usize,
    mode: Mode,
    line: u64,
    /// Nothing but blanks stands before `start` on its line.
    is_line_start: bool,
    delimiter: Vec<u8>,
    is_over: bool,
    /// A backslash protects the next byte of a text.
    has_backslashes: bool,
}

impl Default for Splitter {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            dropped: 0,
            start: 0,
            at: 0,
            mode: Mode::Between,
            line: 1,
            is_line_start: true,
            delimiter: b";".to_vec(),
            is_over: false,
            has_backslashes: true,
        }
    }
}

impl Splitter {
    /// Adds a piece of the dump.
    pub fn feed(&mut self, piece: &[u8]) {
        self.bytes.drain(..self.start);
        self.dropped += self.start as u64;
        self.at -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(piece);
    }

    /// The dump has no more pieces.
    pub fn end(&mut self) {
        self.is_over = true;
    }

    /// Ends statements by something else than `;`, as `DELIMITER` does.
    pub(crate) fn set_delimiter(&mut self, delimiter: &[u8]) {
        self.delimiter = delimiter.to_vec();
    }

    /// Whether a backslash protects the next byte of a text, which `NO_BACKSLASH_ESCAPES` takes away.
    pub(crate) fn set_backslashes(&mut self, has_backslashes: bool) {
        self.has_backslashes = has_backslashes;
    }

    /// The next statement; `None` where more of the dump is needed, or where it is over.
    ///
    /// # Errors
    /// [`SplitError`].
    pub fn next_statement(&mut self) -> Result<Option<DumpStatement>, SplitError> {
        loop {
            let go_on = match self.mode {
                Mode::Between => self.between(),
                Mode::Plain => match self.plain() {
                    Step::Ended(end, behind) => {
                        let statement = self.take(end, behind);
                        if !statement.text.is_empty() {
                            return Ok(Some(statement));
                        }
                        true
                    }
                    Step::GoOn => true,
                    Step::NeedsMore => false,
                },
                Mode::Quoted(mark) => self.quoted(mark),
                Mode::Line { inside } => self.line_comment(inside),
                Mode::Block { inside } => self.block_comment(inside),
            };
            if go_on {
                continue;
            }
            if self.bytes.len() - self.start > STATEMENT_BYTES_MAX {
                return Err(SplitError::Long { line: self.line });
            }
            if !self.is_over {
                return Ok(None);
            }
            return self.rest();
        }
    }

    /// What is left at the end: a statement without its delimiter is one.
    fn rest(&mut self) -> Result<Option<DumpStatement>, SplitError> {
        match self.mode {
            Mode::Between | Mode::Line { inside: false } => Ok(None),
            Mode::Plain | Mode::Line { inside: true } => {
                let end = self.bytes.len();
                self.at = end;
                let statement = self.take(end, end);
                Ok((!statement.text.is_empty()).then_some(statement))
            }
            Mode::Quoted(_) | Mode::Block { .. } => Err(SplitError::Open { line: self.line }),
        }
    }

    fn take(&mut self, end: usize, behind: usize) -> DumpStatement {
        let text = self.bytes[self.start..end].trim_ascii_end().to_vec();
        let line = self.line;
        let at = self.dropped + self.start as u64;
        self.skip_to(behind);
        self.mode = Mode::Between;
        DumpStatement { text, line, at }
    }

    /// Drops what is before `behind`: blanks and comments.
    fn skip_to(&mut self, behind: usize) {
        let skipped = &self.bytes[self.start..behind];
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r');
        if let Some(last) = skipped.iter().rev().find(|byte| !is_blank(byte)) {
            self.is_line_start = *last == b'\n';
        }
        self.line += breaks(skipped);
        self.start = behind;
        self.at = behind;
    }

    fn between(&mut self) -> bool {
        let rest = &self.bytes[self.start..];
        let blanks = rest
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        self.skip_to(self.start + blanks);
        let rest = &self.bytes[self.start..];
        // The longest beginning that has a meaning of its own is `DELIMITER `.
        if rest.len() < 10 && !self.is_over {
            return false;
        }
        if rest.is_empty() {
            return false;
        }
        let is_delimiter = rest.len() >= 10
            && rest[..9].eq_ignore_ascii_case(b"delimiter")
            && matches!(rest[9], b' ' | b'\t');
        if is_delimiter && self.is_line_start {
            let Some(end) = memchr(b'\n', rest).or(self.is_over.then_some(rest.len())) else {
                return false;
            };
            let delimiter = rest[10..end].trim_ascii();
            if !delimiter.is_empty() {
                self.delimiter = delimiter.to_vec();
            }
            self.skip_to(self.start + end);
            return true;
        }
        self.mode = if rest[0] == b'#' || is_dash_comment(rest) {
            Mode::Line { inside: false }
        } else if rest.starts_with(b"/*") && !is_read_by_server(rest) {
            self.at += 2;
            Mode::Block { inside: false }
        } else {
            Mode::Plain
        };
        true
    }

    fn plain(&mut self) -> Step {
        let first = self.delimiter[0];
        while let Some(byte) = self.bytes.get(self.at).copied() {
            let rest = &self.bytes[self.at..];
            if byte == first {
                if rest.starts_with(&self.delimiter) {
                    return Step::Ended(self.at, self.at + self.delimiter.len());
                }
                if self.delimiter.starts_with(rest) && !self.is_over {
                    return Step::NeedsMore;
                }
            }
            match byte {
                b'\'' | b'"' | b'`' => {
                    self.at += 1;
                    self.mode = Mode::Quoted(byte);
                    return Step::GoOn;
                }
                b'#' => {
                    self.mode = Mode::Line { inside: true };
                    return Step::GoOn;
                }
                b'-' | b'/' if rest.len() < 10 && !self.is_over => return Step::NeedsMore,
                b'-' if is_dash_comment(rest) => {
                    self.mode = Mode::Line { inside: true };
                    return Step::GoOn;
                }
                b'/' if rest.starts_with(b"/*") && !is_read_by_server(rest) => {
                    self.at += 2;
                    self.mode = Mode::Block { inside: true };
                    return Step::GoOn;
                }
                _ => self.at += 1,
            }
        }
        Step::NeedsMore
    }

    /// Reads up to the end of a quotation. A doubled mark is the end of one and the beginning of the next.
    fn quoted(&mut self, mark: u8) -> bool {
        loop {
            let rest = &self.bytes[self.at..];
            let found = if mark != b'`' && self.has_backslashes {
                memchr2(mark, b'\\', rest)
            } else {
                memchr(mark, rest)
            };
            let Some(found) = found else {
                self.at = self.bytes.len();
                return false;
            };
            if rest[found] == mark {
                self.at += found + 1;
                self.mode = Mode::Plain;
                return true;
            }
            if found + 1 >= rest.len() {
                self.at += found;
                return false;
            }
            self.at += found + 2;
        }
    }

    fn line_comment(&mut self, inside: bool) -> bool {
        match memchr(b'\n', &self.bytes[self.at..]) {
            Some(end) if inside => {
                self.at += end + 1;
                self.mode = Mode::Plain;
                true
            }
            Some(end) => {
                self.skip_to(self.at + end);
                self.mode = Mode::Between;
                true
            }
            None if inside => {
                self.at = self.bytes.len();
                false
            }
            None => {
                self.skip_to(self.bytes.len());
                false
            }
        }
    }

    fn block_comment(&mut self, inside: bool) -> bool {
        let rest = &self.bytes[self.at..];
        let Some(end) = memchr::memmem::find(rest, b"*/") else {
            // Its first byte may be the last one here.
            self.at = self.bytes.len().saturating_sub(1).max(self.at);
            return false;
        };
        let behind = self.at + end + 2;
        if inside {
            self.at = behind;
            self.mode = Mode::Plain;
        } else {
            self.skip_to(behind);
            self.mode = Mode::Between;
        }
        true
    }
}

/// What reading plain text led to.
enum Step {
    /// The statement ends here, and its delimiter there.
    Ended(usize, usize),
    GoOn,
    NeedsMore,
}

fn breaks(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &[u8], piece: usize) -> Result<Vec<(u64, String)>, SplitError> {
        let mut splitter = Splitter::default();
        let mut found = Vec::new();
        let mut pieces = text.chunks(piece);
        loop {
            while let Some(statement) = splitter.next_statement()? {
                let there = &text[statement.at as usize..][..statement.text.len()];
                assert_eq!(there, statement.text);
                let text = String::from_utf8_lossy(&statement.text).into_owned();
                found.push((statement.line, text));
            }
            match pieces.next() {
                Some(piece) => splitter.feed(piece),
                None if splitter.is_over => return Ok(found),
                None => splitter.end(),
            }
        }
    }

    #[test]
    fn statements_are_those_of_a_dump_in_pieces_of_any_size() {
        let dump = b"-- MariaDB dump; 10.19\n/*M!999999\\- enable the sandbox mode */ \n\n\
            /*!40101 SET NAMES utf8mb4 */;\n--\n-- Table; `t`\n--\nCREATE TABLE `t;` (\n  `a` int, # it's\n  b int -- it's\n);\n\
            INSERT INTO `t` VALUES (1,'a;\\'b'),\n(2,'it''s \\\\');\n/* a; */ SELECT 5--1;\nDELIMITER ;;\n\
            CREATE TRIGGER x BEGIN SET @a = 1; END ;;\nDELIMITER ;\nselect /* ; */ \"'\" ; select 'last'";
        let expected = [
            (4, "/*!40101 SET NAMES utf8mb4 */"),
            (
                8,
                "CREATE TABLE `t;` (\n  `a` int, # it's\n  b int -- it's\n)",
            ),
            (12, "INSERT INTO `t` VALUES (1,'a;\\'b'),\n(2,'it''s \\\\')"),
            (14, "SELECT 5--1"),
            (16, "CREATE TRIGGER x BEGIN SET @a = 1; END"),
            (18, "select /* ; */ \"'\""),
            (18, "select 'last'"),
        ];
        for piece in [1, 2, 3, 7, 64, 10_000] {
            let found = split(dump, piece).unwrap();
            let found: Vec<_> = found
                .iter()
                .map(|(line, text)| (*line, text.as_str()))
                .collect();
            assert_eq!(found, expected, "pieces of {piece}");
        }
    }

    #[test]
    fn the_comment_for_the_client_begins_no_statement() {
        for comment in ["/*M!999999", "/*!999999"] {
            let dump = format!(
                "{comment}\\- enable the sandbox mode */ \n-- MariaDB dump 10.19\n\n/*!40101 SET NAMES utf8mb4 */;\n"
            );
            let expected = vec![(4, "/*!40101 SET NAMES utf8mb4 */".to_owned())];
            for piece in [1, 7, 10_000] {
                assert_eq!(
                    split(dump.as_bytes(), piece).unwrap(),
                    expected,
                    "{comment}"
                );
            }
        }
    }

    #[test]
    fn what_has_no_end_is_an_error_with_its_line() {
        for text in ["select 1;\n\ninsert into t values ('a", "select 1;\n\n/* a"] {
            let error = split(text.as_bytes(), 5).unwrap_err();
            assert_eq!(error, SplitError::Open { line: 3 }, "{text}");
        }
        let mut splitter = Splitter::default();
        splitter.set_backslashes(false);
        splitter.feed(b"select 'a\\'; select 2;          ");
        splitter.end();
        assert_eq!(
            splitter.next_statement().unwrap().unwrap().text,
            b"select 'a\\'"
        );
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            text in "(delimiter //\n)?([a-z;'\"`/*#!\n\\\\-]|-- |/\\*|\\*/|\ndelimiter ;\n){0,60}",
            piece in 1..20_usize,
        ) {
            prop_assert_eq!(split(text.as_bytes(), piece), split(text.as_bytes(), 10_000));
        }
    }
}
