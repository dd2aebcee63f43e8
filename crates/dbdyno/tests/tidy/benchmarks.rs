//! Checks of who names a benchmark, and of what a benchmark names.

use crate::{
    crates::{Crate, begins_a_path, names_crate},
    repository::File,
};

/// Crates that must not name a benchmark.
const NEUTRAL: &[&str] = &["experiment", "load", "runs", "settings"];

/// What a benchmark's users may name of `load`: a virtual client, and the values that it yields. Pacing and recording are
/// not theirs.
const OF_A_USER: &[&str] = &[
    "Class",
    "Failure",
    "Moment",
    "Next",
    "OperationObserver",
    "User",
];

/// The crates that a benchmark's users may name beside `load`; none with a clock, telemetry or the control of a run.
const BELOW_A_USER: &[&str] = &[
    "benchmarks",
    "blame",
    "dataset",
    "files",
    "protocol",
    "settings",
    "sqltext",
];

/// The folder of all benchmarks.
const FOLDER: &str = "crates/benchmarks/src/";

/// Begin of the paths, below [`FOLDER`], of the files that run a benchmark, prepare its data or report. All others belong
/// to its users and are restricted to [`OF_A_USER`] and [`BELOW_A_USER`].
const RUNNING: &[&str] = &[
    "calibration",
    "lib.rs",
    "oltp/benchmark.rs",
    "oltp/check.rs",
    "oltp/layout",
    "oltp/table_statements.rs",
    "own_data",
    "script/benchmark.rs",
    "slap/benchmark.rs",
    "smack/benchmark.rs",
    "smack/smack_file.rs",
    "storage/",
    "tpcc/benchmark.rs",
    "tpcc/consistency.rs",
    "tpcc/deliveries.rs",
    "tpcc/layout.rs",
    "tpcc/loading.rs",
    "tpcc/terminal_groups.rs",
    "tpcc/tpcc_mysql_layout.rs",
    "tpch/benchmark.rs",
    "tpch/check.rs",
    "wiki.rs",
];

/// Names of benchmarks that they must not contain.
const BENCHMARKS: &[&str] = &["smack", "mysqlslap", "sysbench", "tpcc", "tpch"];

/// Maximum files outside of a benchmark's own that may name TPC-C or TPC-H: the registries, the commands, and the loads of
/// `config prove` with their options.
const NAMING_AT_MOST: usize = 7;

