//! A running server that `dbdyno config` reads: its variables, its counters and its machine. Nothing is changed.

use std::{collections::BTreeMap, path::PathBuf};

use blame::{Blame, Blamed};
use mycnf::{Counters, Machine, RunningServer, Target};
use protocol::Endpoint;
use reactor::Interrupt;
use runs::{
    local_pid, refuse_local,
    server_host::{Observation, watch},
    shown_server,
};
use samples::{Host, Peer, Storage};
use telemetry::{Directory, Sampler, Targets, storage_behind};

use crate::{connection_options::observe_options::ObserveOptions, terminal::Terminal};

/// What one running server says of itself, with what is not known of it.
#[derive(Debug)]
pub(super) struct Running {
    /// Its address, or `server NAME`.
    pub(super) name: String,
    pub(super) server: RunningServer,
    pub(super) target: Target,
    pub(super) machine: Machine,
    /// Inputs that could not be read, with the reason.
    pub(super) unknown: Vec<String>,
}

/// Reads a server by its endpoint. The machine is read through the observer, or directly where it is this one (with
/// `is_here` also where its process is not seen).
pub(super) fn read(
    name: String,
    endpoint: &Endpoint,
    observe: &ObserveOptions,
    is_here: bool,
) -> Result<Running, Blamed> {
    let shown = shown_server(endpoint)?;
    let mut unknown = Vec::new();
    let counters = match shown.status {
        Ok(status) => Counters::of_status(&status),
        Err(why) => {
            unknown.push(format!("counters: {why}"));
            None
        }
    };
    let server = RunningServer {
        variables: shown.variables,
        counters,
    };
    let Some(target) = server.target() else {
        let message = format!("{name}: its version is not recognised");
        return Err(Blamed::new(Blame::Server, message));
    };
    let machine = machine(endpoint, &server.variables, observe, is_here, &mut unknown)?;
    Ok(Running {
        name,
        server,
        target,
        machine,
        unknown,
    })
}

fn machine(
    endpoint: &Endpoint,
    variables: &BTreeMap<String, String>,
    observe: &ObserveOptions,
    is_here: bool,
    unknown: &mut Vec<String>,
) -> Result<Machine, Blamed> {
    let server_pid = local_pid(&endpoint.address, variables);
    if let Some(observe) = observe.observe()? {
        refuse_local(server_pid)?;
        let observation = Observation::new(observe, &Terminal)?;
        let remote = observation.reach()?;
        let watching = remote.watch(watch(variables), Interrupt::of_user());
        remote.leave(Interrupt::of_user());
        let watching =
            watching.map_err(|error| Blamed::new(Blame::Input, format!("observer {error}")))?;
        return Ok(machine_of(&watching.machine, &watching.storage, unknown));
    }
    if server_pid.is_none() && !is_here {
        let why = "machine: not visible from here; use --observe, or give --memory, --cpus, --disk and --file-system";
        unknown.push(why.to_owned());
        return Ok(Machine::default());
    }
    let datadir = variables.get("datadir").map(PathBuf::from);
    let sampler = Sampler::new(Targets {
        host: Host::Both,
        server_pid,
        datadir: datadir.clone(),
    });
    let storage = datadir.map(|path| {
        storage_behind(Directory {
            holds: DATA.to_owned(),
            path,
        })
    });
    let storage = storage.unwrap_or_default();
    Ok(machine_of(&sampler.machine(), &storage, unknown))
}

/// How the data directory is named among the directories of a server.
const DATA: &str = "data";

/// The machine as the rules take it: its memory and CPUs within the limits of the server's control group.
fn machine_of(machine: &samples::Machine, storage: &Storage, unknown: &mut Vec<String>) -> Machine {
    let groups = || {
        machine
            .cgroups
            .iter()
            .filter(|group| group.of == Peer::Server)
    };
    let memory_limit = groups().filter_map(|group| group.memory_limit_bytes).min();
    let memory = Some(machine.memory_bytes).filter(|bytes| *bytes > 0);
    let cpu_limits = groups().filter_map(|group| group.cpus);
    let cpus = cpu_limits.chain([machine.cpus]).min();
    let mut places = storage.places.iter();
    let place = places.find(|place| place.holds.iter().any(|holds| holds == DATA));
    unknown.extend(storage.not_observed.iter().map(|it| format!("disk: {it}")));
    Machine {
        memory_bytes: memory.map(|bytes| memory_limit.map_or(bytes, |limit| limit.min(bytes))),
        cpus: cpus
            .and_then(|cpus| usize::try_from(cpus).ok())
            .filter(|cpus| *cpus > 0),
        disk_bytes: place.map(|place| place.size_bytes).filter(|size| *size > 0),
        file_system: place
            .map(|place| place.filesystem.clone())
            .filter(|name| !name.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use samples::{Cgroup, StorageDirectory};

    use super::*;

    #[test]
    fn limits_of_the_servers_group_and_the_disk_of_the_data_count() {
        let group = |of: Peer, gib: u64| Cgroup {
            of,
            path: "/".to_owned(),
            version: 2,
            cpu_limit: None,
            cpus: Some(2),
            memory_limit_bytes: Some(gib << 30),
            memory_high_bytes: None,
            io_limited: false,
        };
        let observed = samples::Machine {
            cpus: 8,
            memory_bytes: 32 << 30,
            cgroups: vec![group(Peer::Client, 1), group(Peer::Server, 4)],
            ..samples::Machine::default()
        };
        let place = |holds: &str, filesystem: &str| StorageDirectory {
            holds: vec![holds.to_owned()],
            filesystem: filesystem.to_owned(),
            size_bytes: 7,
            ..StorageDirectory::default()
        };
        let storage = Storage {
            places: vec![place("temporary files", "tmpfs"), place("data", "xfs")],
            not_observed: vec!["the redo log".to_owned()],
            ..Storage::default()
        };
        let mut unknown = Vec::new();
        let machine = machine_of(&observed, &storage, &mut unknown);
        assert_eq!(machine.memory_bytes, Some(4 << 30));
        assert_eq!(machine.cpus, Some(2));
        assert_eq!(machine.disk_bytes, Some(7));
        assert_eq!(machine.file_system.as_deref(), Some("xfs"));
        assert_eq!(unknown, ["disk: the redo log"]);
        let nothing = machine_of(
            &samples::Machine::default(),
            &Storage::default(),
            &mut unknown,
        );
        assert_eq!(nothing, Machine::default());
    }
}
