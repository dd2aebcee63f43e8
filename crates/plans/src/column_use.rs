//! How a statement uses the columns of its tables, by the text into which the optimizer rewrote it.
//!
//! In that text every column has its schema and table, and every condition its brackets:
//!
//! ```text
//! select count(0) AS `count(*)` from `shop`.`item` `i` where ((`shop`.`i`.`kind` = 3) and (`shop`.`i`.`price` > 5))
//! ```

mod alternatives;
mod changes;
mod token;

use std::collections::{BTreeMap, BTreeSet};

use alternatives::alternatives;
use changes::changed;
use token::{Token, tokens};

/// What a condition does with a column before it compares the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Computation {
    /// It adds or subtracts, which can be done with the other side instead.
    Shift,
    /// It reads a part of a JSON document.
    Json,
    /// Anything else.
    Other,
}

/// A table of a statement with the columns that it uses, each once, in the order of their first use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableUse {
    /// The schema.
    pub schema: String,
    /// The table.
    pub table: String,
    /// The name that its columns and its plan node have.
    pub alias: String,
    /// Columns compared by equality with a value.
    pub equal: Vec<String>,
    /// Columns compared by equality with a column of another table.
    pub joined: Vec<String>,
    /// Columns whose conditions select a range.
    pub range: Vec<String>,
    /// Columns that must not be NULL, which seldom drops most rows.
    pub not_null: Vec<String>,
    /// Columns of an OR over several columns of this table, each compared by itself: an index of each serves it.
    pub either: Vec<String>,
    /// Columns of GROUP BY, or else of ORDER BY, as long as they are plain columns of this table.
    pub order: Vec<String>,
    /// All columns.
    pub used: Vec<String>,
    /// Columns within a function in a condition, with the function.
    pub wrapped: Vec<(String, String)>,
    /// Columns of conditions on an expression of no other column, with its kind: an index of the column serves none of them.
    pub computed: Vec<(Computation, String)>,
    /// Columns compared with a number.
    pub with_number: Vec<String>,
    /// Columns searched by a pattern that begins with a wildcard.
    pub wildcard: Vec<String>,
    /// Whether the statement changes its rows.
    pub is_changed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clause {
    Select,
    From,
    Where,
    Group,
    Order,
    Other,
}

/// The tables of a rewritten statement.
pub fn column_uses(rewritten: &str) -> Vec<TableUse> {
    let tokens = tokens(rewritten);
    let mut reading = Reading {
        tokens: &tokens,
        tables: Vec::new(),
    };
    reading.find_tables();
    reading.find_columns();
    let changed = changed(&tokens);
    for table in &mut reading.tables {
        let names = [&table.alias, &table.table];
        table.is_changed = changed.iter().any(|it| names.iter().any(|name| name == it));
    }
    reading.tables
}

struct Reading<'a> {
    tokens: &'a [Token],
    tables: Vec<TableUse>,
}

