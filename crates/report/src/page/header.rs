//! The measured subject in the head of the page: server, machine, data, and the settings that matter.

use std::collections::BTreeSet;

use maud::{Markup, html};
use samples::{Dataset, Machine, Record};
use units::{bytes, counted};

use super::variables::{Variables, settings_in_short};
use crate::{grid::Grid, results::Results, summary::measured};

/// Maximum number of values; further ones are counted.
const NAMED: usize = 3;

/// The list of the measured subjects; empty without runs.
pub(super) fn facts(results: &Results, grid: &Grid, variables: &Variables) -> Markup {
    let facts = [
        ("Runs", Some(measured(results, grid))),
        ("Server", each(results, server)),
        ("Machine", machines(results)),
        ("Data", each(results, data)),
        ("Settings", settings_in_short(variables)),
    ];
    html! {
        @if !results.runs.is_empty() {
            dl.facts { @for (name, fact) in facts { @if let Some(fact) = fact {
                dt { (name) } dd { (fact) }
            } } }
        }
    }
}

/// The values of the runs, each once.
fn each(results: &Results, of: fn(&Record) -> Option<String>) -> Option<String> {
    listed(results.runs.iter().filter_map(of).collect())
}

fn listed(all: BTreeSet<String>) -> Option<String> {
    let named: Vec<&str> = all.iter().take(NAMED).map(String::as_str).collect();
    match (named.is_empty(), all.len().saturating_sub(NAMED)) {
        (true, _) => None,
        (false, 0) => Some(named.join("; ")),
        (false, more) => Some(format!("{}; and {more} more", named.join("; "))),
    }
}

/// The server in words: `10.11.19-MariaDB (Debian 12), private, by unix socket`.
fn server(record: &Record) -> Option<String> {
    let server = record.servers.first()?;
    let comment = server.version_comment.trim_matches(['(', ')', ' ']);
    let comment = match comment {
        "" => String::new(),
        comment => format!(" ({comment})"),
    };
    let address = if server.private {
        "private"
    } else {
        &server.address
    };
    let transport = &record.header.transport;
    Some(format!(
        "{}{comment}, {address}, by {transport}",
        server.version
    ))
}

/// The machines in words: `db1: AMD EPYC, 16 CPUs, 64.0 GiB, Linux 6.1`.
fn machines(results: &Results) -> Option<String> {
    let machines = results.runs.iter().flat_map(|run| &run.machines);
    let uses_servers = results.runs.iter().any(|run| run.disk_load.is_none());
    listed(machines.map(|it| machine(it, uses_servers)).collect())
}

fn machine(machine: &Machine, uses_servers: bool) -> String {
    let model = match machine.cpu_model.as_str() {
        "" => String::new(),
        model => format!("{model}, "),
    };
    let kind = if machine.virtualised { ", virtual" } else { "" };
    let memory = bytes(machine.memory_bytes);
    format!(
        "{} ({}): {model}{}, {memory}, Linux {}{kind}",
        machine.name,
        super::machines::carries(machine.host, uses_servers),
        counted(machine.cpus as usize, "CPU"),
        machine.kernel
    )
}

/// The data in words: `hp-sizing.smack: 20.0k rows, 38.6 MiB, buffer pool 64.0 MiB`.
fn data(record: &Record) -> Option<String> {
    let data: &Dataset = record.dataset.as_ref()?;
    let size = data.disk_bytes.map(|size| format!(", {}", bytes(size)));
    let pool = data
        .buffer_pool_bytes
        .map(|pool| format!(", buffer pool {}", bytes(pool)));
    let rows = units::si(data.rows as f64);
    Some(format!(
        "{}: {rows} rows{}{}",
        data.source,
        size.unwrap_or_default(),
        pool.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cpu_is_singular() {
        let of = |cpus| {
            let of_cpus = Machine {
                name: "db1".to_owned(),
                cpus,
                memory_bytes: 4 << 30,
                kernel: "6.1".to_owned(),
                ..Machine::default()
            };
            machine(&of_cpus, true)
        };
        assert_eq!(of(1), "db1 (client and server): 1 CPU, 4.00 GiB, Linux 6.1");
        assert_eq!(
            of(16),
            "db1 (client and server): 16 CPUs, 4.00 GiB, Linux 6.1"
        );
    }
}
