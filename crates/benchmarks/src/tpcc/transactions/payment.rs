//! Payment, clause 2.5: a customer pays at a district, which may be remote.

use load::{Failure, OperationObserver};
use protocol::Value;

use super::customer;
use crate::tpcc::{
    input::Payment,
    money,
    session::{Steps, expect, int},
    statement::Sql,
};

/// Maximum characters of C_DATA.
const DATA_LENGTH: usize = 500;

/// Records the payment.
pub(crate) async fn run(
    steps: &mut Steps<'_, impl OperationObserver>,
    payment: &Payment,
) -> Result<(), Failure> {
    let amount = money::Text::of(payment.amount.into());
    let amount = Value::Decimal(amount.as_bytes());
    let (warehouse, district) = (int(payment.warehouse), int(payment.district));
    steps
        .change_one(Sql::PaymentWarehouse, &[amount, warehouse])
        .await?;
    let row = steps
        .read(Sql::PaymentWarehouseAddress, &[warehouse])
        .await?;
    // H_DATA: both names separated by four blanks.
    let mut names = expect(row.text(0, 0), "the warehouse")?.to_vec();
    steps
        .change_one(Sql::PaymentDistrict, &[amount, warehouse, district])
        .await?;
    let row = steps
        .read(Sql::PaymentDistrictAddress, &[warehouse, district])
        .await?;
    names.extend_from_slice(b"    ");
    names.extend_from_slice(expect(row.text(0, 0), "the district")?);

    let number = customer::find(
        steps,
        payment.customer_warehouse,
        payment.customer_district,
        payment.customer,
    )
    .await?;
    let customer = [
        int(payment.customer_warehouse),
        int(payment.customer_district),
        int(number),
    ];
    let [home, home_district, customer_number] = customer;
    let row = steps.read(Sql::PaymentCustomer, &customer).await?;
    if expect(row.text(0, 0), "the customer")? == b"BC" {
        let row = steps.read(Sql::PaymentCustomerData, &customer).await?;
        let data = with_payment(payment, number, row.text(0, 0).unwrap_or_default());
        let values = [
            amount,
            amount,
            Value::Bytes(&data),
            home,
            home_district,
            customer_number,
        ];
        steps
            .change_one(Sql::PaymentBalanceAndData, &values)
            .await?;
    } else {
        let values = [amount, amount, home, home_district, customer_number];
        steps.change_one(Sql::PaymentBalance, &values).await?;
    }
    let values = [
        home_district,
        home,
        customer_number,
        district,
        warehouse,
        amount,
        Value::Bytes(&names),
    ];
    steps.change_one(Sql::PaymentHistory, &values).await?;
    steps.commit().await
}

/// C_DATA of a customer with bad credit: this payment is placed before the older ones.
fn with_payment(payment: &Payment, customer: u32, data: &[u8]) -> Vec<u8> {
    let amount = money::Text::of(payment.amount.into());
    let numbers = [
        customer,
        payment.customer_district,
        payment.customer_warehouse,
        payment.district,
        payment.warehouse,
    ];
    let mut text = Vec::with_capacity(DATA_LENGTH + 64);
    for number in numbers {
        text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        text.push(b' ');
    }
    text.extend_from_slice(amount.as_bytes());
    text.push(b' ');
    text.extend_from_slice(data);
    text.truncate(DATA_LENGTH);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::input::CustomerKey;

    #[test]
    fn data_of_bad_credit_holds_the_payments() {
        let payment = Payment {
            warehouse: 1,
            district: 2,
            customer_warehouse: 3,
            customer_district: 4,
            customer: CustomerKey::Number(5),
            amount: 1205,
        };
        assert_eq!(with_payment(&payment, 5, b"old"), b"5 4 3 2 1 12.05 old");
        assert_eq!(with_payment(&payment, 5, &[b'x'; 500]).len(), 500);
    }
}
