//! What the figures rest on: errors, machines, servers, variables, data, and how to do it again.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use samples::{ErrorCount, ServerIdentity};

use super::{figures::scrolling, machines};
use crate::{
    ceiling,
    number::{bytes, counted},
    results::Results,
};

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

/// Statement errors, added up over all runs; nothing when there were none.
pub(super) fn errors(results: &Results) -> Markup {
    let mut found: BTreeMap<(&str, &str, u16, &str), Vec<&ErrorCount>> = BTreeMap::new();
    for error in results.runs.iter().flat_map(|run| &run.errors) {
        let key = (
            error.load.as_str(),
            error.operation.as_str(),
            error.number,
            error.sqlstate.as_str(),
        );
        found.entry(key).or_default().push(error);
    }
    html! {
        @if !found.is_empty() {
            section aria-labelledby="errors" {
                h2 id="errors" { "Errors" }
                (scrolling("Errors", html! {
                    table {
                        thead { tr {
                            @for name in ["load", "operation", "error", "count", "retried with success", "in", "first message"] {
                                th scope="col" { (name) }
                            }
                        } }
                        tbody { @for ((load, operation, number, sqlstate), errors) in &found {
                            tr {
                                td { (load) }
                                td { (operation) }
                                td { @if *number == 0 { "client" } @else { (number) } @if !sqlstate.is_empty() { " (" (sqlstate) ")" } }
                                td { (errors.iter().map(|error| error.count).sum::<u64>()) }
                                td { (errors.iter().map(|error| error.retried).sum::<u64>()) }
                                td { (counted(errors.len(), "run")) }
                                td.text { (errors[0].message) }
                            }
                        } }
                    }
                }))
            }
        }
    }
}

/// The machines, the servers, their variables, the data, and what nobody looked at.
pub(super) fn section(results: &Results) -> Markup {
    html! {
        @if !results.runs.is_empty() {
            section aria-labelledby="environment" {
                h2 id="environment" { "Machine, server and data" }
                (machines::tables(results))
                (machines::not_observed(results))
                @for sentence in ceiling::sentences(results) { p { (sentence) } }
                (servers(results))
                (datasets(results))
                (variables(results))
            }
        }
    }
}

/// What a server is, as far as runs may differ in it.
type ServerKey<'a> = (&'a str, &'a str, &'a str, &'a str);

fn servers(results: &Results) -> Markup {
    let mut found: BTreeMap<ServerKey, (usize, BTreeSet<u32>)> = BTreeMap::new();
    for record in &results.runs {
        let Some(server) = record.servers.first() else {
            continue;
        };
        let address = if server.private {
            "private, started for the runs"
        } else {
            &server.address
        };
        let key = (
            server.version.as_str(),
            server.version_comment.as_str(),
            address,
            record.header.transport.as_str(),
        );
        let (runs, loops) = found.entry(key).or_default();
        *runs += 1;
        loops.insert(record.header.loops);
    }
    html! {
        @if !found.is_empty() {
            (scrolling("Servers", html! {
                table {
                    caption { "Servers" }
                    thead { tr {
                        @for name in ["version", "", "address", "reached by", "client loops", "runs"] { th scope="col" { (name) } }
                    } }
                    tbody { @for ((version, comment, address, transport), (runs, loops)) in &found {
                        tr {
                            th scope="row" { (version) }
                            td { (comment) }
                            td { (address) }
                            td { (transport) }
                            td { (joined(loops)) }
                            td { (runs) }
                        }
                    } }
                }
            }))
        }
    }
}

