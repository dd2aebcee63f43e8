//! ITEM: the items for sale, the same in all warehouses.

use super::definition::Definition;
use crate::tpcc::{
    population::{ITEMS, Population, Unit},
    random::{Draw, Purpose},
    row::Row,
    text::push_data,
};

pub(super) const TABLE: Definition = Definition {
    name: "item",
    columns: &[
        ("i_id", "int not null"),
        ("i_im_id", "int"),
        ("i_name", "varchar(24)"),
        ("i_price", "decimal(5,2)"),
        ("i_data", "varchar(50)"),
    ],
    primary_key: "i_id",
    units: ITEMS as u64,
    write,
};

/// `1 TAB 4711 TAB Yq3bT0vW5rA8kLm TAB 31.15 TAB ...`
fn write(population: &Population, unit: Unit, out: &mut Vec<u8>) -> u64 {
    let draw = &mut Draw::new(population.seed, Purpose::Item, unit.ordinal);
    let mut row = Row::new(out);
    row.int(unit.within + 1)
        .int(draw.uniform(1..=10_000))
        .a_string(draw, 14, 24)
        .hundredths(draw.uniform(100..=10_000))
        .with(|out| push_data(draw, out))
        .end()
}
