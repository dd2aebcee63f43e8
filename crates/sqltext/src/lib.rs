//! SQL as text: a file of statements as the command-line client reads it, with places, `delimiter`, `source` and
//! comments, and the tokens of a statement.
//!
//! The text of each file is kept once, and a statement is a range of it: a file of 100 MB takes little more than that.

mod error;
mod executed_tokens;
mod first_word;
mod own_database;
mod quoting;
mod rewording;
mod scanner;
mod target;
mod token;
mod words;

use std::{
    io::{self, Read},
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
};

use error::DEPTH_AT_MOST;
pub use error::{Place, SqlScriptError};
pub use executed_tokens::ExecutedTokens;
pub use first_word::refuse_foreign_text;
pub use own_database::without_database;
pub use quoting::Quoting;
pub use scanner::{Scanner, is_dash_comment, is_only_for_client, is_read_by_server, is_word_byte};
pub use target::{TableName, Target};
pub use token::{Token, TokenKind};

const FILE_BYTES_MAX: u64 = 1 << 30;

/// A statement with its place.
#[derive(Debug, Clone)]
pub struct SqlStatement {
    source: Arc<Source>,
    range: Range<usize>,
    /// Number of its line, from 1.
    line: usize,
    /// How it was read.
    quoting: Quoting,
}

/// The text of a file, or of the command line.
#[derive(Debug)]
struct Source {
    name: String,
    text: Vec<u8>,
}

impl SqlStatement {
    /// A statement that comes from a line of another kind of file, or from a server; `name` stands for it in places.
    pub fn of_line(name: &str, line: usize, text: Vec<u8>) -> Self {
        Self {
            range: 0..text.len(),
            source: Arc::new(Source {
                name: name.to_owned(),
                text,
            }),
            line,
            quoting: Quoting::default(),
        }
    }

    /// The text, without its delimiter and the comments around it.
    pub fn text(&self) -> &[u8] {
        &self.source.text[self.range.clone()]
    }

    /// Where it begins.
    pub fn place(&self) -> Place {
        self.place_of(0)
    }

    /// The place of a byte of its text.
    pub fn place_of(&self, offset: usize) -> Place {
        let offset = offset.min(self.range.len());
        let line = self.line + line_breaks(&self.text()[..offset]);
        self.source.place(line, self.range.start + offset)
    }

    /// The place that a server's message about a syntax error names: `... near 'FORM page' at line 2`. The beginning of
    /// the statement if it names none.
    pub fn place_of_error(&self, message: &str) -> Place {
        self.place_of(self.offset_of_error(message).unwrap_or(0))
    }

    fn offset_of_error(&self, message: &str) -> Option<usize> {
        let (before, line) = message.rsplit_once(" at line ")?;
        let line: usize = line.trim().parse().ok()?;
        let text = self.text();
        let start = match line.checked_sub(2) {
            None => 0,
            Some(breaks) => {
                text.iter()
                    .enumerate()
                    .filter(|(_, byte)| **byte == b'\n')
                    .nth(breaks)?
                    .0
                    + 1
            }
        };
        let near = before
            .split_once("near '")
            .map(|(_, near)| near.trim_end_matches('\''));
        // The message quotes the rest of the statement, shortened.
        let near = near.map(str::as_bytes).filter(|near| !near.is_empty());
        let offset = match near {
            Some(near) => text[start..]
                .windows(near.len())
                .position(|part| part == near),
            None => Some(text.len() - start),
        };
        Some(start + offset.unwrap_or(0))
    }

    /// The one word of the first comment in it, by which people name a query: `Q1` of `SELECT /* Q1 */ 1`.
    pub fn label(&self) -> Option<&str> {
        let comment = Scanner::new(self.text(), self.quoting)
            .find_map(|token| token.text.strip_prefix(b"/*")?.strip_suffix(b"*/"))?;
        let word = std::str::from_utf8(comment).ok()?.trim();
        let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
        (!word.is_empty() && word.chars().all(is_name)).then_some(word)
    }
}

