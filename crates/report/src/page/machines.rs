//! The machines: processors, kernel, limits, and the storage of the server's directories.

use std::collections::BTreeSet;

use maud::{Markup, html};
use samples::{BlockDevice, Cgroup, Host, KernelSettings, Machine, Storage, StorageDirectory};
use units::{bytes, counted, counted_amount, fine_percent};

use super::figures::scrolling;
use crate::{results::Results, sentences::observers};

/// The machines, their configuration and their storage.
pub(super) fn tables(results: &Results, uses_servers: bool) -> Markup {
    let machines = machines(results);
    html! {
        @if !machines.is_empty() {
            (scrolling("Machines", overview(&machines, uses_servers)))
            (setup(&machines, uses_servers))
        }
        (storage(results, uses_servers))
        @for sentence in observers::sentences(results) { p { (sentence) } }
    }
}

/// The machines of all runs, each once.
fn machines(results: &Results) -> Vec<&Machine> {
    let mut machines: Vec<&Machine> = Vec::new();
    for machine in results.runs.iter().flat_map(|run| &run.machines) {
        let known = machines
            .iter()
            .any(|other| other.host == machine.host && other.name == machine.name);
        if !known {
            machines.push(machine);
        }
    }
    machines
}

/// The part of the benchmark that runs on a machine.
pub(super) fn carries(host: Host, uses_servers: bool) -> &'static str {
    match host {
        Host::Both if !uses_servers => "client and disk",
        Host::Both => "client and server",
        Host::Client => "client",
        Host::Server => "server",
    }
}

fn overview(machines: &[&Machine], uses_servers: bool) -> Markup {
    html! {
        table {
            caption { "Machines" }
            thead { tr {
                @for name in ["carries", "name", "CPU", "logical CPUs", "memory", "kernel", "virtual"] { th scope="col" { (name) } }
            } }
            tbody { @for machine in machines {
                tr {
                    th scope="row" { (carries(machine.host, uses_servers)) }
                    td { (machine.name) }
                    td { (machine.cpu_model) }
                    td { (machine.cpus) }
                    td { (bytes(machine.memory_bytes)) }
                    td { (machine.kernel) }
                    td { (if machine.virtualised { "yes" } else { "no" }) }
                }
            } }
        }
    }
}

/// The configuration of processors, kernel and control groups, one list for each machine that reports it.
fn setup(machines: &[&Machine], uses_servers: bool) -> Markup {
    let told: Vec<(&Machine, Vec<(&str, String)>)> = machines
        .iter()
        .map(|machine| (*machine, settings(machine)))
        .filter(|(_, settings)| !settings.is_empty())
        .collect();
    html! {
        @for (machine, settings) in told {
            (scrolling("Set-up of a machine", html! {
                table {
                    caption { "Set-up of " (machine.name) " (" (carries(machine.host, uses_servers)) ")" }
                    tbody { @for (name, value) in settings {
                        tr { th scope="row" { (name) } td.text { (value) } }
                    } }
                }
            }))
        }
    }
}

