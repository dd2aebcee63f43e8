//! `\list NAME [(COLUMN, ...)] from "FILE" | from query "SQL" [uniform | sequential | zipf N | weight COLUMN]`.

use std::ops::Range;

use dataset::random::{ZIPFIAN_MAX, ZIPFIAN_MIN};

use super::{
    lexer::{Fault, continuation},
    list::DrawSpec,
    names::is_name,
};

/// What a list is made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ListSpec {
    pub(super) name: String,
    /// Names of the columns; empty if the file's first line or the query says them.
    pub(super) columns: Vec<String>,
    pub(super) from: Origin,
    pub(super) draw: DrawSpec,
}

/// Where the rows of a list come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// A CSV file; a relative path counts from the script's directory.
    File(String),
    /// A statement, run once before the load.
    Query(String),
}

/// Parses what follows `\list`.
pub(super) fn parse(script: &str, rest: Range<usize>) -> Result<ListSpec, Fault> {
    let words = words(script, rest)?;
    let mut words = Words {
        words: &words,
        next: 0,
    };
    let name = words.name("the name of the list")?;
    let mut columns = Vec::new();
    if words.skip("(") {
        loop {
            columns.push(words.name("the name of a column")?);
            if !words.skip(",") {
                break;
            }
        }
        if !words.skip(")") {
            return Err(words.unexpected("`,` or `)`"));
        }
    }
    if !words.skip("from") {
        return Err(words.unexpected("from"));
    }
    let from = if words.skip("query") {
        Origin::Query(words.quoted("a statement in quotes")?)
    } else {
        Origin::File(words.quoted("a file in quotes, or query")?)
    };
    let draw = if words.skip("uniform") {
        DrawSpec::Uniform
    } else if words.skip("sequential") {
        DrawSpec::Sequential
    } else if words.skip("weight") {
        DrawSpec::Weight(words.name("the name of a column")?)
    } else if words.skip("zipf") {
        let wanted = format!("a number from {ZIPFIAN_MIN} to {ZIPFIAN_MAX}");
        let at = words.at();
        let parameter: Option<f64> = words.take().and_then(|word| word.text.parse().ok());
        let parameter = parameter.filter(|it| (ZIPFIAN_MIN..=ZIPFIAN_MAX).contains(it));
        DrawSpec::Zipf(parameter.ok_or_else(|| (at, format!("expected {wanted} after zipf")))?)
    } else {
        DrawSpec::Uniform
    };
    match words.word() {
        None | Some(Word { is_end: true, .. }) => Ok(ListSpec {
            name,
            columns,
            from,
            draw,
        }),
        Some(_) => {
            Err(words.unexpected("uniform, sequential, zipf, weight or the end of the line"))
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    at: usize,
    text: String,
    is_quoted: bool,
    is_end: bool,
}

struct Words<'w> {
    words: &'w [Word],
    next: usize,
}

impl Words<'_> {
    fn word(&self) -> Option<&Word> {
        self.words.get(self.next)
    }

    fn at(&self) -> usize {
        self.word().map_or(0, |word| word.at)
    }

    fn take(&mut self) -> Option<Word> {
        let word = self.word().cloned();
        self.next += 1;
        word
    }

    /// Skips a plain word, whose letters may be of either case.
    fn skip(&mut self, expected: &str) -> bool {
        let is_it = self
            .word()
            .is_some_and(|word| !word.is_quoted && word.text.eq_ignore_ascii_case(expected));
        self.next += usize::from(is_it);
        is_it
    }

    fn unexpected(&self, expected: &str) -> Fault {
        let found = match self.word() {
            Some(word) if !word.is_end => format!("`{}`", word.text),
            _ => "the end of the line".to_owned(),
        };
        (self.at(), format!("expected {expected}, found {found}"))
    }

    fn name(&mut self, what: &str) -> Result<String, Fault> {
        match self.word() {
            Some(word) if !word.is_quoted && is_name(&word.text) => {
                let name = word.text.clone();
                self.next += 1;
                Ok(name)
            }
            _ => Err(self.unexpected(what)),
        }
    }

    fn quoted(&mut self, what: &str) -> Result<String, Fault> {
        match self.word() {
            Some(word) if word.is_quoted => {
                let text = word.text.clone();
                self.next += 1;
                Ok(text)
            }
            _ => Err(self.unexpected(what)),
        }
    }
}

/// The words of a command; quotes of either kind are doubled inside of quotes.
fn words(script: &str, rest: Range<usize>) -> Result<Vec<Word>, Fault> {
    let mut words = Vec::new();
    let mut at = rest.start;
    let word = |at, text: &str| Word {
        at,
        text: text.to_owned(),
        is_quoted: false,
        is_end: false,
    };
    while at < rest.end {
        let text = &script[at..rest.end];
        let bytes = text.as_bytes();
        if let Some(length) = continuation(bytes) {
            at += length;
            continue;
        }
        match bytes[0] {
            byte if byte.is_ascii_whitespace() => at += 1,
            b'(' | b')' | b',' => {
                words.push(word(at, &text[..1]));
                at += 1;
            }
            quote @ (b'"' | b'\'') => {
                let (text, length) = quoted(text, char::from(quote))
                    .ok_or_else(|| (at, "this quote is not closed".to_owned()))?;
                words.push(Word {
                    is_quoted: true,
                    ..word(at, &text)
                });
                at += length;
            }
            _ => {
                let ends =
                    |letter: char| letter.is_ascii_whitespace() || "(),'\"\\".contains(letter);
                let length = text.find(ends).unwrap_or(text.len()).max(1);
                words.push(word(at, &text[..length]));
                at += length;
            }
        }
    }
    words.push(Word {
        is_end: true,
        ..word(rest.end, "")
    });
    Ok(words)
}

/// The text in quotes, and its length with them.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut inside = String::new();
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter != quote {
            inside.push(letter);
            continue;
        }
        match letters.next_if(|(_, next)| *next == quote) {
            Some(_) => inside.push(quote),
            None => return Some((inside, at + 1)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<ListSpec, Fault> {
        parse(text, 0..text.len())
    }

    #[test]
    fn lists_are_described() {
        let spec = |columns: &[&str], from, draw| ListSpec {
            name: "ids".to_owned(),
            columns: columns.iter().map(ToString::to_string).collect(),
            from,
            draw,
        };
        let file = || Origin::File("ids.csv".to_owned());
        for (text, expected) in [
            ("ids from \"ids.csv\"", spec(&[], file(), DrawSpec::Uniform)),
            (
                "ids (id, w) from 'ids.csv' weight w",
                spec(&["id", "w"], file(), DrawSpec::Weight("w".to_owned())),
            ),
            (
                "ids FROM QUERY \"SELECT \"\"id\"\"\" \\\n ZIPF 1.2",
                spec(
                    &[],
                    Origin::Query("SELECT \"id\"".to_owned()),
                    DrawSpec::Zipf(1.2),
                ),
            ),
            (
                "ids from \"ids.csv\" sequential",
                spec(&[], file(), DrawSpec::Sequential),
            ),
        ] {
            assert_eq!(parsed(text), Ok(expected), "{text}");
        }
        for (text, at) in [
            ("", 0),
            ("1d from \"a\"", 0),
            ("ids \"a\"", 4),
            ("ids from a", 9),
            ("ids from \"a", 9),
            ("ids from \"a\" zipf 1.0", 18),
            ("ids from \"a\" often", 13),
            ("ids (a from \"a\"", 7),
        ] {
            assert_eq!(parsed(text).unwrap_err().0, at, "{text}");
        }
    }
}
