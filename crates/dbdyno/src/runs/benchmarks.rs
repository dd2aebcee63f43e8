//! The benchmarks that an experiment can run, a line each.

use experiment::Plan;

use super::{
    benchmark::Benchmark, oltp_runs::Oltp, slap_runs::Slap, smack_data::SmackFiles,
    smack_runs::Smack, tpcc::data::Tpcc, tpch_data::Tpch,
};

const ALL: [(&str, &dyn Benchmark); 5] = [
    ("smack", &Smack),
    ("oltp", &Oltp),
    ("slap", &Slap),
    ("tpcc", &Tpcc),
    ("tpch", &Tpch),
];

/// Reads every .smack file of a plan, and checks that all runs can be what they say; starts and writes nothing.
pub(crate) fn read_files(plan: &Plan) -> anyhow::Result<SmackFiles> {
    for run in &plan.runs {
        if let Some(data) = &run.data {
            benchmark(data.source.name()).check(run)?;
        }
        benchmark(run.load.source.name()).check(run)?;
    }
    SmackFiles::read(plan)
}

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
