//! The rows of one table at one scale factor.

use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

use super::lines::Row;
use super::scale_factor::{CUSTOMERS, ORDERS, PARTS, SUPPLIERS, ScaleFactor};
use super::table::Table;
use crate::table_data::Rows;

/// Parts, suppliers, customers or orders per unit, approximately: the generator's start-up cost is negligible
/// compared to them.
const UNIT: u64 = 1000;
const SUPPLIERS_OF_PART: usize = 4;

/// The rows of one table, identical to dbgen's. The first row of the process costs a second and 300 MB of memory, for
/// the text from which comments are taken.
#[derive(Debug, Clone, Copy)]
pub struct TableRows {
    table: Table,
    scale_factor: ScaleFactor,
    units: i32,
}

impl TableRows {
    pub fn new(table: Table, scale_factor: ScaleFactor) -> Self {
        let divided = match table {
            Table::LineItem | Table::Orders => scale_factor.scaled(ORDERS),
            Table::PartSupp | Table::Part => scale_factor.scaled(PARTS),
            Table::Customer => scale_factor.scaled(CUSTOMERS),
            Table::Supplier => scale_factor.scaled(SUPPLIERS),
            // The generator produces these tables as a whole.
            Table::Nation | Table::Region => 1,
        };
        let units = (divided / UNIT).max(1);
        Self {
            table,
            scale_factor,
            units: i32::try_from(units).expect("scale factors are bounded so that this fits"),
        }
    }
}

impl Rows for TableRows {
    fn units(&self) -> u64 {
        u64::from(self.units.unsigned_abs())
    }

    fn write(&self, unit: u64, out: &mut Vec<u8>) -> u64 {
        let unit = i32::try_from(unit).expect("there are no more units than fit");
        let (scale_factor, part, parts) = (self.scale_factor.value(), unit + 1, self.units);
        match self.table {
            Table::LineItem => write(
                LineItemGenerator::new(scale_factor, part, parts).iter(),
                out,
            ),
            Table::Orders => write(OrderGenerator::new(scale_factor, part, parts).iter(), out),
            Table::PartSupp => {
                // The suppliers of a part are not generated in the order of their keys.
                let generator = PartSuppGenerator::new(scale_factor, part, parts);
                let mut rows: Vec<_> = generator.iter().collect();
                for suppliers in rows.chunks_mut(SUPPLIERS_OF_PART) {
                    suppliers.sort_by_key(|row| row.ps_suppkey);
                }
                write(rows.into_iter(), out)
            }
            Table::Part => write(PartGenerator::new(scale_factor, part, parts).iter(), out),
            Table::Customer => write(
                CustomerGenerator::new(scale_factor, part, parts).iter(),
                out,
            ),
            Table::Supplier => write(
                SupplierGenerator::new(scale_factor, part, parts).iter(),
                out,
            ),
            Table::Nation => write(NationGenerator::new(scale_factor, part, parts).iter(), out),
            Table::Region => write(RegionGenerator::new(scale_factor, part, parts).iter(), out),
        }
    }
}

fn write<R: Row>(rows: impl Iterator<Item = R>, out: &mut Vec<u8>) -> u64 {
    let mut count = 0;
    for row in rows {
        row.write(out);
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hundredth() -> ScaleFactor {
        "0.01".parse().unwrap()
    }

    /// All lines of a table, and their number.
    fn lines(table: Table, scale_factor: ScaleFactor) -> (Vec<u8>, u64) {
        let rows = TableRows::new(table, scale_factor);
        let mut out = Vec::new();
        let written = (0..rows.units())
            .map(|unit| rows.write(unit, &mut out))
            .sum();
        (out, written)
    }

    #[test]
    fn lines_are_those_of_dbgen() {
        for table in Table::ALL {
            let (lines, written) = lines(table, hundredth());
            assert_eq!(written, hundredth().rows(table), "{}", table.name());
            let text = String::from_utf8(lines).unwrap();
            assert!(text.is_ascii() && !text.contains('\\'), "{}", table.name());
            let fields = |line: &str| line.matches('\t').count() + 1;
            let columns = table.columns().len();
            assert!(text.lines().all(|line| fields(line) == columns));
            let first = text.lines().next().unwrap();
            // Rows of dbgen's .tbl files, without the bar at their ends.
            let tbl = match table {
                Table::Region => {
                    "0|AFRICA|lar deposits. blithely final packages cajole. regular waters are final requests. regular accounts are according to "
                }
                Table::Nation => "0|ALGERIA|0| haggle. carefully final deposits detect slyly agai",
                Table::LineItem => {
                    "1|1552|93|1|17|24710.35|0.04|0.02|N|O|1996-03-13|1996-02-12|1996-03-22|DELIVER IN PERSON|TRUCK|egular courts above the"
                }
                Table::Orders => {
                    "1|370|O|172799.49|1996-01-02|5-LOW|Clerk#000000951|0|nstructions sleep furiously among "
                }
                Table::PartSupp => {
                    "1|2|3325|771.64|, even theodolites. regular, final theodolites eat after the carefully pending foxes. furiously regular deposits sleep slyly. carefully bold realms above the ironic dependencies haggle careful"
                }
                Table::Part => {
                    "1|goldenrod lavender spring chocolate lace|Manufacturer#1|Brand#13|PROMO BURNISHED COPPER|7|JUMBO PKG|901.00|ly. slyly ironi"
                }
                Table::Customer => {
                    "1|Customer#000000001|IVhzIApeRb ot,c,E|15|25-989-741-2988|711.56|BUILDING|to the even, regular platelets. regular, ironic epitaphs nag e"
                }
                Table::Supplier => {
                    "1|Supplier#000000001| N kD4on9OM Ipw3,gf0JBoQDd7tgrzrddZ|17|27-918-335-1736|5755.94|each slyly above the careful"
                }
            };
            assert_eq!(first.replace('\t', "|"), tbl);
        }
    }

    #[test]
    fn a_unit_is_the_same_by_itself() {
        let rows = TableRows::new(Table::Orders, hundredth());
        assert_eq!(rows.units(), 15);
        let (all, _) = lines(Table::Orders, hundredth());
        let mut alone = Vec::new();
        rows.write(7, &mut alone);
        assert!(all.windows(alone.len()).any(|part| part == alone));
    }

    #[test]
    fn keys_ascend() {
        for table in [
            Table::LineItem,
            Table::PartSupp,
            Table::Orders,
            Table::Supplier,
        ] {
            let (lines, _) = lines(table, hundredth());
            let text = String::from_utf8(lines).unwrap();
            let columns = match table {
                Table::LineItem => [0, 3],
                Table::PartSupp => [0, 1],
                _ => [0, 0],
            };
            let key = |line: &str| {
                let fields: Vec<&str> = line.split('\t').collect();
                columns.map(|column| fields[column].parse::<u64>().unwrap())
            };
            let keys: Vec<_> = text.lines().map(key).collect();
            assert!(keys.is_sorted_by(|a, b| a < b), "{}", table.name());
        }
    }
}
