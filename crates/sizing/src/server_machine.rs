//! The machine of a record's server.

use samples::{Host, Machine, Peer, Record};

/// The machine of the server; `None` if it was not observed.
pub(crate) fn machine_of_server(record: &Record) -> Option<&Machine> {
    let mut machines = record.machines.iter();
    machines.find(|machine| machine.host != Host::Client)
}

/// The CPU limit of the server, in CPUs; `None` without one.
pub(crate) fn cpu_limit(record: &Record) -> Option<f64> {
    let groups = machine_of_server(record).into_iter();
    let groups = groups.flat_map(|machine| &machine.cgroups);
    let limits = groups
        .filter(|group| group.of == Peer::Server)
        .flat_map(|group| [group.cpu_limit, group.cpus.map(f64::from)]);
    let set = record.limit.as_ref().and_then(|limit| limit.cpus);
    limits.chain([set]).flatten().min_by(f64::total_cmp)
}
