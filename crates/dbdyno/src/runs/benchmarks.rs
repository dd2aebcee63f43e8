//! The benchmarks that an experiment can run, a line each.

use super::{
    benchmark::Benchmark, oltp_runs::Oltp, smack_runs::Smack, tpcc::data::Tpcc, tpch_data::Tpch,
};

const ALL: [(&str, &dyn Benchmark); 4] = [
    ("smack", &Smack),
    ("oltp", &Oltp),
    ("tpcc", &Tpcc),
    ("tpch", &Tpch),
];

/// The benchmark of this name.
pub(crate) fn benchmark(name: &str) -> &'static dyn Benchmark {
    let found = ALL.iter().find(|(known, _)| *known == name);
    found
        .expect("a test holds that every table of options has its benchmark")
        .1
}

#[cfg(test)]
mod tests {
    use workload::VOCABULARY;

    use super::*;

    #[test]
    fn every_table_of_options_has_its_benchmark() {
        let data = VOCABULARY.data.iter().map(|kind| kind.name());
        let loads = VOCABULARY.loads.iter().map(|kind| kind.name());
        for name in data.chain(loads) {
            benchmark(name);
        }
    }
}
