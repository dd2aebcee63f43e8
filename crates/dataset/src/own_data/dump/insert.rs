//! An INSERT of a dump as lines for LOAD DATA, where that changes no row.

use memchr::memchr3;
use sqltext::is_word_byte;

/// What a column can take as a field of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers without quotes, and texts.
    Number,
    /// Texts only: the server would write a number without quotes in its own way.
    Text,
    /// Texts of ASCII only: column and dump have different character sets, which have only these bytes in common.
    Ascii,
    /// Bytes: texts, and hexadecimal ones.
    Bytes,
    /// Nothing: the server computes the column. mariadb-dump writes its value nevertheless, which MySQL refuses.
    Computed,
}

/// The beginning of an INSERT: `INSERT INTO t (a, b) VALUES`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsertHead {
    pub table: String,
    /// The columns; none where the statement names none.
    pub columns: Vec<String>,
    pub rows_at: usize,
}

/// Reads the beginning; `None` for any other statement, also one with IGNORE or of another database.
pub fn insert_head(statement: &[u8]) -> Option<InsertHead> {
    let mut reader = Reader {
        text: statement,
        at: 0,
    };
    reader.word(b"INSERT")?;
    reader.word(b"INTO")?;
    let table = reader.name()?;
    let mut columns = Vec::new();
    if reader.sign(b'(') {
        loop {
            columns.push(reader.name()?);
            if reader.sign(b')') {
                break;
            }
            reader.sign(b',').then_some(())?;
        }
    }
    reader.word(b"VALUES")?;
    reader.blanks();
    Some(InsertHead {
        table,
        columns,
        rows_at: reader.at,
    })
}

/// Appends the rows as lines and returns their number; `None`, with nothing appended, where a value is an expression, or
/// one that a field of a line would not say.
pub fn lines_of(
    rows: &[u8],
    kinds: &[ColumnKind],
    has_backslashes: bool,
    out: &mut Vec<u8>,
) -> Option<u64> {
    let begin = out.len();
    let mut reader = Reader { text: rows, at: 0 };
    let count = reader.rows(kinds, has_backslashes, out);
    if count.is_none() {
        out.truncate(begin);
    }
    count
}

