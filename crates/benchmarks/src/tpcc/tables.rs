//! The nine tables: column names and order from tpcc-mysql, types from the specification.

mod customer;
mod definition;
mod district;
mod history;
mod item;
mod new_orders;
mod order_line;
mod orders;
mod stock;
mod warehouse;

use definition::Definition;

/// A table, in the order in which the tables are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Items for sale, the same in all warehouses.
    Item,
    /// One row per warehouse.
    Warehouse,
    /// Ten districts per warehouse.
    District,
    /// Stock of 100,000 items per warehouse.
    Stock,
    /// 3,000 customers per district.
    Customer,
    /// History of payments.
    History,
    /// Orders; 3,000 per district after the load.
    Orders,
    /// Orders that are not delivered yet.
    NewOrders,
    /// Lines of orders; 5 to 15 per order.
    OrderLine,
}

impl Table {
    /// All tables; each table comes after those that its foreign keys refer to.
    pub const ALL: [Self; 9] = [
        Self::Item,
        Self::Warehouse,
        Self::District,
        Self::Stock,
        Self::Customer,
        Self::History,
        Self::Orders,
        Self::NewOrders,
        Self::OrderLine,
    ];

    pub(super) fn definition(self) -> &'static Definition {
        match self {
            Self::Item => &item::TABLE,
            Self::Warehouse => &warehouse::TABLE,
            Self::District => &district::TABLE,
            Self::Stock => &stock::TABLE,
            Self::Customer => &customer::TABLE,
            Self::History => &history::TABLE,
            Self::Orders => &orders::TABLE,
            Self::NewOrders => &new_orders::TABLE,
            Self::OrderLine => &order_line::TABLE,
        }
    }

    pub fn name(self) -> &'static str {
        self.definition().name
    }

    /// Names of its columns, in order.
    pub fn columns(self) -> impl Iterator<Item = &'static str> {
        self.definition().columns.iter().map(|(name, _)| *name)
    }

    /// Whether its rows belong to a warehouse.
    pub fn is_per_warehouse(self) -> bool {
        self != Self::Item
    }

    /// Name of the column with the warehouse of a row; `None` for a table without warehouses.
    pub fn warehouse_column(self) -> Option<&'static str> {
        match self {
            Self::Item => None,
            Self::Warehouse => Some("w_id"),
            Self::District => Some("d_w_id"),
            Self::Stock => Some("s_w_id"),
            Self::Customer => Some("c_w_id"),
            Self::History => Some("h_w_id"),
            Self::Orders => Some("o_w_id"),
            Self::NewOrders => Some("no_w_id"),
            Self::OrderLine => Some("ol_w_id"),
        }
    }
}
