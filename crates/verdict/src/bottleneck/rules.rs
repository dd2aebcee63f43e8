//! The rules, the more specific ones first.

use units::{bits_per_s, bytes_per_s, count, mean_bytes, per_s, percent, si};

use super::{
    resource::Resource,
    server_rules,
    signals::{LimitKind, NetworkSignals, SetLimit, Signals},
    words::waited_for_disks,
};

/// Minimum used share of a limit that counts as reached. The share stays below 1 because a throttle releases requests
/// in slices, and a load does not use every slice completely.
const LIMIT_USED: f64 = 0.9;

pub(super) struct Rule {
    pub(super) resource: Resource,
    /// The condition in words.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the documentation is held to it")
    )]
    pub(super) holds: &'static str,
    /// The figures behind the finding; `None` if the rule does not apply or its figures were not observed.
    pub(super) judge: fn(&Signals) -> Option<String>,
}

/// All rules, in order.
pub(super) const RULES: [Rule; 20] = [
    Rule {
        resource: Resource::Memory,
        holds: "any of these is true: the kernel killed a process because memory ran out (of the server's control \
                group, if its kills are counted); tasks waited for memory at least 10 % of the time; or more than 1 MiB \
                per second was swapped in",
        judge: memory,
    },
    Rule {
        resource: Resource::CpuQuota,
        holds: "the server's control group has a CPU limit. In addition, the group reached this limit in at least \
                20 % of the limit's enforcement periods, or the server used at least 90 % of the limit",
        judge: cpu_quota,
    },
    Rule {
        resource: Resource::DiskQuota,
        holds: "if the experiment limited the server's disk, the server used at least 90 % of this limit. \
                If the experiment set no limit, all of these must be true: the disk requests of the server's \
                control group are limited; tasks waited for a disk at least 30 % of the time; and every disk was \
                busy less than 85 % of the time",
        judge: disk_quota,
    },
    Rule {
        resource: Resource::Client,
        holds: "any of these is true: an event loop used at least 90 % of a CPU; dbdyno used at least 90 % of its \
                control group's CPU limit; the load fell behind its schedule because of the client; the throughput \
                was at least 80 % of the client's maximum against a server that does nothing; or the server ran \
                on another machine, and the CPUs of the client's machine were at least 90 % busy",
        judge: client,
    },
    Rule {
        resource: Resource::Steal,
        holds: "the hypervisor took at least 10 % of the CPU time, and less than 10 % of the CPU time was idle",
        judge: steal,
    },
    Rule {
        resource: Resource::Cpu,
        holds: "the CPUs were busy for at least 90 % of the time that the hypervisor gave them",
        judge: cpu,
    },
    Rule {
        resource: Resource::RowLocks,
        holds: "the connections waited for row locks for at least 40 % of their time",
        judge: server_rules::row_locks,
    },
    Rule {
        resource: Resource::TableLocks,
        holds: "the connections were in the state `Waiting for table level lock` for at least 40 % of their time",
        judge: server_rules::table_locks,
    },
    Rule {
        resource: Resource::MetadataLocks,
        holds: "the connections waited for at least 40 % of their time for a metadata lock, the global read lock, a \
                backup lock or a table flush",
        judge: server_rules::metadata_locks,
    },
    Rule {
        resource: Resource::UserLocks,
        holds: "the connections were in the state `User lock` for at least 40 % of their time",
        judge: server_rules::user_locks,
    },
    Rule {
        resource: Resource::QueryCache,
        holds: "the connections were in the state `Waiting for query cache lock` for at least 40 % of their time",
        judge: server_rules::query_cache,
    },
    Rule {
        resource: Resource::InnodbConcurrency,
        holds: "the connections waited to enter InnoDB for at least 40 % of their time",
        judge: server_rules::innodb_concurrency,
    },
    Rule {
        resource: Resource::Checkpoint,
        holds: "the median checkpoint age was at least 90 % of InnoDB's maximum checkpoint age",
        judge: server_rules::checkpoint,
    },
    Rule {
        resource: Resource::DiskFlushes,
        holds: "a disk flushed its cache for at least 30 % of the time, and tasks waited for a disk at least 30 % \
                of the time. The rule also applies if the connections were committing for at least 40 % of their \
                time, and each commit syncs the redo log or the binary log",
        judge: server_rules::disk_flushes,
    },
    Rule {
        resource: Resource::Disk,
        holds: "a disk was busy at least 85 % of the time; if the load uses a server, tasks also waited for a disk \
                at least 30 % of the time; and if the experiment limited the server's disk, the server used less \
                than 90 % of this limit",
        judge: disk,
    },
    Rule {
        resource: Resource::Network,
        holds: "any of these is true: at least 1 % of the TCP segments were retransmitted; at least 0.1 % of the \
                packets were lost; the queue of a listening socket overflowed; or at least 80 % of a link's speed \
                was used. If the connections do not use a unix socket, the rule also applies in two other cases. In \
                the first case, the connections were in the middle of a packet for at least 40 % of their time. In the \
                second case, the condition of `round trips` is met, and a statement spent more time on the network \
                than the fastest opening of a connection took (an opening needs more than two round trips)",
        judge: network,
    },
    Rule {
        resource: Resource::ConnectionLimit,
        holds: "the server refused a connection because `max_connections` was reached",
        judge: server_rules::connection_limit,
    },
    Rule {
        resource: Resource::Load,
        holds: "no rule above applies, and the server's CPUs were observed; if the load has a rate, this rate was \
                reached; and if it has none, the connections had an operation in flight less than 80 % of the time",
        judge: load,
    },
    Rule {
        resource: Resource::Connections,
        holds: "no rule above applies, and one of these is true: the rate was not reached because there were too \
                few connections; or the connections had an operation in flight for at least 90 % of the time, server \
                and client together used at least 50 % of a CPU for each connection, and the CPUs were idle for at \
                least 20 % of the time",
        judge: server_rules::connections,
    },
    Rule {
        resource: Resource::RoundTrips,
        holds: "no rule above applies, and the CPUs were idle for at least 30 % of the time or were not observed. \
                In addition, the connections were waiting for answers for a larger share of their time than the \
                server was working for them. The difference between the two shares was at least 50 percentage \
                points",
        judge: server_rules::round_trips,
    },
];

