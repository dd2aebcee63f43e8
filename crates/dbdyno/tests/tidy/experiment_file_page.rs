//! Check that docs/experiment-file.md has every key of `[data]` and `[load]`, with those of the benchmarks, and no other.

use std::collections::{BTreeMap, BTreeSet};

use benchmarks::VOCABULARY;
use experiment::{DATA_KEYS, LOAD_KEYS};
use settings::OptionTable;

/// The key of `[[load]]` tables that the page lists with those of `[load]`.
const NAME: &str = "name";

/// A section of the experiment file, as dbdyno reads it.
pub(crate) struct Section {
    /// As in its heading on the page.
    name: &'static str,
    /// Keys that belong to no benchmark.
    own: Vec<&'static str>,
    tables: Vec<&'static dyn OptionTable>,
}

/// The sections with tables of benchmarks.
pub(crate) fn sections() -> [Section; 2] {
    let data = VOCABULARY.data.iter();
    let loads = VOCABULARY.loads.iter();
    [
        Section {
            name: "[data]",
            own: DATA_KEYS.to_vec(),
            tables: data.map(|kind| *kind as &dyn OptionTable).collect(),
        },
        Section {
            name: "[load]",
            own: LOAD_KEYS.into_iter().chain([NAME]).collect(),
            tables: loads.map(|kind| *kind as &dyn OptionTable).collect(),
        },
    ]
}

/// Keys that only the page or only the section has.
///
/// The page has the keys of a benchmark in a table whose first column is headed "key of `tpcc` under `[data]`", or in a
/// list item that begins with "keys of `oltp` under `[data]`: ". Without such a list, they are in the section's own
/// table, whose first column is headed "key".
pub(crate) fn differences(page: &str, section: &Section) -> Vec<String> {
    let listed = listed(page, section.name);
    let mut problems = Vec::new();
    for name in listed.keys() {
        if section.tables.iter().all(|table| table.name() != *name) {
            let section = section.name;
            problems.push(format!(
                "the page lists keys of {name:?}, which {section} does not have"
            ));
        }
    }
    let mut own: BTreeSet<&str> = section.own.iter().copied().collect();
    for table in &section.tables {
        let options = table.options().iter().map(|option| option.name);
        if !table.is_flat() {
            own.insert(table.name());
        }
        match listed.get(table.name()) {
            Some(keys) => {
                let place = format!("{} {}", section.name, table.name());
                problems.extend(unlike(&place, keys, &options.collect()));
            }
            None => own.extend(options.filter(|option| table.short() != Some(*option))),
        }
    }
    problems.extend(unlike(section.name, &keys_of(page, section.name), &own));
    problems
}

fn unlike(place: &str, on_page: &BTreeSet<&str>, keys: &BTreeSet<&str>) -> Vec<String> {
    let missing = keys.difference(on_page);
    let missing = missing.map(|key| format!("{place}: the page does not have {key:?}"));
    let unknown = on_page.difference(keys);
    let unknown = unknown.map(|key| format!("{place}: {key:?} on the page is no key"));
    missing.chain(unknown).collect()
}

/// Keys in the tables of a section's own text, which ends at its first subsection.
fn keys_of<'p>(page: &'p str, section: &str) -> BTreeSet<&'p str> {
    let heading = format!("`{section}`\n");
    let mut sections = page.split("\n## ");
    let text = sections.find(|text| text.starts_with(&heading));
    let text = text.and_then(|text| text.split("\n### ").next());
    let rows = rows(text.unwrap_or_default()).into_iter();
    let keys = rows.filter(|(heading, _)| *heading == "key");
    keys.flat_map(|(_, cell)| quoted(cell)).collect()
}

/// The benchmarks of a section that have lists of keys, each with these keys.
fn listed<'p>(page: &'p str, section: &str) -> BTreeMap<&'p str, BTreeSet<&'p str>> {
    let items = page.split("\n- ").skip(1);
    let items = items.filter_map(|item| item.split("\n\n").next()?.split_once(": "));
    let mut listed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (heading, keys) in rows(page).into_iter().chain(items) {
        if let Some(benchmark) = benchmark_of(heading, section) {
            listed.entry(benchmark).or_default().extend(quoted(keys));
        }
    }
    listed
}

/// The benchmark whose keys in this section have this heading.
fn benchmark_of<'p>(heading: &'p str, section: &str) -> Option<&'p str> {
    let keys = heading.strip_prefix("key of `");
    let keys = keys.or_else(|| heading.strip_prefix("keys of `"));
    let (benchmark, sections) = keys?.split_once("` under ")?;
    sections.contains(section).then_some(benchmark)
}

/// The rows of a text's tables: the heading of the first column, and the row's first cell.
fn rows(text: &str) -> Vec<(&str, &str)> {
    let mut heading = None;
    let mut rows = Vec::new();
    for line in text.lines() {
        let Some(cells) = line.strip_prefix("| ") else {
            heading = None;
            continue;
        };
        let first = cells.split(" |").next().unwrap_or(cells);
        match heading {
            None => heading = Some(first),
            Some(_) if first == "---" => {}
            Some(heading) => rows.push((heading, first)),
        }
    }
    rows
}

fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use settings::{Kind, OptionSpec};

    use super::*;

    struct Ping;

    const OPTIONS: &[OptionSpec] = &[
        OptionSpec::without_default("times", Kind::Count(1, 10), ""),
        OptionSpec::without_default("size", Kind::Count(1, 10), ""),
    ];

    impl OptionTable for Ping {
        fn name(&self) -> &'static str {
            "ping"
        }

        fn options(&self) -> &'static [OptionSpec] {
            OPTIONS
        }

        fn short(&self) -> Option<&'static str> {
            Some("times")
        }

        fn example(&self) -> &'static str {
            "ping = 1"
        }
    }

    fn found(own: &str, others: &str) -> Vec<String> {
        let section = Section {
            name: "[load]",
            own: vec!["rate"],
            tables: vec![&Ping],
        };
        let page = format!(
            "# Page\n\n## `[load]`\n\n| key | meaning |\n| --- | --- |\n{own}\nText.\n\n### Ping\n\n{others}\n\n\
             ## `[proxy]`\n\n| key | meaning |\n| --- | --- |\n| `other` | |\n"
        );
        differences(&page, &section)
    }

    #[test]
    fn a_key_that_only_one_side_has_is_found() {
        let own = "| `ping` | one of these |\n| `rate` | |\n";
        let table =
            "| key of `ping` under `[load]` | meaning |\n| --- | --- |\n| `times`, `size` | |\n";
        let list = "- keys of `ping` under `[data]` and `[load]`: `times`,\n  `size`\n- other: `x`";
        for others in [table, list] {
            assert_eq!(found(own, others), [""; 0]);
        }
        let in_own = "| `ping` | |\n| `rate` | |\n| `size` | |\n";
        assert_eq!(found(in_own, ""), [""; 0]);
        assert_eq!(found(own, ""), ["[load]: the page does not have \"size\""]);
        let unknown = found(in_own, table);
        assert_eq!(unknown, ["[load]: \"size\" on the page is no key"]);
        let short = table.replace(", `size`", "");
        let short = found(own, &short);
        assert_eq!(short, ["[load] ping: the page does not have \"size\""]);
        let pong = found(own, &format!("{table}\n{}", table.replace("ping", "pong")));
        let of_pong = "the page lists keys of \"pong\", which [load] does not have";
        assert_eq!(pong, [of_pong]);
    }
}