impl Source {
    /// The place of a byte in a line whose number is known.
    fn place(&self, line: usize, offset: usize) -> Place {
        let before = &self.text[..offset.min(self.text.len())];
        let line_start = before.iter().rposition(|byte| *byte == b'\n');
        let line_start = line_start.map_or(0, |at| at + 1);
        Place {
            file: self.name.clone(),
            line,
            column: String::from_utf8_lossy(&before[line_start..])
                .chars()
                .count()
                + 1,
        }
    }

    /// The place of a byte anywhere.
    fn place_of(&self, offset: usize) -> Place {
        let before = &self.text[..offset.min(self.text.len())];
        self.place(line_breaks(before) + 1, offset)
    }
}

fn line_breaks(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

/// Reads the statements of a file and of those that it names by `source`, relative to the working directory, as the
/// client does.
///
/// # Errors
/// [`SqlScriptError`] with the place.
pub fn statements_of_file(path: &Path) -> Result<Vec<SqlStatement>, SqlScriptError> {
    Quoting::default().statements_of_file(path)
}

/// Like [`statements_of_file`], but a file named by `source` is relative to the file that names it.
///
/// # Errors
/// [`SqlScriptError`] with the place.
pub fn statements_of_own_file(path: &Path) -> Result<Vec<SqlStatement>, SqlScriptError> {
    let mut statements = Vec::new();
    let quoting = Quoting::default();
    read_file(path, Named::BesideTheFile, quoting, 0, &mut statements)?;
    Ok(statements)
}

/// Where the files are that a text names by `source`.
#[derive(Debug, Clone, Copy)]
enum Named {
    InWorkingDirectory,
    BesideTheFile,
}

impl Named {
    fn path(self, from: &str, named: &Path) -> PathBuf {
        match self {
            Self::InWorkingDirectory => named.to_owned(),
            Self::BesideTheFile => Path::new(from)
                .parent()
                .unwrap_or(Path::new(""))
                .join(named),
        }
    }
}

/// Splits a text; `name` stands for it in places.
///
/// # Errors
/// [`SqlScriptError`] with the place.
pub fn statements_of(name: &str, text: Vec<u8>) -> Result<Vec<SqlStatement>, SqlScriptError> {
    Quoting::default().statements_of(name, text)
}

impl Quoting {
    /// As [`statements_of`](statements_of), with this quoting.
    ///
    /// # Errors
    /// [`SqlScriptError`] with the place.
    pub fn statements_of(
        self,
        name: &str,
        text: Vec<u8>,
    ) -> Result<Vec<SqlStatement>, SqlScriptError> {
        let (name, named) = (name.to_owned(), Named::InWorkingDirectory);
        let mut statements = Vec::new();
        split(name, text, named, self, 0, &mut statements)?;
        Ok(statements)
    }

    /// As [`statements_of_file`](statements_of_file), with this quoting.
    ///
    /// # Errors
    /// [`SqlScriptError`] with the place.
    pub fn statements_of_file(self, path: &Path) -> Result<Vec<SqlStatement>, SqlScriptError> {
        let mut statements = Vec::new();
        read_file(path, Named::InWorkingDirectory, self, 0, &mut statements)?;
        Ok(statements)
    }
}

/// The content of a file in memory of its size: a buffer that grows by itself takes twice as much.
fn content(path: &Path) -> io::Result<Vec<u8>> {
    let file = files::UserText::open(path)?;
    let bytes = path.metadata()?.len().min(FILE_BYTES_MAX);
    let mut text = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0) + 1);
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut text)?;
    // A pipe has no length beforehand, and a compressed file another one.
    if text.len() as u64 > FILE_BYTES_MAX {
        let message = "longer than 1 GiB, the limit for a file of statements";
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(text)
}

