//! Checks of the crates and the dependencies between them.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::repository::File;

/// Synchronous crates that access nothing except a named file.
const JUDGING: &[&str] = &[
    "audit",
    "experiment",
    "exposition",
    "figures",
    "histogram",
    "mycnf",
    "plans",
    "report",
    "samples",
    "settings",
    "sizing",
    "sqltext",
    "stats",
    "top",
    "units",
    "verdict",
];

/// Crates that could provide a socket.
const SOCKETS: &[&str] = &[
    "benchmarks",
    "dataset",
    "load",
    "observer",
    "protocol",
    "reactor",
    "server",
    "telemetry",
    "web",
];

/// Libraries that implement MySQL's wire format.
const DRIVERS: &[&str] = &[
    "mysql",
    "mysql_async",
    "mysql_common",
    "opensrv-mysql",
    "sqlx",
];

/// Dependencies that no line of source names, each with its reason: (crate, dependency, why).
const NAMED_NOWHERE: &[(&str, &str, &str)] = &[(
    "protocol",
    "flate2",
    "only chooses the backend that mysql_common compiles against",
)];

/// A crate of the workspace.
#[derive(Debug)]
pub(crate) struct Crate {
    pub(crate) name: String,
    dependencies: BTreeSet<String>,
    workspace_lints: bool,
    /// Whether the examples of its documentation are tests.
    runs_examples: bool,
    sources: Vec<File>,
}

/// Each crate with the crates that it may use, according to ARCHITECTURE.md.
pub(crate) type EdgeTable = BTreeMap<String, BTreeSet<String>>;

impl Crate {
    pub(crate) fn new(name: &str, manifest: &str, sources: Vec<File>) -> Self {
        let manifest: Table = manifest.parse().expect("cargo has read it already");
        let mut dependencies = BTreeSet::new();
        collect_dependencies(&manifest, &mut dependencies);
        let workspace_lints = manifest
            .get("lints")
            .and_then(|lints| lints.get("workspace"))
            .and_then(Value::as_bool);
        let doctest = manifest.get("lib").and_then(|lib| lib.get("doctest"));
        Self {
            name: name.to_owned(),
            dependencies,
            workspace_lints: workspace_lints == Some(true),
            runs_examples: doctest.and_then(Value::as_bool) != Some(false),
            sources,
        }
    }

    /// The files below `src`.
    pub(crate) fn sources(&self) -> &[File] {
        &self.sources
    }

    /// Lines of code with their positions, without comment lines.
    pub(crate) fn code(&self) -> impl Iterator<Item = (String, &str)> {
        self.sources.iter().flat_map(|file| {
            let lines = file.text.lines().enumerate();
            lines
                .filter(|(_, line)| !line.trim_start().starts_with("//"))
                .map(|(index, line)| (format!("{}:{}", file.path, index + 1), line))
        })
    }
}

/// Normal dependencies, including those for one target only.
fn collect_dependencies(manifest: &Table, names: &mut BTreeSet<String>) {
    if let Some(Value::Table(dependencies)) = manifest.get("dependencies") {
        names.extend(dependencies.keys().cloned());
    }
    if let Some(Value::Table(targets)) = manifest.get("target") {
        for target in targets.values().filter_map(Value::as_table) {
            collect_dependencies(target, names);
        }
    }
}

/// The crate table: the first table whose header begins with the column `crate`. The last column lists the crates
/// that a crate uses in `backticks`; `-` means none.
pub(crate) fn table(page: &str) -> EdgeTable {
    let rows = page
        .lines()
        .skip_while(|line| !line.starts_with("| crate |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| {
        let mut cells = row.trim_matches('|').split('|');
        let name = cells.next()?.trim().trim_matches('`').to_owned();
        let uses = cells.next_back()?.split('`').skip(1).step_by(2);
        Some((name, uses.map(str::to_owned).collect()))
    })
    .collect()
}

/// Dependencies and crates that are only in the table or only in the manifests.
pub(crate) fn edges_off_the_table(table: &EdgeTable, crates: &[Crate]) -> Vec<String> {
    let names: BTreeSet<&String> = crates.iter().map(|one| &one.name).collect();
    let mut problems = Vec::new();
    for name in table.keys().filter(|name| !names.contains(name)) {
        problems.push(format!(
            "crate {name} stands in the table and does not exist"
        ));
    }
    for one in crates {
        let Some(allowed) = table.get(&one.name) else {
            problems.push(format!("crate {} is not in the table", one.name));
            continue;
        };
        let real: BTreeSet<String> = one
            .dependencies
            .iter()
            .filter(|name| names.contains(name))
            .cloned()
            .collect();
        for used in real.difference(allowed) {
            problems.push(format!(
                "{} uses {used}, which the table does not allow",
                one.name
            ));
        }
        for unused in allowed.difference(&real) {
            problems.push(format!(
                "{} does not use {unused}, which the table lists",
                one.name
            ));
        }
    }
    problems
}