fn memory(signals: &Signals) -> Option<String> {
    let memory = signals.memory?;
    let stalled = signals.pressure.map_or(0.0, |it| it.memory_some);
    if memory.oom_kills > 0 {
        return Some(format!(
            "the kernel killed {} because memory ran out",
            match memory.oom_kills {
                1 => "a process".to_owned(),
                many => format!("{many} processes"),
            }
        ));
    }
    (stalled >= 0.1 || memory.swapped_in_bytes_per_s > f64::from(1 << 20)).then(|| {
        format!(
            "tasks waited for memory {} of the time, data was swapped in at {}, and the server's control group reached its memory limit {} times per second",
            percent(stalled),
            bytes_per_s(memory.swapped_in_bytes_per_s),
            count(signals.quota.memory_hits_per_s)
        )
    })
}

fn cpu_quota(signals: &Signals) -> Option<String> {
    let limit = signals.quota.cpu_limit?;
    let at_least = |share: Option<f64>, least: f64| share.filter(|share| *share >= least);
    let reached = at_least(signals.quota.throttled, 0.2).map(|share| {
        format!(
            " and reached this limit in {} of the limit's enforcement periods",
            percent(share)
        )
    });
    let used = || {
        at_least(signals.quota.cpu_used, LIMIT_USED)
            .map(|share| format!(", of which the server used {}", percent(share)))
    };
    let how = reached.or_else(used)?;
    Some(format!(
        "the server's control group is limited to {limit} CPUs{how}"
    ))
}

/// The limit of the disk that the experiment set, if it was used up.
fn used_up(signals: &Signals) -> Option<&SetLimit> {
    let limit = signals.quota.disk.as_ref();
    limit.filter(|limit| limit.share() >= LIMIT_USED)
}

fn set_limit(signals: &Signals) -> Option<String> {
    let limit = used_up(signals)?;
    let (allowed, used) = (limit.allowed_per_s, limit.used_per_s);
    let requests = |what: &str| (format!("{} {what} per second", si(allowed)), per_s(used));
    let bytes = |what: &str| {
        let allowed = mean_bytes(allowed);
        (format!("{allowed} {what} per second"), bytes_per_s(used))
    };
    let (allowed, used) = match limit.kind {
        LimitKind::Reads => requests("reads"),
        LimitKind::Writes => requests("writes"),
        LimitKind::BytesRead => bytes("read"),
        LimitKind::BytesWritten => bytes("written"),
    };
    Some(format!(
        "the experiment limits the server's disk to {allowed}, of which the server used {} ({used}){}",
        percent(limit.share()),
        server_rules::page_reads(signals)
    ))
}

fn disk_quota(signals: &Signals) -> Option<String> {
    // If the use of the limit is known, waits may have another reason and are not considered.
    match signals.quota.disk {
        Some(_) => set_limit(signals),
        None => waits_without_a_busy_disk(signals),
    }
}

fn waits_without_a_busy_disk(signals: &Signals) -> Option<String> {
    let stalled = signals.pressure?.io_some;
    let busy = signals.disk.as_ref().map_or(0.0, |disk| disk.utilisation);
    (signals.quota.io_limited && stalled >= 0.3 && busy < 0.85).then(|| {
        format!(
            "the disk requests of the server's control group are limited; tasks waited for a disk {} of the time, although no disk was busy for more than {} of the time{}",
            percent(stalled),
            percent(busy),
            server_rules::page_reads(signals)
        )
    })
}