fn read_file(
    path: &Path,
    named: Named,
    quoting: Quoting,
    depth: usize,
    statements: &mut Vec<SqlStatement>,
) -> Result<(), SqlScriptError> {
    let text = content(path).map_err(|source| SqlScriptError::Read {
        path: path.to_owned(),
        source,
    })?;
    let name = path.display().to_string();
    refuse_foreign_text(path, &text).map_err(|what| SqlScriptError::Foreign {
        path: path.to_owned(),
        what,
    })?;
    split(name, text, named, quoting, depth, statements)
}

fn split(
    name: String,
    text: Vec<u8>,
    named: Named,
    quoting: Quoting,
    depth: usize,
    statements: &mut Vec<SqlStatement>,
) -> Result<(), SqlScriptError> {
    let source = Arc::new(Source { name, text });
    let text = source.text.as_slice();
    let mut delimiter = b";".to_vec();
    let mut scanner = Scanner::new(text, quoting);
    // The first and the last byte of the statement that is being read.
    let mut open: Option<Range<usize>> = None;
    // Lines are counted as the statements come, so that each byte is read once for it.
    let (mut line, mut counted) = (1, 0);
    let mut close = |open: &mut Option<Range<usize>>| {
        if let Some(range) = open.take() {
            line += line_breaks(&text[counted..range.start]);
            counted = range.start;
            statements.push(SqlStatement {
                source: Arc::clone(&source),
                range,
                line,
                quoting,
            });
        }
        statements.len()
    };
    let mut sourced: Vec<(usize, PathBuf, usize)> = Vec::new();
    loop {
        if open.is_none()
            && let Some((line, command, argument)) = scanner.client_command()
        {
            let wrong = |what| SqlScriptError::Command {
                place: source.place_of(line.start),
                what,
            };
            match command.as_str() {
                "delimiter" if argument.is_empty() => return Err(wrong("delimiter: which one?")),
                "delimiter" => delimiter = text[argument].to_vec(),
                "source" => {
                    let path = std::str::from_utf8(&text[argument])
                        .map_err(|_| wrong("source: a path in UTF-8"))?;
                    if path.is_empty() {
                        return Err(wrong("source: which file?"));
                    }
                    if depth + 1 >= DEPTH_AT_MOST {
                        return Err(SqlScriptError::Depth {
                            place: source.place_of(line.start),
                        });
                    }
                    let path = named.path(&source.name, Path::new(path));
                    sourced.push((close(&mut None), path, line.start));
                }
                // `use NAME` ends with its line.
                _ => {
                    let end = line.end;
                    close(&mut Some(line.start..end));
                }
            }
            continue;
        }
        if scanner.skip_delimiter(&delimiter) {
            close(&mut open);
            continue;
        }
        let Some(token) = scanner.next() else {
            close(&mut open);
            break;
        };
        match token.kind {
            _ if token.is_open => {
                let is_quoted = token.is_quoted();
                return Err(SqlScriptError::Open {
                    place: source.place_of(token.start),
                    what: if is_quoted {
                        "a quotation"
                    } else {
                        "a comment"
                    },
                });
            }
            // Comments within a statement belong to it, those around it do not.
            TokenKind::Space | TokenKind::Comment => {}
            TokenKind::Terminator => {
                close(&mut open);
            }
            _ => open = Some(open.map_or(token.start, |open| open.start)..token.end()),
        }
    }
    // The files named by the text, in their places, from the last one so that the positions before stay.
    for (at, path, _) in sourced.into_iter().rev() {
        let mut inner = Vec::new();
        read_file(&path, named, quoting, depth + 1, &mut inner)?;
        statements.splice(at..at, inner);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let statements = statements_of("-e", text.as_bytes().to_vec()).unwrap();
        let text = |it: &SqlStatement| String::from_utf8_lossy(it.text()).into_owned();
        statements.iter().map(text).collect()
    }

    #[test]
    fn statements_end_at_their_delimiter() {
        for (text, expected) in [
            ("select 1; select 2", vec!["select 1", "select 2"]),
            (" ;; ", vec![]),
            (
                "select ';' , \";\", `;`, 'it''s', 'a\\';b';",
                vec!["select ';' , \";\", `;`, 'it''s', 'a\\';b'"],
            ),
            (
                "-- a; b\nselect 1 -- c; d\n, 2; # x;\n",
                vec!["select 1 -- c; d\n, 2"],
            ),
            (
                "/* a; */ select /* Q1; */ 1 /* end */;",
                vec!["select /* Q1; */ 1"],
            ),
            ("select 5--1;", vec!["select 5--1"]),
            (
                "select /*+ MRR(t) */ 1; /*!40000 set x = 1 */;",
                vec!["select /*+ MRR(t) */ 1", "/*!40000 set x = 1 */"],
            ),
            (
                "delimiter //\nselect 1; select 2//\nDELIMITER ;\nselect 3;",
                vec!["select 1; select 2", "select 3"],
            ),
            (
                "use wiki\nselect 1\\G select 2\\g",
                vec!["use wiki", "select 1", "select 2"],
            ),
            ("select use\nfrom t", vec!["select use\nfrom t"]),
        ] {
            assert_eq!(texts(text), expected, "{text}");
        }
    }

    #[test]
    fn places_verbs_and_labels_are_known() {
        let all = statements_of(
            "q.sql",
            b"select 1;\n  (SELECT /* Q1 */ 'into'\n FORM t);".to_vec(),
        )
        .unwrap();
        let second = &all[1];
        assert_eq!(second.place().to_string(), "q.sql:2:3");
        assert_eq!(
            (second.verb().as_str(), second.label()),
            ("SELECT", Some("Q1"))
        );
        let quoted =
            SqlStatement::of_line("x", 1, b"select '/* a */' -- /* b */\n/* c */".to_vec());
        assert_eq!(quoted.label(), Some("c"));
        assert!(second.has_word("form") && !second.has_word("into"));
        let message =
            "You have an error in your SQL syntax; check the manual near 'FORM t)' at line 2";
        assert_eq!(second.place_of_error(message).to_string(), "q.sql:3:2");
        assert_eq!(second.place_of_error("Table 't' doesn't exist").line, 2);
    }

    #[test]
    fn what_is_not_closed_is_an_error_with_its_place() {
        for (text, message) in [
            ("select 1;\n select 'a", "x:2:9: a quotation is not closed"),
            ("/* a", "x:1:1: a comment is not closed"),
            ("delimiter\nselect 1", "x:1:1: delimiter: which one?"),
        ] {
            let error = statements_of("x", text.as_bytes().to_vec()).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn files_are_read_where_they_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let inner = write("inner.sql", "select 2; select 3;");
        let own = directory.path().join("own.sql");
        let text = format!(
            "select 1;\nsource {};\nselect 4;\n\\. {}\n",
            inner.display(),
            inner.display()
        );
        let outer = write("outer.sql", &text);
        let all = statements_of_file(&outer).unwrap();
        let texts: Vec<_> = all
            .iter()
            .map(|it| String::from_utf8_lossy(it.text()))
            .collect();
        assert_eq!(
            texts,
            [
                "select 1", "select 2", "select 3", "select 4", "select 2", "select 3"
            ]
        );
        write("own.sql", &format!("source {}", own.display()));
        let error = statements_of_file(&own).unwrap_err();
        assert!(matches!(error, SqlScriptError::Depth { .. }), "{error}");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[a-z;'\"`/*# \n\\\\.()-]{0,80}") {
            if let Ok(statements) = statements_of("x", text.clone().into_bytes()) {
                for statement in statements {
                    prop_assert!(!statement.text().is_empty());
                    let _ = (statement.place(), statement.label(), statement.verb());
                }
            }
        }
    }
}
