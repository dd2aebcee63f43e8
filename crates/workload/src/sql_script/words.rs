//! The words of a statement, by which its kind is known.

use super::{
    SqlStatement,
    scanner::{Scanner, Token},
};

/// Bytes of a statement's first word that are read.
const VERB_BYTES_MAX: usize = 32;

impl SqlStatement {
    /// Its first word in capitals: `SELECT`; an opening bracket before it is skipped.
    pub fn verb(&self) -> String {
        let text = self.text();
        let mut scanner = Scanner::new(text);
        let mut words = std::iter::from_fn(|| scanner.next_token());
        let first = words.find_map(|(range, token)| match token {
            // No word that matters is longer, and one of a wrong file can be.
            Token::Word => Some(range.start..range.end.min(range.start + VERB_BYTES_MAX)),
            _ => None,
        });
        let word = first.map(|range| String::from_utf8_lossy(&text[range]).to_uppercase());
        word.unwrap_or_default()
    }

    /// Whether a word stands in it outside of quotations and comments, in any case.
    pub fn has_word(&self, word: &str) -> bool {
        let text = self.text();
        let mut scanner = Scanner::new(text);
        std::iter::from_fn(|| scanner.next_token()).any(|(range, token)| match token {
            Token::Word => text[range].eq_ignore_ascii_case(word.as_bytes()),
            Token::Name => text[range]
                .trim_ascii()
                .strip_prefix(b"`")
                .and_then(|it| it.strip_suffix(b"`"))
                .is_some_and(|name| name.eq_ignore_ascii_case(word.as_bytes())),
            _ => false,
        })
    }

    /// The statement with hints for the optimizer after its first word, before those that it has: `SELECT /*+ MRR(p) */`.
    /// Its place stays. `None` for a statement whose first word takes no hints, and for hints that end a comment.
    pub fn hinted(&self, hints: &str) -> Option<Self> {
        let takes_hints = ["SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE"];
        if !takes_hints.contains(&self.verb().as_str()) || hints.contains("*/") {
            return None;
        }
        let text = self.text();
        let mut scanner = Scanner::new(text);
        let mut tokens = std::iter::from_fn(|| scanner.next_token());
        let after_verb = tokens.find(|(_, token)| *token == Token::Word)?.0.end;
        let next = tokens.find(|(_, token)| *token != Token::Space);
        let present = next.filter(|(range, _)| text[range.clone()].starts_with(b"/*+"));
        let (at, inserted) = match present {
            Some((range, _)) => (range.start + b"/*+".len(), format!(" {hints}")),
            None => (after_verb, format!(" /*+ {hints} */")),
        };
        let hinted = [&text[..at], inserted.as_bytes(), &text[at..]].concat();
        Some(self.reworded(&hinted))
    }

    /// Whether a `?` stands for a value, as in the text of a prepared statement.
    pub fn has_placeholder(&self) -> bool {
        let text = self.text();
        let mut scanner = Scanner::new(text);
        std::iter::from_fn(|| scanner.next_token())
            .any(|(range, token)| token == Token::Other && &text[range] == b"?")
    }

    /// A part whose effect the words do not show: a second statement after a `;`, which the server executes, too, or a
    /// comment that it executes, such as `/*! */`.
    pub fn hidden_part(&self) -> Option<&'static str> {
        let text = self.text();
        let mut scanner = Scanner::new(text);
        let mut tokens = std::iter::from_fn(|| scanner.next_token());
        tokens.find_map(|(range, token)| {
            let (is_last, part) = (range.end == text.len(), &text[range]);
            match token {
                Token::Other if part == b";" && !is_last => Some("a second statement"),
                Token::Other if part.starts_with(b"/*!") || part.starts_with(b"/*M!") => {
                    Some("a comment that the server executes")
                }
                _ => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::sql_script::statements_of;

    #[test]
    fn placeholders_are_found_outside_of_quotations() {
        for (text, expected) in [
            ("select a from t where b = ?", true),
            ("select '?', `?` /* ? */", false),
        ] {
            let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
            assert_eq!(statements[0].has_placeholder(), expected, "{text}");
        }
    }

    #[test]
    fn hints_stand_after_the_first_word() {
        let hinted = |text: &str, hints: &str| {
            let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
            let hinted = statements.last()?.hinted(hints)?;
            let text = String::from_utf8_lossy(hinted.text()).into_owned();
            Some((text, hinted.place().to_string()))
        };
        for (text, expected, place) in [
            ("select 1", "select /*+ MRR(p) */ 1", "x:1:1"),
            ("use a;\n  (select 1)", "(select /*+ MRR(p) */ 1)", "x:2:3"),
            (
                "select /*+ BNL(r) */ 1",
                "select /*+ MRR(p) BNL(r) */ 1",
                "x:1:1",
            ),
            (
                "delete/* a */from t",
                "delete /*+ MRR(p) *//* a */from t",
                "x:1:1",
            ),
        ] {
            let expected = Some((expected.to_owned(), place.to_owned()));
            assert_eq!(hinted(text, "MRR(p)"), expected);
        }
        assert_eq!(hinted("with a as (select 1) select 2", "MRR(p)"), None);
        assert_eq!(hinted("select 1", "MRR(p) */ drop"), None);
    }

    #[test]
    fn parts_that_the_words_do_not_show_are_found() {
        let (second, comment) = (
            Some("a second statement"),
            Some("a comment that the server executes"),
        );
        for (text, hidden) in [
            ("select 1; delete from t", second),
            ("select 1;;", second),
            ("select 1;", None),
            ("select ';', `;` /* ; */, 1 -- ;\n", None),
            ("select 1 /*!50000 into outfile 'x' */", comment),
            ("select 1 /*M! into outfile 'x' */", comment),
            ("select /*+ MRR(t) */ '/*! */'", None),
        ] {
            let script = format!("delimiter //\n{text}//");
            let statements = statements_of("x", script.into_bytes()).unwrap();
            assert_eq!(statements[0].hidden_part(), hidden, "{text}");
        }
    }
}
