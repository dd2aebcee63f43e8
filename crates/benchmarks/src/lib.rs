//! The benchmarks, one module each; a new one also gets a line in the registry below.
//!
//! A module has its benchmark's options, rows, statements and users, reproducible from a seed. Its file `benchmark.rs`
//! is the benchmark as experiments and commands run it. Where that is much, `loading.rs` loads the data and `check.rs` checks
//! it; `layout.rs` has the layout of the original tool's report, a pure function of figures.

pub mod calibration;
mod diagnostic;
mod glibc_random;
pub mod oltp;
mod own_data;
pub mod script;
pub mod slap;
pub mod smack;
pub mod storage;
pub mod tpcc;
pub mod tpch;
pub mod wiki;

use std::sync::LazyLock;

pub use diagnostic::Diagnostic;
use runs::Registry;
use settings::Vocabulary;

/// Every benchmark that dbdyno supports.
pub static REGISTRY: Registry = Registry {
    benchmarks: &[
        &smack::Smack::WITHOUT_FILES,
        &oltp::Oltp,
        &slap::Slap,
        &tpcc::Tpcc,
        &tpch::Tpch,
        &script::Script,
        &storage::Storage,
    ],
    data: &[&wiki::Wiki],
};

/// The options of all benchmarks in an experiment file.
pub static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| REGISTRY.vocabulary());

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use runs::OnServer;
    use settings::{OptionTable, defaults};

    use super::*;

    #[test]
    fn tables_of_different_benchmarks_have_different_names() {
        let mut names = BTreeSet::new();
        for benchmark in REGISTRY.benchmarks {
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
