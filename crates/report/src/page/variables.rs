//! The server's variables: every one that differs from its default, and all of them.

use std::collections::{BTreeMap, BTreeSet};

mod columns;
mod values;

use maud::{Markup, html};
use samples::{ServerIdentity, is_of_the_instance};

use columns::{Column, columns};
use values::{
    catalogue, defaults_in_words, is_same, name_of, short, size_in_words, values_in_words,
};

use super::figures::{joined, scrolling};
use crate::results::Results;

/// Variables that decide whether two results can be compared: durability, memory, concurrency, logging.
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

/// Maximum number of settings in the head of the page.
const SETTINGS_AT_HEAD: usize = 6;

/// A variable's values over all runs, each with the number of runs that had it.
type Values<'a> = BTreeMap<&'a str, BTreeMap<&'a str, usize>>;

/// The variables of the servers of all runs.
pub(super) struct Variables<'a> {
    values: Values<'a>,
    /// The defaults from the catalogues, if known.
    defaults: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// Names of the variables that differ from their default in a run.
    differing: BTreeSet<&'a str>,
    compared_with: BTreeSet<String>,
    /// Names under `[server] set`.
    set: BTreeSet<String>,
}

impl<'a> Variables<'a> {
    pub(super) fn of(results: &'a Results) -> Self {
        let mut found = Self {
            values: BTreeMap::new(),
            defaults: BTreeMap::new(),
            differing: BTreeSet::new(),
            compared_with: BTreeSet::new(),
            set: set_by_the_experiment(&results.experiment_text),
        };
        for server in results.runs.iter().filter_map(|run| run.servers.first()) {
            let catalogue = catalogue(&server.version);
            found.compared_with.insert(name_of(catalogue));
            for (name, value) in &server.variables {
                let values = found.values.entry(name).or_default();
                *values.entry(value).or_default() += 1;
                if let Some(default) = catalogue.default_value(name) {
                    found.defaults.entry(name).or_default().insert(default);
                    if !is_same(value, default) && !is_of_the_instance(name) {
                        found.differing.insert(name);
                    }
                }
            }
        }
        found
    }

    /// The variables that differ from their default, that the experiment sets, or that differ between runs.
    fn chosen(&self) -> Vec<&'a str> {
        let values = self.values.iter().filter(|(name, values)| {
            let varies = values.len() > 1 && !is_of_the_instance(name);
            varies || self.set.contains(**name) || self.differing.contains(*name)
        });
        values.map(|(name, _)| *name).collect()
    }

    /// Whether results with different values cannot be compared, or the experiment varies it.
    fn matters(&self, name: &str) -> bool {
        TELLING.contains(&name) || self.set.contains(name)
    }

    /// The chosen variables that matter, the most important first; and the others.
    fn chosen_by_weight(&self) -> (Vec<&'a str>, Vec<&'a str>) {
        let (mut first, rest): (Vec<_>, Vec<_>) = self
            .chosen()
            .into_iter()
            .partition(|name| self.matters(name));
        first.sort_by_key(|name| !TELLING.contains(name));
        (first, rest)
    }
}

/// The settings that matter, in a few words: `innodb_buffer_pool_size 64.0 MiB, sync_binlog 1`; `None` if all have
/// their defaults.
pub(super) fn settings_in_short(variables: &Variables) -> Option<String> {
    let (names, _) = variables.chosen_by_weight();
    let more = names.len().saturating_sub(SETTINGS_AT_HEAD);
    let said = names.iter().take(SETTINGS_AT_HEAD).map(|name| {
        let values = variables.values[name].keys();
        let values: Vec<String> = values.map(|value| short(value)).collect();
        format!("{name} {}", values.join(" or "))
    });
    let said: Vec<String> = said.collect();
    match (said.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(said.join(", ")),
        (false, more) => Some(format!("{}, and {more} more", said.join(", "))),
    }
}

/// The chosen variables, those that matter first; then those with their default that decide on durability and memory,
/// and all of them.
pub(super) fn section(results: &Results, variables: &Variables) -> Markup {
    let columns = columns(results);
    let (first, rest) = variables.chosen_by_weight();
    let telling: Vec<&str> = (TELLING.iter().copied())
        .filter(|name| variables.values.contains_key(name) && !variables.differing.contains(name))
        .filter(|name| !first.contains(name))
        .collect();
    let changed = changed_meanwhile(results);
    let values = &variables.values;
    html! {
        @if !first.is_empty() || !rest.is_empty() {
            h3 { "Variables that differ from the server's defaults (" (variables.differing.len()) "), or that the experiment sets" }
            @if !first.is_empty() {
                (scrolling("Variables that matter", table(variables, &columns, &first)))
            }
            @if !rest.is_empty() {
                details.all-variables {
                    summary { "Other variables that differ (" (rest.len()) ")" }
                    (scrolling("Other variables that differ", table(variables, &columns, &rest)))
                }
            }
            p.note { "Defaults are those of " (joined(&variables.compared_with)) " without any option; some of them depend on the machine or on other variables. File names, ports and similar values are left out." }
        }
        @if !changed.is_empty() { p { strong { "Changed during a run: " } (joined(&changed)) "." } }
        @if !telling.is_empty() {
            details.all-variables {
                summary { "At their defaults: " (telling.len()) " variables that control durability, memory and logging" }
                (scrolling("Variables at their defaults", table(variables, &columns, &telling)))
            }
        }
        @if !values.is_empty() {
            details.all-variables {
                summary { "All " (values.len()) " server variables at the start of the runs" }
                (scrolling("All server variables", html! {
                    table {
                        thead { tr { th scope="col" { "variable" } th scope="col" { "value" } } }
                        tbody { @for (name, values) in values {
                            tr { th scope="row" { code { (name) } } td.text { (values_in_words(values)) } }
                        } }
                    }
                }))
            }
        }
    }
}

/// A row for each variable, a column for each server with different values.
fn table(variables: &Variables, columns: &[Column], names: &[&str]) -> Markup {
    html! {
        table {
            thead { tr {
                th scope="col" { "variable" }
                @for column in columns { th scope="col" { (column.name) } }
                @if columns.len() == 1 { th scope="col" { "default" } }
                th scope="col" { "set by the experiment" }
            } }
            tbody { @for name in names {
                tr {
                    th scope="row" { code { (name) } }
                    @for column in columns { td.text { (column.value(name, columns.len() > 1)) } }
                    @if columns.len() == 1 {
                        @let defaults = variables.defaults.get(name);
                        td.text { (defaults_in_words(defaults)) (size_in_words(defaults.into_iter().flatten())) }
                    }
                    td { (if variables.set.contains(*name) { "yes" } else { "" }) }
                }
            } }
        }
    }
}

/// Names of the variables under `[server] set`; empty when the text is not an experiment (of a front door).
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
        now.is_some_and(|now| now != *value) && !is_of_the_instance(name)
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
}
