//! Checks of single files.

use crate::repository::File;

/// Maximum lines of a source file.
const LINES_MAX: usize = 500;

/// Files that may be longer, each with its reason.
const LONG_FILES: &[(&str, &str)] = &[];

/// Names that do not describe the content of a module.
const EMPTY_NAMES: &[&str] = &[
    "common", "core", "helper", "helpers", "manager", "misc", "types", "util", "utils",
];

/// Marks of unfinished work; assembled here, so that this file does not contain them.
const MARKS: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("Not filled", " yet"),
];

/// Texts that are specific to one machine: its directories, and the host names of registries, which differ from
/// site to site.
const MACHINE_TEXTS: &[&str] = &[
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("arti", "factory"),
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("registry.", "npmjs.org"),
    concat!("registry.", "yarnpkg.com"),
    concat!("proxy.", "golang.org"),
    concat!("deb.", "debian.org"),
];

/// A Rust file that does not begin with a `//!` paragraph ending like a sentence.
pub(crate) fn without_sentence(file: &File) -> Vec<String> {
    let paragraph: Vec<&str> = file
        .text
        .lines()
        .map_while(|line| line.strip_prefix("//! "))
        .collect();
    match paragraph.last() {
        None => vec![format!("{}: does not begin with a //! sentence", file.path)],
        Some(last) if !last.ends_with(['.', ':']) => {
            vec![format!("{}: its //! sentence does not end", file.path)]
        }
        Some(_) => Vec::new(),
    }
}

/// A source file of more than [`LINES_MAX`] lines.
pub(crate) fn too_long(file: &File) -> Vec<String> {
    let lines = file.text.lines().count();
    let is_source = file.path.starts_with("crates/") && file.path.contains("/src/");
    let allowed = LONG_FILES.iter().any(|(path, _reason)| *path == file.path);
    if !is_source || allowed || lines <= LINES_MAX {
        return Vec::new();
    }
    vec![format!(
        "{}: {lines} lines, the limit is {LINES_MAX}",
        file.path
    )]
}

/// A module, directory or crate whose name is one of [`EMPTY_NAMES`].
pub(crate) fn says_nothing(file: &File) -> Vec<String> {
    file.path
        .trim_end_matches(".rs")
        .split('/')
        .filter(|name| EMPTY_NAMES.contains(name))
        .map(|name| format!("{}: {name:?} does not say what it holds", file.path))
        .collect()
}

/// A snapshot that was written by a test and not accepted: it may exist beside the old one only temporarily.
pub(crate) fn unaccepted_snapshot(file: &File) -> Vec<String> {
    let unaccepted = file.path.ends_with(".snap.new");
    let problem = || format!("{}: accept or remove it", file.path);
    unaccepted.then(problem).into_iter().collect()
}

/// A module in `name/mod.rs`: its file must be `name.rs`, beside its directory.
pub(crate) fn second_style_of_modules(file: &File) -> Vec<String> {
    let folder = file.path.strip_suffix("/mod.rs");
    let folder = folder.filter(|folder| folder.contains("/src/"));
    let problem = |folder| format!("{folder}/mod.rs: its place is {folder}.rs");
    folder.map(problem).into_iter().collect()
}

/// Lines with a mark of unfinished work.
pub(crate) fn undone(file: &File) -> Vec<String> {
    lines_with(file, MARKS)
}

/// Lines with texts that are specific to one machine.
pub(crate) fn bound_to_a_machine(file: &File) -> Vec<String> {
    lines_with(file, MACHINE_TEXTS)
}

fn lines_with(file: &File, texts: &[&str]) -> Vec<String> {
    let mut problems = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for text in texts.iter().filter(|text| line.contains(**text)) {
            problems.push(format!("{}:{}: {text:?}", file.path, index + 1));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_file_without_its_sentence_is_found() {
        for text in [
            "",
            "use std::fs;\n",
            "// A comment.\n",
            "//!\n//! Late.\n",
            "\n//! Late.\n",
            "//! A title\n",
        ] {
            assert_eq!(without_sentence(&file("a.rs", text)).len(), 1, "{text:?}");
        }
        for text in ["//! One.\n", "//! One\n//! that goes on.\n//!\n//! More\n"] {
            assert_eq!(without_sentence(&file("a.rs", text)).len(), 0, "{text:?}");
        }
    }

    #[test]
    fn a_long_file_is_found() {
        let long = "\n".repeat(LINES_MAX + 1);
        assert_eq!(too_long(&file("crates/a/src/b.rs", &long)).len(), 1);
        assert_eq!(too_long(&file("crates/a/src/b.rs", &long[1..])).len(), 0);
        assert_eq!(too_long(&file("crates/a/tests/b.rs", &long)).len(), 0);
    }

    #[test]
    fn an_empty_name_is_found() {
        for path in [
            "crates/a/src/utils.rs",
            "crates/a/src/common/mod.rs",
            "crates/core/src/lib.rs",
        ] {
            assert_eq!(says_nothing(&file(path, "")).len(), 1, "{path}");
        }
        assert_eq!(
            says_nothing(&file("crates/a/src/typesetter.rs", "")).len(),
            0
        );
    }

    #[test]
    fn an_unaccepted_snapshot_is_found() {
        let check = |path| unaccepted_snapshot(&file(path, "")).len();
        assert_eq!(check("crates/a/tests/snapshots/b.snap.new"), 1);
        assert_eq!(check("crates/a/tests/snapshots/b.snap"), 0);
    }

    #[test]
    fn a_module_in_the_second_style_is_found() {
        let check = |path| second_style_of_modules(&file(path, "")).len();
        assert_eq!(check("crates/a/src/b/mod.rs"), 1);
        assert_eq!(check("crates/a/src/b.rs"), 0);
        assert_eq!(
            check("crates/a/tests/b/mod.rs"),
            0,
            "or it would be a test of its own"
        );
    }

    #[test]
    fn marks_and_machine_texts_are_found_with_their_line() {
        let text = format!("fine\n// {}: later\n", MARKS[0]);
        assert_eq!(
            undone(&file("a.rs", &text)),
            [format!("a.rs:2: {:?}", MARKS[0])]
        );
        for place in MACHINE_TEXTS {
            let text = format!("see {place}x");
            assert_eq!(bound_to_a_machine(&file("a", &text)).len(), 1, "{place}");
        }
        assert_eq!(
            bound_to_a_machine(&file("a", "rework/ at /var/root")).len(),
            0
        );
    }
}
