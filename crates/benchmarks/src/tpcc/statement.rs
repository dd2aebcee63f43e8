//! The statements of the transactions, each prepared once per connection.

/// One statement of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sql {
    NewOrderDistrict,
    NewOrderNextId,
    NewOrderCustomer,
    NewOrderOrder,
    NewOrderNew,
    NewOrderItem,
    NewOrderStock,
    NewOrderTake,
    NewOrderLine,
    PaymentWarehouse,
    PaymentWarehouseAddress,
    PaymentDistrict,
    PaymentDistrictAddress,
    CustomersByName,
    PaymentCustomer,
    PaymentCustomerData,
    PaymentBalance,
    PaymentBalanceAndData,
    PaymentHistory,
    OrderStatusCustomer,
    OrderStatusOrder,
    OrderStatusLines,
    DeliveryOldest,
    DeliveryTake,
    DeliveryCustomer,
    DeliveryCarrier,
    DeliveryLines,
    DeliveryAmount,
    DeliveryBalance,
    StockLevelDistrict,
    StockLevelCount,
    Commit,
    Rollback,
    CallNewOrder,
    CallPayment,
    CallOrderStatus,
    CallDelivery,
    CallStockLevel,
}

impl Sql {
    pub(super) const COUNT: usize = Self::CallStockLevel as usize + 1;
}

