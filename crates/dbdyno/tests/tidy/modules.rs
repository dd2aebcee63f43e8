//! The check that the files of a crate have no cyclic dependencies.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    crates::Crate,
    module_tree::{Dependencies, ModuleTree},
};

/// Dependencies that may close a cycle, each with its reason: (file, file that it uses, why).
const EXCUSED: &[(&str, &str, &str)] = &[
    (
        "crates/reactor/src/source.rs",
        "crates/reactor/src/executor.rs",
        "a socket that waits is registered with its thread's executor, which wakes it",
    ),
    (
        "crates/reactor/src/task.rs",
        "crates/reactor/src/executor.rs",
        "a task that is woken goes to its thread's executor, which runs it",
    ),
    (
        "crates/reactor/src/timer.rs",
        "crates/reactor/src/executor.rs",
        "a timer waits in its thread's executor, which owns the timers",
    ),
];

/// Each file with the files that it uses, and the used names.
type Edges = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Cycles between the files of each crate, and exceptions that are not needed.
pub(crate) fn circles(crates: &[Crate]) -> Vec<String> {
    circles_beside(crates, EXCUSED)
}

fn circles_beside(crates: &[Crate], excused: &[(&str, &str, &str)]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut used = BTreeSet::new();
    for one in crates {
        let tree = ModuleTree::read(one.sources());
        problems.extend(tree.problems());
        let mut edges = edges(&tree.dependencies());
        let closing: Vec<_> = excused
            .iter()
            .filter(|(from, to, _why)| {
                edges.get(*from).is_some_and(|used| used.contains_key(*to))
                    && reached(to, &edges).contains(*from)
            })
            .collect();
        for (from, to, _why) in closing {
            used.insert((*from, *to));
            if let Some(uses) = edges.get_mut(*from) {
                uses.remove(*to);
            }
        }
        problems.extend(circles_of(&edges));
    }
    for (from, to, _why) in excused {
        if !used.contains(&(*from, *to)) {
            problems.push(format!("{from} -> {to}: excused, and closes no circle"));
        }
    }
    problems
}

/// The dependencies between files.
///
/// A file that extends a type of another file (`impl Server {` in `server/start.rs`) and uses nothing else of that
/// file is a part of it: this dependency does not count.
fn edges(dependencies: &BTreeMap<String, Dependencies>) -> Edges {
    let mut edges = Edges::new();
    for (from, one) in dependencies {
        let uses = edges.entry(from.clone()).or_default();
        for (to, names) in &one.uses {
            let continued = |name: &String| one.continues.contains(&(to.clone(), name.clone()));
            if !(names.len() == 1 && names.iter().all(continued)) {
                uses.insert(to.clone(), names.clone());
            }
        }
    }
    edges
}

/// The files reachable from a file, over one or more dependencies.
fn reached(from: &str, edges: &Edges) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from.to_owned()];
    while let Some(file) = next.pop() {
        for to in edges.get(&file).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(to.clone()) {
                next.push(to.clone());
            }
        }
    }
    reached
}

