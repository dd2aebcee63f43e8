//! The conditions in which runs agree or differ: server, machine, storage, data and load as recorded.

use std::collections::{BTreeMap, BTreeSet};

use samples::is_of_the_instance;

use crate::run::Run;

/// Variables from which a server derives the defaults of others: the variable, and the derived ones.
const FOLLOWS: &[(&str, &[&str])] = &[
    (
        "innodb_buffer_pool_size",
        &[
            "innodb_buffer_pool_chunk_size",
            "innodb_buffer_pool_instances",
        ],
    ),
    (
        "innodb_flush_log_at_trx_commit",
        &["innodb_log_file_buffering"],
    ),
    ("innodb_io_capacity", &["innodb_io_capacity_max"]),
    (
        "max_connections",
        &[
            "back_log",
            "host_cache_size",
            "open_files_limit",
            "table_definition_cache",
            "table_open_cache",
            "thread_cache_size",
        ],
    ),
    (
        "table_open_cache",
        &["open_files_limit", "table_definition_cache"],
    ),
];

/// [`FOLLOWS`], for the page of the rules.
pub(crate) fn follows() -> &'static [(&'static str, &'static [&'static str])] {
    FOLLOWS
}

/// A condition in which runs agree or differ; conditions are sorted by their names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Condition {
    /// The name in findings; of a server variable its own, which may also be that of a factor.
    pub(crate) name: String,
    pub(crate) kind: ConditionKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ConditionKind {
    Connections,
    EventLoops,
    /// A property of a file system or of a device.
    Storage,
    Other,
}

/// The conditions of a run with their values.
pub(crate) type Conditions = BTreeMap<Condition, String>;

/// The conditions of a run. Results are not included, and neither is the data size, which has its own rule.
pub(crate) fn conditions(run: &Run<'_>) -> Conditions {
    let mut found = Conditions::new();
    let header = &run.record.header;
    let mut put = |kind: ConditionKind, name: &str, value: String| {
        let name = name.to_owned();
        found.insert(Condition { name, kind }, value);
    };
    let connections = run.record.connections().to_string();
    put(ConditionKind::Connections, "connections", connections);
    put(
        ConditionKind::EventLoops,
        "event loops",
        header.loops.to_string(),
    );
    let mut is = |name: &str, value: String| put(ConditionKind::Other, name, value);
    is("I/O of the event loops", header.io.clone());
    is("transport", header.transport.clone());
    is("dbdyno", header.dbdyno_version.clone());
    if let Some(offered) = &run.record.offered {
        is("arrivals", offered.process.clone());
        if let Some(rate) = offered.rate_per_s {
            is("rate", rate.to_string());
        }
    }
    if let Some(data) = &run.record.dataset {
        is("source of the data", data.source.clone());
    }
    if let Some(server) = run.record.servers.first() {
        is("server version", server.version.clone());
        is("server build", server.version_comment.clone());
        for (name, value) in &server.variables {
            // The version is already included above.
            if !is_of_the_instance(name) && !name.starts_with("version") {
                is(name, value.clone());
            }
        }
    }
    machines(run, &mut is);
    storage(run, &mut |name: &str, value: String| {
        put(ConditionKind::Storage, name, value);
    });
    found
}

fn machines(run: &Run<'_>, is: &mut impl FnMut(&str, String)) {
    for machine in &run.record.machines {
        let of = match machine.host {
            samples::Host::Both | samples::Host::Server => "the server's machine",
            samples::Host::Client => "the client's machine",
        };
        is(&format!("CPU of {of}"), machine.cpu_model.clone());
        is(&format!("CPUs of {of}"), machine.cpus.to_string());
        is(&format!("memory of {of}"), machine.memory_bytes.to_string());
        is(&format!("kernel of {of}"), machine.kernel.clone());
        if let Some(cpu) = &machine.cpu {
            is(
                &format!("frequency governors of {of}"),
                cpu.governors.join(" "),
            );
            is(&format!("turbo of {of}"), format!("{:?}", cpu.turbo));
        }
        if let Some(settings) = &machine.settings {
            let told = |value: Option<u32>| value.map_or("unknown".to_owned(), |it| it.to_string());
            let text =
                |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
            is(
                &format!("transparent huge pages of {of}"),
                text(&settings.transparent_huge_pages),
            );
            is(&format!("swappiness of {of}"), told(settings.swappiness));
            is(&format!("dirty_ratio of {of}"), told(settings.dirty_ratio));
            is(
                &format!("clock source of {of}"),
                text(&settings.clocksource),
            );
        }
        for group in &machine.cgroups {
            let limits = format!(
                "CPU {:?}, CPUs {:?}, memory {:?}, I/O limited {}",
                group.cpu_limit, group.cpus, group.memory_limit_bytes, group.io_limited
            );
            is(&format!("limits of the {}", group.of), limits);
        }
    }
}

