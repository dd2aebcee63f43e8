//! Check that figures for people get their digits and units from crate `units` alone.

use crate::{benchmarks::is_layout, repository::File};

/// Files that format figures themselves, each with its reason. An entry without such a figure is a problem, too. The
/// layouts of other tools' reports are excused by their names: they are as these tools print them, digit by digit.
const EXCUSED: &[(&str, &str)] = &[
    (
        "crates/benchmarks/src/script/compiler.rs",
        "it reads the units of a script's \\sleep",
    ),
    ("crates/units/src/", "the one place"),
    (
        "crates/dbdyno/src/commands/calibrate/table.rs",
        "heads of columns",
    ),
    (
        "crates/dbdyno/src/progress.rs",
        "the progress bar's own template",
    ),
    (
        "crates/server/src/error.rs",
        "a limit in whole seconds, as it is set",
    ),
    (
        "crates/stats/src/methodology.rs",
        "a page whose tables have fixed digits",
    ),
    (
        "crates/verdict/src/costs.rs",
        "the names of units in formats for programs",
    ),
    (
        "crates/benchmarks/src/oltp/distribution.rs",
        "options of sysbench, as they are set",
    ),
    (
        "crates/sizing/src/target.rs",
        "it reads the unit of a target's time of a flush",
    ),
];

/// Units in the form in which they follow a figure.
const UNITS: &[&str] = &[
    "ns", "us", "µs", "ms", "s", "min", "h", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "TiB", "%",
];

/// Units that are alone in a text only if they will be appended to a figure.
const TELLING: &[&str] = &["µs", "us", "KiB", "MiB", "GiB", "TiB"];

/// Lines that append a unit to a figure, or contain a unit for that purpose; tests at the end of a file are ignored.
pub(crate) fn private(file: &File) -> Vec<String> {
    let is_source = file.path.starts_with("crates/") && file.path.contains("/src/");
    let is_excused = EXCUSED.iter().any(|(path, _)| file.path.starts_with(path));
    if !is_source || is_excused || is_layout(&file.path) || is_test(&file.path) {
        return Vec::new();
    }
    found(file)
}

/// Entries of the list of exceptions that have no such figure.
pub(crate) fn stale_excuses(files: &[File]) -> Vec<String> {
    let is_stale = |path: &str| {
        let mut below = files.iter().filter(|file| file.path.starts_with(path));
        !below.any(|file| !found(file).is_empty())
    };
    let stale = EXCUSED.iter().filter(|(path, _)| is_stale(path));
    let problem = |(path, reason): &(&str, &str)| format!("{path}: needs no excuse ({reason})");
    stale.map(problem).collect()
}

fn is_test(path: &str) -> bool {
    path.ends_with("tests.rs") || path.contains("/tests/") || path.contains("/fixture")
}

fn found(file: &File) -> Vec<String> {
    let lines = file.text.lines().enumerate();
    let lines = lines.take_while(|(_, line)| line.trim() != "#[cfg(test)]");
    let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let code = code.filter(|(_, line)| is_private(line));
    let problem = |(index, line): (usize, &str)| {
        let line = line.trim();
        format!(
            "{}:{}: a figure that crate `units` should write: {line}",
            file.path,
            index + 1
        )
    };
    code.map(problem).collect()
}

fn is_private(line: &str) -> bool {
    let behind_a_figure = line.match_indices("} ").any(|(at, _)| {
        let rest = &line[at + 2..];
        let end = rest.find(|letter: char| !letter.is_alphabetic() && letter != '%');
        UNITS.contains(&&rest[..end.unwrap_or(rest.len())]) && is_in_a_text(line, at)
    });
    let telling = |unit: &&str| line.contains(&format!("\"{unit}\""));
    behind_a_figure || TELLING.iter().any(telling)
}

/// True between quotation marks; a line within a multi-line string has none before.
fn is_in_a_text(line: &str, at: usize) -> bool {
    let before = line[..at].matches('"').count() - line[..at].matches("\\\"").count();
    let goes_on = before == 0 && line[..at].contains('{') && !line[..at].contains(['(', ';']);
    before % 2 == 1 || goes_on
}

#[test]
fn private_figures_are_seen() {
    let file = |text: &str| File {
        path: "crates/audit/src/rule.rs".to_owned(),
        text: text.to_owned(),
    };
    for line in [
        r#"format!("{:.2} GiB", size)"#,
        r#"format!("after {at_s:.1} s: {why}")"#,
        r#"format!("{share} %")"#,
        r#"let unit = if small { "us" } else { "ms" };"#,
        "             and {calm} ms when it was calm\"",
    ] {
        assert_eq!(private(&file(line)).len(), 1, "{line}");
    }
    for line in [
        r#"format!("{} is {}", name, bytes(size))"#,
        r#"format!("{} shared by {} hosts", name, many)"#,
        "// `{} GiB`",
        "let x = if a { b } else { s };",
        "#[cfg(test)]\nformat!(\"{:.2} GiB\", size)",
    ] {
        assert_eq!(private(&file(line)), Vec::<String>::new(), "{line}");
    }
}
