//! The tables of options of all benchmarks, a line each, and the programs that run them; what drives them stands in `runs`.

use settings::Vocabulary;

use crate::{oltp, slap, smack, tpcc, tpch};

/// What an experiment file can say of them.
pub const VOCABULARY: Vocabulary = Vocabulary {
    data: &[
        &smack::SmackData,
        &oltp::OltpData,
        &slap::SlapData,
        &tpcc::TpccData,
        &tpch::TpchData,
    ],
    loads: &[
        &smack::SmackLoad,
        &oltp::OltpLoad,
        &slap::SlapLoad,
        &tpcc::TpccLoad,
        &tpch::TpchLoad,
    ],
};

/// The programs whose command lines dbdyno takes where it is called by their names.
pub const TOOLS: [&str; 6] = [
    "super-smack",
    "mysqlslap",
    "mariadb-slap",
    "tpcc_load",
    "tpcc_start",
    "gen-data",
];

/// The commands that run one benchmark once, and take `--seed` and `--record`.
pub const SINGLE_RUNS: [&str; 5] = ["oltp", "tpcc", "super-smack", "mysqlslap", "mariadb-slap"];

#[cfg(test)]
mod tests {
    use settings::{OptionTable, defaults};

    use super::*;

    #[test]
    fn every_default_is_a_value_of_its_option_and_every_name_is_used_once() {
        let data = VOCABULARY.data.iter().map(|kind| *kind as &dyn OptionTable);
        let loads = VOCABULARY
            .loads
            .iter()
            .map(|kind| *kind as &dyn OptionTable);
        for tables in [data.collect::<Vec<_>>(), loads.collect()] {
            for (at, table) in tables.iter().enumerate() {
                let others = tables[..at].iter();
                let is_new = others.clone().all(|other| other.name() != table.name());
                assert!(is_new, "{}", table.name());
                defaults(table.options());
                if let Some(short) = table.short() {
                    let mut options = table.options().iter();
                    assert!(options.any(|option| option.name == short), "{short}");
                }
            }
        }
    }

    #[test]
    fn every_benchmark_knows_the_tables_that_it_makes() {
        let tables = [
            oltp::known_tables(1),
            tpcc::known_tables(),
            tpch::known_tables(),
        ];
        for table in tables.concat() {
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
        assert_eq!(names.len(), tpcc::drop_statements().len());
        assert_eq!(tpch::known_tables()[0].name, "lineitem");
    }
}
