//! How a statement uses the columns of its tables, by the text into which the optimizer rewrote it.
//!
//! In that text every column has its schema and table, and every condition its brackets:
//!
//! ```text
//! select count(0) AS `count(*)` from `shop`.`item` `i` where ((`shop`.`i`.`kind` = 3) and (`shop`.`i`.`price` > 5))
//! ```

mod alternatives;
mod changes;
mod clauses;
mod conditions;
mod queries;
mod token;

use std::collections::{BTreeMap, BTreeSet};

use alternatives::alternatives;
use changes::changed;
use clauses::{Clause, Clauses};
use queries::Queries;
use token::{MARK_OF_VALUE, Token, tokens};

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

/// A column of another table that a column is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedColumn {
    /// The name that the other table has in the statement.
    pub alias: String,
    /// Its column.
    pub column: String,
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
    /// Those of them that are compared with a list of values: an index has no order of what stands behind one.
    pub listed: Vec<String>,
    /// Columns compared by equality with a column of another table.
    pub joined: Vec<String>,
    /// The same columns, each with the columns that it is compared with.
    pub joined_with: Vec<(String, JoinedColumn)>,
    /// Columns whose conditions select a range.
    pub range: Vec<String>,
    /// Those of them that are searched by a pattern, which is a range of a text only.
    pub pattern: Vec<String>,
    /// Columns that must not be NULL, which seldom drops most rows.
    pub not_null: Vec<String>,
    /// Columns of an OR over several columns of this table, each compared by itself: an index of each serves it.
    pub either: Vec<String>,
    /// Columns of GROUP BY, or else of ORDER BY, if all are plain columns of this table in one direction.
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

