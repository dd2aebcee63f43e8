//! The scale factor, which determines the size of the data.

use std::fmt;
use std::str::FromStr;

use tpchgen::generators::OrderGenerator;

use super::table::Table;

/// Minimum: 10 suppliers.
pub(super) const SCALE_FACTOR_MIN: f64 = 0.001;
/// Maximum: larger keys would overflow their columns.
pub(super) const SCALE_FACTOR_MAX: f64 = 10_000.0;

/// A scale factor; 1 is about 1 GB of text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaleFactor(f64);

/// Error for a text that is not a scale factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a scale factor is a number from {SCALE_FACTOR_MIN} to {SCALE_FACTOR_MAX}")]
pub struct NoScaleFactor;

impl ScaleFactor {
    /// The scale factor of data with this number of suppliers; `None` if it is out of range.
    pub fn of_suppliers(suppliers: u64) -> Option<Self> {
        (suppliers as f64 / f64::from(SUPPLIERS)).try_into().ok()
    }

    pub fn value(self) -> f64 {
        self.0
    }

    /// Number of rows of a table. The line count of orders is drawn order by order: this takes some milliseconds at
    /// scale factor 1, and grows in proportion.
    pub fn rows(self, table: Table) -> u64 {
        match table {
            Table::Region => 5,
            Table::Nation => 25,
            Table::Supplier => self.scaled(SUPPLIERS),
            Table::Part => self.scaled(PARTS),
            Table::Customer => self.scaled(CUSTOMERS),
            Table::Orders => self.scaled(ORDERS),
            Table::PartSupp => self.scaled(PARTS) * 4,
            Table::LineItem => {
                let mut lines = OrderGenerator::create_line_count_random();
                let lines = (0..self.scaled(ORDERS)).map(|_| {
                    let count = lines.next_value();
                    lines.row_finished();
                    u64::from(count.unsigned_abs())
                });
                lines.sum()
            }
        }
    }

    /// Scales a row count, rounded as in the generator.
    pub(super) fn scaled(self, at_one: u32) -> u64 {
        (f64::from(at_one) * self.0) as u64
    }
}

/// Rows at scale factor 1. Source: TPC-H 3.0, clause 4.2.5.
pub(super) const SUPPLIERS: u32 = 10_000;
pub(super) const PARTS: u32 = 200_000;
pub(super) const CUSTOMERS: u32 = 150_000;
pub(super) const ORDERS: u32 = 1_500_000;

impl TryFrom<f64> for ScaleFactor {
    type Error = NoScaleFactor;

    fn try_from(value: f64) -> Result<Self, NoScaleFactor> {
        if (SCALE_FACTOR_MIN..=SCALE_FACTOR_MAX).contains(&value) {
            Ok(Self(value))
        } else {
            Err(NoScaleFactor)
        }
    }
}

impl FromStr for ScaleFactor {
    type Err = NoScaleFactor;

    fn from_str(text: &str) -> Result<Self, NoScaleFactor> {
        text.parse::<f64>().map_err(|_| NoScaleFactor)?.try_into()
    }
}

impl fmt::Display for ScaleFactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_bounded() {
        for (text, value) in [
            ("1", Some(1.0)),
            ("0.01", Some(0.01)),
            ("10000", Some(10_000.0)),
            ("0.0001", None),
            ("0", None),
            ("-1", None),
            ("nan", None),
            ("1G", None),
        ] {
            let parsed: Result<ScaleFactor, _> = text.parse();
            assert_eq!(parsed.ok().map(ScaleFactor::value), value, "{text}");
        }
        assert_eq!("0.01".parse::<ScaleFactor>().unwrap().to_string(), "0.01");
    }

    #[test]
    fn the_tables_have_the_specifications_sizes() {
        let one: ScaleFactor = "1".parse().unwrap();
        // Clause 4.2.5.1 of TPC-H 3.0.
        for (table, rows) in [
            (Table::Region, 5),
            (Table::Nation, 25),
            (Table::Supplier, 10_000),
            (Table::Customer, 150_000),
            (Table::Part, 200_000),
            (Table::PartSupp, 800_000),
            (Table::Orders, 1_500_000),
            (Table::LineItem, 6_001_215),
        ] {
            assert_eq!(one.rows(table), rows, "{}", table.name());
        }
        assert_eq!(ScaleFactor::of_suppliers(100).unwrap().value(), 0.01);
        assert_eq!(ScaleFactor::of_suppliers(0), None);
    }
}