/// Directories and files of a benchmark, or of the replacement of its original tool.
const OWN_PLACES: &[&str] = &[
    "/benchmarks/src/tpc",
    "/commands/tpc",
    "/dataset/src/tpc",
    "/front_doors",
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

/// What the users of benchmarks name beside [`OF_A_USER`] and [`BELOW_A_USER`], and entries of [`RUNNING`] that are not
/// needed. Tests are ignored: they may use a reactor.
pub(crate) fn beyond_a_user(crates: &[Crate]) -> Vec<String> {
    let names: Vec<&str> = crates.iter().map(|one| one.name.as_str()).collect();
    let benchmarks = crates.iter().filter(|one| one.name == "benchmarks");
    let mut needed = vec![false; RUNNING.len()];
    let mut problems = Vec::new();
    for file in benchmarks.flat_map(Crate::sources) {
        let strange = strange_to_a_user(file, &names);
        let path = file.path.strip_prefix(FOLDER).unwrap_or(&file.path);
        match RUNNING.iter().position(|begin| path.starts_with(begin)) {
            Some(index) => needed[index] |= !strange.is_empty(),
            None => problems.extend(strange),
        }
    }
    let stale = RUNNING.iter().zip(needed).filter(|(_, needed)| !needed);
    problems.extend(stale.map(|(path, _)| format!("{FOLDER}{path}: is restricted to a user")));
    problems
}

/// The names of a file that are not a user's.
fn strange_to_a_user(file: &File, crates: &[&str]) -> Vec<String> {
    if file.path.ends_with("_tests.rs") {
        return Vec::new();
    }
    let end = ["#[cfg(test)]\nmod tests", "#[cfg(test)]\n#[path"].map(|end| file.text.find(end));
    let end = end.into_iter().flatten().min();
    let text = &file.text[..end.unwrap_or(file.text.len())];
    let code = || {
        let lines = text.lines();
        lines.filter(|line| !line.trim_start().starts_with("//"))
    };
    let mut strange = of_load(&code().collect::<Vec<_>>().join("\n"));
    strange.retain(|name| !OF_A_USER.contains(&name.as_str()));
    for name in &mut strange {
        name.insert_str(0, "load::");
    }
    let beyond = crates
        .iter()
        .filter(|name| **name != "load" && !BELOW_A_USER.contains(name));
    let named = beyond.filter(|name| code().any(|line| names_crate(line, name)));
    strange.extend(named.map(|name| (*name).to_owned()));
    let problem = |name| format!("{} uses {name}", file.path);
    strange.into_iter().map(problem).collect()
}

/// The names that a text takes from `load`.
fn of_load(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (start, root) in text.match_indices("load::") {
        if !begins_a_path(&text[..start]) {
            continue;
        }
        let path = &text[start + root.len()..];
        let names = match path.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or(list),
            None => path
                .split(|it: char| !it.is_alphanumeric())
                .next()
                .unwrap_or(path),
        };
        let names = names.split(',').map(str::trim).filter(|it| !it.is_empty());
        found.extend(names.map(str::to_owned));
    }
    found
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
    use crate::crates::example;

    fn file(path: &str, text: &str) -> File {
        File {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_benchmark_named_in_load_is_found() {
        let code = "// as in tpcc\nuse benchmarks::smack::Program;\n";
        let problems = benchmarks_named(&[example("load", "", code)]);
        assert_eq!(problems, ["crates/load/src/lib.rs:2 names \"smack\""]);
        assert_eq!(benchmarks_named(&[example("proxy", "", code)]).len(), 0);
    }

    #[test]
    fn a_user_that_paces_itself_is_found() {
        let crates = ["benchmarks", "load", "protocol", "reactor", "runs"];
        let found = |text: &str| strange_to_a_user(&file("a.rs", text), &crates);
        let user = "use load::{Failure, Next};\nuse protocol::Error;\n// reactor::system_now\n\
                    fn a(_: overload::Load, _: load::User, _: crate::runs::A) {}\n\
                    #[cfg(test)]\nmod tests {\n    use reactor::sleep;\n}\n";
        assert_eq!(found(user), [""; 0]);
        let pace = "use load::{\n    Next,\n    Arrivals,\n};\nfn a(_: ::load::Stop) { reactor::system_now() }\n\
                    use runs::Driver;\n";
        let expected = ["load::Arrivals", "load::Stop", "reactor", "runs"];
        assert_eq!(
            found(pace),
            expected.map(|name| format!("a.rs uses {name}"))
        );
    }

    #[test]
    fn only_the_files_that_run_a_benchmark_are_free() {
        let text = "use runs::Driver;\n";
        let driving = RUNNING
            .iter()
            .map(|path| file(&format!("{FOLDER}{path}"), text));
        let mut sources: Vec<File> = driving.collect();
        let problems = |sources: &[File]| {
            let runs = Crate::new("runs", "", Vec::new());
            beyond_a_user(&[Crate::new("benchmarks", "", sources.to_vec()), runs])
        };
        assert_eq!(problems(&sources), [""; 0]);
        sources.push(file(&format!("{FOLDER}oltp/user.rs"), text));
        sources[0].text.clear();
        let first = RUNNING[0];
        let expected = [
            format!("{FOLDER}oltp/user.rs uses runs"),
            format!("{FOLDER}{first}: is restricted to a user"),
        ];
        assert_eq!(problems(&sources), expected);
    }

    #[test]
    fn benchmarks_that_are_named_in_too_many_files_are_found() {
        let stranger = |index| example(&format!("c{index}"), "", "// as of TPC-C\n");
        let few: Vec<Crate> = (0..NAMING_AT_MOST).map(stranger).collect();
        assert_eq!(naming_a_tpc_benchmark(&few).len(), 0);
        let many: Vec<Crate> = (0..=NAMING_AT_MOST).map(stranger).collect();
        assert_eq!(naming_a_tpc_benchmark(&many).len(), NAMING_AT_MOST + 1);
        let own = file("crates/benchmarks/src/tpcc/terminal.rs", "// TPC-C");
        let mut with_own = few;
        with_own.push(Crate::new("benchmarks", "", vec![own]));
        assert_eq!(naming_a_tpc_benchmark(&with_own).len(), 0);
    }
}
