//! The differences between two sides besides their results: server, variables, machine, data, duration.

use std::collections::{BTreeMap, BTreeSet};

use samples::{Peer, Record, ServerIdentity, is_of_the_instance};
use units::moment;

/// A property that differs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// The kind of property.
    pub of: DifferenceKind,
    /// The name of the property: a variable's name, `version`, `CPUs`.
    pub what: String,
    /// The value of side A.
    pub a: String,
    /// The value of side B.
    pub b: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DifferenceKind {
    /// The server program.
    Server,
    /// A variable of the server.
    Variable,
    Machine,
    Data,
    /// The method of measurement.
    Method,
}

impl DifferenceKind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Variable => "variable",
            Self::Machine => "machine",
            Self::Data => "data",
            Self::Method => "method",
        }
    }
}

/// Variables that are reported as the server's version and build.
const TOLD_AS_SERVER: [&str; 3] = ["version", "version_comment", "version_source_revision"];

/// Relative difference of a size that is not reported.
const SIZE_MAY_DIFFER: f64 = 0.05;

/// The differences between A and B in any of the pairs, in the order of [`DifferenceKind`]; each difference once.
pub(crate) fn differences(pairs: &[(&Record, &Record)]) -> Vec<Difference> {
    let all = pairs.iter().flat_map(|(a, b)| of_records(a, b));
    let all: BTreeSet<Difference> = all.collect();
    all.into_iter().collect()
}

fn of_records(a: &Record, b: &Record) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut add = |of: DifferenceKind, what: &str, a: Option<String>, b: Option<String>| {
        if let (Some(a), Some(b)) = (a, b)
            && a != b
        {
            let what = what.to_owned();
            found.push(Difference { of, what, a, b });
        }
    };
    let facts = [facts(a), facts(b)];
    for ((of, what), a) in &facts[0] {
        add(
            *of,
            what,
            Some(a.clone()),
            facts[1].get(&(*of, what)).cloned(),
        );
    }
    let lengths = [measured_s(a), measured_s(b)];
    if let [Some(a), Some(b)] = lengths
        && apart(a, b)
    {
        let told = |s: f64| Some(moment(s));
        add(DifferenceKind::Method, "measured", told(a), told(b));
    }
    if let (Some(a), Some(b)) = (a.dataset.as_ref(), b.dataset.as_ref())
        && let (Some(a), Some(b)) = (a.disk_bytes, b.disk_bytes)
        && apart(a as f64, b as f64)
    {
        let told = |bytes: u64| Some(format!("{bytes} bytes"));
        add(DifferenceKind::Data, "size on disk", told(a), told(b));
    }
    found.extend(variables(a.servers.first(), b.servers.first()));
    found
}

fn apart(a: f64, b: f64) -> bool {
    (a - b).abs() > SIZE_MAY_DIFFER * a.abs().max(b.abs())
}

fn measured_s(record: &Record) -> Option<f64> {
    Some(record.measured()?.length_s())
}