/// A statement with its name in records and its text.
pub(super) struct Definition {
    pub(super) sql: Sql,
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

const fn definition(sql: Sql, name: &'static str, text: &'static str) -> Definition {
    Definition { sql, name, text }
}

/// The statements that end a transaction, common to all transactions.
pub(super) const ENDS: [Definition; 2] = [
    definition(Sql::Commit, "commit", "commit"),
    definition(Sql::Rollback, "rollback", "rollback"),
];

/// One statement per round trip, in the order of the specification's clauses.
pub(super) const SINGLE: [Definition; 31] = [
    definition(
        Sql::NewOrderDistrict,
        "New-Order: district",
        "select d_next_o_id, d_tax from district where d_w_id = ? and d_id = ? for update",
    ),
    definition(
        Sql::NewOrderNextId,
        "New-Order: next order number",
        "update district set d_next_o_id = d_next_o_id + 1 where d_w_id = ? and d_id = ?",
    ),
    definition(
        Sql::NewOrderCustomer,
        "New-Order: customer and warehouse",
        "select c_discount, c_last, c_credit, w_tax from customer, warehouse \
         where w_id = ? and c_w_id = w_id and c_d_id = ? and c_id = ?",
    ),
    definition(
        Sql::NewOrderOrder,
        "New-Order: order",
        "insert into orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
         values (?, ?, ?, ?, now(), ?, ?)",
    ),
    definition(
        Sql::NewOrderNew,
        "New-Order: new order",
        "insert into new_orders (no_o_id, no_d_id, no_w_id) values (?, ?, ?)",
    ),
    definition(
        Sql::NewOrderItem,
        "New-Order: item",
        "select i_price, i_name, i_data from item where i_id = ?",
    ),
    definition(
        Sql::NewOrderStock,
        "New-Order: stock",
        "select s_quantity, s_data, elt(?, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, \
         s_dist_07, s_dist_08, s_dist_09, s_dist_10) from stock where s_w_id = ? and s_i_id = ? for update",
    ),
    definition(
        Sql::NewOrderTake,
        "New-Order: take from stock",
        "update stock set s_quantity = ?, s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, \
         s_remote_cnt = s_remote_cnt + ? where s_w_id = ? and s_i_id = ?",
    ),
    definition(
        Sql::NewOrderLine,
        "New-Order: order line",
        "insert into order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, \
         ol_amount, ol_dist_info) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    definition(
        Sql::PaymentWarehouse,
        "Payment: warehouse's sum",
        "update warehouse set w_ytd = w_ytd + ? where w_id = ?",
    ),
    definition(
        Sql::PaymentWarehouseAddress,
        "Payment: warehouse",
        "select w_name, w_street_1, w_street_2, w_city, w_state, w_zip from warehouse where w_id = ?",
    ),
    definition(
        Sql::PaymentDistrict,
        "Payment: district's sum",
        "update district set d_ytd = d_ytd + ? where d_w_id = ? and d_id = ?",
    ),
    definition(
        Sql::PaymentDistrictAddress,
        "Payment: district",
        "select d_name, d_street_1, d_street_2, d_city, d_state, d_zip from district where d_w_id = ? and d_id = ?",
    ),
    definition(
        Sql::CustomersByName,
        "customers of a last name",
        "select c_id from customer where c_w_id = ? and c_d_id = ? and c_last = ? order by c_first",
    ),
    definition(
        Sql::PaymentCustomer,
        "Payment: customer",
        "select c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since, \
         c_credit_lim, c_discount, c_balance from customer where c_w_id = ? and c_d_id = ? and c_id = ? for update",
    ),
    definition(
        Sql::PaymentCustomerData,
        "Payment: customer's data",
        "select c_data from customer where c_w_id = ? and c_d_id = ? and c_id = ?",
    ),
    definition(
        Sql::PaymentBalance,
        "Payment: balance",
        "update customer set c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, \
         c_payment_cnt = c_payment_cnt + 1 where c_w_id = ? and c_d_id = ? and c_id = ?",
    ),
    definition(
        Sql::PaymentBalanceAndData,
        "Payment: balance and data",
        "update customer set c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, \
         c_payment_cnt = c_payment_cnt + 1, c_data = ? where c_w_id = ? and c_d_id = ? and c_id = ?",
    ),
    definition(
        Sql::PaymentHistory,
        "Payment: history",
        "insert into history (h_c_d_id, h_c_w_id, h_c_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
         values (?, ?, ?, ?, ?, now(), ?, ?)",
    ),
    definition(
        Sql::OrderStatusCustomer,
        "Order-Status: customer",
        "select c_balance, c_first, c_middle, c_last from customer where c_w_id = ? and c_d_id = ? and c_id = ?",
    ),
    definition(
        Sql::OrderStatusOrder,
        "Order-Status: last order",
        "select o_id, o_entry_d, o_carrier_id from orders where o_w_id = ? and o_d_id = ? and o_c_id = ? \
         order by o_id desc limit 1",
    ),
    definition(
        Sql::OrderStatusLines,
        "Order-Status: order lines",
        "select ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d from order_line \
         where ol_w_id = ? and ol_d_id = ? and ol_o_id = ?",
    ),
    definition(
        Sql::DeliveryOldest,
        "Delivery: oldest new order",
        "select no_o_id from new_orders where no_w_id = ? and no_d_id = ? order by no_o_id limit 1 for update",
    ),
    definition(
        Sql::DeliveryTake,
        "Delivery: take it",
        "delete from new_orders where no_w_id = ? and no_d_id = ? and no_o_id = ?",
    ),
    definition(
        Sql::DeliveryCustomer,
        "Delivery: its customer",
        "select o_c_id from orders where o_w_id = ? and o_d_id = ? and o_id = ?",
    ),
    definition(
        Sql::DeliveryCarrier,
        "Delivery: carrier",
        "update orders set o_carrier_id = ? where o_w_id = ? and o_d_id = ? and o_id = ?",
    ),
    definition(
        Sql::DeliveryLines,
        "Delivery: order lines",
        "update order_line set ol_delivery_d = now() where ol_w_id = ? and ol_d_id = ? and ol_o_id = ?",
    ),
    definition(
        Sql::DeliveryAmount,
        "Delivery: amount",
        "select sum(ol_amount) from order_line where ol_w_id = ? and ol_d_id = ? and ol_o_id = ?",
    ),
    definition(
        Sql::DeliveryBalance,
        "Delivery: balance",
        "update customer set c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 \
         where c_w_id = ? and c_d_id = ? and c_id = ?",
    ),
    definition(
        Sql::StockLevelDistrict,
        "Stock-Level: district",
        "select d_next_o_id from district where d_w_id = ? and d_id = ?",
    ),
    definition(
        Sql::StockLevelCount,
        "Stock-Level: items that run low",
        "select count(distinct s_i_id) from order_line, stock where ol_w_id = ? and ol_d_id = ? and ol_o_id >= ? \
         and ol_o_id < ? and s_w_id = ? and s_i_id = ol_i_id and s_quantity < ?",
    ),
];

/// One round trip per transaction: a call of its stored procedure.
pub(super) const CALLS: [Definition; 5] = [
    definition(
        Sql::CallNewOrder,
        "New-Order: call",
        "call dbdyno_tpcc_new_order(?, ?, ?, ?, ?, ?)",
    ),
    definition(
        Sql::CallPayment,
        "Payment: call",
        "call dbdyno_tpcc_payment(?, ?, ?, ?, ?, ?, ?)",
    ),
    definition(
        Sql::CallOrderStatus,
        "Order-Status: call",
        "call dbdyno_tpcc_order_status(?, ?, ?, ?)",
    ),
    definition(
        Sql::CallDelivery,
        "Delivery: call",
        "call dbdyno_tpcc_delivery(?, ?)",
    ),
    definition(
        Sql::CallStockLevel,
        "Stock-Level: call",
        "call dbdyno_tpcc_stock_level(?, ?, ?)",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_at_its_own_index() {
        for (index, definition) in SINGLE.iter().chain(&ENDS).chain(&CALLS).enumerate() {
            assert_eq!(definition.sql as usize, index, "{}", definition.name);
        }
    }
}
