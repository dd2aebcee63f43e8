//! The server's variables: every one that differs from its default, and all of them.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use mycnf::{Catalogue, Family};
use samples::{ServerIdentity, is_of_the_instance};
use units::{bytes, counted};

use super::figures::{joined, scrolling};
use crate::results::Results;

/// Variables that decide whether two results can be compared at all: durability, memory, concurrency, logging.
const TELLING: [&str; 20] = [
    "binlog_format",
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_io_capacity",
    "innodb_log_file_size",
    "innodb_redo_log_capacity",
    "log_bin",
    "max_connections",
    "performance_schema",
    "query_cache_size",
    "query_cache_type",
    "slow_query_log",
    "sync_binlog",
    "table_open_cache",
    "thread_handling",
    "transaction_isolation",
    "tx_isolation",
    "version_compile_machine",
];

/// A variable's values over all runs, each with the number of runs that had it.
type Values<'a> = BTreeMap<&'a str, BTreeMap<&'a str, usize>>;

/// Every variable that differs from the server's default, that the experiment sets, or that differs between runs; then
/// those at their default that decide on durability and memory, and all of them.
pub(super) fn section(results: &Results) -> Markup {
    let mut values: Values = BTreeMap::new();
    let mut defaults: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut differing: BTreeSet<&str> = BTreeSet::new();
    let mut compared_with = BTreeSet::new();
    for server in results.runs.iter().filter_map(|run| run.servers.first()) {
        let catalogue = catalogue(&server.version);
        compared_with.insert(name_of(catalogue));
        for (name, value) in &server.variables {
            *values.entry(name).or_default().entry(value).or_default() += 1;
            if let Some(default) = catalogue.default_value(name) {
                defaults.entry(name).or_default().insert(default);
                if !is_same(value, default) && !is_of_the_instance(name) {
                    differing.insert(name);
                }
            }
        }
    }
    let set = set_by_the_experiment(&results.experiment_text);
    let chosen: Vec<&str> = values
        .iter()
        .filter(|(name, values)| {
            let varies = values.len() > 1 && !is_of_the_instance(name);
            varies || set.contains(**name) || differing.contains(*name)
        })
        .map(|(name, _)| *name)
        .collect();
    let telling: Vec<&str> = (TELLING.iter().copied())
        .filter(|name| values.contains_key(name) && !chosen.contains(name))
        .collect();
    let changed = changed_meanwhile(results);
    let table = |names: &[&str]| {
        html! {
            table {
                thead { tr {
                    @for name in ["variable", "value", "default", "set by the experiment"] { th scope="col" { (name) } }
                } }
                tbody { @for name in names {
                    tr {
                        th scope="row" { code { (name) } }
                        td.text { (values_in_words(&values[name])) (size_in_words(values[name].keys())) }
                        td.text { (defaults_in_words(defaults.get(name))) (size_in_words(defaults.get(name).into_iter().flatten())) }
                        td { (if set.contains(*name) { "yes" } else { "" }) }
                    }
                } }
            }
        }
    };
    html! {
        @if !chosen.is_empty() {
            h3 { "Variables that differ from the server's defaults (" (differing.len()) "), or that the experiment sets" }
            (scrolling("Variables that differ from the defaults", table(&chosen)))
            p.note { "Defaults are those of " (joined(&compared_with)) " without any option, some of which follow from the machine or \
                from other variables; names of files, ports and the like are left out." }
        }
        @if !changed.is_empty() { p { strong { "Changed during a run: " } (joined(&changed)) "." } }
        @if !telling.is_empty() {
            details.all-variables {
                summary { "At their defaults: " (telling.len()) " variables that decide on durability, memory and logging" }
                (scrolling("Variables at their defaults", table(&telling)))
            }
        }
        @if !values.is_empty() {
            details.all-variables {
                summary { "All " (values.len()) " server variables at the start of the runs" }
                (scrolling("All server variables", html! {
                    table {
                        thead { tr { th scope="col" { "variable" } th scope="col" { "value" } } }
                        tbody { @for (name, values) in &values {
                            tr { th scope="row" { code { (name) } } td.text { (values_in_words(values)) } }
                        } }
                    }
                }))
            }
        }
    }
}

/// The catalogue nearest to a version like `10.11.19-MariaDB-0+deb12u1`.
fn catalogue(version: &str) -> Catalogue {
    let family = if version.contains("MariaDB") {
        Family::MariaDb
    } else {
        Family::MySql
    };
    let parts = version.split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<u32> = parts.map_while(|part| part.parse().ok()).take(3).collect();
    Catalogue::nearest(family, &numbers)
}

fn name_of(catalogue: Catalogue) -> String {
    let family = match catalogue.family() {
        Family::MariaDb => "MariaDB",
        Family::MySql => "MySQL",
    };
    format!("{family} {}", catalogue.version())
}