fn storage(run: &Run<'_>, is: &mut impl FnMut(&str, String)) {
    for storage in &run.record.storage {
        for place in &storage.places {
            for what in &place.holds {
                is(
                    &format!("file system of the {what}"),
                    place.filesystem.clone(),
                );
                is(
                    &format!("mount options of the {what}"),
                    place.mount_options.clone(),
                );
                // A loop device gets another number at each mount.
                let device = place.device.as_deref().unwrap_or("none");
                let kind = device.trim_end_matches(|it: char| it.is_ascii_digit());
                is(
                    &format!("device of the {what}"),
                    if kind == "loop" { kind } else { device }.to_owned(),
                );
            }
        }
        for device in storage
            .devices
            .iter()
            .filter(|device| device.kind != "loop")
        {
            let name = &device.name;
            is(
                &format!("scheduler of {name}"),
                device.scheduler.clone().unwrap_or_default(),
            );
            is(
                &format!("write cache of {name}"),
                device.write_cache.clone().unwrap_or_default(),
            );
            let read_ahead = device
                .read_ahead_bytes
                .map_or(String::new(), |bytes| bytes.to_string());
            is(&format!("read-ahead of {name}"), read_ahead);
        }
    }
}

/// Conditions that differ, each with its values by group.
pub(crate) type Values<'k> = BTreeMap<&'k Condition, Vec<BTreeSet<&'k str>>>;

/// The conditions whose values differ between groups of runs; a missing condition is an empty value.
pub(crate) fn differing<'k>(groups: &'k [Vec<Conditions>]) -> Values<'k> {
    let all: BTreeSet<&Condition> = groups.iter().flatten().flat_map(BTreeMap::keys).collect();
    let mut values = Values::new();
    for condition in all {
        let of_group = |group: &'k Vec<Conditions>| -> BTreeSet<&'k str> {
            let told = group
                .iter()
                .map(|run| run.get(condition).map_or("", String::as_str));
            told.collect()
        };
        let by_group: Vec<_> = groups.iter().map(of_group).collect();
        if by_group.windows(2).any(|pair| pair[0] != pair[1]) {
            values.insert(condition, by_group);
        }
    }
    let differs: BTreeSet<String> = values.keys().map(|it| it.name.clone()).collect();
    let follows = |name: &str| {
        let mut pairs = FOLLOWS.iter();
        pairs.any(|(from, follow)| differs.contains(*from) && follow.contains(&name))
    };
    values.retain(|condition, _| !follows(&condition.name));
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_from_another_variable_is_no_difference_of_its_own() {
        let run = |flush: &str, buffering: &str| {
            let told = [
                ("innodb_flush_log_at_trx_commit", flush),
                ("innodb_log_file_buffering", buffering),
            ];
            let conditions: Conditions = told
                .map(|(name, value)| {
                    let (name, kind) = (name.to_owned(), ConditionKind::Other);
                    (Condition { name, kind }, value.to_owned())
                })
                .into();
            vec![conditions]
        };
        let count = |groups: &[Vec<Conditions>]| differing(groups).len();
        assert_eq!(count(&[run("1", "OFF"), run("2", "ON")]), 1);
        assert_eq!(count(&[run("1", "OFF"), run("1", "ON")]), 1);
        assert_eq!(count(&[run("1", "OFF"), run("1", "OFF")]), 0);
    }
}
