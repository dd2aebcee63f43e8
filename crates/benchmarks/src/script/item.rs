//! The items of a script: SQL statements up to their `;`, and commands behind a backslash.

use std::ops::Range;

use super::lexer::{Fault, continuation, name_length};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Sql(Sql),
    Command(Command),
}

impl Item {
    pub(super) fn command(&self) -> Option<&Command> {
        match self {
            Self::Command(command) => Some(command),
            Self::Sql(_) => None,
        }
    }
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sql {
    /// Byte offset of its first word.
    pub(super) at: usize,
    pub(super) parts: Vec<Part>,
}

/// A part of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    /// `:name` outside of quotes and comments, with its byte offset.
    Variable {
        at: usize,
        name: String,
    },
}

/// A command: `\set`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    /// Byte offset of the backslash.
    pub(super) at: usize,
    /// Its name, without the backslash.
    pub(super) name: String,
    /// The rest of its line, with the lines that continue it.
    pub(super) rest: Range<usize>,
}

/// The items of a script in their order.
pub(super) fn items(script: &str) -> Result<Vec<Item>, Fault> {
    let mut reader = Reader {
        text: script,
        at: 0,
        begun: None,
        items: Vec::new(),
    };
    while reader.at < script.len() {
        reader.step()?;
    }
    reader.end_statement();
    Ok(reader.items)
}

struct Reader<'s> {
    text: &'s str,
    at: usize,
    /// The statement that is being read.
    begun: Option<Sql>,
    items: Vec<Item>,
}

