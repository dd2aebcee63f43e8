//! Tests of the population against the specification's rules, and of every byte of one warehouse by checksum.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::tpcc::population::{CUSTOMERS, DELIVERED, DISTRICTS, ITEMS};

const SEED: u64 = 1;

fn text(table: Table, warehouses: Range<u32>) -> (u64, Vec<u8>) {
    text_with(SEED, table, warehouses)
}

fn text_with(seed: u64, table: Table, warehouses: Range<u32>) -> (u64, Vec<u8>) {
    let mut out = Vec::new();
    let table_rows = Population { seed }.rows(table, warehouses);
    let rows = (0..table_rows.units()).map(|unit| table_rows.write(unit, &mut out));
    (rows.sum(), out)
}

/// The rows of a table, their fields as text.
fn rows(table: Table, warehouses: Range<u32>) -> Vec<Vec<String>> {
    let (count, out) = text(table, warehouses);
    let lines = String::from_utf8(out).unwrap();
    let rows: Vec<Vec<String>> = lines
        .lines()
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect();
    assert_eq!(rows.len() as u64, count, "{table:?}");
    assert!(rows.iter().all(|row| row.len() == table.columns().count()));
    rows
}

fn number(field: &str) -> u32 {
    field.parse().unwrap()
}

/// Number of rows and checksum of each table: the generated data must never change.
const ONE_WAREHOUSE: &str = "\
item 100000 27f4303671814979ffca738ad6acb17d
warehouse 1 1b59fdc56f9902430ebca4569601ed90
district 10 3d23ba47f83c4f38b98d7ecd3bed7e1a
stock 100000 503cebb03daed2437b05de585e2d6eb0
customer 30000 7f07f9e18fa6bc1aab8a933e7c607882
history 30000 9220bad375b364a7a6917b2646b32bab
orders 30000 b4534bc437299ea611ada33cec19a331
new_orders 9000 4840db613ae986faa80b63aaa201bfd2
order_line 300565 5218b388e1dc7a6d4a8c75a20c6d1b34
";

#[test]
fn every_byte_of_one_warehouse_is_as_ever() {
    let found: Vec<String> = Table::ALL
        .iter()
        .map(|table| {
            let (rows, out) = text(*table, 1..2);
            format!("{} {rows} {:x}\n", table.name(), md5::compute(&out))
        })
        .collect();
    assert_eq!(found.concat(), ONE_WAREHOUSE);
}

#[test]
fn any_warehouse_can_be_made_alone() {
    for table in [
        Table::District,
        Table::Orders,
        Table::NewOrders,
        Table::History,
    ] {
        let (count, whole) = text(table, 1..4);
        let alone: Vec<_> = (1..4)
            .map(|number| text(table, number..number + 1))
            .collect();
        assert_eq!(alone.iter().map(|(rows, _)| rows).sum::<u64>(), count);
        let pieces: Vec<u8> = alone.into_iter().flat_map(|(_, text)| text).collect();
        assert!(pieces == whole, "{table:?}");
    }
    let warehouse = |seed| text_with(seed, Table::Warehouse, 1..2).1;
    assert_ne!(warehouse(1), warehouse(2));
}

#[test]
fn rows_come_in_the_order_of_the_primary_key() {
    for (table, key) in [
        (Table::Item, &[0][..]),
        (Table::District, &[1, 0]),
        (Table::Stock, &[1, 0]),
        (Table::Customer, &[2, 1, 0]),
        (Table::Orders, &[2, 1, 0]),
        (Table::NewOrders, &[2, 1, 0]),
        (Table::OrderLine, &[2, 1, 0, 3]),
    ] {
        let key_of = |row: &Vec<String>| key.iter().map(|at| number(&row[*at])).collect::<Vec<_>>();
        let rows = rows(table, 2..3);
        assert!(
            rows.windows(2).all(|two| key_of(&two[0]) < key_of(&two[1])),
            "{table:?}"
        );
    }
}