/// The known configuration of a machine, by name.
fn settings(machine: &Machine) -> Vec<(&'static str, String)> {
    let mut told = Vec::new();
    let mut tell = |name, value: Option<String>| {
        told.extend(value.filter(|it| !it.is_empty()).map(|value| (name, value)));
    };
    if let Some(cpu) = &machine.cpu {
        tell("sockets", cpu.sockets.map(|it| it.to_string()));
        tell("cores", cpu.cores.map(|it| it.to_string()));
        tell("NUMA nodes", cpu.numa_nodes.map(|it| it.to_string()));
        tell("frequency governor", Some(cpu.governors.join(", ")));
        tell("frequency driver", cpu.frequency_driver.clone());
        tell(
            "highest frequency",
            cpu.frequency_max_hz
                .map(|hz| format!("{:.2} GHz", hz as f64 / 1e9)),
        );
        tell("turbo", cpu.turbo.map(|on| on_off(on).to_owned()));
        tell("hypervisor", cpu.hypervisor.clone());
    }
    if let Some(kernel) = &machine.settings {
        for (name, value) in kernel_settings(kernel) {
            tell(name, value);
        }
    }
    for cgroup in &machine.cgroups {
        tell("control group", Some(limits(cgroup)));
    }
    told
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

fn kernel_settings(kernel: &KernelSettings) -> [(&'static str, Option<String>); 6] {
    let share = |value: Option<u32>| value.map(|it| fine_percent(f64::from(it) / 100.0));
    [
        (
            "transparent huge pages",
            kernel.transparent_huge_pages.clone(),
        ),
        ("swappiness", kernel.swappiness.map(|it| it.to_string())),
        ("dirty ratio", share(kernel.dirty_ratio)),
        (
            "dirty background ratio",
            share(kernel.dirty_background_ratio),
        ),
        ("clock source", kernel.clocksource.clone()),
        ("isolated CPUs", kernel.isolated_cpus.clone()),
    ]
}

/// A control group in words: `of the server, /mysql (version 2): the time of 1.50 CPUs, 4.00 GiB of memory`.
fn limits(cgroup: &Cgroup) -> String {
    let limits = [
        cgroup
            .cpu_limit
            .map(|cpus| format!("the time of {}", counted_amount(cpus, "CPU"))),
        cgroup
            .cpus
            .map(|cpus| format!("on {}", counted(cpus as usize, "CPU"))),
        cgroup
            .memory_limit_bytes
            .map(|limit| format!("{} of memory", bytes(limit))),
        cgroup
            .memory_high_bytes
            .map(|limit| format!("slowed down above {} of memory", bytes(limit))),
        cgroup
            .io_limited
            .then(|| "disk requests limited".to_owned()),
    ];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    format!(
        "of the {}, {} (version {}): {}",
        cgroup.of,
        cgroup.path,
        cgroup.version,
        limits.join(", ")
    )
}

fn storage(results: &Results, uses_servers: bool) -> Markup {
    let mut found: Vec<(&StorageDirectory, &Storage)> = Vec::new();
    for storage in results.runs.iter().flat_map(|run| &run.storage) {
        for place in &storage.places {
            // Directories of private servers have individual names.
            let known = found.iter().any(|(other, of)| {
                of.host == storage.host
                    && other.holds == place.holds
                    && other.mount_point == place.mount_point
                    && other.mount_options == place.mount_options
                    && other.device == place.device
            });
            if !known {
                found.push((place, storage));
            }
        }
    }
    html! {
        @if !found.is_empty() {
            (scrolling("Storage", html! {
                table {
                    caption { (if uses_servers { "Storage behind the server's directories" } else { "Storage behind the directories" }) }
                    thead { tr {
                        @for name in ["holds", "file system", "mounted at", "options", "size", "free", "devices"] { th scope="col" { (name) } }
                    } }
                    tbody { @for (place, storage) in &found {
                        tr {
                            th scope="row" { (place.holds.join(", ")) }
                            td { (place.filesystem) }
                            td { (place.mount_point) }
                            td.text { (place.mount_options.replace(',', ", ")) }
                            td { (bytes(place.size_bytes)) }
                            td { (bytes(place.free_bytes)) }
                            td.text { (devices(place, storage)) }
                        }
                    } }
                }
            }))
        }
    }
}

/// The devices below a directory, from the top of the stack downwards.
pub(crate) fn devices(place: &StorageDirectory, storage: &Storage) -> String {
    let mut names: Vec<&str> = place.device.as_deref().into_iter().collect();
    let mut said = Vec::new();
    let mut at = 0;
    while let Some(name) = names.get(at).copied() {
        at += 1;
        let device = storage.devices.iter().find(|device| device.name == name);
        said.push(device.map_or(name.to_owned(), device_in_words));
        let below = device.into_iter().flat_map(|device| &device.made_of);
        for below in below {
            if !names.contains(&below.as_str()) {
                names.push(below);
            }
        }
    }
    said.join("; ")
}

fn device_in_words(device: &BlockDevice) -> String {
    let told = [
        Some(device.kind.clone()),
        device.model.clone(),
        device
            .rotational
            .map(|it| if it { "rotational" } else { "not rotational" }.to_owned()),
        device
            .write_cache
            .as_ref()
            .map(|it| format!("write cache: {it}")),
        device
            .scheduler
            .as_ref()
            .map(|it| format!("scheduler {it}")),
    ];
    let told: Vec<String> = told.into_iter().flatten().collect();
    format!("{} ({})", device.name, told.join(", "))
}

pub(super) fn not_observed(results: &Results) -> Markup {
    let machines = || results.runs.iter().flat_map(|run| &run.machines);
    let storage = results.runs.iter().flat_map(|run| &run.storage);
    let servers = results
        .runs
        .iter()
        .filter_map(|run| run.server_observation.as_ref());
    let mut missing: BTreeSet<&str> = machines()
        .flat_map(|machine| &machine.not_observed)
        .chain(storage.flat_map(|it| &it.not_observed))
        .chain(servers.flat_map(|it| &it.not_observed))
        .map(String::as_str)
        .collect();
    if machines().all(|machine| machine.host == Host::Client) {
        missing.insert("server host not observed");
    }
    let missing: Vec<&str> = missing.into_iter().collect();
    html! {
        @if !missing.is_empty() { p { strong { "Not observed: " } (missing.join("; ")) "." } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cpu_is_singular() {
        let of = |cpu_limit, cpus| {
            limits(&Cgroup {
                path: "/mysql".to_owned(),
                version: 2,
                cpu_limit: Some(cpu_limit),
                cpus: Some(cpus),
                ..Cgroup::default()
            })
        };
        assert_eq!(
            of(1.0, 1),
            "of the server, /mysql (version 2): the time of 1 CPU, on 1 CPU"
        );
        assert_eq!(
            of(1.5, 2),
            "of the server, /mysql (version 2): the time of 1.50 CPUs, on 2 CPUs"
        );
    }
}
