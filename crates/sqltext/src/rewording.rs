//! The tokens of a statement, and the statement with another text at its place.

use std::sync::Arc;

use super::{
    Source, SqlStatement,
    scanner::Scanner,
    token::{Token, TokenKind},
};

impl SqlStatement {
    /// The tokens, without white space, comments and what is not closed; [`TokenKind::ServerComment`] is among them.
    pub fn tokens(&self) -> impl Iterator<Item = Token<'_>> {
        let left_out = [TokenKind::Space, TokenKind::Comment, TokenKind::Terminator];
        let tokens = Scanner::new(self.text(), self.quoting);
        tokens.filter(move |token| !token.is_open && !left_out.contains(&token.kind))
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
        let found: Vec<Token<'_>> = statement.tokens().collect();
        let kinds: Vec<TokenKind> = found.iter().map(|it| it.kind).collect();
        let (word, sign) = (TokenKind::Word, TokenKind::Sign);
        let (name, value, hint) = (TokenKind::Name, TokenKind::Text, TokenKind::ServerComment);
        let expected = [word, hint, name, word, word, word, word, sign, sign, value];
        assert_eq!(kinds, expected);
        assert_eq!(found[1].text, b"/*+ MRR(t) */");
        let reworded = statement.reworded(b"select 1");
        assert_eq!(reworded.place().to_string(), "x:2:3");
        assert_eq!(reworded.text(), b"select 1");
    }
}