/// Ranges of numbers and texts, and shares within 5 % of the specification's targets.
#[test]
fn items_stocks_and_customers_follow_their_rules() {
    let items = rows(Table::Item, 1..2);
    let original = |field: &String| field.contains("ORIGINAL");
    let share = |count: usize, of: usize| count as f64 / of as f64;
    for row in &items {
        assert!((1..=10_000).contains(&number(&row[1])));
        assert!((14..=24).contains(&row[2].len()) && (26..=50).contains(&row[4].len()));
        assert!((1.0..=100.0).contains(&row[3].parse::<f64>().unwrap()));
    }
    let originals = items.iter().filter(|row| original(&row[4])).count();
    assert!((0.095..0.105).contains(&share(originals, items.len())));

    let stocks = rows(Table::Stock, 3..4);
    for row in &stocks {
        assert_eq!(row[1], "3");
        assert!((10..=100).contains(&number(&row[2])));
        assert!(row[3..13].iter().all(|field| field.len() == 24));
        assert_eq!(row[13..16], ["0", "0", "0"]);
    }
    let originals = stocks.iter().filter(|row| original(&row[16])).count();
    assert!((0.095..0.105).contains(&share(originals, stocks.len())));

    let customers = rows(Table::Customer, 1..2);
    for row in &customers {
        assert!((8..=16).contains(&row[3].len()) && (300..=500).contains(&row[20].len()));
        assert_eq!(
            (row[4].as_str(), row[10].len(), row[11].len()),
            ("OE", 9, 16)
        );
        assert!(row[10].ends_with("11111"));
        let discount: f64 = row[15].parse().unwrap();
        assert!((0.0..=0.5).contains(&discount));
        assert_eq!(row[14], "50000.00");
        assert_eq!(row[16..20], ["-10.00", "10.00", "1", "0"]);
    }
    let bad_credit = customers.iter().filter(|row| row[13] == "BC").count();
    assert!((0.095..0.105).contains(&share(bad_credit, customers.len())));
    assert_eq!(customers[371][5], "PRICALLYOUGHT");
    assert_eq!(customers[999][5], "EINGEINGEING");
    let names: BTreeSet<&String> = customers[..3000].iter().map(|row| &row[5]).collect();
    assert_eq!(names.len(), 1000);
}

/// Carriers, lines, amounts and delivery dates of delivered and other orders, and the customers of the orders.
#[test]
fn orders_and_their_lines_agree() {
    let orders = rows(Table::Orders, 1..2);
    let mut lines: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for line in rows(Table::OrderLine, 1..2) {
        let (order, district) = (number(&line[0]), number(&line[1]));
        *lines.entry((district, order)).or_default() += 1;
        let amount: f64 = line[8].parse().unwrap();
        if order <= DELIVERED {
            assert_eq!((amount, line[6].len()), (0.0, 19));
        } else {
            assert!((0.01..=9_999.99).contains(&amount));
            assert_eq!(line[6], "\\N");
        }
        assert!((1..=ITEMS).contains(&number(&line[4])));
        assert_eq!(
            (line[5].as_str(), line[7].as_str(), line[9].len()),
            ("1", "5", 24)
        );
    }
    for district in 1..=DISTRICTS {
        let of_district = orders.iter().filter(|order| number(&order[1]) == district);
        let customers: BTreeSet<u32> = of_district.map(|order| number(&order[3])).collect();
        assert_eq!(customers.len() as u32, CUSTOMERS, "one order of each");
    }
    for order in &orders {
        let (id, district) = (number(&order[0]), number(&order[1]));
        assert_eq!(lines[&(district, id)], number(&order[6]));
        if id <= DELIVERED {
            assert!((1..=10).contains(&number(&order[5])))
        } else {
            assert_eq!(order[5], "\\N")
        }
        assert_eq!(order[7], "1");
    }
    // Numbers of neighbouring orders and districts are independent: an independent shuffle gives a
    // correlation with a standard deviation of 0.006 over 30,000 orders.
    let customer = |at: usize| f64::from(number(&orders[at % orders.len()][3])) - 1_500.5;
    for apart in [1, 2, 64, 3_000] {
        let sum: f64 = (0..orders.len())
            .map(|at| customer(at) * customer(at + apart))
            .sum();
        let correlation = sum / orders.len() as f64 / (3_000.0 * 3_000.0 / 12.0);
        assert!(correlation.abs() < 0.03, "{apart}: {correlation}");
    }
    let mean = lines.values().sum::<u32>() as f64 / lines.len() as f64;
    assert!((9.9..10.1).contains(&mean), "{mean}");
}

#[test]
fn small_tables_row_by_row() {
    let new_orders = rows(Table::NewOrders, 1..2);
    assert_eq!(new_orders[0], ["2101", "1", "1"]);
    assert_eq!(new_orders[8_999], ["3000", "10", "1"]);
    let history = rows(Table::History, 2..3);
    assert_eq!(history[3_000][..5], ["1", "2", "2", "2", "2"]);
    assert_eq!(history[0][6], "10.00");
    for warehouse in rows(Table::Warehouse, 1..20) {
        let tax: f64 = warehouse[7].parse().unwrap();
        assert!((0.0..=0.2).contains(&tax) && warehouse[8] == "300000.00");
    }
    for district in rows(Table::District, 1..3) {
        assert_eq!(district[9..], ["30000.00", "3001"]);
    }
}
