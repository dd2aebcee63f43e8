//! Tests of each rule with a case in which it holds and similar ones in which it does not.

use super::{
    rules::RULES,
    server_signals::ServerSignals,
    signals::{
        ClientSignals, CpuShares, DiskSignals, LimitKind, LinkSignals, LoadSignals, MemorySignals,
        NetworkSignals, PressureShares, Quota, SetLimit, Signals,
    },
    *,
};

mod of_server;

/// An idle machine, with users in their think time.
fn calm() -> Signals {
    Signals {
        is_of_disk: false,
        cpu: Some(CpuShares {
            busy: 0.2,
            idle: 0.8,
            server: 0.1,
            client: 0.05,
            steal: 0.0,
            cpus: 2.0,
        }),
        pressure: Some(PressureShares::default()),
        quota: Quota::default(),
        disk: Some(DiskSignals {
            device: "vda".to_owned(),
            utilisation: 0.1,
            requests_per_s: 50.0,
            ..DiskSignals::default()
        }),
        memory: Some(MemorySignals::default()),
        network: Some(NetworkSignals::default()),
        client: ClientSignals {
            loop_cpu: Some(0.1),
            ..ClientSignals::default()
        },
        // Neither thinking nor fully in use: no rule holds.
        load: Some(LoadSignals {
            in_flight: 0.9,
            connections: 8,
            is_networked: true,
            ..LoadSignals::default()
        }),
        server: Some(ServerSignals {
            running: Some(0.8),
            statements_per_s: 1000.0,
            ..ServerSignals::default()
        }),
    }
}

fn found(signals: &Signals) -> Vec<Resource> {
    let holding = RULES.iter().filter(|rule| (rule.judge)(signals).is_some());
    holding.map(|rule| rule.resource).collect()
}

/// A case and its findings.
fn case(change: impl FnOnce(&mut Signals)) -> Vec<Resource> {
    let mut signals = calm();
    change(&mut signals);
    found(&signals)
}

fn with_cpu(change: impl FnOnce(&mut CpuShares)) -> Vec<Resource> {
    case(|it| change(it.cpu.as_mut().unwrap()))
}

fn with_pressure(it: &mut Signals, change: impl FnOnce(&mut PressureShares)) {
    change(it.pressure.as_mut().unwrap());
}

#[test]
fn nothing_is_found_where_nothing_is_short() {
    assert_eq!(found(&calm()), []);
    assert_eq!(found(&Signals::default()), [], "nobody looked");
}

#[test]
fn kills_in_other_groups_are_not_the_servers() {
    let sample = |of_group: Option<u64>| samples::Telemetry {
        length_s: 1.0,
        paging: Some(samples::Paging {
            oom_kills: Some(1),
            ..samples::Paging::default()
        }),
        cgroup: Some(samples::CgroupUse {
            oom_kills: of_group,
            ..samples::CgroupUse::default()
        }),
        ..samples::Telemetry::default()
    };
    let kills =
        |samples: &[&samples::Telemetry]| super::signals::memory(samples).map(|it| it.oom_kills);
    let (none, two, unknown) = (sample(Some(0)), sample(Some(2)), sample(None));
    assert_eq!(kills(&[&none]), Some(0));
    assert_eq!(kills(&[&two]), Some(2));
    assert_eq!(
        kills(&[&unknown]),
        Some(1),
        "only the machine's kills are known"
    );
    assert_eq!(
        kills(&[&none, &unknown]),
        Some(2),
        "the server may be the process that was killed"
    );
}

#[test]
fn memory_by_kills_stalls_and_swapping() {
    let memory = |change: fn(&mut MemorySignals)| case(|it| change(it.memory.as_mut().unwrap()));
    assert_eq!(memory(|it| it.oom_kills = 1), [Resource::Memory]);
    assert_eq!(
        memory(|it| it.swapped_in_bytes_per_s = 2e6),
        [Resource::Memory]
    );
    assert_eq!(memory(|it| it.swapped_in_bytes_per_s = 1e5), []);
    let stalled = |share| case(|it| with_pressure(it, |it| it.memory_some = share));
    assert_eq!(stalled(0.11), [Resource::Memory]);
    assert_eq!(stalled(0.09), []);
}

#[test]
fn cpu_quota_by_throttled_periods() {
    let quota = |limit, share| {
        case(|it| {
            it.quota.cpu_limit = limit;
            it.quota.throttled = Some(share);
        })
    };
    assert_eq!(quota(Some(0.5), 0.9), [Resource::CpuQuota]);
    assert_eq!(quota(Some(0.5), 0.1), []);
    assert_eq!(quota(None, 0.9), []);
}

