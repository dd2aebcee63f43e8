//! What drives each benchmark of the registry of `workload` in an experiment, a line each.

pub(crate) mod benchmark;
pub mod oltp;
pub mod slap;
pub mod smack;
pub mod tpcc;
pub mod tpch;

use experiment::Plan;

use crate::{
    benchmarks::{
        benchmark::Benchmark,
        oltp::Oltp,
        slap::Slap,
        smack::{Smack, files::SmackFiles},
        tpcc::data::Tpcc,
        tpch::Tpch,
    },
    blame::Blamed,
    listener::Context,
};

const ALL: [(&str, &dyn Benchmark); 5] = [
    ("smack", &Smack),
    ("oltp", &Oltp),
    ("slap", &Slap),
    ("tpcc", &Tpcc),
    ("tpch", &Tpch),
];

/// Reads every .smack file of a plan, and checks that all runs can be what they say; starts and writes nothing.
pub fn read_files(plan: &Plan, context: &Context) -> Result<SmackFiles, Blamed> {
    for run in &plan.runs {
        if let Some(data) = &run.data {
            benchmark(data.source.name()).check(run)?;
        }
        benchmark(run.load.source.name()).check(run)?;
    }
    SmackFiles::read(plan, context)
}

/// The benchmark of this name.
pub fn benchmark(name: &str) -> &'static dyn Benchmark {
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