/// The known properties of a record, by kind and name.
fn facts(record: &Record) -> BTreeMap<(DifferenceKind, &'static str), String> {
    let mut facts = BTreeMap::new();
    let header = &record.header;
    facts.insert(
        (DifferenceKind::Method, "dbdyno"),
        header.dbdyno_version.clone(),
    );
    facts.insert(
        (DifferenceKind::Method, "transport"),
        header.transport.clone(),
    );
    facts.insert(
        (DifferenceKind::Method, "event loops"),
        header.loops.to_string(),
    );
    if let Some(server) = record.servers.first() {
        facts.insert((DifferenceKind::Server, "version"), server.version.clone());
        facts.insert(
            (DifferenceKind::Server, "build"),
            server.version_comment.clone(),
        );
    }
    if let Some(data) = &record.dataset {
        facts.insert((DifferenceKind::Data, "made by"), data.source.clone());
        facts.insert((DifferenceKind::Data, "rows"), data.rows.to_string());
    }
    for machine in &record.machines {
        let mut add = |what, value| facts.insert((DifferenceKind::Machine, what), value);
        add("name", machine.name.clone());
        add("CPU", machine.cpu_model.clone());
        add("CPUs", machine.cpus.to_string());
        add("memory", format!("{} bytes", machine.memory_bytes));
        add("kernel", machine.kernel.clone());
        if let Some(cpu) = &machine.cpu {
            add("governors", cpu.governors.join(", "));
            add("turbo", format!("{:?}", cpu.turbo));
        }
        let group = machine
            .cgroups
            .iter()
            .find(|group| group.of == Peer::Server);
        let limit = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
        add(
            "CPU limit of the server",
            limit(group.and_then(|it| it.cpu_limit).map(|it| it.to_string())),
        );
        add(
            "memory limit of the server",
            limit(
                group
                    .and_then(|it| it.memory_limit_bytes)
                    .map(|it| format!("{it} bytes")),
            ),
        );
        add(
            "disk limit of the server",
            disk_limit(record).unwrap_or_else(|| {
                let limited = group.is_some_and(|it| it.io_limited);
                if limited { "yes" } else { "no" }.to_owned()
            }),
        );
    }
    let places = record.storage.iter().flat_map(|storage| &storage.places);
    for place in places {
        if place.holds.iter().any(|held| held == "data") {
            facts.insert(
                (DifferenceKind::Machine, "file system of the data"),
                place.filesystem.clone(),
            );
            facts.insert(
                (DifferenceKind::Machine, "mount options of the data"),
                place.mount_options.clone(),
            );
        }
    }
    facts
}

/// The limit of the disk that the experiment set: `1000 reads/s, 1000 writes/s`.
fn disk_limit(record: &Record) -> Option<String> {
    let limit = record.limit.as_ref()?.disk.as_ref()?;
    let values = [
        ("reads/s", limit.read_iops),
        ("writes/s", limit.write_iops),
        ("bytes read/s", limit.read_bytes_per_s),
        ("bytes written/s", limit.write_bytes_per_s),
    ];
    let values = values
        .into_iter()
        .filter_map(|(unit, value)| Some(format!("{} {unit}", value?)));
    Some(values.collect::<Vec<_>>().join(", "))
}

/// The variables that both servers have and that influence their work.
fn variables(a: Option<&ServerIdentity>, b: Option<&ServerIdentity>) -> Vec<Difference> {
    let (Some(a), Some(b)) = (a, b) else {
        return Vec::new();
    };
    let both = a
        .variables
        .iter()
        .filter_map(|(name, a)| Some((name, a, b.variables.get(name)?)));
    let is_told = |name: &str| !is_of_the_instance(name) && !TOLD_AS_SERVER.contains(&name);
    both.filter(|(name, a, b)| a != b && is_told(name))
        .map(|(name, a, b)| Difference {
            of: DifferenceKind::Variable,
            what: name.clone(),
            a: a.clone(),
            b: b.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use samples::{DiskLimit, Machine, ServerLimit};

    use super::*;
    use crate::testing::{RecordBuilder, record};

    #[test]
    fn limits_of_the_disk_differ_by_their_values() {
        let limited = |iops: Option<u64>| {
            let mut record = record(&RecordBuilder::default());
            record.machines.push(Machine::default());
            record.limit = iops.map(|iops| ServerLimit {
                disk: Some(DiskLimit {
                    read_iops: Some(iops),
                    ..DiskLimit::default()
                }),
                ..ServerLimit::default()
            });
            record
        };
        let (one, two, free) = (limited(Some(1000)), limited(Some(3000)), limited(None));
        let between = |a, b| {
            let found = differences(&[(a, b)]).into_iter();
            let found = found.map(|it| format!("{}: {}, {}", it.what, it.a, it.b));
            found.collect::<Vec<_>>()
        };
        let what = "disk limit of the server";
        assert_eq!(
            between(&one, &two),
            [format!("{what}: 1000 reads/s, 3000 reads/s")]
        );
        assert_eq!(between(&one, &free), [format!("{what}: 1000 reads/s, no")]);
        assert!(between(&one, &one).is_empty());
    }
}