/// Dependencies in a manifest that no line of the crate's code names.
pub(crate) fn unused_dependencies(crates: &[Crate]) -> Vec<String> {
    let mut problems = Vec::new();
    for one in crates {
        for dependency in &one.dependencies {
            let identifier = dependency.replace('-', "_");
            let excused = NAMED_NOWHERE
                .iter()
                .any(|(name, named, _why)| (*name, *named) == (&one.name, dependency));
            if !excused && !one.code().any(|(_, line)| names_crate(line, &identifier)) {
                problems.push(format!(
                    "{} lists {dependency} and never names it",
                    one.name
                ));
            }
        }
    }
    problems
}

/// True if `line` has `identifier` as the root of a path (`name::x`, `::name::x`, `use name;`).
pub(crate) fn names_crate(line: &str, identifier: &str) -> bool {
    line.match_indices(identifier).any(|(start, _)| {
        let before = &line[..start];
        let after = &line[start + identifier.len()..];
        let is_root = begins_a_path(before);
        let is_use = before.trim_end().ends_with("use") && after.starts_with([';', ' ']);
        is_root && (after.starts_with("::") || is_use)
    })
}

/// Whether a name is the first of a path, given the text before it.
pub(crate) fn begins_a_path(before: &str) -> bool {
    let before = before.strip_suffix("::").unwrap_or(before);
    !before.ends_with(|it: char| it.is_alphanumeric() || matches!(it, '_' | ':'))
}

/// Judging crates with access to a socket, directly or through another crate of the workspace.
pub(crate) fn sockets_in_the_judging_half(crates: &[Crate]) -> Vec<String> {
    let by_name: BTreeMap<&str, &Crate> =
        crates.iter().map(|one| (one.name.as_str(), one)).collect();
    let mut problems = Vec::new();
    for one in crates
        .iter()
        .filter(|one| JUDGING.contains(&one.name.as_str()))
    {
        let mut reached = BTreeSet::new();
        let mut next: Vec<&Crate> = vec![one];
        while let Some(from) = next.pop() {
            for dependency in &from.dependencies {
                if reached.insert(dependency.as_str()) {
                    next.extend(by_name.get(dependency.as_str()).copied());
                }
            }
        }
        for socket in SOCKETS.iter().filter(|name| reached.contains(*name)) {
            problems.push(format!("{} reaches {socket}", one.name));
        }
        for (place, line) in one.code() {
            if ["std::net", "unix::net", "TcpStream", "UnixStream"]
                .iter()
                .any(|x| line.contains(x))
            {
                problems.push(format!(
                    "{place}: a socket in {}: {}",
                    one.name,
                    line.trim()
                ));
            }
        }
    }
    problems
}

/// Crates other than `protocol` that depend on a library with the wire format.
pub(crate) fn strangers_to_the_wire(crates: &[Crate]) -> Vec<String> {
    let mut problems = Vec::new();
    for one in crates.iter().filter(|one| one.name != "protocol") {
        for driver in DRIVERS
            .iter()
            .filter(|name| one.dependencies.contains(**name))
        {
            problems.push(format!(
                "{} depends on {driver}; only protocol may",
                one.name
            ));
        }
    }
    problems
}

/// Crates whose manifest does not inherit the workspace's lints.
pub(crate) fn without_workspace_lints(crates: &[Crate]) -> Vec<String> {
    crates
        .iter()
        .filter(|one| !one.workspace_lints)
        .map(|one| format!("{} does not take the workspace's lints", one.name))
        .collect()
}

/// Libraries whose examples would not be run, and those without examples that have rustdoc look for them all the same.
pub(crate) fn examples_against_the_manifest(crates: &[Crate]) -> Vec<String> {
    let is_library = |one: &&Crate| {
        let mut sources = one.sources.iter();
        sources.any(|file| file.path.ends_with("/src/lib.rs"))
    };
    let mut problems = Vec::new();
    for one in crates.iter().filter(is_library) {
        let example = one.sources.iter().find(|file| has_example(&file.text));
        match (example, one.runs_examples) {
            (Some(file), false) => problems.push(format!(
                "{}: its example is not run: remove `doctest = false` from the manifest of {}",
                file.path, one.name
            )),
            (None, true) => problems.push(format!(
                "{} has no example: `doctest = false` below [lib] spares rustdoc's search for one",
                one.name
            )),
            _ => {}
        }
    }
    problems
}

/// Whether comments of documentation contain a block of Rust, which is what a block is that names no language.
fn has_example(text: &str) -> bool {
    let mut is_open = false;
    for line in text.lines().map(str::trim_start) {
        let comment = line.strip_prefix("//!").or(line.strip_prefix("///"));
        let Some(language) = comment.and_then(|text| text.trim_start().strip_prefix("```")) else {
            continue;
        };
        if !is_open && ["", "rust", "no_run", "should_panic"].contains(&language.trim()) {
            return true;
        }
        is_open = !is_open;
    }
    false
}

