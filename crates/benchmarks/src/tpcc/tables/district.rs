//! DISTRICT: ten per warehouse.

use super::definition::Definition;
use crate::tpcc::{
    population::{DISTRICTS, ORDERS, Population, Unit},
    random::{Draw, Purpose},
    row::Row,
};

pub(super) const TABLE: Definition = Definition {
    name: "district",
    columns: &[
        ("d_id", "tinyint not null"),
        ("d_w_id", "smallint not null"),
        ("d_name", "varchar(10)"),
        ("d_street_1", "varchar(20)"),
        ("d_street_2", "varchar(20)"),
        ("d_city", "varchar(20)"),
        ("d_state", "char(2)"),
        ("d_zip", "char(9)"),
        ("d_tax", "decimal(4,4)"),
        ("d_ytd", "decimal(12,2)"),
        ("d_next_o_id", "int"),
    ],
    primary_key: "d_w_id, d_id",
    units: DISTRICTS as u64,
    write,
};

/// `1 TAB 1 TAB xT0mQ2a TAB ... TAB 0.0517 TAB 30000.00 TAB 3001`
fn write(population: &Population, unit: Unit, out: &mut Vec<u8>) -> u64 {
    let draw = &mut Draw::new(population.seed, Purpose::District, unit.ordinal);
    let mut row = Row::new(out);
    row.int(unit.within + 1)
        .int(unit.warehouse)
        .a_string(draw, 6, 10)
        .address(draw)
        .share(draw.uniform(0..=2_000))
        .hundredths(3_000_000)
        .int(ORDERS + 1)
        .end()
}
