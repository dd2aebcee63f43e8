//! CUSTOMER: 3,000 per district.

use super::definition::Definition;
use crate::tpcc::{
    population::{CUSTOMERS, DISTRICTS, Population, Unit},
    random::{Draw, Purpose},
    row::Row,
    text::{push_digits, push_last_name},
};

pub(super) const TABLE: Definition = Definition {
    name: "customer",
    columns: &[
        ("c_id", "int not null"),
        ("c_d_id", "tinyint not null"),
        ("c_w_id", "smallint not null"),
        ("c_first", "varchar(16)"),
        ("c_middle", "char(2)"),
        ("c_last", "varchar(16)"),
        ("c_street_1", "varchar(20)"),
        ("c_street_2", "varchar(20)"),
        ("c_city", "varchar(20)"),
        ("c_state", "char(2)"),
        ("c_zip", "char(9)"),
        ("c_phone", "char(16)"),
        ("c_since", "datetime"),
        ("c_credit", "char(2)"),
        ("c_credit_lim", "decimal(12,2)"),
        ("c_discount", "decimal(4,4)"),
        ("c_balance", "decimal(12,2)"),
        ("c_ytd_payment", "decimal(12,2)"),
        // The specification's four digits overflow within hours without think times.
        ("c_payment_cnt", "int"),
        ("c_delivery_cnt", "int"),
        ("c_data", "varchar(500)"),
    ],
    primary_key: "c_w_id, c_d_id, c_id",
    units: (DISTRICTS * CUSTOMERS) as u64,
    write,
};

/// Number of customers per district whose last names are 0 to 999 in ascending order.
const NAMED_IN_ORDER: u32 = 1_000;

/// `1 TAB 1 TAB 1 TAB kq1Zs0Pd TAB OE TAB BARBARBAR TAB ... TAB GC TAB 50000.00 TAB 0.1721 TAB -10.00 TAB ...`
fn write(population: &Population, unit: Unit, out: &mut Vec<u8>) -> u64 {
    let draw = &mut Draw::new(population.seed, Purpose::Customer, unit.ordinal);
    let district = unit.within / CUSTOMERS + 1;
    let customer = unit.within % CUSTOMERS + 1;
    let mut row = Row::new(out);
    row.int(customer)
        .int(district)
        .int(unit.warehouse)
        .a_string(draw, 8, 16)
        .text(b"OE");
    let last_name = match customer {
        1..=NAMED_IN_ORDER => customer - 1,
        _ => population.constants().last_name(draw),
    };
    row.with(|out| push_last_name(last_name, out))
        .address(draw)
        .with(|out| push_digits(draw, 16, out))
        .loaded_at()
        .text(if draw.percent(10) { b"BC" } else { b"GC" })
        .hundredths(5_000_000)
        .share(draw.uniform(0..=5_000))
        .text(b"-10.00")
        .hundredths(1_000)
        .int(1)
        .int(0)
        .a_string(draw, 300, 500)
        .end()
}
