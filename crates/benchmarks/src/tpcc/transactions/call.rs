//! The five transactions as one call each of their stored procedures.

use std::io::Write;

use load::{Failure, OperationObserver};
use protocol::Value;

use crate::tpcc::{
    input::{CustomerKey, Delivery, Line, NewOrder, OrderStatus, Payment, StockLevel},
    money,
    session::{Steps, expect, int},
    statement::Sql,
    text::push_last_name,
};

/// Bytes of a line in the procedure's parameter.
const LINE_LENGTH: usize = 15;

/// Places the order; the procedure rolls an order with an unused item back after all other steps.
pub(crate) async fn new_order(
    steps: &mut Steps<'_, impl OperationObserver>,
    order: &NewOrder,
) -> Result<(), Failure> {
    let is_local = |line: &Line| line.supply_warehouse == order.warehouse;
    let values = [
        int(order.warehouse),
        int(order.district),
        int(order.customer),
        int(order.lines.iter().all(is_local).into()),
        int(order.lines.len() as u32),
        Value::Bytes(&line_texts(&order.lines)),
    ];
    let row = steps.call(Sql::CallNewOrder, &values).await?;
    match (row.int(0, 0), order.is_rolled_back) {
        (Some(_), false) | (None, true) => Ok(()),
        (None, false) => Err(Failure::of_client(
            "an item of the order is missing".to_owned(),
        )),
        (Some(_), true) => Err(Failure::of_client(
            "the unused item of an order exists".to_owned(),
        )),
    }
}

/// The lines as digits: two of the number, six of the item, five of the warehouse, two of the quantity.
fn line_texts(lines: &[Line]) -> Vec<u8> {
    let mut texts = Vec::with_capacity(LINE_LENGTH * lines.len());
    for line in lines {
        // Writing to memory does not fail.
        let _ = write!(
            texts,
            "{:02}{:06}{:05}{:02}",
            line.number, line.item, line.supply_warehouse, line.quantity
        );
    }
    texts
}

pub(crate) async fn payment(
    steps: &mut Steps<'_, impl OperationObserver>,
    payment: &Payment,
) -> Result<(), Failure> {
    let amount = money::Text::of(payment.amount.into());
    let mut last_name = Vec::with_capacity(16);
    let [number, last_name] = customer(payment.customer, &mut last_name);
    let values = [
        int(payment.warehouse),
        int(payment.district),
        int(payment.customer_warehouse),
        int(payment.customer_district),
        number,
        last_name,
        Value::Decimal(amount.as_bytes()),
    ];
    let row = steps.call(Sql::CallPayment, &values).await?;
    expect(row.int(0, 0), "the customer").map(drop)
}

/// Reads the customer, the last order and its lines.
pub(crate) async fn order_status(
    steps: &mut Steps<'_, impl OperationObserver>,
    status: &OrderStatus,
) -> Result<(), Failure> {
    let mut last_name = Vec::with_capacity(16);
    let [number, last_name] = customer(status.customer, &mut last_name);
    let values = [
        int(status.warehouse),
        int(status.district),
        number,
        last_name,
    ];
    let lines = steps.call_to_read(Sql::CallOrderStatus, &values).await?;
    expect(lines.value(0, 0), "a line of the order").map(drop)
}

/// Delivers an order in each district, in one transaction: a failed call has delivered none.
pub(crate) async fn delivery(
    steps: &mut Steps<'_, impl OperationObserver>,
    delivery: &mut Delivery,
) -> Result<(), Failure> {
    let values = [int(delivery.warehouse), int(delivery.carrier)];
    let row = steps.call(Sql::CallDelivery, &values).await?;
    let delivered = row.int(0, 0).and_then(|bits| bits.try_into().ok());
    delivery.delivered = expect(delivered, "the list of districts")?;
    Ok(())
}

/// Counts the items with low stock.
pub(crate) async fn stock_level(
    steps: &mut Steps<'_, impl OperationObserver>,
    level: &StockLevel,
) -> Result<(), Failure> {
    let values = [
        int(level.warehouse),
        int(level.district),
        int(level.threshold),
    ];
    let row = steps.call_to_read(Sql::CallStockLevel, &values).await?;
    expect(row.int(0, 0), "the number of items").map(drop)
}

/// A customer as the procedures' parameters: the number, or else the last name.
fn customer(key: CustomerKey, text: &mut Vec<u8>) -> [Value<'_>; 2] {
    match key {
        CustomerKey::Number(number) => [int(number), Value::Null],
        CustomerKey::LastName(name) => {
            push_last_name(name, text);
            [Value::Null, Value::Bytes(text)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_digits_at_their_places() {
        let line = |number, item, supply_warehouse, quantity| Line {
            number,
            item,
            supply_warehouse,
            quantity,
        };
        let texts = line_texts(&[line(1, 42, 3, 10), line(15, 100_001, 32_767, 1)]);
        assert_eq!(texts, b"010000420000310151000013276701");
        assert_eq!(texts.len(), 2 * LINE_LENGTH);
    }
}
