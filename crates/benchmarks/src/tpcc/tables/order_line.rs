//! ORDER-LINE: five to fifteen lines of every order.

use super::{Definition, orders::line_count};
use crate::tpcc::{
    population::{DELIVERED, DISTRICTS, ITEMS, ORDERS, Population, Unit},
    random::{Draw, Purpose},
    row::Row,
};

pub(super) const TABLE: Definition = Definition {
    name: "order_line",
    columns: &[
        ("ol_o_id", "int not null"),
        ("ol_d_id", "tinyint not null"),
        ("ol_w_id", "smallint not null"),
        ("ol_number", "tinyint not null"),
        ("ol_i_id", "int"),
        ("ol_supply_w_id", "smallint"),
        ("ol_delivery_d", "datetime"),
        ("ol_quantity", "tinyint"),
        ("ol_amount", "decimal(6,2)"),
        ("ol_dist_info", "char(24)"),
    ],
    primary_key: "ol_w_id, ol_d_id, ol_o_id, ol_number",
    units: (DISTRICTS * ORDERS) as u64,
    write,
};

/// `1 TAB 1 TAB 1 TAB 1 TAB 52341 TAB 1 TAB 2026-01-01 00:00:00 TAB 5 TAB 0.00 TAB ...`, and the other lines.
fn write(population: &Population, unit: Unit, out: &mut Vec<u8>) -> u64 {
    let draw = &mut Draw::new(population.seed, Purpose::OrderLine, unit.ordinal);
    let order = unit.within % ORDERS + 1;
    let district = unit.within / ORDERS + 1;
    let lines = line_count(population, unit.ordinal);
    for number in 1..=lines {
        let mut row = Row::new(out);
        row.int(order)
            .int(district)
            .int(unit.warehouse)
            .int(number)
            .int(draw.uniform(1..=ITEMS))
            .int(unit.warehouse);
        match order {
            1..=DELIVERED => row.loaded_at().int(5).int(0),
            _ => row.null().int(5).hundredths(draw.uniform(1..=999_999)),
        };
        row.alphanumeric(draw, 24).end();
    }
    lines.into()
}