fn client(signals: &Signals) -> Option<String> {
    let client = signals.client;
    let at_least = |share: Option<f64>, limit: f64| share.filter(|share| *share >= limit);
    if client.is_behind {
        return Some("dbdyno's event loops could not keep up with the schedule".to_owned());
    }
    if let Some(share) = at_least(client.loop_cpu, 0.9) {
        return Some(format!("an event loop used {} of a CPU", percent(share)));
    }
    if let Some((limit, share)) = client.quota.filter(|(_, share)| *share >= 0.9) {
        return Some(format!(
            "dbdyno's control group is limited to {limit} CPUs, of which dbdyno used {}",
            percent(share)
        ));
    }
    if let Some(share) = at_least(client.ceiling, 0.8) {
        return Some(format!(
            "the throughput is {} of the client's maximum against a server that does nothing",
            percent(share)
        ));
    }
    let share = at_least(client.machine_busy, 0.9)?;
    Some(format!(
        "the CPUs of the client's own machine were {} busy",
        percent(share)
    ))
}

fn steal(signals: &Signals) -> Option<String> {
    let cpu = signals.cpu?;
    (cpu.steal >= 0.1 && cpu.idle < 0.1).then(|| {
        format!(
            "the hypervisor took {} of the CPU time, and {} was idle",
            percent(cpu.steal),
            percent(cpu.idle)
        )
    })
}

fn cpu(signals: &Signals) -> Option<String> {
    let cpu = signals.cpu?;
    let had = 1.0 - cpu.steal;
    let busy = cpu.busy / had.max(f64::EPSILON);
    let others = (cpu.busy - cpu.server - cpu.client).max(0.0);
    let waited = signals.pressure.map(|it| {
        format!(
            ", and tasks waited for a CPU {} of the time",
            percent(it.cpu_some)
        )
    });
    (busy >= 0.9).then(|| {
        let server = if signals.is_of_disk {
            String::new()
        } else {
            format!("server {}, ", percent(cpu.server))
        };
        format!(
            "{} busy ({server}client {}, others {}){}",
            percent(busy),
            percent(cpu.client),
            percent(others),
            waited.unwrap_or_default()
        )
    })
}

fn disk(signals: &Signals) -> Option<String> {
    // If the limit is used up, the disk's own figures say nothing.
    if used_up(signals).is_some() {
        return None;
    }
    let disk = signals
        .disk
        .as_ref()
        .filter(|disk| disk.utilisation >= 0.85)?;
    // The kernel does not count tasks that wait only for asynchronous requests as waiting for a disk.
    let waited = if signals.is_of_disk {
        String::new()
    } else {
        waited_for_disks(signals)?
    };
    Some(format!(
        "{} was busy {} of the time with {} requests/s and {} requests in flight on average{waited}{}",
        disk.device,
        percent(disk.utilisation),
        count(disk.requests_per_s),
        si(disk.queue),
        server_rules::page_reads(signals)
    ))
}

fn network(signals: &Signals) -> Option<String> {
    let errors = signals.network.as_ref().and_then(errors_of);
    let full = || signals.network.as_ref().and_then(full_link);
    errors
        .or_else(full)
        .or_else(|| server_rules::transfers(signals))
}

fn errors_of(network: &NetworkSignals) -> Option<String> {
    let is_short =
        network.retransmitted >= 0.01 || network.lost >= 0.001 || network.listen_overflows > 0;
    is_short.then(|| {
        format!(
            "{} of the TCP segments were retransmitted, {} of the packets were lost, and {} connections were dropped because the queue of a listening socket was full",
            percent(network.retransmitted),
            percent(network.lost),
            network.listen_overflows
        )
    })
}

fn full_link(network: &NetworkSignals) -> Option<String> {
    let link = network.link.as_ref().filter(|link| link.used >= 0.8)?;
    Some(format!(
        "{} carried {}, which is {} of its speed",
        link.interface,
        bits_per_s(link.bits_per_s / 8.0),
        percent(link.used)
    ))
}

fn load(signals: &Signals) -> Option<String> {
    let load = signals.load.filter(|_| signals.cpu.is_some())?;
    let in_flight = percent(load.in_flight);
    match load.rate_per_s {
        Some(rate) => load.is_reached.then(|| {
            format!("the requested rate of {rate} operations/s was reached; the connections were in use {in_flight} of the time")
        }),
        None => (load.in_flight < 0.8)
            .then(|| format!("the connections were in use {in_flight} of the time")),
    }
}
