//! HISTORY: one payment of every customer.

use super::definition::Definition;
use crate::tpcc::{
    population::{CUSTOMERS, DISTRICTS, Population, Unit},
    random::{Draw, Purpose},
    row::Row,
};

pub(super) const TABLE: Definition = Definition {
    name: "history",
    columns: &[
        ("h_c_id", "int"),
        ("h_c_d_id", "tinyint"),
        ("h_c_w_id", "smallint"),
        ("h_d_id", "tinyint"),
        ("h_w_id", "smallint"),
        ("h_date", "datetime"),
        ("h_amount", "decimal(6,2)"),
        ("h_data", "varchar(24)"),
    ],
    primary_key: "",
    units: (DISTRICTS * CUSTOMERS) as u64,
    write,
};

/// `1 TAB 1 TAB 1 TAB 1 TAB 1 TAB 2026-01-01 00:00:00 TAB 10.00 TAB ...`
fn write(population: &Population, unit: Unit, out: &mut Vec<u8>) -> u64 {
    let draw = &mut Draw::new(population.seed, Purpose::History, unit.ordinal);
    let district = unit.within / CUSTOMERS + 1;
    let mut row = Row::new(out);
    row.int(unit.within % CUSTOMERS + 1)
        .int(district)
        .int(unit.warehouse)
        .int(district)
        .int(unit.warehouse)
        .loaded_at()
        .hundredths(1_000)
        .a_string(draw, 12, 24)
        .end()
}