/// The same value, also where one is written `1` and the other `ON` or `1.000000`.
fn is_same(value: &str, default: &str) -> bool {
    let switch = |text: &str| match text {
        "ON" | "YES" | "TRUE" => "1".to_owned(),
        "OFF" | "NO" | "FALSE" => "0".to_owned(),
        other => other.to_owned(),
    };
    let (value, default) = (value.to_uppercase(), default.to_uppercase());
    let numbers = value.parse::<f64>().ok().zip(default.parse::<f64>().ok());
    numbers.map_or(switch(&value) == switch(&default), |(a, b)| a == b)
}

/// ` = 64.0 MiB` behind a single size that is written out in bytes; nothing behind anything else.
fn size_in_words<'a>(mut values: impl Iterator<Item = &'a &'a str>) -> String {
    let (Some(only), None) = (values.next(), values.next()) else {
        return String::new();
    };
    match only.parse::<u64>() {
        Ok(size) if size >= 1 << 20 && size % 1024 == 0 && size < 1 << 50 => {
            format!(" = {}", bytes(size))
        }
        _ => String::new(),
    }
}

fn defaults_in_words(defaults: Option<&BTreeSet<&str>>) -> String {
    let shown = |value: &&str| {
        if value.is_empty() {
            "(empty)".to_owned()
        } else {
            (*value).to_owned()
        }
    };
    let defaults: Vec<String> = defaults.into_iter().flatten().map(shown).collect();
    if defaults.is_empty() {
        "–".to_owned()
    } else {
        defaults.join(" or ")
    }
}

fn values_in_words(values: &BTreeMap<&str, usize>) -> String {
    let shown = |value: &&str| {
        if value.is_empty() {
            "(empty)".to_owned()
        } else {
            (*value).to_owned()
        }
    };
    match values.len() {
        1 => values.keys().map(shown).collect(),
        n if n > 6 => format!("{n} different values"),
        _ => values
            .iter()
            .map(|(value, runs)| format!("{} ({})", shown(value), counted(*runs, "run")))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Names of the variables under `[server] set`; none when the text is no experiment (a front door).
fn set_by_the_experiment(text: &str) -> BTreeSet<String> {
    let Ok(experiment) = text.parse::<toml::Table>() else {
        return BTreeSet::new();
    };
    let set = experiment
        .get("server")
        .and_then(|server| server.get("set")?.as_table());
    set.into_iter()
        .flat_map(toml::Table::keys)
        .map(|name| name.replace('-', "_").to_lowercase())
        .collect()
}

fn changed_meanwhile(results: &Results) -> BTreeSet<String> {
    let mut changed = BTreeSet::new();
    for record in &results.runs {
        let [start, .., end] = record.servers.as_slice() else {
            continue;
        };
        changed.extend(differing(start, end));
    }
    changed
}

fn differing(start: &ServerIdentity, end: &ServerIdentity) -> Vec<String> {
    let differs = |(name, value): &(&String, &String)| {
        let now = end.variables.get(*name);
        !is_of_the_instance(name) && now.is_some_and(|now| now != *value)
    };
    start
        .variables
        .iter()
        .filter(differs)
        .map(|(name, _)| name.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_set_by_the_experiment_are_found_in_both_spellings() {
        let text = "format = 1\n[server]\nrun = \"mariadb\"\nset = { query-cache-size = \"{q}\", Max_Connections = 5 }\n";
        let names: Vec<String> = set_by_the_experiment(text).into_iter().collect();
        assert_eq!(names, ["max_connections", "query_cache_size"]);
        assert!(set_by_the_experiment("client \"admin\" { user \"root\"; }").is_empty());
        assert!(set_by_the_experiment("[server]\nset = 3").is_empty());
    }

    #[test]
    fn a_value_is_its_default_in_any_spelling() {
        for (value, default, same) in [
            ("ON", "1", true),
            ("4", "4.000000", true),
            ("Fdatasync", "fdatasync", true),
            ("OFF", "ON", false),
            ("64M", "67108864", false),
        ] {
            assert_eq!(is_same(value, default), same, "{value} {default}");
        }
        assert_eq!(
            name_of(catalogue("10.11.19-MariaDB-0+deb12u1")),
            "MariaDB 10.11"
        );
        assert_eq!(name_of(catalogue("5.6.51-log")), "MySQL 5.6.24");
        assert_eq!(name_of(catalogue("8.0.40")), "MySQL 8.0.33");
    }

    #[test]
    fn sizes_are_told_in_larger_units() {
        let told = |values: &[&str]| size_in_words(values.iter());
        assert_eq!(told(&["67108864"]), " = 64.0 MiB");
        for values in [&["151"][..], &["ON"], &["1048577"], &["0", "67108864"], &[]] {
            assert_eq!(told(values), "", "{values:?}");
        }
    }

    #[test]
    fn values_that_differ_say_in_how_many_runs() {
        let values = BTreeMap::from([("", 1), ("64M", 3)]);
        assert_eq!(values_in_words(&values), "(empty) (1 run), 64M (3 runs)");
        assert_eq!(values_in_words(&BTreeMap::from([("ON", 9)])), "ON");
    }
}
