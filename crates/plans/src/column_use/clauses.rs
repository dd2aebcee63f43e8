//! The clause at a place of a rewritten statement, with the brackets around it.

use super::token::Token;

/// The function of a window, of which a named one has no word before its bracket.
const OVER: &str = "over";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clause {
    Select,
    From,
    Where,
    Group,
    Order,
    /// The named windows.
    Window,
    Other,
}

/// The clause at a place, with the brackets around it.
pub(super) struct Clauses {
    pub(super) now: Clause,
    /// The open brackets.
    outside: Vec<Bracket>,
}

/// An open bracket.
struct Bracket {
    /// The clause around it.
    clause: Clause,
    /// The function whose arguments it holds.
    function: Option<String>,
    /// Whether it holds a query, to whose columns the functions around it do nothing.
    has_query: bool,
    /// Whether it holds an IN that the server checks for each row after the read: `<in_optimizer>(`.
    is_checked_in: bool,
}

impl Default for Clauses {
    fn default() -> Self {
        Self {
            now: Clause::Other,
            outside: Vec::new(),
        }
    }
}

impl Clauses {
    /// Takes note of the token at a place.
    pub(super) fn pass(&mut self, tokens: &[Token], at: usize) {
        match &tokens[at] {
            Token::Open => {
                let before = |distance: usize| Some(&tokens[at.checked_sub(distance)?]);
                let function = match before(1) {
                    Some(Token::Word(word)) if !is_keyword(word) => Some(word.clone()),
                    _ if self.now == Clause::Window => Some(OVER.to_owned()),
                    _ => None,
                };
                self.outside.push(Bracket {
                    clause: self.now,
                    function,
                    has_query: false,
                    is_checked_in: matches!(before(2), Some(Token::Word(word)) if word == "in_optimizer"),
                });
            }
            Token::Close => {
                if let Some(bracket) = self.outside.pop() {
                    self.now = bracket.clause;
                }
            }
            Token::Word(word) => {
                if word == "select"
                    && let Some(bracket) = self.outside.last_mut()
                {
                    bracket.has_query = true;
                }
                self.now = match word.as_str() {
                    "select" | "set" => Clause::Select,
                    "from" | "join" | "straight_join" | "update" => Clause::From,
                    "where" | "on" => Clause::Where,
                    "group" => Clause::Group,
                    "order" => Clause::Order,
                    "window" => Clause::Window,
                    "having" | "limit" | "union" | "values" => Clause::Other,
                    _ => self.now,
                };
            }
            _ => {}
        }
    }

    /// Whether a GROUP BY or ORDER BY has nothing but whole columns up to a place: an index has no order of expressions,
    /// nor of what stands behind one. `before` is the answer for the place before.
    pub(super) fn is_plain_order(&self, tokens: &[Token], at: usize, before: bool) -> bool {
        let is_word = |token: &Token, words: &[&str]| matches!(token, Token::Word(word) if words.contains(&word.as_str()));
        let is_comma = |token: &Token| matches!(token, Token::Sign(sign) if sign == ",");
        let token = &tokens[at];
        if is_word(token, &["group", "order"]) || !matches!(self.now, Clause::Group | Clause::Order)
        {
            return true;
        }
        let is_whole = || {
            let next = tokens.get(at + 1);
            next.is_none_or(|next| {
                let operators = [
                    "mod", "div", "and", "or", "xor", "is", "in", "like", "between", "not",
                    "collate",
                ];
                is_comma(next)
                    || matches!(next, Token::Close)
                    || matches!(next, Token::Word(_)) && !is_word(next, &operators)
            })
        };
        before
            && match token {
                Token::Name(parts) => parts.len() == 3 && is_whole(),
                other => is_comma(other) || is_word(other, &["by", "asc", "desc"]),
            }
    }

    /// Whether the GROUP BY or ORDER BY at a place is that of a query, and not of a window or of an aggregate function,
    /// whose rows the server sorts itself.
    pub(super) fn is_order_of_query(&self) -> bool {
        let is_order = matches!(self.now, Clause::Group | Clause::Order);
        let mut around = self.outside.iter().rev();
        let holding = around.find(|it| it.clause != self.now);
        is_order && holding.is_none_or(|it| it.function.is_none())
    }

    /// The functions around a place within its query, the innermost first.
    pub(super) fn functions(&self) -> impl Iterator<Item = &str> {
        self.brackets().filter_map(|it| it.function.as_deref())
    }

    /// Whether a place is in an IN that the server checks after the read, so that no index of a column serves it.
    pub(super) fn is_in_checked_in(&self) -> bool {
        self.brackets().any(|it| it.is_checked_in)
    }

    /// The brackets around a place within its query, the innermost first.
    fn brackets(&self) -> impl Iterator<Item = &Bracket> {
        self.outside.iter().rev().take_while(|it| !it.has_query)
    }
}

/// Words before a bracket that are no function; `multiple equal` is how MySQL shows equalities that it joined.
fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "and"
            | "or"
            | "not"
            | "in"
            | "on"
            | "where"
            | "select"
            | "from"
            | "join"
            | "by"
            | "having"
            | "union"
            | "exists"
            | "between"
            | "like"
            | "straight_join"
            | "all"
            | "any"
            | "as"
            | "values"
            | "xor"
            | "equal"
            | "of"
            | "trigcond"
            | "when"
            | "then"
            | "else"
    )
}