impl Reading<'_> {
    /// Each `schema`.`table` `alias` of a FROM.
    fn find_tables(&mut self) {
        let mut clauses = Clauses::default();
        for (at, token) in self.tokens.iter().enumerate() {
            clauses.pass(self.tokens, at);
            let Token::Name(parts) = token else { continue };
            let [schema, table] = parts.as_slice() else {
                continue;
            };
            let is_table = clauses.now == Clause::From
                || matches!(self.before(at), Some(Token::Word(word)) if word == "update" || word == "into");
            if !is_table {
                continue;
            }
            let alias = match self.tokens.get(at + 1) {
                Some(Token::Name(parts)) if parts.len() == 1 => parts[0].clone(),
                _ => table.clone(),
            };
            self.tables.push(TableUse {
                schema: schema.clone(),
                table: table.clone(),
                alias,
                ..TableUse::default()
            });
        }
    }

    /// Each `schema`.`alias`.`column`.
    fn find_columns(&mut self) {
        let mut clauses = Clauses::default();
        let mut has_group = false;
        let mut is_plain_order = true;
        let alternatives = alternatives(self.tokens);
        let of_or = self.columns_of_or(&alternatives);
        let mut unserved = BTreeSet::new();
        for (at, of_token) in alternatives.iter().enumerate() {
            clauses.pass(self.tokens, at);
            is_plain_order = clauses.is_plain_order(self.tokens, at, is_plain_order);
            let Some((table, column)) = self.column(at) else {
                continue;
            };
            let function = clauses.functions().next().map(str::to_owned);
            let is_computed = clauses.now == Clause::Where && self.is_only_column(at);
            let computed = self.computation(at, &clauses).filter(|_| is_computed);
            let (before, after) = (self.before(at), self.tokens.get(at + 1));
            let operator = [after, before]
                .into_iter()
                .flatten()
                .find_map(Token::comparison);
            let other = if after.and_then(Token::comparison).is_some() {
                at.checked_add(2)
            } else {
                at.checked_sub(2)
            };
            let is_join =
                other.is_some_and(|other| self.column(other).is_some_and(|(of, _)| of != table));
            let value = other.and_then(|other| self.tokens.get(other)).cloned();
            // `c is not null` is a range of nearly everything, and no equality.
            let is_not_null = [at + 1, at + 2].map(|at| self.tokens.get(at)).map(is_word)
                == [Some("is"), Some("not")];
            let is_group = clauses.now == Clause::Group;
            if is_group && !has_group {
                has_group = true;
                self.tables.iter_mut().for_each(|table| table.order.clear());
            }
            let is_wildcard = operator == Some("like")
                && matches!(&value, Some(Token::Text(text)) if text.starts_with(['%', '_']));
            let is_served = clauses.now == Clause::Where
                && function.is_none()
                && operator.is_some()
                && !is_wildcard;
            unserved.extend(of_token.filter(|_| !is_served));
            let table = &mut self.tables[table];
            add(&mut table.used, &column);
            match clauses.now {
                Clause::Where => {
                    if let Some(computation) = computed
                        && !table.computed.iter().any(|(_, known)| *known == column)
                    {
                        table.computed.push((computation, column.clone()));
                    }
                    if let Some(function) = function {
                        if !table.wrapped.iter().any(|(_, known)| *known == column) {
                            table.wrapped.push((function, column));
                        }
                        continue;
                    }
                    if matches!(value, Some(Token::Number)) && operator.is_some() {
                        add(&mut table.with_number, &column);
                    }
                    if of_token.is_some_and(|group| of_or[&group].len() > 1) {
                        continue;
                    }
                    match operator {
                        Some("=") if is_not_null => add(&mut table.not_null, &column),
                        Some("=") if is_join => add(&mut table.joined, &column),
                        Some("=") => add(&mut table.equal, &column),
                        Some(_) if is_wildcard => add(&mut table.wildcard, &column),
                        Some(_) => add(&mut table.range, &column),
                        None => {}
                    }
                }
                Clause::Group | Clause::Order if is_plain_order && (is_group || !has_group) => {
                    add(&mut table.order, &column);
                }
                _ => {}
            }
        }
        self.add_alternatives(&of_or, &unserved);
        // Columns of one table in an order over several are no order of an index.
        let with_order = self.tables.iter().filter(|table| !table.order.is_empty());
        if with_order.count() > 1 {
            self.tables.iter_mut().for_each(|table| table.order.clear());
        }
    }

    /// The columns of each OR over several columns of one table; an index merge reads one, and by every part of the OR.
    fn add_alternatives(
        &mut self,
        of_or: &BTreeMap<usize, Vec<(usize, String)>>,
        unserved: &BTreeSet<usize>,
    ) {
        for (group, columns) in of_or {
            let is_of_one_table = columns.iter().all(|(table, _)| *table == columns[0].0);
            if columns.len() < 2 || !is_of_one_table || unserved.contains(group) {
                continue;
            }
            for (table, column) in columns {
                add(&mut self.tables[*table].either, column);
            }
        }
    }

    /// The tables and columns of each OR, each once.
    fn columns_of_or(
        &self,
        alternatives: &[Option<usize>],
    ) -> BTreeMap<usize, Vec<(usize, String)>> {
        let mut found: BTreeMap<usize, Vec<(usize, String)>> = BTreeMap::new();
        for (at, group) in alternatives.iter().enumerate() {
            if let Some((group, column)) = group.zip(self.column(at)) {
                let columns = found.entry(group).or_default();
                if !columns.contains(&column) {
                    columns.push(column);
                }
            }
        }
        found
    }

    /// What is done with the column at a place, if no index of the column serves it.
    fn computation(&self, at: usize, clauses: &Clauses) -> Option<Computation> {
        if clauses.functions().any(serves_index) {
            return None;
        }
        if clauses.functions().any(|it| it.starts_with("json_")) {
            return Some(Computation::Json);
        }
        if clauses.functions().next().is_some() {
            return Some(Computation::Other);
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
    fn is_only_column(&self, at: usize) -> bool {
        let ends = |token: &&Token| {
            matches!(token, Token::Word(word) if matches!(
                word.as_str(),
                "and" | "or" | "xor" | "where" | "on" | "group" | "order" | "having" | "limit" | "union" | "select"
            ))
        };
        let is_name = |token: &Token| matches!(token, Token::Name(_));
        let before = self.tokens[..at].iter().rev();
        let after = self.tokens[at + 1..].iter();
        !before.take_while(|it| !ends(it)).any(is_name)
            && !after.take_while(|it| !ends(it)).any(is_name)
    }

    fn before(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at.checked_sub(1)?)
    }

    /// The table and column that stand at a place.
    fn column(&self, at: usize) -> Option<(usize, String)> {
        let Some(Token::Name(parts)) = self.tokens.get(at) else {
            return None;
        };
        let (alias, column) = match parts.as_slice() {
            [_, alias, column] => (alias, column),
            _ => return None,
        };
        let table = self.tables.iter().position(|table| table.alias == *alias)?;
        Some((table, column.clone()))
    }
}