/// The tables of a rewritten statement.
pub fn column_uses(rewritten: &str) -> Vec<TableUse> {
    let tokens = tokens(rewritten);
    let mut reading = Reading {
        tokens: &tokens,
        queries: Queries::of(&tokens),
        tables: Vec::new(),
        query_of_tables: Vec::new(),
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
    queries: Queries,
    tables: Vec<TableUse>,
    /// For each table the query in whose FROM it is.
    query_of_tables: Vec<usize>,
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
            self.query_of_tables.push(self.queries.innermost(at));
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
        let mut with_group = BTreeSet::new();
        let mut is_plain_order = true;
        let mut is_descending = None;
        let alternatives = alternatives(self.tokens);
        let of_or = self.columns_of_or(&alternatives);
        let with_query = self.alternatives_with_query(&alternatives);
        let mut unserved = with_query.clone();
        for (at, of_token) in alternatives.iter().enumerate() {
            clauses.pass(self.tokens, at);
            is_plain_order = clauses.is_plain_order(self.tokens, at, is_plain_order);
            let is_group = clauses.now == Clause::Group;
            // That of a GROUP BY comes first: the sorted rows are those of the groups.
            let query = self.queries.innermost(at);
            let is_first_order =
                clauses.is_order_of_query() && (is_group || !with_group.contains(&query));
            if is_word(self.tokens.get(at)) == Some("order") {
                is_descending = None;
            }
            if is_first_order && !is_plain_order && is_item(&self.tokens[at]) {
                self.clear_orders(query);
            }
            let Some((table, column)) = self.column(at) else {
                continue;
            };
            let function = clauses.functions().next();
            // So MySQL up to 8.0.12 writes `c is null`.
            let is_null = function == Some("isnull")
                && self.before(at) == Some(&Token::Open)
                && self.tokens.get(at + 1) == Some(&Token::Close);
            let function = function.filter(|_| !is_null).map(str::to_owned);
            let computation = self.computation(at, &clauses);
            let is_computed = clauses.now == Clause::Where && self.is_only_column(at);
            let computed = computation.filter(|_| is_computed);
            let (before, after) = (self.before(at), self.tokens.get(at + 1));
            let operator = [after, before]
                .into_iter()
                .flatten()
                .find_map(Token::comparison);
            let side = self.compared_with(at);
            // No index finds the rows in which two columns of one table, or an expression and a value, are equal.
            let is_served_by_index = computation.is_none()
                && !self.has_column_of(&side, table)
                && !self.is_truth_test(at);
            let operator = match operator {
                None if is_null => Some("="),
                operator => operator.filter(|_| is_served_by_index),
            };
            let joined = side.first().and_then(|other| self.column(*other));
            let joined = joined.filter(|(of, _)| *of != table);
            let joined = joined.map(|(of, column)| JoinedColumn {
                alias: self.tables[of].alias.clone(),
                column,
            });
            let is_number = self.is_number(&side);
            let is_list = is_word(self.tokens.get(at + 1)) == Some("in");
            // `c is not null` is a range of nearly everything, and no equality.
            let is_not_null = [at + 1, at + 2].map(|at| self.tokens.get(at)).map(is_word)
                == [Some("is"), Some("not")];
            if is_group && with_group.insert(query) {
                self.clear_orders(query);
            }
            let is_wildcard = operator == Some("like") && self.is_wildcard(&side);
            let is_served = clauses.now == Clause::Where
                && function.is_none()
                && operator.is_some()
                && !is_wildcard;
            unserved.extend(of_token.filter(|_| !is_served));
            // The order of a column with one value is that of the others.
            let of_table = &self.tables[table];
            let is_constant =
                of_table.equal.contains(&column) && !of_table.listed.contains(&column);
            if is_first_order && is_plain_order && !is_group && !is_constant {
                let is_desc = is_word(self.tokens.get(at + 1)) == Some("desc");
                if *is_descending.get_or_insert(is_desc) != is_desc {
                    is_plain_order = false;
                    self.clear_orders(query);
                }
            }
            let table = &mut self.tables[table];
            add(&mut table.used, &column);
            if clauses.is_in_checked_in() {
                continue;
            }
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
                    if is_number && operator.is_some() {
                        add(&mut table.with_number, &column);
                    }
                    if of_token
                        .is_some_and(|group| of_or[&group].len() > 1 || with_query.contains(&group))
                    {
                        continue;
                    }
                    match (operator, joined) {
                        (Some("="), _) if is_not_null => add(&mut table.not_null, &column),
                        (Some("="), Some(other)) => {
                            add(&mut table.joined, &column);
                            table.joined_with.push((column, other));
                        }
                        (Some("="), None) => {
                            add(&mut table.equal, &column);
                            if is_list {
                                add(&mut table.listed, &column);
                            }
                        }
                        (Some(_), _) if is_wildcard => add(&mut table.wildcard, &column),
                        (Some(operator), _) => {
                            add(&mut table.range, &column);
                            if operator == "like" {
                                add(&mut table.pattern, &column);
                            }
                        }
                        (None, _) => {}
                    }
                }
                Clause::Group | Clause::Order if is_plain_order && is_first_order => {
                    add(&mut table.order, &column);
                }
                _ => {}
            }
        }
        self.add_alternatives(&of_or, &unserved);
        // Columns of one table in an order over several are no order of an index.
        for query in self.query_of_tables.clone() {
            let of_query = self.tables.iter().zip(&self.query_of_tables);
            let with_order =
                of_query.filter(|(table, of)| **of == query && !table.order.is_empty());
            if with_order.count() > 1 {
                self.clear_orders(query);
            }
        }
    }

    /// Forgets the order of the tables of a query.
    fn clear_orders(&mut self, query: usize) {
        let tables = self.tables.iter_mut().zip(&self.query_of_tables);
        let of_query = tables.filter(|(_, of)| **of == query);
        of_query.for_each(|(table, _)| table.order.clear());
    }

    /// Each OR with a part that is a query, for which all rows are read.
    fn alternatives_with_query(&self, alternatives: &[Option<usize>]) -> BTreeSet<usize> {
        let queries = self.tokens.iter().enumerate();
        let queries =
            queries.filter(|(_, token)| matches!(token, Token::Word(word) if word == "select"));
        // The bracket of a query belongs to what is around it.
        let around = queries.filter_map(|(at, _)| *alternatives.get(at.checked_sub(1)?)?);
        around.collect()
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
        // What is compared with an IN, for the time of its subquery a value: `<cache>(c)`.
        let mark = at.checked_sub(3).and_then(|mark| self.tokens.get(mark));
        if is_word(mark) == Some(MARK_OF_VALUE) && self.before(at) == Some(&Token::Open) {
            return None;
        }
        // The one of the nearest query around it, and else any of this name.
        let named = |query: Option<usize>| {
            let mut tables = self.tables.iter().zip(&self.query_of_tables);
            tables.position(|(table, of)| {
                table.alias == *alias && query.is_none_or(|query| query == *of)
            })
        };
        let mut queries = self.queries.around(at);
        let nearest = queries.find_map(|query| named(Some(query)));
        let table = nearest.or_else(|| named(None))?;
        Some((table, column.clone()))
    }
}

/// Whether a token is what rows are ordered by, or a part of it.
fn is_item(token: &Token) -> bool {
    matches!(
        token,
        Token::Name(_) | Token::Text(_) | Token::Number | Token::Open
    )
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

#[cfg(test)]
mod tests;
