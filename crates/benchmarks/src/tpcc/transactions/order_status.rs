//! Order-Status, clause 2.6: a customer asks for the last order.

use load::{Failure, OperationObserver};
use protocol::Value;

use super::customer;
use crate::tpcc::{
    input::OrderStatus,
    session::{Steps, expect, int},
    statement::Sql,
};

/// Reads the customer, the last order and its lines.
pub(crate) async fn run(
    steps: &mut Steps<'_, impl OperationObserver>,
    status: &OrderStatus,
) -> Result<(), Failure> {
    let (warehouse, district) = (int(status.warehouse), int(status.district));
    let number = customer::find(steps, status.warehouse, status.district, status.customer).await?;
    let customer = [warehouse, district, int(number)];
    let row = steps.read(Sql::OrderStatusCustomer, &customer).await?;
    expect(row.value(0, 0), "the customer")?;
    let row = steps.read(Sql::OrderStatusOrder, &customer).await?;
    let order = Value::Int(expect(row.int(0, 0), "the customer's order")?);
    let lines = steps
        .read(Sql::OrderStatusLines, &[warehouse, district, order])
        .await?;
    expect(lines.value(0, 0), "a line of the order")?;
    steps.end_reading().await
}
