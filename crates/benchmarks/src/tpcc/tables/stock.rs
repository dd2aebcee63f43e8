//! STOCK: the stock of each item in a warehouse.

use super::definition::Definition;
use crate::tpcc::{
    population::{ITEMS, Population, Unit},
    random::{Draw, Purpose},
    row::Row,
    text::push_data,
};

pub(super) const TABLE: Definition = Definition {
    name: "stock",
    columns: &[
        ("s_i_id", "int not null"),
        ("s_w_id", "smallint not null"),
        ("s_quantity", "smallint"),
        ("s_dist_01", "char(24)"),
        ("s_dist_02", "char(24)"),
        ("s_dist_03", "char(24)"),
        ("s_dist_04", "char(24)"),
        ("s_dist_05", "char(24)"),
        ("s_dist_06", "char(24)"),
        ("s_dist_07", "char(24)"),
        ("s_dist_08", "char(24)"),
        ("s_dist_09", "char(24)"),
        ("s_dist_10", "char(24)"),
        ("s_ytd", "decimal(8,0)"),
        // The specification's four digits overflow within hours without think times.
        ("s_order_cnt", "int"),
        ("s_remote_cnt", "int"),
        ("s_data", "varchar(50)"),
    ],
    primary_key: "s_w_id, s_i_id",
    units: ITEMS as u64,
    write,
};

/// `1 TAB 1 TAB 83 TAB ... TAB 0 TAB 0 TAB 0 TAB ...`
fn write(population: &Population, unit: Unit, out: &mut Vec<u8>) -> u64 {
    let draw = &mut Draw::new(population.seed, Purpose::Stock, unit.ordinal);
    let mut row = Row::new(out);
    row.int(unit.within + 1)
        .int(unit.warehouse)
        .int(draw.uniform(10..=100));
    for _district in 0..10 {
        row.alphanumeric(draw, 24);
    }
    row.int(0)
        .int(0)
        .int(0)
        .with(|out| push_data(draw, out))
        .end()
}
