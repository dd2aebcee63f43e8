//! Checks of the files that name a benchmark, of what a benchmark names, and of its page.

use crate::{
    crates::{Crate, begins_a_path, names_crate},
    repository::File,
};

/// The registry of the benchmarks, with an entry for each of them.
pub(crate) const REGISTRY: &str = "crates/benchmarks/src/lib.rs";

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

/// The crates that a layout may name beside a user's: those of the figures that it formats.
const OF_A_LAYOUT: &[&str] = &["figures", "samples", "units"];

/// The folder of all benchmarks.
const FOLDER: &str = "crates/benchmarks/src/";

/// Begin of the paths, below [`FOLDER`], of the files that run a benchmark or prepare its data; `*` is the folder of
/// any benchmark. All others belong to its users and are restricted to [`OF_A_USER`] and [`BELOW_A_USER`]. Layouts may
/// also name [`OF_A_LAYOUT`].
const RUNNING: &[&str] = &[
    "*/benchmark.rs",
    "*/check.rs",
    "*/loading.rs",
    "calibration",
    "lib.rs",
    "oltp/table_statements.rs",
    "own_data",
    "smack/smack_file.rs",
    "storage/",
    "tpcc/consistency.rs",
    "tpcc/deliveries.rs",
    "tpcc/terminal_groups.rs",
    "wiki.rs",
];

/// Other names of a benchmark: those of its original tool or of its specification.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("oltp", "sysbench"),
    ("slap", "mysqlslap"),
    ("tpcc", "tpc-c"),
    ("tpch", "tpc-h"),
];

/// Names that have another meaning in the neutral crates: the load of their tests, any script, a crate.
const AMBIGUOUS: &[&str] = &["oltp", "script", "storage"];

/// Maximum files outside of a benchmark's own that may name it, for names that are no ordinary words: the registry, the
/// commands, the rows of data sets, the loads of `config prove` and the properties of known loads.
const NAMED_AT_MOST: &[(&str, usize)] = &[("tpcc", 6), ("tpch", 3)];

/// Directories with the files of a benchmark, which begin with its name.
const OWN_PLACES: &[&str] = &["/benchmarks/src/", "/commands/", "/dataset/src/"];
/// Files that replace original tools.
const FRONT_DOORS: &str = "/front_doors";

/// Names of the benchmarks in the registry, whose entries are paths: `&tpcc::Tpcc,`.
pub(crate) fn names(registry: &str) -> Vec<&str> {
    let entries = registry.split("static REGISTRY").nth(1).unwrap_or_default();
    let entries = entries.split("};").next().unwrap_or(entries);
    let paths = entries.split('&').skip(1);
    paths
        .filter_map(|path| Some(path.split_once("::")?.0))
        .collect()
}

/// True if a word of the text begins with this name: `smack_file` and `SmackUser`, but not `stopping` with `ping`.
fn is_named(text: &str, name: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.match_indices(name).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let is_capital = text[start..].starts_with(|it: char| it.is_ascii_uppercase());
        before.is_none_or(|it| !it.is_alphabetic() || (it.is_lowercase() && is_capital))
    })
}

/// A benchmark's name and its other names.
fn spellings(benchmark: &str) -> Vec<&str> {
    let others = OTHER_NAMES.iter().filter(|(name, _)| *name == benchmark);
    let mut names = vec![benchmark];
    names.extend(others.map(|(_, other)| *other));
    names
}