/// A crate with one file, for the unit tests of the checks.
#[cfg(test)]
pub(crate) fn example(name: &str, manifest: &str, code: &str) -> Crate {
    let source = File {
        path: format!("crates/{name}/src/lib.rs"),
        text: code.to_owned(),
    };
    Crate::new(name, manifest, vec![source])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_that_are_not_run_and_searches_for_none_are_found() {
        let none = "[lib]\ndoctest = false";
        let with = "//! Words.\n//!\n//! ```\n//! let one = 1;\n//! ```\n";
        let text = "//! Words.\n//!\n//! ```text\n//! one\n//! ```\n";
        for (manifest, code, problem) in [
            (none, with, "crates/a/src/lib.rs: its example is not run"),
            ("", text, "a has no example"),
            (none, text, ""),
            ("", with, ""),
        ] {
            let problems = examples_against_the_manifest(&[example("a", manifest, code)]);
            match problems.as_slice() {
                [] => assert!(problem.is_empty(), "{problem}"),
                [one] => assert!(!problem.is_empty() && one.starts_with(problem), "{one}"),
                more => panic!("{more:?}"),
            }
        }
    }

    const PAGE: &str = "# Page\n\n| crate | holds | may use |\n| --- | --- | --- |\n\
                        | `a` | One `thing`. | - |\n| `b` | Another. | `a`, `c` |\n\ntext | `x` |\n";

    #[test]
    fn the_table_is_read() {
        let table = table(PAGE);
        assert_eq!(table.keys().collect::<Vec<_>>(), ["a", "b"]);
        assert!(table["a"].is_empty());
        assert_eq!(table["b"].iter().collect::<Vec<_>>(), ["a", "c"]);
    }

    #[test]
    fn edges_off_the_table_are_found() {
        let crates = [
            example("a", "[dependencies]\nb.workspace = true\nserde = \"1\"", ""),
            example(
                "b",
                "[dependencies]\na.workspace = true\n[dev-dependencies]\nc = \"1\"",
                "",
            ),
            example("c", "[target.'cfg(unix)'.dependencies]\nserde = \"1\"", ""),
        ];
        let problems = edges_off_the_table(&table(PAGE), &crates);
        assert_eq!(
            problems,
            [
                "a uses b, which the table does not allow",
                "b does not use c, which the table lists",
                "crate c is not in the table",
            ]
        );
        let problems = edges_off_the_table(&table(PAGE), &crates[..0]);
        assert_eq!(problems.len(), 2, "both crates of the table are missing");
    }

    #[test]
    fn an_unused_dependency_is_found() {
        let manifest = "[dependencies]\nserver = \"1\"\nhdr-histogram = \"1\"";
        let used = "use hdr_histogram::Histogram;\nlet x = server::start();\n";
        assert_eq!(
            unused_dependencies(&[example("a", manifest, used)]).len(),
            0
        );
        for unused in [
            "use hdr_histogram;\n// server::start()\n",
            "use hdr_histogram;\nuse crate::server::start;\n",
            "use hdr_histogram;\nlet server = my_server::x;\n",
        ] {
            let problems = unused_dependencies(&[example("a", manifest, unused)]);
            assert_eq!(problems, ["a lists server and never names it"], "{unused}");
        }
    }

    #[test]
    fn a_socket_in_the_judging_half_is_found() {
        let through = [
            example("report", "[dependencies]\nsamples = \"1\"", ""),
            example("samples", "[dependencies]\nreactor = \"1\"", ""),
            example("reactor", "", "use std::net::TcpStream;"),
        ];
        assert_eq!(
            sockets_in_the_judging_half(&through),
            ["report reaches reactor", "samples reaches reactor"]
        );
        let direct = [example(
            "stats",
            "",
            "//! std::net\nuse std::net::TcpStream;",
        )];
        assert_eq!(sockets_in_the_judging_half(&direct).len(), 1);
        let clean = [example(
            "stats",
            "[dependencies]\nserde = \"1\"",
            "use std::fs;",
        )];
        assert_eq!(sockets_in_the_judging_half(&clean).len(), 0);
    }

    #[test]
    fn a_stranger_to_the_wire_is_found() {
        let manifest = "[dependencies]\nmysql_common = \"0.38\"";
        assert_eq!(
            strangers_to_the_wire(&[example("benchmarks", manifest, "")]).len(),
            1
        );
        assert_eq!(
            strangers_to_the_wire(&[example("protocol", manifest, "")]).len(),
            0
        );
    }

    #[test]
    fn a_crate_without_the_lints_is_found() {
        assert_eq!(without_workspace_lints(&[example("a", "", "")]).len(), 1);
        let manifest = "[lints]\nworkspace = true";
        assert_eq!(
            without_workspace_lints(&[example("a", manifest, "")]).len(),
            0
        );
    }
}
