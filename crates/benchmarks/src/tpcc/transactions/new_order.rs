//! New-Order, clause 2.4: a customer orders five to fifteen items.

use load::{Failure, OperationObserver};
use protocol::Value;

use crate::tpcc::{
    input::{Line, NewOrder},
    money,
    session::{Steps, expect, int},
    statement::Sql,
};

/// Places the order; an order with an unused item is rolled back after all other steps.
pub(crate) async fn run(
    steps: &mut Steps<'_, impl OperationObserver>,
    order: &NewOrder,
) -> Result<(), Failure> {
    let (warehouse, district) = (int(order.warehouse), int(order.district));
    // The district first: concurrent orders here wait before their snapshot of the other rows is taken.
    let row = steps
        .read(Sql::NewOrderDistrict, &[warehouse, district])
        .await?;
    let number = Value::Int(expect(row.int(0, 0), "the district")?);
    steps
        .change_one(Sql::NewOrderNextId, &[warehouse, district])
        .await?;
    let customer = int(order.customer);
    let row = steps
        .read(Sql::NewOrderCustomer, &[warehouse, district, customer])
        .await?;
    expect(row.value(0, 0), "the customer")?;
    let is_local = |line: &Line| line.supply_warehouse == order.warehouse;
    let values = [
        number,
        district,
        warehouse,
        customer,
        int(order.lines.len() as u32),
        int(order.lines.iter().all(is_local).into()),
    ];
    steps.change_one(Sql::NewOrderOrder, &values).await?;
    steps
        .change_one(Sql::NewOrderNew, &[number, district, warehouse])
        .await?;
    let mut district_info = Vec::with_capacity(24);
    for line in &order.lines {
        let item = steps.read(Sql::NewOrderItem, &[int(line.item)]).await?;
        if item.rows() == 0 && order.is_rolled_back {
            return steps.rollback().await;
        }
        let price = expect(item.text(0, 0).and_then(money::parse), "the item")?;
        take_from_stock(steps, order, line, &mut district_info).await?;
        let amount = money::Text::of(price as u64 * u64::from(line.quantity));
        let values = [
            number,
            district,
            warehouse,
            int(line.number),
            int(line.item),
            int(line.supply_warehouse),
            int(line.quantity),
            Value::Decimal(amount.as_bytes()),
            Value::Bytes(&district_info),
        ];
        steps.change_one(Sql::NewOrderLine, &values).await?;
    }
    steps.commit().await
}

/// Takes a line's quantity from the stock of the supplying warehouse, and copies the district's text for the line.
async fn take_from_stock(
    steps: &mut Steps<'_, impl OperationObserver>,
    order: &NewOrder,
    line: &Line,
    district_info: &mut Vec<u8>,
) -> Result<(), Failure> {
    let (supplier, item) = (int(line.supply_warehouse), int(line.item));
    let stock = steps
        .read(Sql::NewOrderStock, &[int(order.district), supplier, item])
        .await?;
    let quantity = expect(stock.int(0, 0), "the stock")?;
    district_info.clear();
    district_info.extend_from_slice(expect(stock.text(0, 2), "s_dist")?);
    let is_remote = line.supply_warehouse != order.warehouse;
    let values = [
        Value::Int(left_after(quantity, line.quantity.into())),
        int(line.quantity),
        int(is_remote.into()),
        supplier,
        item,
    ];
    steps.change_one(Sql::NewOrderTake, &values).await
}

/// Stock after an order; if fewer than ten would be left, 91 are added.
///
/// Source: TPC-C 5.11, clause 2.4.2.2.
fn left_after(quantity: i64, taken: i64) -> i64 {
    if quantity >= taken + 10 {
        quantity - taken
    } else {
        quantity - taken + 91
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stock_is_refilled_below_ten() {
        for (quantity, taken, left) in [(20, 10, 10), (19, 10, 100), (10, 1, 100), (11, 1, 10)] {
            assert_eq!(left_after(quantity, taken), left);
        }
    }
}
