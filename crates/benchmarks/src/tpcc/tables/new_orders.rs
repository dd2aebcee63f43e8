//! NEW-ORDER: the undelivered orders of every district.

use super::definition::Definition;
use crate::tpcc::{
    population::{DELIVERED, DISTRICTS, Population, UNDELIVERED, Unit},
    row::Row,
};

pub(super) const TABLE: Definition = Definition {
    name: "new_orders",
    columns: &[
        ("no_o_id", "int not null"),
        ("no_d_id", "tinyint not null"),
        ("no_w_id", "smallint not null"),
    ],
    primary_key: "no_w_id, no_d_id, no_o_id",
    units: (DISTRICTS * UNDELIVERED) as u64,
    write,
};

/// `2101 TAB 1 TAB 1`
fn write(_population: &Population, unit: Unit, out: &mut Vec<u8>) -> u64 {
    let mut row = Row::new(out);
    row.int(DELIVERED + unit.within % UNDELIVERED + 1)
        .int(unit.within / UNDELIVERED + 1)
        .int(unit.warehouse)
        .end()
}
