//! The columns of the order in which a query wants its rows.

use super::{
    Reading,
    clauses::{Clause, Clauses},
    order::Orders,
    table_use::add,
    token::{Token, is_word},
};

impl Reading<'_> {
    /// Takes note of the order at a place.
    pub(super) fn find_order(&mut self, at: usize, clauses: &Clauses, orders: &mut Orders) {
        orders.is_plain = clauses.is_plain_order(self.tokens, at, orders.is_plain);
        let is_group = clauses.now == Clause::Group;
        // That of a GROUP BY comes first: the sorted rows are those of the groups.
        let query = self.queries.innermost(at);
        let is_first =
            clauses.is_order_of_query() && (is_group || !orders.with_group.contains(&query));
        if is_word(self.tokens.get(at)) == Some("order") {
            orders.is_descending = None;
        }
        if is_first && !orders.is_plain && is_item(&self.tokens[at]) {
            self.clear_orders(query);
        }
        let Some((table, column)) = self.column(at) else {
            return;
        };
        if is_group && orders.with_group.insert(query) {
            self.clear_orders(query);
        }
        if !is_first || !orders.is_plain {
            return;
        }
        // The order of a column with one value is that of the others.
        let of_table = &self.tables[table];
        let is_constant = of_table.equal.contains(&column) && !of_table.listed.contains(&column);
        if !is_group && !is_constant {
            let is_desc = is_word(self.tokens.get(at + 1)) == Some("desc");
            if *orders.is_descending.get_or_insert(is_desc) != is_desc {
                orders.is_plain = false;
                self.clear_orders(query);
                return;
            }
        }
        add(&mut self.tables[table].order, &column);
    }

    /// Columns of one table in an order over several are no order of an index.
    pub(super) fn keep_orders_of_one_table(&mut self) {
        for query in (0..self.tables.len())
            .map(|table| self.query_of(table))
            .collect::<Vec<_>>()
        {
            let tables = self.tables.iter().enumerate();
            let with_order =
                tables.filter(|(at, table)| self.query_of(*at) == query && !table.order.is_empty());
            if with_order.count() > 1 {
                self.clear_orders(query);
            }
        }
    }

    /// Forgets the order of the tables of a query.
    fn clear_orders(&mut self, query: usize) {
        for table in 0..self.tables.len() {
            if self.query_of(table) == query {
                self.tables[table].order.clear();
            }
        }
    }
}

/// Whether a token is what rows are ordered by, or a part of it.
fn is_item(token: &Token) -> bool {
    matches!(
        token,
        Token::Name(_) | Token::Text(_) | Token::Number | Token::Open
    )
}
