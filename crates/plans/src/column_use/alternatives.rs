//! Which conditions are alternatives: the parts of an OR.

use super::token::Token;

/// A list of conditions between brackets or clauses.
struct Group {
    /// The group around it, within the same query.
    parent: Option<usize>,
    has_or: bool,
}

/// What is open at a level of brackets.
struct Level {
    /// The group around the level; `None` for that of a query.
    base: Option<usize>,
    group: usize,
}

/// For each token the outermost group with an OR around it, as a number.
pub(super) fn alternatives(tokens: &[Token]) -> Vec<Option<usize>> {
    let mut groups = vec![Group::below(None)];
    let mut levels = vec![Level {
        base: None,
        group: 0,
    }];
    let mut of_tokens = Vec::with_capacity(tokens.len());
    for token in tokens {
        let depth = levels.len() - 1;
        let level = &mut levels[depth];
        match token {
            Token::Open => {
                let base = Some(level.group);
                groups.push(Group::below(base));
                levels.push(Level {
                    base,
                    group: groups.len() - 1,
                });
            }
            Token::Close if depth > 0 => {
                levels.pop();
            }
            Token::Word(word) => match word.as_str() {
                "or" => groups[level.group].has_or = true,
                "select" => {
                    level.base = None;
                    level.group = groups.len();
                    groups.push(Group::below(None));
                }
                "from" | "where" | "on" | "having" | "group" | "order" | "limit" | "union"
                | "join" | "set" => {
                    level.group = groups.len();
                    groups.push(Group::below(level.base));
                }
                _ => {}
            },
            _ => {}
        }
        of_tokens.push(levels.last().map_or(0, |level| level.group));
    }
    let outermost = |group: usize| {
        let around = std::iter::successors(Some(group), |group| groups[*group].parent);
        around.filter(|group| groups[*group].has_or).last()
    };
    of_tokens.into_iter().map(outermost).collect()
}

impl Group {
    fn below(parent: Option<usize>) -> Self {
        Self {
            parent,
            has_or: false,
        }
    }
}
