//! The user's own statements: one text, split at a delimiter.

/// A statement of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    sql: Vec<u8>,
    /// It is completed by a quoted key.
    takes_a_key: bool,
}

impl Statement {
    /// A statement that is complete.
    pub fn whole(sql: impl Into<Vec<u8>>) -> Self {
        Self {
            sql: sql.into(),
            takes_a_key: false,
        }
    }

    /// A statement that is completed by a key.
    pub(super) fn for_a_key(sql: impl Into<Vec<u8>>) -> Self {
        Self {
            sql: sql.into(),
            takes_a_key: true,
        }
    }

    /// The text, without the key that completes it.
    pub fn sql(&self) -> &[u8] {
        &self.sql
    }

    pub fn takes_a_key(&self) -> bool {
        self.takes_a_key
    }

    /// Writes the complete text; the two blanks before the key are those of mysqlslap.
    pub fn write(&self, out: &mut Vec<u8>, key: impl FnOnce(&mut Vec<u8>)) {
        out.extend_from_slice(&self.sql);
        if self.takes_a_key {
            out.extend_from_slice(b" '");
            key(out);
            out.push(b'\'');
        }
    }

    /// The statement's first word in lower case.
    pub fn kind(&self) -> String {
        let is_letter = |byte: &u8| byte.is_ascii_alphabetic();
        let word = self.sql.trim_ascii_start();
        let word: Vec<u8> = word.iter().copied().take_while(is_letter).collect();
        match String::from_utf8(word.to_ascii_lowercase()) {
            Ok(word) if !word.is_empty() => word,
            _ => "statement".to_owned(),
        }
    }
}

/// The statements of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The statements in their order.
    pub statements: Vec<Statement>,
    /// Number of empty pieces; mysqlslap stops reading at the first one.
    pub empty: usize,
}

impl Script {
    /// Splits a text at its delimiter. As in mysqlslap, one white space after a delimiter belongs to the delimiter, and
    /// quotes and comments are not recognised. Unlike mysqlslap, the whole delimiter is compared and not only its first
    /// letter, and empty pieces do not end the text.
    pub fn parse(text: &[u8], delimiter: &[u8]) -> Self {
        let mut script = Self::default();
        // An empty rest after the last statement is the end of the text, not an empty statement.
        let mut empty = 0;
        let mut rest = text;
        while let Some(at) = position(rest, delimiter) {
            script.add(&rest[..at], &mut empty);
            rest = &rest[at + delimiter.len()..];
            if rest.first().is_some_and(u8::is_ascii_whitespace) {
                rest = &rest[1..];
            }
        }
        script.add(rest, &mut empty);
        script
    }

    fn add(&mut self, piece: &[u8], empty: &mut usize) {
        if piece.trim_ascii().is_empty() {
            *empty += 1;
            return;
        }
        self.statements.push(Statement::whole(piece));
        self.empty += std::mem::take(empty);
    }
}

/// Byte offset of `part` in `text`.
fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return None;
    }
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, delimiter: &str) -> (Vec<String>, usize) {
        let script = Script::parse(text.as_bytes(), delimiter.as_bytes());
        let text = |statement: &Statement| String::from_utf8(statement.sql.clone()).unwrap();
        (script.statements.iter().map(text).collect(), script.empty)
    }

    #[test]
    fn a_text_is_taken_apart_at_its_delimiter() {
        let cases: [(&str, &str, &[&str], usize); 9] = [
            ("select 1", "\n", &["select 1"], 0),
            ("a;b;c", ";", &["a", "b", "c"], 0),
            // One white space belongs to the delimiter.
            (" a ;  b ;", ";", &[" a ", " b "], 0),
            ("a;\n\nb;\n", ";", &["a", "\nb"], 0),
            ("a\n\nb\n\n\n", "\n", &["a", "b"], 0),
            ("a;;b", ";", &["a", "b"], 1),
            (";a", ";", &["a"], 1),
            ("1/2//3", "//", &["1/2", "3"], 0),
            ("", ";", &[], 0),
        ];
        for (text, delimiter, statements, empty) in cases {
            let statements = statements.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(parsed(text, delimiter), (statements, empty), "{text:?}");
        }
    }

    #[test]
    fn a_key_completes_a_statement() {
        let mut out = Vec::new();
        let statement = Statement::for_a_key("SELECT a FROM t1 WHERE id = ");
        statement.write(&mut out, |out| out.extend_from_slice(b"621"));
        assert_eq!(out, b"SELECT a FROM t1 WHERE id =  '621'");
    }

    #[test]
    fn the_first_word_is_the_kind() {
        for (sql, kind) in [
            ("SELECT 1", "select"),
            ("\n insert into t values (1)", "insert"),
            ("call p()", "call"),
            ("(select 1)", "statement"),
        ] {
            assert_eq!(Statement::whole(sql).kind(), kind, "{sql}");
        }
    }
}
