//! Checks of loaded tables, as statements and their expected answers.

use super::rows::TableRows;
use super::scale_factor::ScaleFactor;
use super::table::{ForeignKey, Table};
use crate::table_data::Rows;

/// The content of one table as two numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableCheck {
    /// Statement that returns two numbers: the number of rows, and the sum of the CRC-32 of each.
    pub sql: String,
    /// Expected number of rows.
    pub rows: u64,
    /// Expected sum of the checksums.
    pub checksum: u64,
}

/// A foreign key to check, whether the table declares it or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKeyCheck {
    pub table: Table,
    pub key: ForeignKey,
    /// Statement that returns the number of rows without a referenced row.
    pub sql: String,
}

/// The expected content of a table, computed by generating every row again.
pub fn table_check(table: Table, scale_factor: ScaleFactor) -> TableCheck {
    let rows = TableRows::new(table, scale_factor);
    let (mut count, mut checksum) = (0, 0);
    let mut lines = Vec::new();
    for unit in 0..rows.units() {
        lines.clear();
        count += rows.write(unit, &mut lines);
        let lines = lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        checksum += lines
            .map(|line| u64::from(crc32fast::hash(line)))
            .sum::<u64>();
    }
    TableCheck {
        sql: checksum_sql(table),
        rows: count,
        checksum,
    }
}

/// All foreign keys of the eight tables.
pub fn foreign_key_checks() -> Vec<ForeignKeyCheck> {
    let keys = Table::ALL
        .into_iter()
        .flat_map(|table| table.foreign_keys().iter().map(move |key| (table, *key)));
    keys.map(|(table, key)| ForeignKeyCheck {
        table,
        key,
        sql: orphans_sql(table, key),
    })
    .collect()
}

/// The checksum as an SQL statement, over the lines that the rows were loaded from.
fn checksum_sql(table: Table) -> String {
    let columns: Vec<String> = table
        .columns()
        .iter()
        .map(|(name, _)| match *name {
            // The lines have it without the decimals that the column adds.
            "l_quantity" => "cast(l_quantity as signed)".to_owned(),
            name => name.to_owned(),
        })
        .collect();
    format!(
        "select count(*), cast(coalesce(sum(crc32(concat_ws(0x09, {}))), 0) as unsigned) from {}",
        columns.join(", "),
        table.name()
    )
}

fn orphans_sql(table: Table, key: ForeignKey) -> String {
    let to = key.to.primary_key();
    let pairs: Vec<String> = key
        .columns
        .split(", ")
        .zip(to.split(", "))
        .map(|(column, referred)| format!("referring.{column} = referred.{referred}"))
        .collect();
    let first = to.split(", ").next().unwrap_or(to);
    format!(
        "select count(*) from {} referring left join {} referred on {} where referred.{first} is null",
        table.name(),
        key.to.name(),
        pairs.join(" and ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_of_a_hundredth_never_changes() {
        let hundredth: ScaleFactor = "0.01".parse().unwrap();
        let found = Table::ALL.map(|table| {
            let check = table_check(table, hundredth);
            (table.name(), check.rows, check.checksum)
        });
        assert_eq!(
            found,
            [
                ("lineitem", 60_175, 128_933_903_922_749),
                ("orders", 15_000, 32_195_556_004_592),
                ("partsupp", 8_000, 17_111_330_223_989),
                ("part", 2_000, 4_273_780_017_924),
                ("customer", 1_500, 3_283_735_042_076),
                ("supplier", 100, 224_199_598_443),
                ("nation", 25, 47_563_017_218),
                ("region", 5, 10_209_066_223),
            ]
        );
    }

    #[test]
    fn statements_name_every_column_once() {
        assert_eq!(
            checksum_sql(Table::Region),
            "select count(*), cast(coalesce(sum(crc32(concat_ws(0x09, r_regionkey, r_name, r_comment))), 0) as unsigned) \
             from region"
        );
        let checks = foreign_key_checks();
        assert_eq!(checks.len(), 8);
        let pair = checks
            .iter()
            .find(|check| check.key.to == Table::PartSupp)
            .unwrap();
        assert_eq!(
            pair.sql,
            "select count(*) from lineitem referring left join partsupp referred on \
             referring.l_partkey = referred.ps_partkey and referring.l_suppkey = referred.ps_suppkey \
             where referred.ps_partkey is null"
        );
    }
}
