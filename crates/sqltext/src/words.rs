//! The words of a statement, by which its kind is known.

use std::borrow::Cow;

use super::{Quoting, SqlStatement, scanner::Scanner, token::TokenKind};

/// Bytes of a statement's first word that are read.
const VERB_BYTES_MAX: usize = 32;

impl SqlStatement {
    /// Its first word in capitals: `SELECT`; an opening bracket before it is skipped.
    pub fn verb(&self) -> String {
        let mut tokens = self.tokens();
        let first = tokens.find(|it| matches!(it.kind, TokenKind::Word | TokenKind::Number));
        let word = first.map_or(&b""[..], |first| first.text);
        // No word that matters is longer, and one of a wrong file can be.
        String::from_utf8_lossy(&word[..word.len().min(VERB_BYTES_MAX)]).to_uppercase()
    }

    /// Whether a word stands in it outside of texts and comments, in any case.
    pub fn has_word(&self, word: &str) -> bool {
        let mut names = self.words();
        names.any(|name| name.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// Its words outside of texts and comments: keywords, numbers, and names without their quotation marks.
    pub fn words(&self) -> impl Iterator<Item = Cow<'_, [u8]>> {
        let is_word = |kind| matches!(kind, TokenKind::Word | TokenKind::Number | TokenKind::Name);
        self.tokens()
            .filter(move |token| is_word(token.kind))
            .map(|token| token.unquoted())
    }

    /// Whether its tokens are the same with another quoting.
    pub fn is_same_with(&self, quoting: Quoting) -> bool {
        let tokens = |quoting| Scanner::new(self.text(), quoting);
        quoting == self.quoting || tokens(quoting).eq(tokens(self.quoting))
    }

    /// The statement with hints for the optimizer after its first word, before those that it has: `SELECT /*+ MRR(p) */`.
    /// Its place stays. `None` for a statement whose first word takes no hints, and for hints that end a comment.
    pub fn hinted(&self, hints: &str) -> Option<Self> {
        let takes_hints = ["SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE"];
        if !takes_hints.contains(&self.verb().as_str()) || hints.contains("*/") {
            return None;
        }
        let text = self.text();
        let mut tokens = Scanner::new(text, self.quoting);
        let after_verb = tokens.find(|it| it.kind == TokenKind::Word)?.end();
        let next = tokens.find(|it| it.kind != TokenKind::Space);
        let present = next.filter(|it| it.text.starts_with(b"/*+"));
        let (at, inserted) = match present {
            Some(present) => (present.start + b"/*+".len(), format!(" {hints}")),
            None => (after_verb, format!(" /*+ {hints} */")),
        };
        let hinted = [&text[..at], inserted.as_bytes(), &text[at..]].concat();
        Some(self.reworded(&hinted))
    }

    /// Whether a `?` stands for a value, as in the text of a prepared statement.
    pub fn has_placeholder(&self) -> bool {
        self.tokens().any(|token| token.is_sign(b'?'))
    }

    /// A part whose effect the words do not show: a second statement after a `;`, which the server executes, too, or a
    /// comment that it executes, such as `/*! */`.
    pub fn hidden_part(&self) -> Option<&'static str> {
        let length = self.text().len();
        self.tokens().find_map(|token| match token.kind {
            TokenKind::Sign if token.text == b";" && token.end() < length => {
                Some("a second statement")
            }
            TokenKind::ServerComment if !token.text.starts_with(b"/*+") => {
                Some("a comment that the server executes")
            }
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        quoting::tests::{DOUBLE_QUOTED_NAMES, PLAIN_BACKSLASHES},
        statements_of,
    };

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

    #[test]
    fn a_statement_ends_where_the_server_sees_its_end() {
        let text = r"select 'a\'; drop table t; -- '";
        let of = |quoting: Quoting| -> Vec<String> {
            let statements = quoting
                .statements_of("x", text.as_bytes().to_vec())
                .unwrap();
            let text = |it: &SqlStatement| String::from_utf8_lossy(it.text()).into_owned();
            statements.iter().map(text).collect()
        };
        assert_eq!(of(Quoting::default()), [text]);
        assert_eq!(of(PLAIN_BACKSLASHES), [r"select 'a\'", "drop table t"]);
    }

    #[test]
    fn double_quoted_names_are_words() {
        for (quoting, is_word) in [(Quoting::default(), false), (DOUBLE_QUOTED_NAMES, true)] {
            let text = br#"delete from "my ""t""""#.to_vec();
            let statement = quoting.statements_of("x", text).unwrap().remove(0);
            assert_eq!(statement.has_word("my \"t\""), is_word);
        }
    }

    #[test]
    fn a_statement_that_another_mode_reads_otherwise_is_known() {
        for (text, other, is_same) in [
            (r"select 'a\'b'", PLAIN_BACKSLASHES, false),
            (r"select 'a\n'", PLAIN_BACKSLASHES, true),
            ("select 'a', `b`", DOUBLE_QUOTED_NAMES, true),
            ("select \"a\"", DOUBLE_QUOTED_NAMES, false),
            (r"select 'it''s' /* \' */", PLAIN_BACKSLASHES, true),
        ] {
            let statement = SqlStatement::of_line("x", 1, text.as_bytes().to_vec());
            assert_eq!(statement.is_same_with(other), is_same, "{text}");
        }
    }
}
