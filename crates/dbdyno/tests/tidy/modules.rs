//! The check that the modules of a crate do not depend on each other in circles.

use std::collections::{BTreeMap, BTreeSet};

use crate::{crates::Crate, repository::File};

/// Top-level module to the top-level modules that its code names by `crate::`.
type Edges = BTreeMap<String, BTreeSet<String>>;

/// Circles that have to be, each with its reason: (crate, modules, why).
const ALLOWED: &[(&str, &[&str], &str)] = &[(
    "reactor",
    &["executor", "source", "task", "timer"],
    "what waits finds the executor of its thread, and the executor wakes what waits",
)];

/// Circles between the top-level modules of a crate, one problem each.
pub(crate) fn circles(crates: &[Crate]) -> Vec<String> {
    let mut problems = Vec::new();
    for one in crates {
        let edges = edges(one.sources());
        let mut told = BTreeSet::new();
        for start in edges.keys() {
            if let Some(circle) = circle_through(start, &edges) {
                // The same circle is met from each of its modules.
                let members: BTreeSet<&String> = circle.iter().collect();
                let allowed = ALLOWED.iter().any(|(name, modules, _why)| {
                    *name == one.name() && members.iter().all(|it| modules.contains(&it.as_str()))
                });
                if !allowed && told.insert(format!("{members:?}")) {
                    problems.push(format!("{}: {}", one.name(), circle.join(" -> ")));
                }
            }
        }
    }
    problems
}

/// The edges between the modules of one crate; what is only compiled for tests does not count.
///
/// A file with methods of a type of another module (`impl Server {` in `start.rs`) continues that module: its
/// edge to it does not count either.
fn edges(sources: &[File]) -> Edges {
    let mut code: BTreeMap<&str, String> = BTreeMap::new();
    for file in sources {
        if let Some(module) = module_of(&file.path) {
            code.entry(module)
                .or_default()
                .push_str(&code_of(&file.text));
        }
    }
    let edge = |from: &str, to: &str| {
        let (from_code, to_code) = (&code[from], &code[to]);
        let continues = words_after(from_code, "\nimpl ").any(|name| {
            let defines = |kind: &str| words_after(to_code, kind).any(|defined| defined == name);
            defines("struct ") || defines("enum ")
        });
        from != to && !continues && named_from_the_root(from_code).contains(to)
    };
    let used_by = |from: &str| {
        let used = code.keys().filter(|to| edge(from, to));
        used.map(|to| (*to).to_owned()).collect()
    };
    code.keys()
        .map(|from| ((*from).to_owned(), used_by(from)))
        .collect()
}

/// A file's code without comments and without its tests.
fn code_of(text: &str) -> String {
    let code = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or(text);
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// The words that follow `before`.
fn words_after<'a>(code: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    code.split(before).skip(1).filter_map(first_word)
}

/// The top-level module that a file belongs to; `None` for the root itself and for files of tests.
fn module_of(path: &str) -> Option<&str> {
    let inside = path.split_once("/src/")?.1.strip_suffix(".rs")?;
    let module = inside.split('/').next()?;
    let is_root = ["lib", "main"].contains(&inside);
    let is_test = inside.ends_with("tests");
    (!is_root && !is_test).then_some(module)
}

/// The first names after `crate::`, also those of a group: `use crate::{a::X, b}`.
fn named_from_the_root(code: &str) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let Some(group) = rest.strip_prefix('{') else {
            names.extend(first_word(rest));
            continue;
        };
        let mut depth = 0_u32;
        let mut item_start = 0;
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => {
                    names.extend(first_word(&group[item_start..at]));
                    break;
                }
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    names.extend(first_word(&group[item_start..at]));
                    item_start = at + 1;
                }
                _ => {}
            }
        }
    }
    names
}

fn first_word(text: &str) -> Option<&str> {
    text.trim_start()
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
        .filter(|word| !word.is_empty())
}

/// The shortest way from a module back to itself.
fn circle_through(start: &str, edges: &Edges) -> Option<Vec<String>> {
    let mut ways = vec![vec![start.to_owned()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let last = way.last()?;
            for next in edges.get(last).into_iter().flatten() {
                let mut further = way.clone();
                further.push(next.clone());
                if next == start {
                    return Some(further);
                }
                if seen.insert(next.clone()) {
                    longer.push(further);
                }
            }
        }
        ways = longer;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(files: &[(&str, &str)]) -> Vec<Crate> {
        let sources = files
            .iter()
            .map(|(path, text)| File {
                path: format!("crates/a/src/{path}"),
                text: (*text).to_owned(),
            })
            .collect();
        vec![Crate::new("a", "", sources)]
    }

    #[test]
    fn a_circle_is_found_once() {
        let files = [
            ("lib.rs", "mod x;\nmod y;\nmod z;\n"),
            ("x.rs", "use crate::{\n    y::{Y, other},\n};\n"),
            ("y.rs", "pub fn y() { crate::z::z() }\n"),
            ("z/inner.rs", "use crate::x::X;\n"),
        ];
        assert_eq!(circles(&example(&files)), ["a: x -> y -> z -> x"]);
    }

    #[test]
    fn a_file_that_continues_a_type_makes_no_circle() {
        let server = ("server.rs", "use crate::start;\npub struct Server;\n");
        let start = "use crate::server::Server;\n\nimpl Server {\n    pub fn start() {}\n}\n";
        assert_eq!(circles(&example(&[server, ("start.rs", start)])), [""; 0]);
        let start = "use crate::server::Server;\n\nimpl Start {\n    pub fn start() {}\n}\n";
        assert_eq!(circles(&example(&[server, ("start.rs", start)])).len(), 1);
    }

    #[test]
    fn tests_comments_and_the_root_make_no_circle() {
        let files = [
            ("lib.rs", "use crate::x::X;\n"),
            ("x.rs", "use crate::{Error, y::Y, x::inner};\n// crate::x\n"),
            (
                "y.rs",
                "// crate::x\nfn y() {}\n\n#[cfg(test)]\nmod tests {\n    use crate::x::X;\n}\n",
            ),
            ("y/tests.rs", "use crate::x::X;\n"),
        ];
        assert_eq!(circles(&example(&files)), [""; 0]);
    }
}
