//! ORDERS: one order of every customer, in random order of the customers.

use super::definition::Definition;
use crate::tpcc::{
    population::{CUSTOMERS, DELIVERED, DISTRICTS, ORDERS, Population, Unit},
    random::{Draw, Purpose},
    row::Row,
};

pub(super) const TABLE: Definition = Definition {
    name: "orders",
    columns: &[
        ("o_id", "int not null"),
        ("o_d_id", "tinyint not null"),
        ("o_w_id", "smallint not null"),
        ("o_c_id", "int"),
        ("o_entry_d", "datetime"),
        ("o_carrier_id", "tinyint"),
        ("o_ol_cnt", "tinyint"),
        ("o_all_local", "tinyint"),
    ],
    primary_key: "o_w_id, o_d_id, o_id",
    units: (DISTRICTS * ORDERS) as u64,
    write,
};

/// `1 TAB 1 TAB 1 TAB 2411 TAB 2026-01-01 00:00:00 TAB 7 TAB 11 TAB 1`
fn write(population: &Population, unit: Unit, out: &mut Vec<u8>) -> u64 {
    let draw = &mut Draw::new(population.seed, Purpose::Orders, unit.ordinal);
    let order = unit.within % ORDERS + 1;
    let district = unit.ordinal / u64::from(ORDERS);
    let customer = customer_of(population.seed, district, order);
    let mut row = Row::new(out);
    row.int(order)
        .int(unit.within / ORDERS + 1)
        .int(unit.warehouse)
        .int(customer)
        .loaded_at();
    match order {
        1..=DELIVERED => row.int(draw.uniform(1..=10)),
        _ => row.null(),
    };
    row.int(line_count(population, unit.ordinal)).int(1).end()
}

pub(super) fn line_count(population: &Population, ordinal: u64) -> u32 {
    Draw::new(population.seed, Purpose::LineCount, ordinal).uniform(5..=15)
}

/// The customer (from 1) who placed an order (from 1) in a district (from 0, over all warehouses): every customer
/// placed one order.
///
/// A Feistel network permutes the 12-bit numbers; a number beyond the customers is permuted again until it is a
/// customer's. Thus the customer of an order is computed without those of the other orders.
fn customer_of(seed: u64, district: u64, order: u32) -> u32 {
    let keys = Draw::new(seed, Purpose::Permutation, district).bits();
    let mut number = order - 1;
    loop {
        let (mut left, mut right) = (number >> 6, number & 63);
        for round in 0..ROUNDS {
            let mixed = (keys.rotate_left(10 * round) ^ u64::from(right))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                >> 58;
            (left, right) = (right, left ^ mixed as u32);
        }
        number = left << 6 | right;
        if number < CUSTOMERS {
            return number + 1;
        }
    }
}

/// Rounds of the Feistel network.
const ROUNDS: u32 = 6;
