//! The customer of a transaction, selected by number or by last name.

use load::{Failure, OperationObserver};
use protocol::Value;

use crate::tpcc::{
    input::CustomerKey,
    session::{Steps, expect, int},
    statement::Sql,
    text::push_last_name,
};

/// The number of a customer; the middle one by first name of several with the same last name.
///
/// Source: TPC-C 5.11, clause 2.5.2.2: the row at n/2, rounded up.
pub(super) async fn find(
    steps: &mut Steps<'_, impl OperationObserver>,
    warehouse: u32,
    district: u32,
    key: CustomerKey,
) -> Result<u32, Failure> {
    let name = match key {
        CustomerKey::Number(number) => return Ok(number),
        CustomerKey::LastName(name) => name,
    };
    let mut last_name = Vec::with_capacity(16);
    push_last_name(name, &mut last_name);
    let values = [int(warehouse), int(district), Value::Bytes(&last_name)];
    let customers = steps.read(Sql::CustomersByName, &values).await?;
    if customers.rows() == 0 {
        let name = String::from_utf8_lossy(&last_name);
        return Err(Failure::of_client(format!(
            "no customer {name} in warehouse {warehouse}, district {district}"
        )));
    }
    let number = customers.int(middle(customers.rows()), 0);
    expect(number.and_then(|number| number.try_into().ok()), "c_id")
}

/// Index of the row at n/2, rounded up, counted from 1.
fn middle(rows: usize) -> usize {
    rows.div_ceil(2) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_in_the_middle() {
        for (rows, index) in [(1, 0), (2, 0), (3, 1), (4, 1), (5, 2)] {
            assert_eq!(middle(rows), index);
        }
    }
}