/// The groups of files that depend on each other, one problem each, with every dependency inside.
fn circles_of(edges: &Edges) -> Vec<String> {
    let reached: BTreeMap<&String, BTreeSet<String>> = edges
        .keys()
        .map(|file| (file, reached(file, edges)))
        .collect();
    let mut problems = Vec::new();
    let mut seen = BTreeSet::new();
    for file in edges.keys().filter(|file| reached[file].contains(*file)) {
        if seen.contains(file) {
            continue;
        }
        let group: BTreeSet<&String> = reached[file]
            .iter()
            .filter(|other| reached[other].contains(file))
            .collect();
        let mut lines = vec![format!("a circle of {} files:", group.len())];
        for from in &group {
            for (to, names) in edges[*from].iter().filter(|(to, _)| group.contains(to)) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                lines.push(format!("    {from} uses {to} ({})", names.join(", ")));
            }
        }
        seen.extend(group.into_iter().cloned());
        problems.push(lines.join("\n"));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::File;

    /// An example crate `a` with these files below its `src`.
    fn example(files: &[(&str, &str)]) -> Vec<Crate> {
        let sources = files
            .iter()
            .map(|(path, text)| File {
                path: format!("a/src/{path}"),
                text: (*text).to_owned(),
            })
            .collect();
        vec![Crate::new("a", "", sources)]
    }

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        circles_beside(&example(files), &[])
    }

    #[test]
    fn a_circle_is_found_once_with_its_edges() {
        let files = [
            ("lib.rs", "mod x;\nmod y;\nmod z;\n"),
            (
                "x.rs",
                "use crate::{\n    y::{Y, y as other},\n};\npub struct X;\n",
            ),
            (
                "y.rs",
                "pub struct Y;\npub fn y() { crate::z::inner::z() }\n",
            ),
            ("z.rs", "pub mod inner;\n"),
            ("z/inner.rs", "use super::super::x::X;\npub fn z() {}\n"),
        ];
        assert_eq!(
            found(&files),
            ["a circle of 3 files:\n    \
              a/src/x.rs uses a/src/y.rs (Y, y)\n    \
              a/src/y.rs uses a/src/z/inner.rs (z)\n    \
              a/src/z/inner.rs uses a/src/x.rs (X)"]
        );
    }

    /// A parent and its child use each other, with every form of a path.
    #[test]
    fn every_kind_of_path_is_an_edge() {
        for child in [
            "use super::P;\npub struct C;\n",
            "use super::*;\npub struct C;\nfn f(_: P) {}\npub use super::P as _Q;\nfn g() { super::p() }\n",
            "pub struct C;\nfn f(_: crate::p::P) {}\n",
            "pub struct C;\nfn f(_: &mut Vec<super::P>) {}\n",
            "use crate::p;\npub struct C;\nfn f() { p::p() }\n",
            "pub struct C;\nfn f() { println!(\"{}\", super::p()) }\n",
            "pub struct C;\nfn f() { use super::p; p() }\n",
            "pub struct C;\n#[derive(S)]\n#[serde(with = \"super::P\")]\nstruct D;\n",
            "pub struct C;\n#[arg(value_parser = super::p)]\nstruct D;\n",
            "pub struct C;\nmod inner {\n    use super::super::P;\n}\n",
            "pub struct C;\nimpl super::P {\n    fn f() { super::p() }\n}\n",
        ] {
            let files = [
                ("lib.rs", "mod p;\n"),
                ("p.rs", "mod c;\nuse c::C;\npub struct P;\npub fn p() {}\n"),
                ("p/c.rs", child),
            ];
            assert_eq!(found(&files).len(), 1, "{child}");
        }
    }

    #[test]
    fn a_name_belongs_to_the_file_that_defines_it() {
        // The parent only re-exports; the children use each other's names.
        let parent = "mod c;\nmod d;\npub use c::C;\npub use d::D;\n";
        let files = [
            ("lib.rs", "mod p;\npub use p::*;\n"),
            ("p/mod.rs", parent),
            ("p/c.rs", "use super::D;\npub struct C;\n"),
            ("p/d.rs", "pub struct D;\n"),
        ];
        assert_eq!(found(&files), [""; 0]);
        let circle = (
            "p/d.rs",
            "pub enum D { X }\nfn d() { crate::C::new(D::X) }\n",
        );
        assert_eq!(found(&[files[0], files[1], files[2], circle]).len(), 1);
        // A parent that uses a re-exported name depends on its file.
        let parent = format!("{parent}pub struct P;\nfn p(_: C) {{}}\n");
        let child = ("p/c.rs", "use super::P;\npub struct C;\n");
        assert_eq!(
            found(&[files[0], ("p/mod.rs", &parent), child, files[3]]).len(),
            1
        );
    }

    #[test]
    fn a_file_that_continues_a_type_makes_no_circle() {
        let server =
            "mod start;\npub struct Server;\npub struct Port;\nfn f() { start::start() }\n";
        let with = |start: &str| {
            let start = format!("{start}pub fn start() {{}}\n");
            found(&[
                ("lib.rs", "mod server;\n"),
                ("server.rs", server),
                ("server/start.rs", &start),
            ])
        };
        assert_eq!(with("use super::Server;\nimpl Server {}\n"), [""; 0]);
        // A type of the same name is a different type, and a trait's methods are not an extension.
        assert_eq!(
            with("use super::Server as S;\nstruct Server;\nimpl Server {}\n").len(),
            1
        );
        assert_eq!(
            with("use super::Server;\nimpl Clone for Server {}\n").len(),
            1
        );
        // With any other name of that file it is a cycle nevertheless.
        assert_eq!(
            with("use super::{Port, Server};\nimpl Server {}\n").len(),
            1
        );
    }

    #[test]
    fn tests_comments_and_other_crates_make_no_circle() {
        let files = [
            ("lib.rs", "mod x;\nmod y;\npub struct E;\n"),
            ("x.rs", "use crate::{E, y::Y};\npub struct X;\n"),
            (
                "y.rs",
                "//! [`crate::x::X`]\nuse x::X;\n/// crate::x::X\npub struct Y;\n\n\
                 #[cfg(test)]\nuse crate::x;\n#[cfg(test)]\nmod tests {\n    use crate::x::X;\n}\n\
                 #[cfg(all(test, unix))]\nfn f(_: crate::x::X) {}\n",
            ),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn an_excuse_takes_its_edge_and_a_stale_one_is_found() {
        let files = example(&[
            ("lib.rs", "mod x;\nmod y;\n"),
            ("x.rs", "use crate::y::Y;\npub struct X;\n"),
            ("y.rs", "use crate::x::X;\npub struct Y;\n"),
        ]);
        let excuse = ("a/src/y.rs", "a/src/x.rs", "one wakes the other");
        assert_eq!(circles_beside(&files, &[excuse]), [""; 0]);
        let stale = ("a/src/lib.rs", "a/src/x.rs", "was so once");
        let problem = "a/src/lib.rs -> a/src/x.rs: excused, and closes no circle";
        assert_eq!(circles_beside(&files, &[excuse, stale]), [problem]);
    }

    #[test]
    fn what_cannot_be_followed_is_a_problem() {
        assert_eq!(
            found(&[("lib.rs", "mod x;\n")]),
            ["a/src/lib.rs: mod x has no file"]
        );
        assert_eq!(
            found(&[("lib.rs", "use crate::x::Y;\n")]),
            ["a/src/lib.rs: crate::x::Y leads nowhere"]
        );
        assert_eq!(found(&[("lib.rs", "mod {\n")]).len(), 1);
    }
}