/// Lines of the neutral crates that name a benchmark.
pub(crate) fn benchmarks_named(crates: &[Crate], names: &[&str]) -> Vec<String> {
    let unambiguous = names.iter().filter(|name| !AMBIGUOUS.contains(name));
    let others = OTHER_NAMES.iter().map(|(_, other)| *other);
    let names: Vec<&str> = unambiguous.copied().chain(others).collect();
    let mut problems = Vec::new();
    for (place, line) in crates
        .iter()
        .filter(|one| NEUTRAL.contains(&one.name.as_str()))
        .flat_map(Crate::code)
    {
        for benchmark in names.iter().filter(|name| is_named(line, name)) {
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
        match RUNNING.iter().position(|begin| is_below(path, begin)) {
            Some(index) => needed[index] |= !strange.is_empty(),
            None => problems.extend(strange),
        }
    }
    let stale = RUNNING.iter().zip(needed).filter(|(_, needed)| !needed);
    problems.extend(stale.map(|(path, _)| format!("{FOLDER}{path}: is restricted to a user")));
    problems
}

/// True if a path has one of the begins in [`RUNNING`].
fn is_below(path: &str, begin: &str) -> bool {
    match begin.strip_prefix("*/") {
        Some(name) => path.split_once('/').is_some_and(|(_, file)| file == name),
        None => path.starts_with(begin),
    }
}

/// True for the layout of an original tool's report: `layout.rs`, `tpcc_mysql_layout.rs`, `layout/figures.rs`.
pub(crate) fn is_layout(path: &str) -> bool {
    let is_named = path.ends_with("layout.rs") || path.contains("/layout/");
    is_named && path.starts_with(FOLDER)
}

/// The names of a file that are not a user's, or in a layout not a layout's.
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
    let of_a_layout: &[&str] = if is_layout(&file.path) {
        OF_A_LAYOUT
    } else {
        &[]
    };
    let allowed = [&["load"][..], BELOW_A_USER, of_a_layout].concat();
    let beyond = crates.iter().filter(|name| !allowed.contains(name));
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

/// Files that name a benchmark outside of its own, if they are more than in [`NAMED_AT_MOST`]. The source of a rule may
/// cite a benchmark: a citation is not a dependency on it.
pub(crate) fn named_in_many_files(crates: &[Crate]) -> Vec<String> {
    let files = crates.iter().flat_map(Crate::sources);
    let texts: Vec<(&str, String)> = files
        .map(|file| {
            let lines = file.text.lines();
            let uncited = lines.filter(|line| !line.trim_start().starts_with("source: \""));
            (file.path.as_str(), uncited.collect::<Vec<_>>().join("\n"))
        })
        .collect();
    let mut problems = Vec::new();
    for (benchmark, at_most) in NAMED_AT_MOST {
        let spellings = spellings(benchmark);
        let naming = texts.iter().filter(|(path, text)| {
            !is_own(path, benchmark) && spellings.iter().any(|name| is_named(text, name))
        });
        let naming: Vec<String> = naming
            .map(|(path, _)| format!("{path} names {benchmark:?}"))
            .collect();
        if naming.len() > *at_most {
            problems.extend(naming);
        }
    }
    problems
}

/// True for a file of a benchmark, or of the replacement of an original tool.
fn is_own(path: &str, benchmark: &str) -> bool {
    let mut places = OWN_PLACES.iter();
    path.contains(FRONT_DOORS) || places.any(|place| path.contains(&format!("{place}{benchmark}")))
}

/// Benchmarks without a page that this index of all pages lists. The name of a page ends with the benchmark's, as
/// `mysqlslap.md` with that of `slap`.
pub(crate) fn without_page(names: &[&str], index: &str) -> Vec<String> {
    let links = index.split("](").skip(1);
    let pages: Vec<&str> = links.filter_map(|link| link.split(')').next()).collect();
    let has_page = |name: &str| {
        let end = format!("{name}.md");
        pages.iter().any(|page| page.ends_with(&end))
    };
    let missing = names.iter().filter(|name| !has_page(name));
    missing
        .map(|name| format!("the index of the pages lists none for {name:?}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{crates::example, repository::Repository};

    fn file(path: &str, text: &str) -> File {
        File {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn the_names_are_those_of_the_registry() {
        let entries = "pub mod tpcc;\npub static REGISTRY: Registry = Registry {\n    benchmarks: &[\n        \
                       &smack::Smack::WITHOUT_FILES,\n        &tpcc::Tpcc,\n    ],\n    data: &[&wiki::Wiki],\n};\n\
                       fn a(_: &oltp::Oltp) {}\n";
        assert_eq!(names(entries), ["smack", "tpcc", "wiki"]);
        let repository = Repository::open();
        let found = names(repository.text(REGISTRY));
        for (known, _) in OTHER_NAMES.iter().chain(&[("wiki", "")]) {
            assert!(found.contains(known), "{known}: {found:?}");
        }
    }

    #[test]
    fn a_benchmark_without_a_listed_page_is_found() {
        let index = "- [mysqlslap.md](mysqlslap.md): as mysqlslap.\n- [tpcc.md](tpcc.md#run)\n";
        let problems = without_page(&["ping", "slap"], index);
        assert_eq!(problems, ["the index of the pages lists none for \"ping\""]);
    }

    #[test]
    fn a_name_is_the_begin_of_a_word() {
        for named in [
            "smack::Program",
            "a_smack_file",
            "SmackUser",
            "OfSmack",
            "SMACK",
        ] {
            assert!(is_named(named, "smack"), "{named}");
        }
        for other in ["stopping()", "µping", "Mapping"] {
            assert!(!is_named(other, "ping"), "{other}");
        }
    }

    #[test]
    fn a_benchmark_named_in_load_is_found() {
        let code = "// as in tpcc\nuse benchmarks::smack::Program;\n";
        let names = ["oltp", "smack", "tpcc"];
        let problems = benchmarks_named(&[example("load", "", code)], &names);
        assert_eq!(problems, ["crates/load/src/lib.rs:2 names \"smack\""]);
        let other = benchmarks_named(&[example("proxy", "", code)], &names);
        assert_eq!(other.len(), 0);
        let tool = benchmarks_named(&[example("load", "", "fn of_sysbench() {}\n")], &names);
        assert_eq!(tool, ["crates/load/src/lib.rs:1 names \"sysbench\""]);
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
            .map(|path| file(&format!("{FOLDER}{}", path.replace('*', "ping")), text));
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
    fn a_layout_has_figures_and_no_run() {
        let crates = ["runs", "samples"];
        let layout = |path: &str| {
            let text = "use runs::Driver;\nuse samples::Interval;\n";
            strange_to_a_user(&file(path, text), &crates)
        };
        for path in [
            "ping/layout.rs",
            "ping/layout/total.rs",
            "ping/mtr_layout.rs",
        ] {
            let path = format!("{FOLDER}{path}");
            assert_eq!(layout(&path), [format!("{path} uses runs")]);
        }
        assert_eq!(layout("a.rs"), ["a.rs uses runs", "a.rs uses samples"]);
    }

    #[test]
    fn benchmarks_that_are_named_in_too_many_files_are_found() {
        let (_, at_most) = NAMED_AT_MOST[1];
        let stranger = |index| example(&format!("c{index}"), "", "// as of TPC-H\n");
        let few: Vec<Crate> = (0..at_most).map(stranger).collect();
        assert_eq!(named_in_many_files(&few).len(), 0);
        let many: Vec<Crate> = (0..=at_most).map(stranger).collect();
        let problems = named_in_many_files(&many);
        assert_eq!(problems.len(), at_most + 1);
        assert_eq!(problems[0], "crates/c0/src/lib.rs names \"tpch\"");
        let own = file("crates/benchmarks/src/tpch/check.rs", "// TPC-H");
        let mut with_own = few;
        with_own.push(Crate::new("benchmarks", "", vec![own]));
        assert_eq!(named_in_many_files(&with_own).len(), 0);
    }
}
