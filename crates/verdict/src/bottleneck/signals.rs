//! The figures for the rules: means over the measured phase of a run.

use samples::{
    Cause, DiskUse, Host, LimitedRequests, Peer, Pressure, Record, Telemetry, Transport,
};

use super::server_signals::ServerSignals;

/// Means over the measured phase. An unobserved value is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Signals {
    /// True for a load that uses a disk and no server.
    pub(super) is_of_disk: bool,
    pub(super) cpu: Option<CpuShares>,
    /// Time in which tasks of the server's control group, or else of its machine, were stalled.
    pub(super) pressure: Option<PressureShares>,
    /// The server's control group.
    pub(super) quota: Quota,
    /// The busiest disk of the server's machine.
    pub(super) disk: Option<DiskSignals>,
    /// Memory of the server's machine.
    pub(super) memory: Option<MemorySignals>,
    /// Network of the server's machine, or else of the client's.
    pub(super) network: Option<NetworkSignals>,
    pub(super) client: ClientSignals,
    pub(super) load: Option<LoadSignals>,
    /// The server's own figures.
    pub(super) server: Option<ServerSignals>,
}

/// Shares of a machine's CPU time, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct CpuShares {
    /// user and system.
    pub(super) busy: f64,
    /// CPU time taken by the hypervisor.
    pub(super) steal: f64,
    /// Idle, with or without outstanding I/O.
    pub(super) idle: f64,
    /// The server's process.
    pub(super) server: f64,
    /// dbdyno.
    pub(super) client: f64,
    pub(super) cpus: f64,
}

/// Shares of the time in which tasks were stalled, 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct PressureShares {
    /// At least one task waited for a CPU.
    pub(super) cpu_some: f64,
    /// At least one task waited for a disk.
    pub(super) io_some: f64,
    /// At least one task waited for memory.
    pub(super) memory_some: f64,
}

/// Limits of the server's control group.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Quota {
    /// The limit in CPUs (CPU time per elapsed time); `None` without a limit.
    pub(super) cpu_limit: Option<f64>,
    /// CPU time of the server's process as a share of that limit.
    pub(super) cpu_used: Option<f64>,
    /// Share of the periods in which the CPU limit was reached, 0 to 1.
    pub(super) throttled: Option<f64>,
    /// True if requests to a disk are limited.
    pub(super) io_limited: bool,
    /// The limit of the disk that the experiment set and that was used most.
    pub(super) disk: Option<SetLimit>,
    /// Number of times per second that the group reached its memory limit.
    pub(super) memory_hits_per_s: f64,
}

/// A limit of the disk that the experiment set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SetLimit {
    pub(super) kind: LimitKind,
    /// What it allows per second: requests, or bytes.
    pub(super) allowed_per_s: f64,
    /// What the server's control group requested per second: the mean, or the median of the samples where that is more.
    pub(super) used_per_s: f64,
}

