//! The inner sides of the outer joins, semi-joins and anti-joins of a rewritten statement.
//!
//! ```text
//! from `s`.`p` anti join (`s`.`l`) on((`<subquery2>`.`p` = `s`.`p`.`id`)) where true
//! ```

use std::ops::Range;

use super::token::{Token, is_word};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InnerKind {
    Left,
    Anti,
    Semi,
}

pub(super) struct InnerSide {
    pub(super) kind: InnerKind,
    /// The places of its tables.
    pub(super) places: Range<usize>,
    /// The places of its ON; empty without one.
    pub(super) on: Range<usize>,
}

pub(super) fn inner_sides(tokens: &[Token]) -> Vec<InnerSide> {
    let words = tokens.windows(2).enumerate();
    let sides = words.filter_map(|(at, pair)| {
        let kind = match (is_word(pair.first()), is_word(pair.last())) {
            (Some("left"), Some("join")) => InnerKind::Left,
            (Some("anti"), Some("join")) => InnerKind::Anti,
            (Some("semi"), Some("join")) => InnerKind::Semi,
            _ => return None,
        };
        let start = at + pair.len();
        let end = end_of_part(tokens, start);
        let behind = tokens.get(end..).unwrap_or_default().iter();
        // A table has its alias behind it.
        let aliases = behind.take_while(|token| matches!(token, Token::Name(_)));
        let mut on = end + aliases.count();
        // Index hints: `use index (a, b)`.
        while let Some("use" | "force" | "ignore") = is_word(tokens.get(on)) {
            let mut behind = on..tokens.len();
            match behind.find(|at| tokens[*at] == Token::Open) {
                Some(bracket) => on = end_of_part(tokens, bracket),
                None => break,
            }
        }
        let on = match is_word(tokens.get(on)) {
            Some("on") => on + 1..end_of_part(tokens, on + 1),
            _ => on..on,
        };
        Some(InnerSide {
            kind,
            places: start..end,
            on,
        })
    });
    sides.collect()
}

/// The place behind the token at a place, or behind the bracket that it opens.
fn end_of_part(tokens: &[Token], start: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(start) {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}
