//! The basis of the figures: errors, machines, servers, variables, data, and how to repeat the experiment.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use samples::{Access, DiskLoad, ErrorCount, Pattern};
use units::{bytes, counted, percent};

use super::{
    figures::{joined, scrolling},
    machines,
    variables::{self, Variables},
};
use crate::{
    grid::Grid,
    results::Results,
    sentences::{ceiling, set_limit},
};

const SEEDS_SHOWN: usize = 3;

/// Statement errors, summed over all runs; empty when there were none.
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
                        tbody { @for ((load, operation, _, _), errors) in &found {
                            tr {
                                td { (load) }
                                td { (operation) }
                                td { (errors[0].code()) }
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

pub(super) fn title(grid: &Grid<'_>) -> &'static str {
    if grid.uses_servers() {
        "Machine, server and data"
    } else {
        "Machine and disk"
    }
}

/// The machines, the servers, their variables, the data, and the list of unobserved values.
pub(super) fn section(results: &Results, grid: &Grid<'_>, variables: &Variables) -> Markup {
    html! {
        @if !results.runs.is_empty() {
            section aria-labelledby="environment" {
                h2.hidden id="environment" { (title(grid)) }
                (machines::tables(results, grid.uses_servers()))
                (machines::not_observed(results))
                @for sentence in ceiling::sentences(results) { p { (sentence) } }
                (servers(results))
                (disk_loads(results))
                @for sentence in set_limit::sentences(results) { p { (sentence) } }
                (datasets(results))
                (variables::section(results, variables))
            }
        }
    }
}

/// What loads without a server asked of which directory, each job file once.
fn disk_loads(results: &Results) -> Markup {
    let mut found: BTreeMap<&str, (&DiskLoad, usize)> = BTreeMap::new();
    for load in results.runs.iter().filter_map(|run| run.disk_load.as_ref()) {
        found.entry(&load.job_file).or_insert((load, 0)).1 += 1;
    }
    html! {
        @if !found.is_empty() {
            (scrolling("Loads on disks", html! {
                table {
                    caption { "Loads on disks" }
                    thead { tr {
                        @for name in ["directory", "by", "requests", "page cache", "durable by", "file", "runs"] {
                            th scope="col" { (name) }
                        }
                    } }
                    tbody { @for (load, runs) in found.values() {
                        tr {
                            th scope="row" { (load.directory) }
                            td { (load.in_words()) }
                            td.text { (load.jobs.iter().map(job_in_words).collect::<Vec<_>>().join("; ")) }
                            td { (if load.direct { "passed" } else { "used" }) }
                            td { (if load.sync.is_empty() { "as specified in the job file" } else { &load.sync }) }
                            td { (load.file_bytes.map_or("–".to_owned(), bytes)) }
                            td { (runs) }
                        }
                    } }
                }
            }))
            @for (text, _) in found { details { summary { "A job file: " code { "fio FILE" } " repeats it by hand" } pre { (text) } } }
        }
    }
}

/// `pages: random, 16.0 KiB, 70 % reads, 8 in flight`.
fn job_in_words(job: &Pattern) -> String {
    let access = match job.access {
        Access::Random => "random",
        Access::Sequential => "sequential",
    };
    format!(
        "{}: {access}, {}, {} reads, {} in flight",
        job.name,
        bytes(job.block_bytes),
        percent(f64::from(job.reads_percent) / 100.0),
        job.depth
    )
}

/// The properties in which the servers of runs may differ.
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
                        @for name in ["version", "build", "address", "reached by", "client loops", "runs"] { th scope="col" { (name) } }
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

fn datasets(results: &Results) -> Markup {
    let mut found: BTreeMap<_, usize> = BTreeMap::new();
    for data in results.runs.iter().filter_map(|run| run.dataset.as_ref()) {
        let key = (
            data.source.as_str(),
            data.rows,
            data.disk_bytes,
            data.buffer_pool_bytes,
            data.state.name(),
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

/// The experiment as run, with everything needed to repeat it.
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
            h2.hidden id="reproduce" { "How to reproduce" }
            dl {
                @if !versions.is_empty() { dt { "dbdyno" } dd { (joined(&versions)) } }
                @match seeds.len() {
                    0 => {},
                    1..=SEEDS_SHOWN => { dt { "seed" } dd { (joined(&seeds)) } }
                    _ => { dt { "seed" } dd { "the experiment's seed; each run uses a seed that is generated from it and recorded with the run" } }
                }
                @if let (Some(first), Some(last)) = (started.first(), started.last()) {
                    dt { "runs started" } dd { (first) @if first != last { " to " (last) } }
                }
                @if !hashes.is_empty() { dt { "SHA-256 of the experiment" } dd { code { (joined(&hashes)) } } }
            }
            @if !results.experiment_text.is_empty() {
                p {
                    "With the results directory, " code { "dbdyno rerun DIRECTORY" } " repeats the experiment and compares. Without that directory, save this as a file and pass it to " code { "dbdyno run" } ":"
                }
                pre tabindex="0" { code { (results.experiment_text) } }
            }
        }
    }
}