/// What a limit of a disk counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitKind {
    Reads,
    Writes,
    BytesRead,
    BytesWritten,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct DiskSignals {
    pub(super) device: String,
    /// Share of the time with a request in flight, 0 to 1.
    pub(super) utilisation: f64,
    /// Mean number of requests in flight.
    pub(super) queue: f64,
    pub(super) requests_per_s: f64,
    pub(super) flushes_per_s: f64,
    /// Share of the time with a flush in flight, 0 to 1; the kernel sends one at a time.
    pub(super) flushing: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct MemorySignals {
    /// Swapped in per second, bytes.
    pub(super) swapped_in_bytes_per_s: f64,
    /// Processes that the kernel killed because of a lack of memory, in the server's control group or else the machine.
    pub(super) oom_kills: u64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct NetworkSignals {
    /// Segments sent again, as a share of those sent for the first time.
    pub(super) retransmitted: f64,
    /// Connections that found the queue of a listening socket full.
    pub(super) listen_overflows: u64,
    /// Packets that were corrupt or dropped, as a share of all.
    pub(super) lost: f64,
    /// The interface with the highest use relative to its speed, of those whose speed is known.
    pub(super) link: Option<LinkSignals>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct LinkSignals {
    pub(super) interface: String,
    /// Traffic in the busier direction, bits per second.
    pub(super) bits_per_s: f64,
    /// The same as a share of its speed.
    pub(super) used: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct ClientSignals {
    /// CPU time of the busiest event loop as a share of the elapsed time, 0 to 1.
    pub(super) loop_cpu: Option<f64>,
    /// The CPU limit of its control group in CPUs, and the share of it that dbdyno used.
    pub(super) quota: Option<(f64, f64)>,
    /// Throughput as a share of the client's maximum against a server that does nothing.
    pub(super) ceiling: Option<f64>,
    /// The shortest time for opening a connection, seconds: at least two round trips.
    pub(super) connect_s: Option<f64>,
    /// The busy share of its machine's CPUs, if the server is on another machine.
    pub(super) machine_busy: Option<f64>,
    /// True if the load detected that its event loops could not keep up with a rate.
    pub(super) is_behind: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct LoadSignals {
    /// Share of the connections with an operation in flight, 0 to 1.
    pub(super) in_flight: f64,
    pub(super) connections: u32,
    /// True if they use a network protocol, even within one machine.
    pub(super) is_networked: bool,
    /// The requested rate of an open loop.
    pub(super) rate_per_s: Option<f64>,
    /// True if the rate was reached.
    pub(super) is_reached: bool,
    /// True if the rate was not reached because all connections were in use while the server was as fast as before.
    pub(super) has_too_few_connections: bool,
}

impl Signals {
    /// The figures of the measured phase; `None` if nothing was measured.
    pub(super) fn of(record: &Record) -> Option<Self> {
        let phase = record.measured()?;
        let measured: Vec<_> = phase.telemetry().collect();
        let (of_client, of_server): (Vec<_>, Vec<_>) = measured
            .iter()
            .copied()
            .partition(|sample| sample.host == Host::Client);
        let mut signals = Self {
            is_of_disk: record.disk_load.is_some(),
            client: client(record, &measured, &of_client),
            load: load(record),
            network: if of_server.is_empty() {
                network(record, &of_client)
            } else {
                network(record, &of_server)
            },
            server: ServerSignals::of(record, &phase),
            ..Self::default()
        };
        if !of_server.is_empty() {
            signals.cpu = cpu(&of_server);
            signals.pressure = pressure(&of_server);
            signals.quota = quota(record, &of_server);
            signals.disk = disk(&of_server);
            signals.memory = memory(&of_server);
        }
        Some(signals)
    }

    /// The names of the resources that were not observed.
    pub(super) fn unobserved(&self) -> Vec<&'static str> {
        let of_machine = [
            ("CPU of the server's host", self.cpu.is_none()),
            ("pressure (PSI)", self.pressure.is_none()),
            ("disks", self.disk.is_none()),
            ("memory", self.memory.is_none()),
        ];
        let of_connections = [
            ("network", self.network.is_none()),
            ("event loops of the client", self.client.loop_cpu.is_none()),
            ("threads of the server", self.server.is_none()),
        ];
        let of_connections = of_connections.into_iter().filter(|_| !self.is_of_disk);
        let missing = of_machine.into_iter().chain(of_connections);
        missing.filter(|it| it.1).map(|it| it.0).collect()
    }
}

/// The sum of a value over the samples; `None` when no sample has it.
fn sum<T: Copy + std::iter::Sum>(
    samples: &[&Telemetry],
    value: impl Fn(&Telemetry) -> Option<T>,
) -> Option<T> {
    let values: Vec<T> = samples.iter().filter_map(|sample| value(sample)).collect();
    (!values.is_empty()).then(|| values.into_iter().sum())
}

/// This sum per second.
fn rate(samples: &[&Telemetry], value: impl Fn(&Telemetry) -> Option<f64>) -> Option<f64> {
    let length_s: f64 = samples
        .iter()
        .filter(|sample| value(sample).is_some())
        .map(|sample| sample.length_s)
        .sum();
    Some(sum(samples, value)? / length_s)
}

fn cpu(samples: &[&Telemetry]) -> Option<CpuShares> {
    let busy_s = sum(samples, |it| {
        Some(it.machine?.user_s + it.machine?.system_s)
    })?;
    let steal_s = sum(samples, |it| Some(it.machine?.steal_s))?;
    let idle_s = sum(samples, |it| {
        Some(it.machine?.idle_s + it.machine?.iowait_s)
    })?;
    let all_s = busy_s + steal_s + idle_s;
    let length_s = sum(samples, |it| it.machine.map(|_| it.length_s))?;
    let process = |process: fn(&Telemetry) -> Option<samples::ProcessUse>| {
        let used = sum(samples, |it| process(it).map(|it| it.user_s + it.system_s));
        used.unwrap_or(0.0) / all_s
    };
    (all_s > 0.0).then(|| CpuShares {
        busy: busy_s / all_s,
        steal: steal_s / all_s,
        idle: idle_s / all_s,
        server: process(|it| it.server),
        client: process(|it| it.client),
        cpus: all_s / length_s,
    })
}

fn pressure(samples: &[&Telemetry]) -> Option<PressureShares> {
    let of_group = |it: &Telemetry| it.cgroup.as_ref()?.pressure;
    let is_grouped = samples.iter().any(|it| of_group(it).is_some());
    let share = |value: fn(Pressure) -> f64| {
        let stalled = rate(samples, |it| {
            let pressure = if is_grouped {
                of_group(it)
            } else {
                it.pressure
            };
            pressure.map(value)
        });
        // The kernel adds a stall when it ends, which may be in the next sample.
        stalled.map(|share| share.min(1.0))
    };
    Some(PressureShares {
        cpu_some: share(|it| it.cpu_some_s)?,
        io_some: share(|it| it.io_some_s)?,
        memory_some: share(|it| it.memory_some_s)?,
    })
}

fn quota(record: &Record, samples: &[&Telemetry]) -> Quota {
    let groups = record.machines.iter().flat_map(|machine| &machine.cgroups);
    let group = groups.into_iter().find(|group| group.of == Peer::Server);
    let of_group = |value: fn(&samples::CgroupUse) -> Option<u64>| {
        sum(samples, |it| value(it.cgroup.as_ref()?))
    };
    let periods = of_group(|it| it.periods).filter(|periods| *periods > 0);
    let throttled = of_group(|it| it.throttled_periods);
    let cpu_limit = group.and_then(|group| group.cpu_limit);
    let used = rate(samples, |it| {
        it.server.map(|server| server.user_s + server.system_s)
    });
    let hits = rate(samples, |it| {
        Some(it.cgroup.as_ref()?.memory_limit_hits? as f64)
    });
    Quota {
        cpu_limit,
        cpu_used: used.zip(cpu_limit).map(|(used, limit)| used / limit),
        throttled: throttled
            .zip(periods)
            .map(|(throttled, periods)| throttled as f64 / periods as f64),
        io_limited: group.is_some_and(|group| group.io_limited),
        disk: set_limit(record, samples),
        memory_hits_per_s: hits.unwrap_or(0.0),
    }
}

/// The limit of the disk that was used most, by the requests that the kernel counts for it.
fn set_limit(record: &Record, samples: &[&Telemetry]) -> Option<SetLimit> {
    let limit = record.limit.as_ref()?.disk.as_ref()?;
    let used = |value: fn(&LimitedRequests) -> u64| {
        let rates = samples.iter().filter_map(|it| {
            let requests = value(it.cgroup.as_ref()?.limited.as_ref()?) as f64;
            (it.length_s > 0.0).then(|| requests / it.length_s)
        });
        // The median leaves out seconds in which other programs held the server up; the mean evens out short samples, for
        // a throttle grants in slices.
        let mean = rate(samples, |it| {
            Some(value(it.cgroup.as_ref()?.limited.as_ref()?) as f64)
        });
        Some(median(rates.collect())?.max(mean?))
    };
    let all = [
        (LimitKind::Reads, limit.read_iops, used(|it| it.reads)),
        (LimitKind::Writes, limit.write_iops, used(|it| it.writes)),
        (
            LimitKind::BytesRead,
            limit.read_bytes_per_s,
            used(|it| it.read_bytes),
        ),
        (
            LimitKind::BytesWritten,
            limit.write_bytes_per_s,
            used(|it| it.written_bytes),
        ),
    ];
    let limits = all.into_iter().filter_map(|(kind, allowed, used_per_s)| {
        Some(SetLimit {
            kind,
            allowed_per_s: allowed? as f64,
            used_per_s: used_per_s?,
        })
    });
    limits.max_by(|one, other| one.share().total_cmp(&other.share()))
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

impl SetLimit {
    /// The part of the limit that was used; a throttle that lends can let it exceed 1.
    pub(super) fn share(&self) -> f64 {
        self.used_per_s / self.allowed_per_s
    }
}

fn disk(samples: &[&Telemetry]) -> Option<DiskSignals> {
    let named = samples.iter().flat_map(|it| it.disks());
    let names: std::collections::BTreeSet<&str> = named.map(|disk| disk.device.as_str()).collect();
    let length_s: f64 = samples.iter().map(|sample| sample.length_s).sum();
    let signals = names.into_iter().map(|device| {
        let of = |it: &Telemetry| it.disks().find(|disk| disk.device == device).cloned();
        // An idle device is left out of its sample.
        let per_s = |value: &dyn Fn(&DiskUse) -> f64| {
            sum(samples, |it| of(it).map(|disk| value(&disk))).unwrap_or(0.0) / length_s
        };
        let requests = |disk: &DiskUse| disk.requests.unwrap_or_default();
        DiskSignals {
            device: device.to_owned(),
            utilisation: per_s(&|disk| disk.busy_s).min(1.0),
            queue: per_s(&|disk| requests(disk).queued_s),
            requests_per_s: per_s(&|disk| (disk.reads + disk.writes) as f64),
            flushes_per_s: per_s(&|disk| requests(disk).flushes.unwrap_or(0) as f64),
            flushing: per_s(&|disk| requests(disk).flush_s.unwrap_or(0.0)).min(1.0),
        }
    });
    signals.max_by(|one, other| {
        let busy = |disk: &DiskSignals| disk.utilisation.max(disk.flushing);
        busy(one).total_cmp(&busy(other))
    })
}

pub(super) fn memory(samples: &[&Telemetry]) -> Option<MemorySignals> {
    let of_machine = sum(samples, |it| it.paging?.oom_kills);
    // A killed server has no group afterwards: a count that is not in every sample may lack the kill.
    let of_group: Option<u64> = samples.iter().map(|it| it.cgroup.as_ref()?.oom_kills).sum();
    Some(MemorySignals {
        swapped_in_bytes_per_s: rate(samples, |it| Some(it.paging?.swapped_in_bytes as f64))?,
        // The machine's count has those of other groups, which may only have reached limits of their own.
        oom_kills: of_group.or(of_machine).unwrap_or(0),
    })
}

fn network(record: &Record, samples: &[&Telemetry]) -> Option<NetworkSignals> {
    let segments = sum(samples, |it| Some(it.tcp?.segments_sent))?;
    let again = sum(samples, |it| Some(it.tcp?.retransmitted))?;
    let overflows = sum(samples, |it| it.tcp?.listen_overflows);
    let interfaces = samples.iter().flat_map(|it| &it.interfaces);
    let (lost, packets) = interfaces.fold((0, 0), |(lost, packets), it| {
        let moved = it.received_packets + it.sent_packets;
        (lost + it.errors + it.drops, packets + moved)
    });
    let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
    Some(NetworkSignals {
        retransmitted: share(again, segments),
        listen_overflows: overflows.unwrap_or(0),
        lost: share(lost, packets),
        link: link(record, samples),
    })
}

fn link(record: &Record, samples: &[&Telemetry]) -> Option<LinkSignals> {
    let host = samples.first()?.host;
    let length_s: f64 = samples.iter().map(|sample| sample.length_s).sum();
    let machine = record
        .machines
        .iter()
        .find(|machine| machine.host == host)?;
    let links = machine.links.iter().map(|link| {
        let uses = samples.iter().flat_map(|it| &it.interfaces);
        let uses = uses.filter(|it| it.interface == link.interface);
        let (received, sent) = uses.fold((0, 0), |(received, sent), it| {
            (received + it.received_bytes, sent + it.sent_bytes)
        });
        // Current links are full duplex.
        let bits_per_s = received.max(sent) as f64 * 8.0 / length_s;
        LinkSignals {
            interface: link.interface.clone(),
            bits_per_s,
            used: bits_per_s / link.speed_bits_per_s as f64,
        }
    });
    links.max_by(|one, other| one.used.total_cmp(&other.used))
}

fn client(record: &Record, samples: &[&Telemetry], of_client: &[&Telemetry]) -> ClientSignals {
    let paces = measured_paces(record);
    let shortfall = record.offered.as_ref().and_then(|it| it.shortfall.as_ref());
    ClientSignals {
        loop_cpu: weighted(&paces, |pace| pace.loop_cpu),
        quota: client_quota(record, samples),
        connect_s: connect_s(record),
        ceiling: record.ceiling.as_ref().and_then(|ceiling| ceiling.share),
        machine_busy: cpu(of_client).map(|cpu| cpu.busy),
        is_behind: shortfall.is_some_and(|shortfall| shortfall.cause == Cause::Client),
    }
}

fn client_quota(record: &Record, samples: &[&Telemetry]) -> Option<(f64, f64)> {
    let groups = record.machines.iter().flat_map(|machine| &machine.cgroups);
    let limit = groups
        .into_iter()
        .find(|group| group.of == Peer::Client)?
        .cpu_limit?;
    let used = rate(samples, |it| {
        it.client.map(|client| client.user_s + client.system_s)
    })?;
    Some((limit, used / limit))
}

fn connect_s(record: &Record) -> Option<f64> {
    let opened = record.connects.iter().filter(|connects| connects.count > 0);
    let fastest_ns = opened.map(|connects| connects.min_ns).min()?;
    Some(fastest_ns as f64 / 1e9)
}

fn load(record: &Record) -> Option<LoadSignals> {
    let offered = record.offered.as_ref();
    Some(LoadSignals {
        in_flight: weighted(&measured_paces(record), |pace| pace.busy)?,
        connections: record.connections(),
        is_networked: Transport::of(&record.header.transport) != Some(Transport::UnixSocket),
        rate_per_s: offered.and_then(|offered| offered.rate_per_s),
        is_reached: offered.is_some_and(|offered| offered.shortfall.is_none()),
        has_too_few_connections: offered
            .and_then(|offered| offered.shortfall.as_ref())
            .is_some_and(|shortfall| shortfall.cause == Cause::Connections),
    })
}

/// Lengths of the measured intervals, and the pace of the event loops in them.
fn measured_paces(record: &Record) -> Vec<(f64, samples::Pace)> {
    record
        .measured_intervals()
        .filter_map(|interval| Some((interval.length_s, interval.pace?)))
        .collect()
}

fn weighted(paces: &[(f64, samples::Pace)], value: fn(&samples::Pace) -> f64) -> Option<f64> {
    let length_s: f64 = paces.iter().map(|(length_s, _)| length_s).sum();
    let sum: f64 = paces
        .iter()
        .map(|(length_s, pace)| length_s * value(pace))
        .sum();
    (length_s > 0.0).then(|| sum / length_s)
}
