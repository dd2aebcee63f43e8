//! What a condition does with a column, and what it compares it with.

use super::{
    Reading,
    clauses::Clauses,
    comparison::Comparison,
    table_use::Computation,
    token::{MARK_OF_VALUE, Token, is_word},
};

/// Functions of the time of execution.
const CLOCKS: [&str; 8] = [
    "now",
    "curdate",
    "current_date",
    "current_timestamp",
    "localtime",
    "sysdate",
    "utc_date",
    "utc_timestamp",
];

/// Functions of a column and a time whose arithmetic can be done with the other side instead.
const SHIFTS: [&str; 5] = [
    "datediff",
    "timestampdiff",
    "to_days",
    "date_add",
    "date_sub",
];

impl Reading<'_> {
    /// What is done with the column at a place, if no index of the column serves it.
    pub(super) fn computation(&self, at: usize, clauses: &Clauses) -> Option<Computation> {
        // A multi-valued index serves `5 member of(c)`.
        if clauses.functions().any(serves_index) || self.side_has(at, &["member"]) {
            return None;
        }
        if clauses.functions().any(|it| it.starts_with("json_")) {
            return Some(Computation::Json);
        }
        if clauses.functions().next().is_some() {
            let is_shift = clauses.functions().all(|it| SHIFTS.contains(&it));
            return Some(if !self.side_has(at, &CLOCKS) {
                Computation::Other
            } else if is_shift {
                Computation::Shift
            } else {
                Computation::Clock
            });
        }
        let beside = [self.before(at), self.tokens.get(at + 1)];
        let operators = beside
            .into_iter()
            .flatten()
            .filter_map(|token| match token {
                Token::Sign(sign) => match sign.as_str() {
                    "+" | "-" => Some(Computation::Shift),
                    "*" | "/" | "%" | "|" | "&" | "^" => Some(Computation::Other),
                    _ => None,
                },
                Token::Word(word) if matches!(word.as_str(), "mod" | "div") => {
                    Some(Computation::Other)
                }
                _ => None,
            });
        operators.max()
    }

    /// Whether the condition around a place has no other column, so that its other side is a value.
    pub(super) fn is_only_column(&self, at: usize) -> bool {
        let is_end = |at: usize| ends_condition(&self.tokens[at]);
        let mut around = self.around(at, is_end);
        !around.any(|at| matches!(self.tokens[at], Token::Name(_)))
    }

    /// Whether one of these words is on the side of the comparison around a place: `datediff(now(), c) > 30`.
    fn side_has(&self, at: usize, words: &[&str]) -> bool {
        let is_end = |at: usize| ends_condition(&self.tokens[at]) || self.is_comparison(at);
        let mut around = self.around(at, is_end);
        around.any(|at| is_word(self.tokens.get(at)).is_some_and(|word| words.contains(&word)))
    }

    /// The places before and behind a place, up to an end on each side.
    fn around(
        &self,
        at: usize,
        is_end: impl Fn(usize) -> bool + Copy,
    ) -> impl Iterator<Item = usize> {
        let before = (0..at).rev().take_while(move |at| !is_end(*at));
        let after = at + 1..self.tokens.len();
        before.chain(after.take_while(move |at| !is_end(*at)))
    }

    /// Whether a token compares, and is no part of a mark such as `<cache>`.
    fn is_comparison(&self, at: usize) -> bool {
        let is_mark = |of: Option<&Token>| is_word(of) == Some(MARK_OF_VALUE);
        let beside = [self.before(at), self.tokens.get(at + 1)];
        self.tokens[at].comparison().is_some() && !beside.into_iter().any(is_mark)
    }

    /// The comparison of the column at a place, which is one of this table; `computation` is what the condition does with it.
    pub(super) fn comparison(
        &self,
        at: usize,
        table: usize,
        computation: Option<Computation>,
    ) -> Comparison {
        let word = |distance: usize| is_word(self.tokens.get(at + distance));
        let operator = [self.tokens.get(at + 1), self.before(at)]
            .into_iter()
            .flatten()
            .find_map(Token::comparison);
        let side = self.compared_with(at);
        // No index finds the rows in which two columns of one table, or an expression and a value, are equal.
        let is_served_by_index =
            computation.is_none() && !self.has_column_of(&side, table) && !self.is_truth_test(at);
        let operator = operator.filter(|_| is_served_by_index);
        let joined = side.first().and_then(|other| self.column(*other));
        let joined = joined.filter(|(of, _)| *of != table);
        let joined = joined.map(|it| self.joined_column(it));
        Comparison {
            operator,
            joined,
            is_number: self.is_number(&side),
            is_list: word(1) == Some("in"),
            is_wildcard: operator == Some("like") && self.is_wildcard(&side),
            // `c is not null` is a range of nearly everything, and no equality.
            is_not_null: [word(1), word(2)] == [Some("is"), Some("not")],
        }
    }

    /// The places of what the column at a place is compared with: behind it, or else before it.
    pub(super) fn compared_with(&self, at: usize) -> Vec<usize> {
        let next = self.tokens.get(at + 1);
        if next.and_then(Token::comparison).is_some() {
            self.side(at + 2..self.tokens.len(), &Token::Open, &Token::Close)
        } else {
            let before = 0..at.saturating_sub(1);
            self.side(before.rev(), &Token::Close, &Token::Open)
        }
    }

    /// The places up to the end of a condition, or of the bracket around it.
    fn side(
        &self,
        places: impl Iterator<Item = usize>,
        opening: &Token,
        closing: &Token,
    ) -> Vec<usize> {
        let mut depth = 0_usize;
        let mut found = Vec::new();
        for at in places {
            let token = &self.tokens[at];
            if token == opening {
                depth += 1;
            } else if token == closing {
                let Some(outside) = depth.checked_sub(1) else {
                    break;
                };
                depth = outside;
            }
            let is_comma = matches!(token, Token::Sign(sign) if sign == ",");
            if ends_condition(token) || depth == 0 && is_comma {
                break;
            }
            found.push(at);
        }
        found
    }

    pub(super) fn has_column_of(&self, places: &[usize], table: usize) -> bool {
        let mut columns = places.iter().filter_map(|at| self.column(*at));
        columns.any(|(of, _)| of == table)
    }

    /// Whether the first value of some places is a number, within brackets and marks or not.
    pub(super) fn is_number(&self, places: &[usize]) -> bool {
        let value = self.first_value(places, |_| false);
        matches!(value, Some(Token::Number))
    }

    /// Whether some places are a pattern that begins with a wildcard, or join one together.
    pub(super) fn is_wildcard(&self, places: &[usize]) -> bool {
        // A text may have its character set before it: `_utf8mb4'%x'`.
        let is_passed = |word: &str| word == "concat" || word.starts_with('_');
        let value = self.first_value(places, is_passed);
        matches!(value, Some(Token::Text(text)) if text.starts_with(['%', '_']))
    }

    /// The first token of some places besides brackets, the marks of a value, a minus, and these words.
    fn first_value(&self, places: &[usize], is_passed: impl Fn(&str) -> bool) -> Option<&Token> {
        let mut tokens = places.iter().map(|at| &self.tokens[*at]);
        tokens.find(|token| match token {
            Token::Open | Token::Close => false,
            Token::Sign(sign) => !matches!(sign.as_str(), "-" | "<" | ">"),
            Token::Word(word) => word != MARK_OF_VALUE && !is_passed(word),
            Token::Name(_) | Token::Text(_) | Token::Number => true,
        })
    }

    /// Whether `is true` and the like follow a place, which the server computes for each row.
    pub(super) fn is_truth_test(&self, at: usize) -> bool {
        let word = |distance: usize| is_word(self.tokens.get(at + distance));
        let value = match (word(1), word(2)) {
            (Some("is"), Some("not")) => word(3),
            (Some("is"), value) => value,
            _ => None,
        };
        matches!(value, Some("true" | "false" | "unknown"))
    }
}

/// Whether a condition ends at a token, before or behind it.
fn ends_condition(token: &Token) -> bool {
    matches!(token, Token::Word(word) if matches!(
        word.as_str(),
        "and" | "or" | "xor" | "where" | "on" | "group" | "order" | "having" | "limit" | "union" | "select"
    ))
}

/// Whether an index serves a condition on this function of a column.
fn serves_index(function: &str) -> bool {
    // A spatial or a multi-valued index serves these.
    matches!(
        function,
        "match" | "isnull" | "json_contains" | "json_overlaps"
    ) || function.starts_with("st_")
        || function.starts_with("mbr")
}