#[test]
fn cpu_quota_by_what_the_server_used() {
    let quota = |used| {
        case(|it| {
            it.quota.cpu_limit = Some(0.5);
            it.quota.cpu_used = Some(used);
        })
    };
    assert_eq!(quota(0.95), [Resource::CpuQuota]);
    assert_eq!(quota(0.85), []);
}

#[test]
fn a_limit_that_is_used_up_is_not_the_disks_own() {
    let limit = |used_per_s| SetLimit {
        kind: LimitKind::Writes,
        allowed_per_s: 1000.0,
        used_per_s,
    };
    let with = |used_per_s| {
        case(|it| {
            it.quota.disk = Some(limit(used_per_s));
            with_pressure(it, |it| it.io_some = 0.8);
            it.disk.as_mut().unwrap().utilisation = 0.97;
        })
    };
    assert_eq!(with(970.0), [Resource::DiskQuota]);
    assert_eq!(with(800.0), [Resource::Disk]);
    let mut signals = calm();
    signals.quota.disk = Some(limit(970.0));
    let rule = RULES.iter().find(|it| it.resource == Resource::DiskQuota);
    let evidence = (rule.unwrap().judge)(&signals).unwrap();
    assert_eq!(
        evidence,
        "the experiment limits the server's disk to 1.00k writes per second, of which the server used 97 % (970/s)"
    );
    signals.quota.disk = Some(SetLimit {
        kind: LimitKind::BytesRead,
        allowed_per_s: f64::from(50 << 20),
        used_per_s: f64::from(49 << 20),
    });
    let evidence = (rule.unwrap().judge)(&signals).unwrap();
    assert!(
        evidence.starts_with("the experiment limits the server's disk to 50.0 MiB read per second"),
        "{evidence}"
    );
}

#[test]
fn a_limit_is_found_in_a_record_by_what_the_kernel_counted() {
    let mut record = crate::testing::record(&crate::testing::RecordBuilder::default());
    record.limit = Some(samples::ServerLimit {
        disk: Some(samples::DiskLimit {
            read_iops: Some(1000),
            write_iops: Some(1000),
            ..samples::DiskLimit::default()
        }),
        ..samples::ServerLimit::default()
    });
    // In one second another program held the server up.
    for (sample, writes) in record.telemetry.iter_mut().zip([980, 120, 1010, 990]) {
        sample.cgroup = Some(samples::CgroupUse {
            limited: Some(samples::LimitedRequests {
                reads: 300,
                writes,
                ..samples::LimitedRequests::default()
            }),
            ..samples::CgroupUse::default()
        });
    }
    let limiting = bottleneck(&record).unwrap().limiting.unwrap();
    assert_eq!(limiting.resource, Resource::DiskQuota);
    assert!(
        limiting.evidence.starts_with(
            "the experiment limits the server's disk to 1.00k writes per second, of which the server used 99 %"
        ),
        "{}",
        limiting.evidence
    );
    // The same requests under a limit that is far away.
    let disk = record.limit.as_mut().unwrap().disk.as_mut().unwrap();
    (disk.read_iops, disk.write_iops) = (None, Some(10_000));
    let limiting = bottleneck(&record).unwrap().limiting;
    assert_ne!(limiting.map(|it| it.resource), Some(Resource::DiskQuota));
}

#[test]
fn disk_quota_by_waits_without_a_busy_disk() {
    let quota = |io_limited, io_some, utilisation| {
        case(|it| {
            it.quota.io_limited = io_limited;
            with_pressure(it, |it| it.io_some = io_some);
            it.disk.as_mut().unwrap().utilisation = utilisation;
        })
    };
    assert_eq!(quota(true, 0.8, 0.3), [Resource::DiskQuota]);
    assert_eq!(quota(false, 0.8, 0.3), []);
    assert_eq!(quota(true, 0.1, 0.3), []);
    assert_eq!(quota(true, 0.8, 0.95), [Resource::Disk], "the disk itself");
}

#[test]
fn client_by_loops_ceiling_schedule_and_machine() {
    let client = |change: fn(&mut ClientSignals)| case(|it| change(&mut it.client));
    assert_eq!(client(|it| it.loop_cpu = Some(0.95)), [Resource::Client]);
    assert_eq!(client(|it| it.ceiling = Some(0.85)), [Resource::Client]);
    assert_eq!(client(|it| it.is_behind = true), [Resource::Client]);
    assert_eq!(
        client(|it| it.machine_busy = Some(0.97)),
        [Resource::Client]
    );
    assert_eq!(client(|it| it.ceiling = Some(0.5)), []);
    assert_eq!(
        client(|it| it.quota = Some((0.25, 0.97))),
        [Resource::Client]
    );
    assert_eq!(client(|it| it.quota = Some((0.25, 0.7))), []);
}

