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
mod comparison;
mod conditions;
mod inner_sides;
mod inner_tables;
mod order;
mod order_columns;
mod queries;
mod schemas;
mod table_use;
mod token;

use std::collections::{BTreeMap, BTreeSet};

use alternatives::alternatives;
use changes::changed;
use clauses::{Clause, Clauses};
use comparison::Comparison;
use inner_sides::{InnerSide, inner_sides};
use order::Orders;
use queries::Queries;
use table_use::add;
pub use table_use::{Computation, JoinedColumn, TableUse};
use token::{MARK_OF_VALUE, Token, is_word, tokens};

/// The tables of a rewritten statement.
pub fn column_uses(rewritten: &str) -> Vec<TableUse> {
    let tokens = Reading::of(&tokens(rewritten)).with_schemas();
    let mut reading = Reading::of(&tokens);
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
    inner_sides: Vec<InnerSide>,
    tables: Vec<TableUse>,
    /// For each table the place of its name in its FROM.
    place_of_tables: Vec<usize>,
}

impl<'a> Reading<'a> {
    /// A statement of which nothing is known yet.
    fn of(tokens: &'a [Token]) -> Self {
        Self {
            tokens,
            queries: Queries::of(tokens),
            inner_sides: inner_sides(tokens),
            tables: Vec::new(),
            place_of_tables: Vec::new(),
        }
    }
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
            self.place_of_tables.push(at);
            let is_never_first = self.is_never_first(at);
            self.tables.push(TableUse {
                schema: schema.clone(),
                table: table.clone(),
                alias,
                is_never_first,
                ..TableUse::default()
            });
        }
    }

    /// Each `schema`.`alias`.`column`.
    fn find_columns(&mut self) {
        let mut clauses = Clauses::default();
        let mut orders = Orders::default();
        let alternatives = alternatives(self.tokens);
        let of_or = self.columns_of_or(&alternatives);
        let with_query = self.alternatives_with_query(&alternatives);
        let mut unserved = with_query.clone();
        for (at, of_token) in alternatives.iter().enumerate() {
            clauses.pass(self.tokens, at);
            self.find_order(at, &clauses, &mut orders);
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
            let asks_for_null = is_null || self.is_followed_by(at, &["is", "null"]);
            let comparison = if asks_for_null && self.asks_for_no_row(at, table) {
                Comparison::default()
            } else if is_null {
                Comparison::with_null()
            } else {
                self.comparison(at, table, computation)
            };
            let is_condition = clauses.now == Clause::Where;
            let is_served = is_condition && function.is_none() && comparison.is_served();
            unserved.extend(of_token.filter(|_| !is_served));
            let computed = computation.filter(|_| is_condition && self.is_only_column(at));
            let searched = self.searched_for(at).map(|it| self.joined_column(it));
            let table = &mut self.tables[table];
            add(&mut table.used, &column);
            if let Some(other) = searched {
                table.add_joined(column.clone(), other);
            }
            if !is_condition || clauses.is_in_checked_in() {
                continue;
            }
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
            if comparison.is_with_number() {
                add(&mut table.with_number, &column);
            }
            let is_of_one_index = of_token
                .is_none_or(|group| of_or[&group].len() < 2 && !with_query.contains(&group));
            if is_of_one_index {
                comparison.add_to(table, column, of_token.is_some());
            }
        }
        self.add_alternatives(&of_or, &unserved);
        self.keep_orders_of_one_table();
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

    /// The query in whose FROM a table is.
    fn query_of(&self, table: usize) -> usize {
        self.queries.innermost(self.place_of_tables[table])
    }

    fn before(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at.checked_sub(1)?)
    }

    fn is_followed_by(&self, at: usize, words: &[&str]) -> bool {
        let mut words = words.iter().enumerate();
        words.all(|(distance, word)| is_word(self.tokens.get(at + 1 + distance)) == Some(*word))
    }

    /// A column by the name of its table in the statement.
    fn joined_column(&self, (table, column): (usize, String)) -> JoinedColumn {
        JoinedColumn {
            alias: self.tables[table].alias.clone(),
            column,
        }
    }

    /// The table and column that stand at a place.
    fn column(&self, at: usize) -> Option<(usize, String)> {
        let Some(Token::Name(parts)) = self.tokens.get(at) else {
            return None;
        };
        let (alias, column) = match parts.as_slice() {
            [_, alias, column] => (alias, column),
            [subquery, column] => {
                let table = self.table_of_subquery(at, subquery)?;
                return Some((table, column.clone()));
            }
            _ => return None,
        };
        // What is compared with an IN, for the time of its subquery a value: `<cache>(c)`.
        let mark = at.checked_sub(3).and_then(|mark| self.tokens.get(mark));
        if is_word(mark) == Some(MARK_OF_VALUE) && self.before(at) == Some(&Token::Open) {
            return None;
        }
        // The one of the nearest query around it, and else any of this name.
        let named = |query: Option<usize>| {
            let mut tables = self.tables.iter().enumerate();
            tables.position(|(at, table)| {
                table.alias == *alias && query.is_none_or(|query| query == self.query_of(at))
            })
        };
        let mut queries = self.queries.around(at);
        let nearest = queries.find_map(|query| named(Some(query)));
        let table = nearest.or_else(|| named(None))?;
        Some((table, column.clone()))
    }
}

#[cfg(test)]
mod tests;
