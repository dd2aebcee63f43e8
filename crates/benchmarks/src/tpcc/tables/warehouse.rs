//! WAREHOUSE: one row per warehouse.

use super::definition::Definition;
use crate::tpcc::{
    population::{Population, Unit},
    random::{Draw, Purpose},
    row::Row,
};

pub(super) const TABLE: Definition = Definition {
    name: "warehouse",
    columns: &[
        ("w_id", "smallint not null"),
        ("w_name", "varchar(10)"),
        ("w_street_1", "varchar(20)"),
        ("w_street_2", "varchar(20)"),
        ("w_city", "varchar(20)"),
        ("w_state", "char(2)"),
        ("w_zip", "char(9)"),
        ("w_tax", "decimal(4,4)"),
        ("w_ytd", "decimal(12,2)"),
    ],
    primary_key: "w_id",
    units: 1,
    write,
};

/// `1 TAB Bq8sKz1 TAB ... TAB 0.1034 TAB 300000.00`
fn write(population: &Population, unit: Unit, out: &mut Vec<u8>) -> u64 {
    let draw = &mut Draw::new(population.seed, Purpose::Warehouse, unit.ordinal);
    let mut row = Row::new(out);
    row.int(unit.warehouse)
        .a_string(draw, 6, 10)
        .address(draw)
        .share(draw.uniform(0..=2_000))
        .hundredths(30_000_000)
        .end()
}
