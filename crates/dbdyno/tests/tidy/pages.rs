//! Checks of the documentation pages.

use crate::repository::File;

/// Paths in `backticks` for which `exists` returns false.
///
/// A path is a word with a slash in it, or a file name with one of the repository's extensions. A leading slash means
/// a path outside the repository, and a placeholder (`<`, `*`, `…`) means no single file.
pub(crate) fn missing_paths(page: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut problems = Vec::new();
    for quoted in quoted(page) {
        let is_file = [".md", ".toml", ".rs", ".sh", ".json"]
            .iter()
            .any(|extension| quoted.ends_with(extension));
        let is_path = (quoted.contains('/') || is_file)
            && !quoted.starts_with(['/', '.', '~'])
            && !quoted.contains(|c: char| c.is_whitespace() || "<>*{}()…:=".contains(c));
        if is_path && !exists(quoted.trim_end_matches('/')) {
            problems.push(format!(
                "ARCHITECTURE.md names {quoted:?}, which does not exist"
            ));
        }
    }
    problems
}

/// Links of a Markdown page to files of the repository for which `exists` returns false.
pub(crate) fn broken_links(page: &File, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let targets = page
        .text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    targets
        .map(|target| target.split('#').next().unwrap_or(target))
        .filter(|target| !target.is_empty() && !target.contains(':') && !target.contains(' '))
        .filter(|target| !exists(format!("{folder}/{target}").trim_start_matches('/')))
        .map(|target| format!("{}: link to {target:?} leads nowhere", page.path))
        .collect()
}

/// Rows of tables that end early: a line that was wrapped, or one with other cells than the first row.
pub(crate) fn broken_tables(page: &File) -> Vec<String> {
    let mut problems = Vec::new();
    let mut columns = None;
    let mut fenced = false;
    for (at, line) in page.text.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        let is_comment = line.starts_with("<!--");
        let what = if fenced || line.trim().is_empty() || is_comment {
            columns = None;
            continue;
        } else if !line.starts_with('|') {
            columns.take().map(|_| "text stands behind a table's row")
        } else {
            let cells = line.replace("\\|", "").matches('|').count() - 1;
            let first = *columns.get_or_insert(cells);
            let is_closed = line.trim_end().ends_with('|');
            (cells != first || !is_closed)
                .then_some("a table's row has other cells than the first one")
        };
        problems.extend(what.map(|what| format!("{}: line {}: {what}", page.path, at + 1)));
    }
    problems
}

/// The `quoted` words of a page outside of its fenced blocks.
fn quoted(page: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut words = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            words.extend(line.split('`').skip(1).step_by(2));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_path_is_found() {
        let page = "See `crates/gone/src` and `docs/there.md`, `GONE.md`, `/proc/stat`, `std::fs`,\n\
                    `crates/*/src`, gone/without/quotes and `a / b`.\n```\n`fenced/gone`\n```\n";
        let problems = missing_paths(page, |path| path == "docs/there.md");
        assert_eq!(problems.len(), 2, "{problems:#?}");
        assert!(problems[0].contains("crates/gone/src") && problems[1].contains("GONE.md"));
    }

    #[test]
    fn a_broken_link_is_found() {
        let page = File {
            path: "docs/a.md".to_owned(),
            text: "[b](b.md) [c](c.md#part) [up](../README.md) [web](https://example.org/x) [here](#d)"
                .to_owned(),
        };
        let problems = broken_links(&page, |path| path != "docs/c.md");
        assert_eq!(problems, ["docs/a.md: link to \"c.md\" leads nowhere"]);
    }

    #[test]
    fn a_wrapped_row_of_a_table_is_found() {
        let page = |text: &str| File {
            path: "docs/a.md".to_owned(),
            text: format!("| a | b |\n| --- | --- |\n{text}\n\nText.\n"),
        };
        assert!(broken_tables(&page("| `x \\| y` | 1 |\n<!-- end -->")).is_empty());
        assert!(broken_tables(&page("```\n| x |\n```")).is_empty());
        for (broken, count) in [("| long\nrow | 1 |", 2), ("| x | 1 | |", 1), ("| x | 1", 1)] {
            assert_eq!(broken_tables(&page(broken)).len(), count, "{broken}");
        }
    }
}