impl Reader<'_> {
    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn step(&mut self) -> Result<(), Fault> {
        let rest = self.rest();
        let second = rest.get(1).copied();
        match rest[0] {
            b';' => {
                self.end_statement();
                self.at += 1;
            }
            b'\\' => self.command()?,
            b'\'' | b'"' | b'`' => {
                let length = self.quoted_length()?;
                self.take(length);
            }
            b'#' => self.skip_line(),
            // A double dash is a comment only before white space: 1--1 is 2.
            b'-' if second == Some(b'-') && rest.get(2).is_none_or(|it| *it <= b' ') => {
                self.skip_line();
            }
            b'/' if second == Some(b'*') => self.comment()?,
            b':' if matches!(second, Some(b':' | b'=')) => self.take(2),
            b':' => self.variable(),
            b'?' => {
                let message = "`?` is not a placeholder here".to_owned();
                return Err((self.at, message + ": name a variable, such as :id"));
            }
            byte if byte.is_ascii_whitespace() && self.begun.is_none() => self.at += 1,
            _ => {
                let letter = self.text[self.at..].chars().next();
                self.take(letter.map_or(1, char::len_utf8));
            }
        }
        Ok(())
    }

    /// Adds the next bytes to the statement.
    fn take(&mut self, length: usize) {
        let end = self.at + length;
        let piece = &self.text[self.at..end];
        let begun = self.begun.get_or_insert_with(|| Sql {
            at: self.at,
            parts: Vec::new(),
        });
        match begun.parts.last_mut() {
            Some(Part::Text(text)) => text.push_str(piece),
            _ => begun.parts.push(Part::Text(piece.to_owned())),
        }
        self.at = end;
    }

    fn variable(&mut self) {
        let length = name_length(&self.rest()[1..]);
        if length == 0 {
            return self.take(1);
        }
        let at = self.at;
        let name = self.text[at + 1..at + 1 + length].to_owned();
        let begun = self.begun.get_or_insert_with(|| Sql {
            at,
            parts: Vec::new(),
        });
        begun.parts.push(Part::Variable { at, name });
        self.at += 1 + length;
    }

    fn end_statement(&mut self) {
        let Some(mut sql) = self.begun.take() else {
            return;
        };
        if let Some(Part::Text(text)) = sql.parts.last_mut() {
            text.truncate(text.trim_end().len());
        }
        sql.parts
            .retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
        if !sql.parts.is_empty() {
            self.items.push(Item::Sql(sql));
        }
    }

    /// Length of the string or the quoted name that begins here.
    fn quoted_length(&self) -> Result<usize, Fault> {
        let rest = self.rest();
        let quote = rest[0];
        let mut at = 1;
        while let Some(byte) = rest.get(at) {
            match *byte {
                b'\\' if quote != b'`' => at += 2,
                byte if byte == quote && rest.get(at + 1) == Some(&quote) => at += 2,
                byte if byte == quote => return Ok(at + 1),
                _ => at += 1,
            }
        }
        Err((self.at, "this quote is not closed".to_owned()))
    }

    fn skip_line(&mut self) {
        let rest = self.rest();
        let end = rest.iter().position(|byte| *byte == b'\n');
        self.at += end.unwrap_or(rest.len());
    }

    /// A comment inside a statement stays, for it can be a hint or be executed; one before it is left out unless it is
    /// such.
    fn comment(&mut self) -> Result<(), Fault> {
        let rest = &self.text[self.at..];
        let Some(end) = rest[2..].find("*/") else {
            return Err((self.at, "this comment is not closed".to_owned()));
        };
        let length = end + 4;
        let is_executed = rest[2..].starts_with(['!', 'M']);
        if self.begun.is_some() || is_executed {
            self.take(length);
        } else {
            self.at += length;
        }
        Ok(())
    }

    fn command(&mut self) -> Result<(), Fault> {
        let at = self.at;
        let rest = &self.rest()[1..];
        if rest.first() == Some(&b';') {
            let message = "several statements in one message (`\\;`) are not supported";
            return Err((at, format!("{message}: end each with `;`")));
        }
        let length = (rest.iter())
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count();
        if length == 0 {
            let message = "expected the name of a command after the backslash".to_owned();
            return Err((at, message));
        }
        self.end_statement();
        let name = self.text[at + 1..at + 1 + length].to_ascii_lowercase();
        let start = at + 1 + length;
        let bytes = self.text.as_bytes();
        let mut end = start;
        while let Some(byte) = bytes.get(end) {
            match continuation(&bytes[end..]) {
                Some(length) => end += length,
                None if *byte == b'\n' => break,
                None => end += 1,
            }
        }
        self.items.push(Item::Command(Command {
            at,
            name,
            rest: start..end,
        }));
        self.at = end;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Each item as a line: a statement with its variables in braces, or a command with its rest.
    fn told(script: &str) -> Vec<String> {
        let items = items(script).unwrap();
        let told = items.iter().map(|item| match item {
            Item::Sql(sql) => (sql.parts.iter())
                .map(|part| match part {
                    Part::Text(text) => text.clone(),
                    Part::Variable { name, .. } => format!("{{{name}}}"),
                })
                .collect(),
            Item::Command(command) => {
                format!(
                    "\\{} [{}]",
                    command.name,
                    script[command.rest.clone()].trim()
                )
            }
        });
        told.collect()
    }

    #[test]
    fn statements_end_at_semicolons_and_at_commands() {
        for (script, items) in [
            ("SELECT 1; SELECT 2", &["SELECT 1", "SELECT 2"][..]),
            (
                "SELECT a\nFROM t\nWHERE id = :id;\n",
                &["SELECT a\nFROM t\nWHERE id = {id}"],
            ),
            (
                "\\set x 1 + \\\n 2\nSELECT :x \\gset p_\n",
                &["\\set [x 1 + \\\n 2]", "SELECT {x}", "\\gset [p_]"],
            ),
            (
                "-- one\n# two\n/* three */ SELECT 1--1 /* :no */ -- four\n;",
                &["SELECT 1--1 /* :no */"],
            ),
            (
                "SELECT 'a;:b' , \"c\\\";\", `d;:e`, 'it''s;';;",
                &["SELECT 'a;:b' , \"c\\\";\", `d;:e`, 'it''s;'"],
            ),
            (
                "SELECT @a := :b, c::d, ': '",
                &["SELECT @a := {b}, c::d, ': '"],
            ),
            ("/*!40101 SET x=1 */;", &["/*!40101 SET x=1 */"]),
            (" ; -- nothing\n;", &[]),
        ] {
            assert_eq!(told(script), items, "{script}");
        }
    }

    #[test]
    fn faults_name_their_place() {
        for (script, at) in [
            ("SELECT 'a", 7),
            ("SELECT /* a", 7),
            ("SELECT 1 \\; SELECT 2;", 9),
            ("SELECT ?", 7),
            ("\\ set", 0),
        ] {
            assert_eq!(items(script).unwrap_err().0, at, "{script}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(script in "\\PC*|[-'\"`/*:;#\\\\a \n?]*") {
            let _ = items(&script);
        }
    }
}
