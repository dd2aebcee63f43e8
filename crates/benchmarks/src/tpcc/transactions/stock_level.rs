//! Stock-Level, clause 2.8: number of items of a district's last twenty orders with low stock.

use load::{Failure, OperationObserver};
use protocol::Value;

use crate::tpcc::{
    input::StockLevel,
    session::{Steps, expect, int},
    statement::Sql,
};

/// Number of orders examined.
const ORDERS: i64 = 20;

/// Counts the items.
pub(crate) async fn run(
    steps: &mut Steps<'_, impl OperationObserver>,
    level: &StockLevel,
) -> Result<(), Failure> {
    let (warehouse, district) = (int(level.warehouse), int(level.district));
    let row = steps
        .read(Sql::StockLevelDistrict, &[warehouse, district])
        .await?;
    let next = expect(row.int(0, 0), "the district")?;
    let values = [
        warehouse,
        district,
        Value::Int(next - ORDERS),
        Value::Int(next),
        warehouse,
        int(level.threshold),
    ];
    let row = steps.read(Sql::StockLevelCount, &values).await?;
    expect(row.int(0, 0), "the number of items")?;
    steps.end_reading().await
}
