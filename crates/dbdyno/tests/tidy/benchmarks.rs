//! Checks of who names a benchmark, and of what a benchmark names.

use crate::crates::Crate;

/// Crates that must not name a benchmark.
const NEUTRAL: &[&str] = &["experiment", "load", "runs", "settings"];

/// What benchmarks may name of `load`: a virtual client, and the values that it yields. Pacing and recording are not theirs.
const OF_A_USER: &[&str] = &["Class", "Failure", "Moment", "Next", "User", "Watch"];

/// Names of benchmarks that they must not contain.
const BENCHMARKS: &[&str] = &["smack", "mysqlslap", "sysbench", "tpcc", "tpch"];

/// Maximum files outside of a benchmark's own that may name TPC-C or TPC-H: the registries, the commands, and the loads of
/// `config prove` with their options.
const NAMING_AT_MOST: usize = 8;

/// Directories and files of a benchmark, or of the replacement of its original tool.
const OWN_PLACES: &[&str] = &[
    "/benchmarks/src/tpc",
    "/commands/tpc",
    "/dataset/src/tpc",
    "/front_doors",
    "/workload/src/tpc",
];

/// Lines of the neutral crates that name a benchmark.
pub(crate) fn benchmarks_named(crates: &[Crate]) -> Vec<String> {
    let mut problems = Vec::new();
    for (place, line) in crates
        .iter()
        .filter(|one| NEUTRAL.contains(&one.name.as_str()))
        .flat_map(Crate::code)
    {
        let line = line.to_lowercase();
        for benchmark in BENCHMARKS.iter().filter(|name| line.contains(**name)) {
            problems.push(format!("{place} names {benchmark:?}"));
        }
    }
    problems
}

/// Names that benchmarks take from `load` beside those of a user.
pub(crate) fn beyond_a_user(crates: &[Crate]) -> Vec<String> {
    let benchmarks = crates.iter().filter(|one| one.name == "workload");
    let mut problems = Vec::new();
    for file in benchmarks.flat_map(Crate::sources) {
        for (start, root) in file.text.match_indices("load::") {
            let before = file.text[..start].chars().next_back();
            if before.is_some_and(|it| it.is_alphanumeric() || matches!(it, '_' | ':')) {
                continue;
            }
            let path = &file.text[start + root.len()..];
            let names = match path.strip_prefix('{') {
                Some(list) => list.split('}').next().unwrap_or(list),
                None => path
                    .split(|it: char| !it.is_alphanumeric())
                    .next()
                    .unwrap_or(path),
            };
            let names = names.split(',').map(str::trim).filter(|it| !it.is_empty());
            let strange = names.filter(|it| !OF_A_USER.contains(it));
            problems.extend(strange.map(|name| format!("{} uses load::{name}", file.path)));
        }
    }
    problems
}

/// Files that name TPC-C or TPC-H outside of the benchmarks' own; empty if they are at most [`NAMING_AT_MOST`]. The
/// source of a rule may cite them: a citation is not a dependency on a benchmark.
pub(crate) fn naming_a_tpc_benchmark(crates: &[Crate]) -> Vec<String> {
    let files = crates.iter().flat_map(Crate::sources);
    let naming = files.filter(|file| {
        let lines = file.text.lines();
        let uncited = lines.filter(|line| !line.trim_start().starts_with("source: \""));
        let text = uncited.collect::<Vec<_>>().join("\n").to_lowercase();
        let names = ["tpcc", "tpch", "tpc-c", "tpc-h"];
        let is_own = OWN_PLACES.iter().any(|place| file.path.contains(place));
        !is_own && names.iter().any(|name| text.contains(name))
    });
    let paths: Vec<String> = naming.map(|file| file.path.clone()).collect();
    if paths.len() <= NAMING_AT_MOST {
        Vec::new()
    } else {
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{crates::example, repository::File};

    #[test]
    fn a_benchmark_named_in_load_is_found() {
        let code = "// as in tpcc\nuse workload::smack::Program;\n";
        let problems = benchmarks_named(&[example("load", "", code)]);
        assert_eq!(problems, ["crates/load/src/lib.rs:2 names \"smack\""]);
        assert_eq!(benchmarks_named(&[example("workload", "", code)]).len(), 0);
    }

    #[test]
    fn a_benchmark_that_paces_itself_is_found() {
        let user = "use load::{Failure, Next};\nfn a(_: overload::Load, _: load::User) {}\n";
        assert_eq!(beyond_a_user(&[example("workload", "", user)]).len(), 0);
        let pace = "use load::{\n    Next,\n    Arrivals,\n};\nfn a(_: load::Stop) {}\n";
        let problems = beyond_a_user(&[example("workload", "", pace)]);
        let expected = ["Arrivals", "Stop"]
            .map(|name| format!("crates/workload/src/lib.rs uses load::{name}"));
        assert_eq!(problems, expected);
    }

    #[test]
    fn benchmarks_that_are_named_in_too_many_files_are_found() {
        let stranger = |index| example(&format!("c{index}"), "", "// as of TPC-C\n");
        let few: Vec<Crate> = (0..NAMING_AT_MOST).map(stranger).collect();
        assert_eq!(naming_a_tpc_benchmark(&few).len(), 0);
        let many: Vec<Crate> = (0..=NAMING_AT_MOST).map(stranger).collect();
        assert_eq!(naming_a_tpc_benchmark(&many).len(), NAMING_AT_MOST + 1);
        let own = File {
            path: "crates/workload/src/tpcc/terminal.rs".to_owned(),
            text: "// TPC-C".to_owned(),
        };
        let mut with_own = few;
        with_own.push(Crate::new("workload", "", vec![own]));
        assert_eq!(naming_a_tpc_benchmark(&with_own).len(), 0);
    }
}