fn is_word(token: Option<&Token>) -> Option<&str> {
    match token {
        Some(Token::Word(word)) => Some(word),
        _ => None,
    }
}

fn add(columns: &mut Vec<String>, column: &str) {
    if !columns.iter().any(|known| known == column) {
        columns.push(column.to_owned());
    }
}

/// The clause at a place, with the brackets around it.
struct Clauses {
    now: Clause,
    /// For each open bracket the clause around it, and the function whose arguments it holds.
    outside: Vec<(Clause, Option<String>)>,
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
    fn pass(&mut self, tokens: &[Token], at: usize) {
        match &tokens[at] {
            Token::Open => {
                let before = at.checked_sub(1).map(|before| &tokens[before]);
                let function = match before {
                    Some(Token::Word(word)) if !is_keyword(word) => Some(word.clone()),
                    _ => None,
                };
                self.outside.push((self.now, function));
            }
            Token::Close => {
                if let Some((clause, _)) = self.outside.pop() {
                    self.now = clause;
                }
            }
            Token::Word(word) => {
                self.now = match word.as_str() {
                    "select" | "set" => Clause::Select,
                    "from" | "join" | "straight_join" | "update" => Clause::From,
                    "where" | "on" => Clause::Where,
                    "group" => Clause::Group,
                    "order" => Clause::Order,
                    "having" | "limit" | "union" | "values" => Clause::Other,
                    _ => self.now,
                };
            }
            _ => {}
        }
    }

    /// Whether a GROUP BY or ORDER BY has nothing but whole columns up to a place: an index has no order of expressions,
    /// nor of what stands behind one. `before` is the answer for the place before.
    fn is_plain_order(&self, tokens: &[Token], at: usize, before: bool) -> bool {
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

    /// The functions around a place, the innermost first.
    fn functions(&self) -> impl Iterator<Item = &str> {
        let functions = self.outside.iter().rev();
        functions.filter_map(|(_, function)| function.as_deref())
    }
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

#[cfg(test)]
mod tests;
