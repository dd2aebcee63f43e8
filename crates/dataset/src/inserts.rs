//! Converts lines in the format of LOAD DATA to multi-row INSERT statements.

use bstr::ByteSlice;

/// Collects rows until a statement has its target size.
///
/// Lines are parsed as by `load data ... fields terminated by` the separator: a backslash escapes, `\N` is NULL.
#[derive(Debug)]
pub(crate) struct Inserts {
    sql: Vec<u8>,
    /// Length of `insert into T values`.
    prefix: usize,
    separator: u8,
    limit: usize,
    rows: u64,
    /// A line whose end has not been read yet.
    line: Vec<u8>,
    field: Vec<u8>,
}

/// A statement that is ready to be sent.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InsertStatement<'s> {
    pub(crate) sql: &'s [u8],
    pub(crate) rows: u64,
}

impl Inserts {
    /// A builder of statements into `table` (its name, with columns in parentheses where not all are loaded), each of
    /// about `limit` bytes.
    pub(crate) fn new(table: &str, separator: u8, limit: usize) -> Self {
        let sql = format!("insert into {table} values").into_bytes();
        Self {
            prefix: sql.len(),
            sql,
            separator,
            limit,
            rows: 0,
            line: Vec::new(),
            field: Vec::new(),
        }
    }

    /// Consumes lines from the front of `piece` until a statement is ready or the piece is consumed.
    pub(crate) fn feed(&mut self, piece: &mut &[u8]) -> Option<InsertStatement<'_>> {
        while let Some(end) = end_of_line(&self.line, piece) {
            let (head, rest) = piece.split_at(end);
            *piece = &rest[1..];
            if self.line.is_empty() {
                self.row(head);
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(head);
                self.row(&line);
                line.clear();
                self.line = line;
            }
            if self.sql.len() >= self.limit {
                return self.statement();
            }
        }
        self.line.extend_from_slice(piece);
        *piece = &[];
        None
    }

    /// The last statement, including a last line that has no line end.
    pub(crate) fn finish(&mut self) -> Option<InsertStatement<'_>> {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.row(&line);
        }
        self.statement()
    }

    /// Discards the rows of the statement that was sent.
    pub(crate) fn clear(&mut self) {
        self.sql.truncate(self.prefix);
        self.rows = 0;
    }

    fn statement(&self) -> Option<InsertStatement<'_>> {
        (self.rows > 0).then_some(InsertStatement {
            sql: &self.sql,
            rows: self.rows,
        })
    }

    fn row(&mut self, line: &[u8]) {
        self.sql
            .extend_from_slice(if self.rows == 0 { b" (" } else { b",(" });
        self.rows += 1;
        self.field.clear();
        let mut is_null = false;
        let mut bytes = line.iter();
        while let Some(&byte) = bytes.next() {
            match byte {
                byte if byte == self.separator => {
                    self.end_field(is_null);
                    self.sql.push(b',');
                    is_null = false;
                }
                b'\\' => match bytes.next() {
                    Some(b'N') if self.field.is_empty() => is_null = true,
                    Some(&escaped) => self.field.push(unescaped(escaped)),
                    None => self.field.push(b'\\'),
                },
                _ => self.field.push(byte),
            }
        }
        self.end_field(is_null);
        self.sql.push(b')');
    }

    fn end_field(&mut self, is_null: bool) {
        if is_null {
            self.sql.extend_from_slice(b"null");
        } else {
            self.sql.push(b'\'');
            protocol::escape_into(&self.field, &mut self.sql);
            self.sql.push(b'\'');
        }
        self.field.clear();
    }
}

/// Position of the line feed that ends a line beginning with `before`; one after a backslash does not count.
fn end_of_line(before: &[u8], piece: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let end = from + piece[from..].find_byte(b'\n')?;
        let backslashes = |text: &[u8]| text.iter().rev().take_while(|&&b| b == b'\\').count();
        let mut escapes = backslashes(&piece[..end]);
        if escapes == end {
            escapes += backslashes(before);
        }
        if escapes.is_multiple_of(2) {
            return Some(end);
        }
        from = end + 1;
    }
}

/// The character that a backslash followed by `escaped` represents.
fn unescaped(escaped: u8) -> u8 {
    match escaped {
        b'0' => 0,
        b'b' => 8,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'Z' => 26,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All statements for these pieces, as `rows: text`.
    fn statements(pieces: &[&str], limit: usize) -> Vec<String> {
        let mut inserts = Inserts::new("t", b',', limit);
        let mut out = Vec::new();
        for piece in pieces {
            let mut rest = piece.as_bytes();
            while !rest.is_empty() {
                if let Some(statement) = inserts.feed(&mut rest) {
                    out.push(format!("{}: {}", statement.rows, statement.sql.as_bstr()));
                    inserts.clear();
                }
            }
        }
        if let Some(statement) = inserts.finish() {
            out.push(format!("{}: {}", statement.rows, statement.sql.as_bstr()));
        }
        out
    }

    #[test]
    fn rows_of_one_statement() {
        for (pieces, expected) in [
            (
                &["a,1\nb,2\n"][..],
                "2: insert into t values ('a','1'),('b','2')",
            ),
            (&["a,1\nb,2"], "2: insert into t values ('a','1'),('b','2')"),
            (
                &["a,", "1", "\nb", ",2\n"],
                "2: insert into t values ('a','1'),('b','2')",
            ),
            (&["a,,\n"], "1: insert into t values ('a','','')"),
            (&["\\N,x\\N\n"], "1: insert into t values (null,'xN')"),
            (
                &["it's,a\\,b,c\\\\\n"],
                "1: insert into t values ('it\\'s','a,b','c\\\\')",
            ),
            (&["a\\\nb\nc\n"], "2: insert into t values ('a\\nb'),('c')"),
            (&["a\\", "\nb\n"], "1: insert into t values ('a\\nb')"),
            (&["a\\\\\nb\n"], "2: insert into t values ('a\\\\'),('b')"),
        ] {
            assert_eq!(statements(pieces, 1000), [expected], "{pieces:?}");
        }
        assert!(statements(&[], 1000).is_empty());
    }

    #[test]
    fn another_separator_and_chosen_columns() {
        let mut inserts = Inserts::new("t (a, b)", b'\t', 100);
        let mut rest = &b"1,5\tx\n"[..];
        assert_eq!(inserts.feed(&mut rest), None);
        let statement = inserts.finish().unwrap();
        assert_eq!(
            statement.sql.as_bstr(),
            "insert into t (a, b) values ('1,5','x')"
        );
    }

    #[test]
    fn statements_end_at_the_limit() {
        assert_eq!(
            statements(&["aaaa\nbbbb\ncccc\n"], 35),
            [
                "2: insert into t values ('aaaa'),('bbbb')",
                "1: insert into t values ('cccc')"
            ]
        );
    }
}
