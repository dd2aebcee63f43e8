//! The tokens of a statement, and the statement with another text at its place.

use std::{ops::Range, sync::Arc};

use super::{
    Source, SqlStatement,
    scanner::{Scanner, Token},
};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlToken {
    /// A keyword, a name without quotation marks, or a number without its point.
    Word,
    /// A name in backticks, or in double quotation marks where they hold names.
    Name,
    /// A value in quotation marks.
    Text,
    /// A single sign, or a comment that the server reads, such as `/*+ MRR(t) */`.
    Sign,
}

impl SqlStatement {
    /// The tokens, without blanks and comments, each with its range of the text.
    pub fn tokens(&self) -> Vec<(SqlToken, Range<usize>)> {
        let text = self.text();
        let mut scanner = Scanner::new(text, self.quoting);
        let tokens = std::iter::from_fn(|| scanner.next_token());
        let tokens = tokens.filter_map(|(range, token)| {
            let kind = match token {
                Token::Space | Token::Comment | Token::Terminator => return None,
                Token::Word => SqlToken::Word,
                Token::Name => SqlToken::Name,
                Token::Other if text[range.start..].starts_with(b"'") => SqlToken::Text,
                Token::Other if text[range.start..].starts_with(b"\"") => SqlToken::Text,
                Token::Other | Token::Open(_) => SqlToken::Sign,
            };
            Some((kind, range))
        });
        tokens.collect()
    }

    /// The statement with another text; its place stays.
    pub fn reworded(&self, text: &[u8]) -> Self {
        let mut source = vec![b' '; self.place().column - 1];
        let start = source.len();
        source.extend_from_slice(text);
        Self {
            range: start..source.len(),
            source: Arc::new(Source {
                name: self.source.name.clone(),
                text: source,
            }),
            line: self.line,
            quoting: self.quoting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statements_of;

    #[test]
    fn a_reworded_statement_has_its_place_and_tokens() {
        let text = "use a;\n  select /*+ MRR(t) */ `b` -- c\n from t where d >= 'e'";
        let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
        let statement = statements.last().unwrap();
        let tokens = |it: &SqlStatement| -> Vec<(SqlToken, String)> {
            let tokens = it.tokens().into_iter();
            let text = |range| String::from_utf8_lossy(&it.text()[range]).into_owned();
            tokens.map(|(kind, range)| (kind, text(range))).collect()
        };
        let found = tokens(statement);
        let kinds: Vec<SqlToken> = found.iter().map(|it| it.0).collect();
        let (word, sign) = (SqlToken::Word, SqlToken::Sign);
        let (name, value) = (SqlToken::Name, SqlToken::Text);
        let expected = [word, sign, name, word, word, word, word, sign, sign, value];
        assert_eq!(kinds, expected);
        assert_eq!(found[1].1, "/*+ MRR(t) */");
        let reworded = statement.reworded(b"select 1");
        assert_eq!(reworded.place().to_string(), "x:2:3");
        assert_eq!(reworded.text(), b"select 1");
    }
}
