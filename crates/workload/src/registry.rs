//! The benchmarks that there are, a line each.

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
}
