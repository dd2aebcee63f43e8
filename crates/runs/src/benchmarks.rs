//! The registry: every benchmark that dbdyno supports, one entry each.

use std::sync::LazyLock;

use blame::Blamed;
use experiment::{Experiment, Plan};
use server::Cgroup;
use settings::Vocabulary;

pub(crate) mod benchmark;
pub mod oltp;
pub mod own_data;
pub mod script;
pub mod slap;
pub mod smack;
pub mod storage;
pub mod tpcc;
pub mod tpch;
pub mod wiki;

use crate::{
    benchmarks::{
        benchmark::{Benchmark, DataMaker, OnServer},
        oltp::Oltp,
        script::Script,
        slap::Slap,
        smack::Smack,
        storage::Storage,
        tpcc::data::Tpcc,
        tpch::Tpch,
        wiki::Wiki,
    },
    limit::check_limits_of_servers,
    listener::Context,
};

/// If a file has the tables of several benchmarks, the later one in this list has precedence.
const BENCHMARKS: [&dyn Benchmark; 7] = [
    &Smack::WITHOUT_FILES,
    &Oltp,
    &Slap,
    &Tpcc,
    &Tpch,
    &Script,
    &Storage,
];

/// Data sets without a load of their own.
const DATA: [&dyn DataMaker; 1] = [&Wiki];

/// The options of all benchmarks in an experiment file.
pub static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary {
    data: data_makers().map(DataMaker::data_options).collect(),
    loads: BENCHMARKS.map(Benchmark::load_options).to_vec(),
});

/// The programs whose command lines dbdyno accepts when it is called by their names.
pub fn tools() -> impl Iterator<Item = &'static str> {
    BENCHMARKS.into_iter().flat_map(Benchmark::tools).copied()
}

/// The commands that run one benchmark once, and accept `--seed` and `--record`.
pub fn single_runs() -> impl Iterator<Item = &'static str> {
    let benchmarks = BENCHMARKS.into_iter();
    benchmarks.flat_map(Benchmark::single_runs).copied()
}

/// The benchmarks of a plan, with what they have read of its files.
pub struct PlanBenchmarks {
    /// Those that keep what they read; they take the place of the registry's.
    with_files: Vec<Box<dyn Benchmark>>,
}

impl PlanBenchmarks {
    /// Checks that all runs of a plan are possible, and reads its files; starts and writes nothing.
    pub fn read(plan: &Plan, context: &Context) -> Result<Self, Blamed> {
        for run in &plan.runs {
            let data = run.data.as_ref().map(|data| data.source.name());
            if let Some(maker) = data.and_then(maker_among_benchmarks) {
                maker.check(run)?;
            }
            for load in &run.loads {
                benchmark(load.spec.source.name()).check(run)?;
            }
        }
        let mut with_files = Vec::new();
        for known in BENCHMARKS {
            with_files.extend(known.with_files(plan, context)?);
        }
        Ok(Self { with_files })
    }

    /// The benchmark whose load has this name.
    pub(crate) fn benchmark(&self, name: &str) -> &dyn Benchmark {
        let mut own = self.with_files.iter().map(Box::as_ref);
        let own = own.find(|known| known.load_options().name() == name);
        own.unwrap_or_else(|| benchmark(name))
    }

    /// What makes the data with the option table of this name.
    pub(crate) fn data_maker(&self, name: &str) -> &dyn DataMaker {
        let own = self.with_files.iter().filter_map(|known| known.on_server());
        let mut own = own.filter_map(OnServer::data_maker);
        let own = own.find(|known| known.data_options().name() == name);
        own.unwrap_or_else(|| {
            let found = data_makers().find(|known| known.data_options().name() == name);
            found.expect("an experiment knows no other table than the vocabulary's")
        })
    }
}

/// An error if a limit of the experiment, on its servers or on the disks of its loads, cannot be set on this machine.
pub fn check_limits(experiment: &Experiment) -> Result<(), Blamed> {
    if experiment.is_simulated() {
        return Ok(());
    }
    let plan = experiment.plan();
    check_limits_of_servers(plan)?;
    let mut limited = Vec::new();
    for load in plan.runs.iter().flat_map(|run| &run.loads) {
        let load = &load.spec;
        let of_load = benchmark(load.source.name());
        let disk = of_load.directory(load).zip(of_load.disk_limits(load));
        limited.extend(disk.filter(|disk| !limited.contains(disk)));
    }
    for (directory, limits) in limited {
        // It is made only to see whether that is possible, and removed at once.
        Cgroup::create(&directory, limits)?;
    }
    Ok(())
}

/// The benchmark whose load has this name, as the registry has it.
fn benchmark(name: &str) -> &'static dyn Benchmark {
    let mut benchmarks = BENCHMARKS.into_iter();
    let found = benchmarks.find(|known| known.load_options().name() == name);
    found.expect("an experiment knows no other table than the vocabulary's")
}

fn maker_among_benchmarks(data: &str) -> Option<&'static dyn Benchmark> {
    let mut benchmarks = BENCHMARKS.into_iter();
    benchmarks.find(|known| {
        let maker = known.on_server().and_then(OnServer::data_maker);
        maker.is_some_and(|maker| maker.data_options().name() == data)
    })
}

fn data_makers() -> impl Iterator<Item = &'static dyn DataMaker> {
    let of_benchmarks = BENCHMARKS.into_iter().filter_map(Benchmark::on_server);
    of_benchmarks.filter_map(OnServer::data_maker).chain(DATA)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use settings::{OptionTable, defaults};

    use super::*;

    #[test]
    fn tables_of_different_benchmarks_have_different_names() {
        let mut names = BTreeSet::new();
        for benchmark in BENCHMARKS {
            let name = benchmark.load_options().name();
            let data = benchmark.on_server().and_then(OnServer::data_maker);
            let data = data.map(|it| it.data_options().name());
            assert!(names.insert(name), "{name}");
            let own = data.filter(|it| *it != name);
            assert!(own.is_none_or(|it| names.insert(it)), "{own:?}");
        }
    }

    #[test]
    fn every_default_is_a_value_of_its_option() {
        let data = VOCABULARY.data.iter().map(|kind| *kind as &dyn OptionTable);
        let loads = VOCABULARY.loads.iter();
        let loads = loads.map(|kind| *kind as &dyn OptionTable);
        for table in data.chain(loads) {
            defaults(table.options());
            if let Some(short) = table.short() {
                let mut options = table.options().iter();
                assert!(options.any(|option| option.name == short), "{short}");
            }
        }
    }
}