fn joined<T: ToString>(values: &BTreeSet<T>) -> String {
    values
        .iter()
        .map(T::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

fn datasets(results: &Results) -> Markup {
    let mut found: BTreeMap<_, usize> = BTreeMap::new();
    for data in results.runs.iter().filter_map(|run| run.dataset.as_ref()) {
        let key = (
            data.source.as_str(),
            data.rows,
            data.disk_bytes,
            data.buffer_pool_bytes,
            data.state.as_str(),
        );
        *found.entry(key).or_default() += 1;
    }
    html! {
        @if !found.is_empty() {
            (scrolling("Data", html! {
                table {
                    caption { "Data" }
                    thead { tr {
                        @for name in ["source", "rows", "on disk", "buffer pool", "disk / pool", "state", "runs"] { th scope="col" { (name) } }
                    } }
                    tbody { @for ((source, rows, disk, pool, state), runs) in &found {
                        tr {
                            th scope="row" { (source) }
                            td { (rows) }
                            td { (disk.map_or("–".to_owned(), bytes)) }
                            td { (pool.map_or("–".to_owned(), bytes)) }
                            td { (ratio(*disk, *pool)) }
                            td { (state) }
                            td { (runs) }
                        }
                    } }
                }
            }))
        }
    }
}

fn ratio(disk_bytes: Option<u64>, pool_bytes: Option<u64>) -> String {
    match (disk_bytes, pool_bytes) {
        (Some(disk), Some(pool)) if pool > 0 => format!("{:.2}", disk as f64 / pool as f64),
        _ => "–".to_owned(),
    }
}

/// A variable's values over all runs, each with the number of runs that had it.
type Values<'a> = BTreeMap<&'a str, BTreeMap<&'a str, usize>>;

fn variables(results: &Results) -> Markup {
    let mut values: Values = BTreeMap::new();
    for server in results.runs.iter().filter_map(|run| run.servers.first()) {
        for (name, value) in &server.variables {
            *values.entry(name).or_default().entry(value).or_default() += 1;
        }
    }
    let set = set_by_the_experiment(&results.experiment_text);
    let chosen: BTreeSet<&str> = values
        .iter()
        .filter(|(name, values)| {
            let differs = values.len() > 1 && !is_of_the_instance(name);
            differs || set.contains(**name) || TELLING.contains(name)
        })
        .map(|(name, _)| *name)
        .collect();
    let changed = changed_meanwhile(results);
    html! {
        @if !chosen.is_empty() {
            (scrolling("Server variables", html! {
                table {
                    caption { "Server variables: those that the experiment sets, that differ between runs, or that decide on durability and memory" }
                    thead { tr { th scope="col" { "variable" } th scope="col" { "value" } th scope="col" { "set by the experiment" } } }
                    tbody { @for name in &chosen {
                        tr {
                            th scope="row" { code { (name) } }
                            td { (values_in_words(&values[name])) }
                            td { (if set.contains(*name) { "yes" } else { "" }) }
                        }
                    } }
                }
            }))
        }
        @if !changed.is_empty() { p { strong { "Changed during a run: " } (joined(&changed)) "." } }
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

/// Variables that differ between any two starts of the same server and say nothing about it.
fn is_of_the_instance(name: &str) -> bool {
    const PARTS: [&str; 8] = [
        "gtid",
        "pid_file",
        "port",
        "pseudo",
        "server_uid",
        "server_uuid",
        "socket",
        "timestamp",
    ];
    PARTS.iter().any(|part| name.contains(part))
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

/// The experiment as run, with everything that it takes to run it again.
pub(super) fn reproduce(results: &Results) -> Markup {
    let headers = || results.runs.iter().map(|run| &run.header);
    let seeds: BTreeSet<u64> = headers().map(|header| header.seed).collect();
    let versions: BTreeSet<&str> = headers()
        .map(|header| header.dbdyno_version.as_str())
        .collect();
    let hashes: BTreeSet<&str> = headers()
        .map(|header| header.experiment_sha256.as_str())
        .filter(|hash| !hash.is_empty())
        .collect();
    let started: BTreeSet<&str> = headers().map(|header| header.started_at.as_str()).collect();
    html! {
        section aria-labelledby="reproduce" {
            h2 id="reproduce" { "How to reproduce" }
            dl {
                @if !versions.is_empty() { dt { "dbdyno" } dd { (joined(&versions)) } }
                @if !seeds.is_empty() { dt { "seed" } dd { (joined(&seeds)) } }
                @if let (Some(first), Some(last)) = (started.first(), started.last()) {
                    dt { "runs started" } dd { (first) @if first != last { " to " (last) } }
                }
                @if !hashes.is_empty() { dt { "SHA-256 of the experiment" } dd { code { (joined(&hashes)) } } }
            }
            @if !results.experiment_text.is_empty() {
                p { "Save this as a file and give it to " code { "dbdyno run" } ":" }
                pre tabindex="0" { code { (results.experiment_text) } }
            }
        }
    }
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
    fn values_that_differ_say_in_how_many_runs() {
        let values = BTreeMap::from([("", 1), ("64M", 3)]);
        assert_eq!(values_in_words(&values), "(empty) (1 run), 64M (3 runs)");
        assert_eq!(values_in_words(&BTreeMap::from([("ON", 9)])), "ON");
    }
}
