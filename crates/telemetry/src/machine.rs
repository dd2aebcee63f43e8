//! The description of a machine, and its properties that can change during a run.

use std::collections::BTreeMap;

use samples::{Changed, DiskProperty, Host, Machine, Peer, Property, Storage};

use crate::{
    cgroup::Cgroups,
    error::NotObserved,
    kernel::Kernel,
    memory::physical_bytes,
    network::links,
    placement::placement,
    setup::{cpu_setup, is_virtualised, kernel_settings},
};

/// The machine's identity and configuration, with the texts of everything in `missing`.
pub(crate) fn describe(
    kernel: &Kernel,
    host: Host,
    cpus: u32,
    server: (Option<u32>, Option<&Cgroups>),
    mut missing: Vec<NotObserved>,
) -> Machine {
    let info = kernel.cpu_info();
    let cpu_model = info.as_ref().and_then(|info| info.model_name(0));
    if cpu_model.is_none() {
        missing.push(NotObserved::CpuModel);
    }
    let setting = |name: &str| {
        let file = format!("proc/sys/kernel/{name}");
        kernel.line(&file).unwrap_or_default()
    };
    let client = match host {
        Host::Server => None,
        Host::Both | Host::Client => Cgroups::of(kernel, "self"),
    };
    let (server_pid, server) = server;
    let server_place = server_pid.and_then(|pid| placement(kernel, &pid.to_string(), Peer::Server));
    let client_place = match host {
        Host::Server => None,
        Host::Both | Host::Client => placement(kernel, "self", Peer::Client),
    };
    let of_server = server.and_then(|groups| groups.limits(kernel, Peer::Server));
    let of_client = client.and_then(|groups| groups.limits(kernel, Peer::Client));
    let limits = of_server.into_iter().chain(of_client);
    Machine {
        host,
        name: setting("hostname"),
        cpu_model: cpu_model.unwrap_or_default().to_owned(),
        cpus,
        memory_bytes: physical_bytes(kernel),
        kernel: setting("osrelease"),
        virtualised: is_virtualised(info.as_ref()),
        not_observed: missing.iter().map(NotObserved::to_string).collect(),
        cpu: Some(cpu_setup(kernel, info.as_ref())),
        settings: Some(kernel_settings(kernel)),
        cgroups: limits.filter(samples::Cgroup::is_limiting).collect(),
        placements: server_place.into_iter().chain(client_place).collect(),
        links: links(kernel),
    }
}

/// The properties of a machine and its storage that have changed, sorted by their texts.
pub(crate) fn changes(
    host: Host,
    before: (&Machine, Option<&Storage>),
    now: (&Machine, Option<&Storage>),
) -> Vec<Changed> {
    let was = changeable(before.0, before.1);
    let mut is = changeable(now.0, now.1);
    let changed = was.into_iter().filter_map(|(what, from)| {
        let to = is.remove(&what).unwrap_or_default();
        (from != to).then_some(Changed {
            host,
            what,
            from,
            to,
        })
    });
    let mut changed: Vec<_> = changed.collect();
    changed.sort_by_cached_key(|it| it.what.to_string());
    changed
}

/// The properties that can change while a server runs, with their values.
fn changeable(machine: &Machine, storage: Option<&Storage>) -> BTreeMap<Property, String> {
    let mut values = BTreeMap::new();
    let mut put = |name: &str, value: Option<String>| {
        let property = Property::Machine(name.to_owned());
        values.insert(property, value.unwrap_or_default());
    };
    put("CPUs", Some(machine.cpus.to_string()));
    if let Some(cpu) = &machine.cpu {
        put("CPU governor", Some(cpu.governors.join(" ")));
        put("CPU turbo", cpu.turbo.map(|is_on| is_on.to_string()));
    }
    if let Some(settings) = &machine.settings {
        let settings = settings.clone();
        put("transparent huge pages", settings.transparent_huge_pages);
        put("swappiness", settings.swappiness.map(|it| it.to_string()));
        put("clocksource", settings.clocksource);
    }
    for of in [Peer::Server, Peer::Client] {
        let cgroup = machine.cgroups.iter().find(|group| group.of == of);
        let text = cgroup.map(|group| {
            let limit =
                |name: &str, value: Option<String>| value.map(|value| format!("{name} {value}"));
            let limits = [
                limit("CPU", group.cpu_limit.map(|it| it.to_string())),
                limit("CPUs", group.cpus.map(|it| it.to_string())),
                limit("memory", group.memory_limit_bytes.map(|it| it.to_string())),
            ];
            limits.into_iter().flatten().collect::<Vec<_>>().join(", ")
        });
        put(&format!("control group of the {of}"), text);
    }
    for device in storage.iter().flat_map(|storage| &storage.devices) {
        let read_ahead = device.read_ahead_bytes.map(|bytes| bytes.to_string());
        for (property, value) in [
            (DiskProperty::WriteCache, device.write_cache.clone()),
            (DiskProperty::Scheduler, device.scheduler.clone()),
            (DiskProperty::ReadAhead, read_ahead),
        ] {
            let property = Property::Disk(property, device.name.clone());
            values.insert(property, value.unwrap_or_default());
        }
    }
    values
}
