//! Delivery, clause 2.7: delivers the oldest undelivered order of each district.

use load::{Failure, OperationObserver};
use protocol::Value;

use crate::tpcc::{
    input::Delivery,
    population::DISTRICTS,
    session::{Steps, expect, int},
    statement::Sql,
};

/// Delivers one order in each remaining district, each in its own transaction.
///
/// `next_district` advances with each commit, so that a retry does not deliver a district again.
pub(crate) async fn run(
    steps: &mut Steps<'_, impl OperationObserver>,
    delivery: &mut Delivery,
) -> Result<(), Failure> {
    while delivery.next_district <= DISTRICTS {
        let is_delivered = deliver(steps, delivery).await?;
        steps.commit().await?;
        delivery.delivered |= u32::from(is_delivered) << (delivery.next_district - 1);
        delivery.next_district += 1;
    }
    Ok(())
}

/// Delivers the oldest order of a district; false if there is none.
async fn deliver(
    steps: &mut Steps<'_, impl OperationObserver>,
    delivery: &Delivery,
) -> Result<bool, Failure> {
    let (warehouse, district) = (int(delivery.warehouse), int(delivery.next_district));
    // The lock serialises deliveries of the same row.
    let oldest = steps
        .read(Sql::DeliveryOldest, &[warehouse, district])
        .await?;
    let Some(number) = oldest.int(0, 0) else {
        return Ok(false);
    };
    let order = [warehouse, district, Value::Int(number)];
    steps.change_one(Sql::DeliveryTake, &order).await?;
    let row = steps.read(Sql::DeliveryCustomer, &order).await?;
    let customer = Value::Int(expect(row.int(0, 0), "the order")?);
    let values = [int(delivery.carrier), order[0], order[1], order[2]];
    steps.change_one(Sql::DeliveryCarrier, &values).await?;
    steps.change(Sql::DeliveryLines, &order).await?;
    let row = steps.read(Sql::DeliveryAmount, &order).await?;
    let amount = expect(row.text(0, 0), "the sum of the order lines")?.to_vec();
    let values = [Value::Decimal(&amount), warehouse, district, customer];
    steps.change_one(Sql::DeliveryBalance, &values).await?;
    Ok(true)
}