/// Whether the rows are the same whatever else was executed: every value is a literal, nothing is behind them, and none
/// leaves the column at `counted`, an AUTO_INCREMENT, to the server.
pub fn is_literal(rows: &[u8], counted: Option<usize>, has_backslashes: bool) -> bool {
    let mut reader = Reader { text: rows, at: 0 };
    reader.literal_rows(counted, has_backslashes).is_some()
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
    }

    fn sign(&mut self, sign: u8) -> bool {
        self.blanks();
        let is_it = self.rest().first() == Some(&sign);
        self.at += usize::from(is_it);
        is_it
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.blanks();
        let rest = self.rest();
        let found = rest.get(..word.len())?.eq_ignore_ascii_case(word);
        let is_whole = rest.get(word.len()).is_none_or(|byte| !is_word_byte(*byte));
        (found && is_whole).then(|| self.at += word.len())
    }

    fn name(&mut self) -> Option<String> {
        self.blanks();
        let rest = self.rest();
        let (name, length) = if rest.first() == Some(&b'`') {
            let mut end = 1;
            loop {
                end += memchr::memchr(b'`', &rest[end..])?;
                if rest.get(end + 1) != Some(&b'`') {
                    break;
                }
                end += 2;
            }
            let name = String::from_utf8(rest[1..end].to_vec()).ok()?;
            (name.replace("``", "`"), end + 1)
        } else {
            let length = rest.iter().take_while(|byte| is_word_byte(**byte)).count();
            let name = String::from_utf8(rest[..length].to_vec()).ok()?;
            (name, length)
        };
        self.at += length;
        // A name of another database is no plain one.
        (!name.is_empty() && !self.sign(b'.')).then_some(name)
    }

    fn rows(
        &mut self,
        kinds: &[ColumnKind],
        has_backslashes: bool,
        out: &mut Vec<u8>,
    ) -> Option<u64> {
        let mut rows = 0;
        loop {
            self.sign(b'(').then_some(())?;
            let mut is_first_field = true;
            for (at, kind) in kinds.iter().enumerate() {
                if at > 0 {
                    self.sign(b',').then_some(())?;
                }
                self.blanks();
                if *kind == ColumnKind::Computed {
                    self.literal(has_backslashes)?;
                    continue;
                }
                if !is_first_field {
                    out.push(b'\t');
                }
                is_first_field = false;
                self.value(*kind, has_backslashes, out)?;
            }
            self.sign(b')').then_some(())?;
            out.push(b'\n');
            rows += 1;
            if self.sign(b',') {
                continue;
            }
            self.blanks();
            // Anything behind the rows, such as ON DUPLICATE KEY UPDATE, is no plain INSERT.
            return (self.at == self.text.len()).then_some(rows);
        }
    }

    /// Reads rows of literals; `None` where something is none.
    fn literal_rows(&mut self, counted: Option<usize>, has_backslashes: bool) -> Option<()> {
        loop {
            self.sign(b'(').then_some(())?;
            let mut at = 0;
            loop {
                self.blanks();
                let begin = self.at;
                self.literal(has_backslashes)?;
                let value = &self.text[begin..self.at];
                // Whether 0 stands for the next number depends on the session's mode.
                let is_left =
                    matches!(value, b"0" | b"'0'" | b"''") || value.eq_ignore_ascii_case(b"NULL");
                (counted != Some(at) || !is_left).then_some(())?;
                at += 1;
                if self.sign(b')') {
                    break;
                }
                self.sign(b',').then_some(())?;
            }
            if !self.sign(b',') {
                self.blanks();
                return (self.at == self.text.len()).then_some(());
            }
        }
    }

    fn literal(&mut self, has_backslashes: bool) -> Option<()> {
        let first = *self.rest().first()?;
        match first {
            b'\'' | b'"' => self.skip_text(first, has_backslashes),
            b'-' | b'+' | b'.' | b'0'..=b'9' => {
                let is_part =
                    |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
                self.at += self.rest().iter().take_while(is_part).count();
                Some(())
            }
            _ => {
                let length = self
                    .rest()
                    .iter()
                    .take_while(|it| is_word_byte(**it))
                    .count();
                let word = self.rest()[..length].to_ascii_uppercase();
                self.at += length;
                match &word[..] {
                    b"NULL" | b"TRUE" | b"FALSE" => Some(()),
                    // X'4D', B'01', N'text', _binary 'text'
                    [b'X' | b'B' | b'N'] | [b'_', ..] => {
                        self.blanks();
                        match *self.rest().first()? {
                            mark @ (b'\'' | b'"') => self.skip_text(mark, has_backslashes),
                            b'0' => self.literal(has_backslashes),
                            _ => None,
                        }
                    }
                    _ => None,
                }
            }
        }
    }

    /// Moves behind a text.
    fn skip_text(&mut self, mark: u8, has_backslashes: bool) -> Option<()> {
        self.at += 1;
        loop {
            let at = memchr::memchr2(mark, b'\\', self.rest())?;
            self.at += at + 1;
            if self.text[self.at - 1] == b'\\' {
                self.at += usize::from(has_backslashes);
            } else if self.text.get(self.at) == Some(&mark) {
                self.at += 1;
            } else {
                return Some(());
            }
            if self.at > self.text.len() {
                return None;
            }
        }
    }

    fn value(&mut self, kind: ColumnKind, has_backslashes: bool, out: &mut Vec<u8>) -> Option<()> {
        let first = *self.rest().first()?;
        match first {
            b'\'' | b'"' => {
                self.at += 1;
                let begin = out.len();
                self.text_value(first, has_backslashes, out)?;
                (kind != ColumnKind::Ascii || out[begin..].is_ascii()).then_some(())
            }
            b'N' | b'n' => {
                self.word(b"NULL")?;
                out.extend_from_slice(b"\\N");
                Some(())
            }
            b'_' => {
                self.word(b"_binary")?;
                self.blanks();
                (kind == ColumnKind::Bytes && self.rest().first() == Some(&b'\'')).then_some(())?;
                self.at += 1;
                self.text_value(b'\'', has_backslashes, out)
            }
            b'0' if matches!(self.rest().get(1), Some(b'x' | b'X')) => {
                (kind == ColumnKind::Bytes).then_some(())?;
                self.hexadecimal(out)
            }
            b'-' | b'+' | b'.' | b'0'..=b'9' if kind == ColumnKind::Number => {
                let is_part = |byte: &&u8| {
                    byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E')
                };
                let length = self.rest().iter().take_while(is_part).count();
                out.extend_from_slice(&self.rest()[..length]);
                self.at += length;
                Some(())
            }
            _ => None,
        }
    }

    /// The rest of a text behind its first mark.
    fn text_value(&mut self, mark: u8, has_backslashes: bool, out: &mut Vec<u8>) -> Option<()> {
        loop {
            let rest = &self.text[self.at..];
            let at = memchr3(mark, b'\\', b'\t', rest)?;
            // A line feed is rarer than to look for it at once with the others.
            push_lines(&rest[..at], out);
            self.at += at + 1;
            match rest[at] {
                byte if byte == mark && rest.get(at + 1) == Some(&mark) => {
                    self.at += 1;
                    out.push(mark);
                }
                byte if byte == mark => return Some(()),
                b'\t' => out.extend_from_slice(b"\\\t"),
                _ if !has_backslashes => out.extend_from_slice(b"\\\\"),
                _ => {
                    let escaped = *rest.get(at + 1)?;
                    self.at += 1;
                    match escaped {
                        // LOAD DATA reads these in the same way.
                        b'0' | b'b' | b'n' | b'r' | b't' | b'Z' | b'\\' => {
                            out.extend_from_slice(&[b'\\', escaped]);
                        }
                        // Both bytes belong to the text.
                        b'%' | b'_' => out.extend_from_slice(&[b'\\', b'\\', escaped]),
                        b'\t' | b'\n' => out.extend_from_slice(&[b'\\', escaped]),
                        other => out.push(other),
                    }
                }
            }
        }
    }

    fn hexadecimal(&mut self, out: &mut Vec<u8>) -> Option<()> {
        let digits = &self.rest()[2..];
        let length = digits
            .iter()
            .take_while(|byte| byte.is_ascii_hexdigit())
            .count();
        let digits = &digits[..length];
        if length == 0 || !length.is_multiple_of(2) {
            return None;
        }
        for pair in digits.chunks(2) {
            let value = |byte: u8| char::from(byte).to_digit(16).unwrap_or(0) as u8;
            let byte = value(pair[0]) << 4 | value(pair[1]);
            if matches!(byte, b'\\' | b'\t' | b'\n') {
                out.push(b'\\');
            }
            out.push(byte);
        }
        self.at += 2 + length;
        Some(())
    }
}

