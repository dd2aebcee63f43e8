//! The SQL statements that create the tables, their secondary indexes and foreign keys, under tpcc-mysql's names.

use super::tables::Table;

/// A secondary index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    pub table: Table,
    pub name: &'static str,
    pub columns: &'static str,
    /// Whether it only serves a foreign key: no transaction uses it.
    pub is_for_foreign_key: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignKey {
    /// The referring table.
    pub table: Table,
    pub name: &'static str,
    pub columns: &'static str,
    /// The referenced table.
    pub to: Table,
    pub to_columns: &'static str,
}

/// The secondary indexes.
pub(super) const INDEXES: [Index; 6] = [
    index(
        Table::Customer,
        "idx_customer",
        "c_w_id, c_d_id, c_last, c_first",
        false,
    ),
    index(
        Table::Orders,
        "idx_orders",
        "o_w_id, o_d_id, o_c_id, o_id",
        false,
    ),
    // The server creates these two together with the foreign keys; if they exist before, the keys cost nothing more.
    index(
        Table::History,
        "fkey_history_1",
        "h_c_w_id, h_c_d_id, h_c_id",
        true,
    ),
    index(Table::History, "fkey_history_2", "h_w_id, h_d_id", true),
    index(Table::Stock, "fkey_stock_2", "s_i_id", true),
    index(
        Table::OrderLine,
        "fkey_order_line_2",
        "ol_supply_w_id, ol_i_id",
        true,
    ),
];

pub(super) const FOREIGN_KEYS: [ForeignKey; 10] = [
    foreign_key(
        Table::District,
        "fkey_district_1",
        "d_w_id",
        Table::Warehouse,
        "w_id",
    ),
    foreign_key(
        Table::Customer,
        "fkey_customer_1",
        "c_w_id, c_d_id",
        Table::District,
        "d_w_id, d_id",
    ),
    foreign_key(
        Table::History,
        "fkey_history_1",
        "h_c_w_id, h_c_d_id, h_c_id",
        Table::Customer,
        "c_w_id, c_d_id, c_id",
    ),
    foreign_key(
        Table::History,
        "fkey_history_2",
        "h_w_id, h_d_id",
        Table::District,
        "d_w_id, d_id",
    ),
    foreign_key(
        Table::NewOrders,
        "fkey_new_orders_1",
        "no_w_id, no_d_id, no_o_id",
        Table::Orders,
        "o_w_id, o_d_id, o_id",
    ),
    foreign_key(
        Table::Orders,
        "fkey_orders_1",
        "o_w_id, o_d_id, o_c_id",
        Table::Customer,
        "c_w_id, c_d_id, c_id",
    ),
    foreign_key(
        Table::OrderLine,
        "fkey_order_line_1",
        "ol_w_id, ol_d_id, ol_o_id",
        Table::Orders,
        "o_w_id, o_d_id, o_id",
    ),
    foreign_key(
        Table::OrderLine,
        "fkey_order_line_2",
        "ol_supply_w_id, ol_i_id",
        Table::Stock,
        "s_w_id, s_i_id",
    ),
    foreign_key(
        Table::Stock,
        "fkey_stock_1",
        "s_w_id",
        Table::Warehouse,
        "w_id",
    ),
    foreign_key(Table::Stock, "fkey_stock_2", "s_i_id", Table::Item, "i_id"),
];

const fn index(
    table: Table,
    name: &'static str,
    columns: &'static str,
    is_for_foreign_key: bool,
) -> Index {
    Index {
        table,
        name,
        columns,
        is_for_foreign_key,
    }
}

const fn foreign_key(
    table: Table,
    name: &'static str,
    columns: &'static str,
    to: Table,
    to_columns: &'static str,
) -> ForeignKey {
    ForeignKey {
        table,
        name,
        columns,
        to,
        to_columns,
    }
}

impl Table {
    /// The statement that creates the table with its primary key.
    ///
    /// One byte per character: the specification's texts are letters and digits.
    pub fn create_sql(self) -> String {
        let definition = self.definition();
        let mut lines: Vec<String> = definition
            .columns
            .iter()
            .map(|(name, kind)| format!("{name} {kind}"))
            .collect();
        if !definition.primary_key.is_empty() {
            lines.push(format!("primary key ({})", definition.primary_key));
        }
        format!(
            "create table {} (\n  {}\n) engine=InnoDB default charset=latin1",
            definition.name,
            lines.join(",\n  ")
        )
    }

    /// The statement that adds these secondary indexes and foreign keys; `None` if both lists are empty.
    pub fn add_keys_sql(self, indexes: &[Index], foreign_keys: &[ForeignKey]) -> Option<String> {
        let indexes = indexes
            .iter()
            .filter(|index| index.table == self)
            .map(|index| format!("add index {} ({})", index.name, index.columns));
        let foreign_keys = foreign_keys
            .iter()
            .filter(|key| key.table == self)
            .map(|key| {
                format!(
                    "add constraint {} foreign key ({}) references {} ({})",
                    key.name,
                    key.columns,
                    key.to.name(),
                    key.to_columns
                )
            });
        let parts: Vec<String> = indexes.chain(foreign_keys).collect();
        (!parts.is_empty()).then(|| format!("alter table {} {}", self.name(), parts.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_as_the_server_gets_them() {
        assert_eq!(
            Table::NewOrders.create_sql(),
            "create table new_orders (\n  no_o_id int not null,\n  no_d_id tinyint not null,\n  \
             no_w_id smallint not null,\n  primary key (no_w_id, no_d_id, no_o_id)\n) \
             engine=InnoDB default charset=latin1"
        );
        assert!(!Table::History.create_sql().contains("primary key"));
        assert_eq!(
            Table::Stock
                .add_keys_sql(&INDEXES, &FOREIGN_KEYS[8..])
                .unwrap(),
            "alter table stock add index fkey_stock_2 (s_i_id), add constraint fkey_stock_1 foreign key (s_w_id) \
             references warehouse (w_id), add constraint fkey_stock_2 foreign key (s_i_id) references item (i_id)"
        );
        assert_eq!(Table::Item.add_keys_sql(&INDEXES, &FOREIGN_KEYS), None);
    }

    #[test]
    fn keys_name_columns_that_are_there_and_tables_that_come_before() {
        for index in INDEXES {
            for column in index.columns.split(", ") {
                assert!(index.table.columns().any(|name| name == column), "{column}");
            }
        }
        for key in FOREIGN_KEYS {
            assert!(key.to < key.table, "{}", key.name);
            assert_eq!(
                key.to.definition().primary_key,
                key.to_columns,
                "{}",
                key.name
            );
            for column in key.columns.split(", ") {
                assert!(key.table.columns().any(|name| name == column), "{column}");
            }
        }
    }
}
