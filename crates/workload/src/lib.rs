//! The benchmarks: rows, statements and transactions of each, reproducible from a seed, run over a connection.

mod diagnostic;
mod glibc_random;
pub mod oltp;
pub mod script;
pub mod slap;
pub mod smack;
pub mod tpcc;

pub use diagnostic::Diagnostic;

#[cfg(test)]
mod tests {
    use super::{oltp, tpcc};

    #[test]
    fn every_benchmark_knows_the_tables_that_it_makes() {
        let sbtest = &oltp::known_tables(2)[1];
        assert_eq!(sbtest.name, "sbtest2");
        assert!(sbtest.layouts.contains(&"id, k, c, pad".to_owned()));
        // The table of bulk_insert.
        assert!(sbtest.layouts.contains(&"id, k".to_owned()));
        for table in [oltp::known_tables(1), tpcc::known_tables()].concat() {
            for layout in &table.layouts {
                let columns: Vec<_> = layout.split(", ").map(str::to_owned).collect();
                assert!(table.has_layout(&columns), "{}", table.name);
            }
        }
        let names: Vec<_> = tpcc::known_tables()
            .into_iter()
            .map(|table| table.name)
            .collect();
        assert_eq!(names[0], "order_line");
        assert!(names.ends_with(&["dbdyno_tpcc".to_owned(), "dbdyno_tpcc_parts".to_owned()]));
    }
}