#[test]
fn steal_only_where_the_machine_wanted_the_time() {
    let steal =
        |busy, steal, idle| with_cpu(|it| (it.busy, it.steal, it.idle) = (busy, steal, idle));
    assert_eq!(steal(0.75, 0.2, 0.05), [Resource::Steal, Resource::Cpu]);
    assert_eq!(steal(0.3, 0.2, 0.5), []);
    assert_eq!(steal(0.92, 0.05, 0.03), [Resource::Cpu]);
}

#[test]
fn cpu_by_its_busy_share() {
    assert_eq!(
        with_cpu(|it| (it.busy, it.idle) = (0.95, 0.05)),
        [Resource::Cpu]
    );
    assert_eq!(with_cpu(|it| (it.busy, it.idle) = (0.85, 0.15)), []);
}

#[test]
fn flushes_by_their_time_and_who_waits() {
    let flushes = |flushing, io_some| {
        case(|it| {
            it.disk.as_mut().unwrap().flushing = flushing;
            with_pressure(it, |it| it.io_some = io_some);
        })
    };
    assert_eq!(flushes(0.7, 0.9), [Resource::DiskFlushes]);
    assert_eq!(flushes(0.7, 0.1), [], "nobody waited");
    assert_eq!(flushes(0.1, 0.9), []);
    let unknown = case(|it| {
        it.disk.as_mut().unwrap().flushing = 0.7;
        it.pressure = None;
    });
    assert_eq!(unknown, [Resource::DiskFlushes], "a kernel without PSI");
}

#[test]
fn disk_by_utilisation_and_who_waits() {
    let disk = |utilisation, io_some| {
        case(|it| {
            it.disk.as_mut().unwrap().utilisation = utilisation;
            with_pressure(it, |it| it.io_some = io_some);
        })
    };
    assert_eq!(disk(0.97, 0.9), [Resource::Disk]);
    assert_eq!(
        disk(0.97, 0.05),
        [],
        "many requests at once, and nobody waits"
    );
    assert_eq!(disk(0.5, 0.9), []);
}

#[test]
fn network_by_its_errors() {
    let network = |change: fn(&mut NetworkSignals)| case(|it| change(it.network.as_mut().unwrap()));
    assert_eq!(network(|it| it.retransmitted = 0.02), [Resource::Network]);
    assert_eq!(network(|it| it.lost = 0.01), [Resource::Network]);
    assert_eq!(network(|it| it.listen_overflows = 3), [Resource::Network]);
    assert_eq!(network(|it| it.retransmitted = 0.001), []);
    let link = |used| {
        case(|it| {
            it.network.as_mut().unwrap().link = Some(LinkSignals {
                interface: "eth0".to_owned(),
                bits_per_s: used * 1e9,
                used,
            });
        })
    };
    assert_eq!(link(0.92), [Resource::Network]);
    assert_eq!(link(0.7), []);
}

#[test]
fn load_where_it_asked_for_no_more() {
    let load = |in_flight, rate_per_s, is_reached| {
        case(|it| {
            it.load = Some(LoadSignals {
                in_flight,
                rate_per_s,
                is_reached,
                connections: 8,
                ..LoadSignals::default()
            });
        })
    };
    assert_eq!(load(0.3, None, true), [Resource::Load], "users who think");
    assert_eq!(load(0.9, Some(100.0), true), [Resource::Load]);
    assert_eq!(load(0.9, Some(100.0), false), []);
    let blind = case(|it| {
        it.cpu = None;
        it.load.as_mut().unwrap().in_flight = 0.1;
    });
    assert_eq!(blind, [], "nobody looked at the server's host");
}

#[test]
fn words_name_the_limit_first_and_say_what_nobody_saw() {
    let finding = |resource, evidence: &str| Finding {
        resource,
        evidence: evidence.to_owned(),
    };
    let mut bottleneck = Bottleneck {
        limiting: Some(finding(Resource::CpuQuota, "at 0.5 CPUs")),
        also: vec![finding(Resource::Disk, "sda busy")],
        unobserved: vec!["network"],
        threads: Some("User sleep 98 %".to_owned()),
    };
    assert_eq!(
        bottleneck.in_words(),
        "CPU quota: at 0.5 CPUs; also disk: sda busy"
    );
    bottleneck.limiting = None;
    assert_eq!(
        bottleneck.in_words(),
        "unexplained: no observed resource was at its limit; the server's threads: User sleep 98 %; not observed: \
         network"
    );
}

#[test]
fn the_page_tells_every_rule_in_its_order() {
    let page = include_str!("../../../../docs/bottlenecks.md");
    let told: String = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut from = 0;
    for rule in &RULES {
        let row = format!("| {} | {} |", rule.resource.name(), rule.holds);
        let at = told[from..].find(&row);
        from += at.unwrap_or_else(|| panic!("not told, or not in its place: {row}"));
    }
}
