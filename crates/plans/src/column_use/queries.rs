//! Which query of a rewritten statement a token belongs to: two queries may give two tables one name.

use super::token::Token;

/// The queries of a statement by numbers. Number 0 is what is around all of them, such as an UPDATE.
pub(super) struct Queries {
    /// For each token the innermost query around it.
    of_tokens: Vec<usize>,
    /// For each query the one around it.
    outer: Vec<Option<usize>>,
}

/// What is open at a level of brackets.
struct Level {
    /// The query around the level.
    outer: Option<usize>,
    now: usize,
}

impl Queries {
    /// The queries of these tokens; each part of a UNION is one.
    pub(super) fn of(tokens: &[Token]) -> Self {
        let mut outer = vec![None];
        let mut levels = vec![Level {
            outer: None,
            now: 0,
        }];
        let mut of_tokens = Vec::with_capacity(tokens.len());
        for token in tokens {
            let depth = levels.len() - 1;
            let level = &mut levels[depth];
            match token {
                Token::Open => {
                    let now = level.now;
                    levels.push(Level {
                        outer: Some(now),
                        now,
                    });
                }
                Token::Close if depth > 0 => {
                    levels.pop();
                }
                Token::Word(word) if word == "select" => {
                    level.now = outer.len();
                    outer.push(level.outer);
                }
                _ => {}
            }
            of_tokens.push(levels.last().map_or(0, |level| level.now));
        }
        Self { of_tokens, outer }
    }

    pub(super) fn innermost(&self, at: usize) -> usize {
        self.of_tokens.get(at).copied().unwrap_or(0)
    }

    /// The queries around a place, the innermost first.
    pub(super) fn around(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(self.innermost(at)), move |query| self.outer[*query])
    }
}