fn push_lines(mut text: &[u8], out: &mut Vec<u8>) {
    while let Some(end) = memchr::memchr(b'\n', text) {
        out.extend_from_slice(&text[..end]);
        out.extend_from_slice(b"\\\n");
        text = &text[end + 1..];
    }
    out.extend_from_slice(text);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KINDS: [ColumnKind; 3] = [ColumnKind::Number, ColumnKind::Text, ColumnKind::Bytes];

    fn lines(rows: &str, has_backslashes: bool) -> Option<String> {
        let mut out = Vec::new();
        lines_of(rows.as_bytes(), &KINDS, has_backslashes, &mut out)?;
        Some(String::from_utf8_lossy(&out).into_owned())
    }

    #[test]
    fn rows_become_lines() {
        for (rows, expected) in [
            ("(1,'a','b')", "1\ta\tb\n"),
            (
                "(-1.5e10,NULL,NULL),\n(2,'','')",
                "-1.5e10\t\\N\t\\N\n2\t\t\n",
            ),
            (
                "(1,'it''s \\'x\\' \\\"y\\\"',_binary '\\0\\\\')",
                "1\tit's 'x' \"y\"\t\\0\\\\\n",
            ),
            ("(1,'a\\nb\tc\nd',0x410A)", "1\ta\\nb\\\tc\\\nd\tA\\\n\n"),
            ("(1,'\\%\\_\\N\\q',0x00)", "1\t\\\\%\\\\_Nq\t\0\n"),
        ] {
            assert_eq!(lines(rows, true).as_deref(), Some(expected), "{rows}");
        }
        assert_eq!(
            lines("(1,'a\\','b')", false).as_deref(),
            Some("1\ta\\\\\tb\n")
        );
    }

    #[test]
    fn a_line_leaves_computed_columns_out() {
        let kinds = [
            ColumnKind::Computed,
            ColumnKind::Number,
            ColumnKind::Computed,
            ColumnKind::Text,
        ];
        let mut out = Vec::new();
        let rows = b"(NULL,1,'x\\'','a'),(2,3,-0.5,NULL)";
        assert_eq!(lines_of(rows, &kinds, true, &mut out), Some(2));
        assert_eq!(String::from_utf8_lossy(&out), "1\ta\n3\t\\N\n");
        assert_eq!(lines_of(b"(now(),1,2,'a')", &kinds, true, &mut out), None);
    }

    #[test]
    fn a_column_of_another_character_set_takes_ascii() {
        let kinds = [ColumnKind::Ascii];
        let rows = |text: &str| lines_of(text.as_bytes(), &kinds, true, &mut Vec::new());
        assert_eq!(rows("('a'),(NULL),('~\\0')"), Some(3));
        assert_eq!((rows("('a'),('\u{eb}')"), rows("(1)")), (None, None));
    }

    #[test]
    fn what_a_line_would_not_say_is_no_line() {
        for rows in [
            "(1,2,'b')",
            "(1,'a',now())",
            "(1,'a' 'b','c')",
            "(1,0x41,'a')",
            "(1,'a')",
            "(1,'a','b') ON DUPLICATE KEY UPDATE a = 1",
            "(1,'a','b'",
            "(1,'a',_utf8mb4 'b')",
            "(1,'a',0x4)",
            "",
        ] {
            assert_eq!(lines(rows, true), None, "{rows}");
        }
    }

    #[test]
    fn rows_of_literals_do_not_depend_on_others() {
        for (rows, expected) in [
            ("(1,'a\\'),(',_binary 'b'),\n(2,NULL,X'4D')", true),
            ("(1,-1.5e-3,0x41,TRUE)", true),
            ("(1,now())", false),
            ("(1,@a)", false),
            ("(1,1+1)", true),
            ("(1,(2))", false),
            ("(NULL,1)", false),
            ("(0,1)", false),
            ("(1,0,NULL)", true),
            ("(1,DEFAULT)", false),
            ("(1,2) ON DUPLICATE KEY UPDATE a = 1", false),
            ("(1,'a", false),
            ("(1,'a\\", false),
        ] {
            assert_eq!(
                is_literal(rows.as_bytes(), Some(0), true),
                expected,
                "{rows}"
            );
        }
        assert!(is_literal(b"(NULL,'a\\')", None, false));
    }

    #[test]
    fn the_beginning_names_table_and_columns() {
        let head = |text: &str| {
            let head = insert_head(text.as_bytes())?;
            Some((head.table, head.columns, text[head.rows_at..].to_owned()))
        };
        let columns = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
        assert_eq!(
            head("INSERT INTO `a``b` VALUES\n(1)"),
            Some(("a`b".to_owned(), columns(&[]), "(1)".to_owned()))
        );
        assert_eq!(
            head("insert into t (`a`, b) values (1,2)"),
            Some(("t".to_owned(), columns(&["a", "b"]), "(1,2)".to_owned()))
        );
        for other in [
            "INSERT IGNORE INTO t VALUES (1)",
            "INSERT INTO d.t VALUES (1)",
            "INSERT INTO t SELECT 1",
            "REPLACE INTO t VALUES (1)",
        ] {
            assert_eq!(head(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_lines_or_none(rows in "[(),'0-9axN\\\\\n\t_ ]{0,60}", has_backslashes: bool) {
            let _ = lines(&rows, has_backslashes);
            let _ = insert_head(rows.as_bytes());
            let _ = is_literal(rows.as_bytes(), Some(1), has_backslashes);
        }
    }
}
