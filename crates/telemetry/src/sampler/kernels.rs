//! Tests of the sampler's figures for the files of each kernel.

use samples::{
    Cgroup, CgroupUse, CpuSetup, CpuTimes, DiskRequests, DiskUse, Host, InterfaceUse,
    KernelSettings, LimitedRequests, Paging, Peer, Pressure, ProcessUse, Scheduling, TcpUse,
};

use super::*;
use crate::{block_device::describe_stack, fixture::Fixture};

/// A sampler on one kernel's files at their second reading, and its sample since the first.
fn observed(text: &str, server: u32, disk: Option<(u32, u32)>) -> (Sampler, Telemetry, Fixture) {
    let fixture = Fixture::unpack(text);
    let kernel = fixture.kernel(100, 4096);
    let disk = disk.map(|(major, minor)| {
        let disk = BlockDevice::numbered(&kernel, major, minor);
        Ok(disk.expect("the fixture has the device"))
    });
    let mut sampler = Sampler::observing(kernel, Host::Both, Some(server), disk);
    fixture.advance();
    let sample = sampler.sample(&|| 1.0);
    (sampler, sample, fixture)
}

fn names<'a>(disks: impl IntoIterator<Item = &'a DiskUse>) -> Vec<&'a str> {
    disks.into_iter().map(|disk| disk.device.as_str()).collect()
}

#[test]
fn linux_4_18_with_groups_of_version_1_and_stacked_disks() {
    let text = include_str!("../../fixtures/linux-4.18-x86_64.txt");
    let (sampler, sample, _fixture) = observed(text, 900, Some((253, 2)));
    let machine = sampler.machine();
    assert_eq!(machine.not_observed.len(), 1, "{:?}", machine.not_observed);
    assert!(machine.not_observed[0].starts_with("pressure (PSI) not observed"));
    assert_eq!(machine.cpus, 3);
    assert_eq!(
        machine.cpu,
        Some(CpuSetup {
            sockets: Some(2),
            cores: Some(3),
            numa_nodes: Some(2),
            governors: vec!["performance".to_owned(), "powersave".to_owned()],
            frequency_driver: Some("acpi-cpufreq".to_owned()),
            frequency_max_hz: Some(2_201_000_000),
            turbo: Some(false),
            hypervisor: None,
        })
    );
    assert_eq!(
        machine.settings,
        Some(KernelSettings {
            transparent_huge_pages: Some("never".to_owned()),
            swappiness: Some(30),
            dirty_ratio: Some(40),
            dirty_background_ratio: Some(10),
            clocksource: Some("tsc".to_owned()),
            isolated_cpus: Some("3".to_owned()),
        })
    );
    assert_eq!(
        machine.cgroups,
        [Cgroup {
            of: Peer::Server,
            path: "/system.slice/mysqld.service".to_owned(),
            version: 1,
            cpu_limit: Some(0.5),
            io_limited: true,
            ..Cgroup::default()
        }]
    );
    assert_eq!(
        sample.cpus[2],
        CpuTimes {
            cpu: 3,
            user_s: 0.7,
            nice_s: 0.01,
            system_s: 0.15,
            idle_s: 0.1,
            iowait_s: 0.02,
            softirq_s: 0.02,
            ..CpuTimes::default()
        }
    );
    assert_eq!(
        sample.scheduling,
        Some(Scheduling {
            running: Some(3),
            blocked: Some(2),
            load_1m: Some(1.0),
            context_switches: 1000,
            interrupts: Some(500),
            forks: 4,
        })
    );
    let volume = DiskUse {
        device: "dm-2".to_owned(),
        reads: 100,
        writes: 100,
        read_bytes: 8000 * 512,
        written_bytes: 8000 * 512,
        busy_s: 0.9,
        requests: Some(DiskRequests {
            read_s: 0.88,
            write_s: 1.1,
            queued_s: 1.98,
            discards: Some(0),
            discarded_bytes: Some(0),
            discard_s: Some(0.0),
            ..DiskRequests::default()
        }),
    };
    assert_eq!(sample.disk, Some(volume));
    assert_eq!(
        names(&sample.other_disks),
        ["sda", "sdb", "md0"],
        "no partition, none that idles"
    );
    assert_eq!(
        sample.cgroup,
        Some(CgroupUse {
            cpu_s: Some(0.5),
            periods: Some(10),
            throttled_periods: Some(9),
            throttled_s: Some(0.9),
            memory_bytes: Some((2 << 30) + 4096),
            memory_limit_hits: Some(0),
            oom_kills: Some(0),
            reads: Some(100),
            writes: Some(100),
            read_bytes: Some(409_600),
            written_bytes: Some(819_200),
            limited: Some(LimitedRequests {
                reads: 100,
                writes: 100,
                read_bytes: 409_600,
                written_bytes: 819_200,
            }),
            pressure: None,
        })
    );
    assert_eq!(sample.pressure, None);
}

#[test]
fn a_stack_is_told_from_the_volume_to_the_disks() {
    let fixture = Fixture::unpack(include_str!("../../fixtures/linux-4.18-x86_64.txt"));
    let mut devices = Vec::new();
    let top = describe_stack(&fixture.kernel(100, 4096), (253, 2), &mut devices);
    assert_eq!(top.as_deref(), Some("dm-2"));
    let told: Vec<_> = devices
        .iter()
        .map(|device| {
            let model = device.model.as_deref().unwrap_or("-");
            format!(
                "{} {} {model} of {:?}",
                device.name, device.kind, device.made_of
            )
        })
        .collect();
    let expected = [
        r#"dm-2 volume vg0-mysql of ["md0"]"#,
        r#"md0 array raid1 of ["sda1", "sdb"]"#,
        r#"sda1 partition - of ["sda"]"#,
        "sda disk ST600MM0009 of []",
        "sdb disk ST600MM0009 of []",
    ];
    assert_eq!(told, expected);
    let sda = devices.iter().find(|device| device.name == "sda").unwrap();
    assert_eq!(sda.size_bytes, 1_172_123_568 * 512);
    assert_eq!(sda.rotational, Some(true));
    assert_eq!(sda.scheduler.as_deref(), Some("mq-deadline"));
    assert_eq!(sda.write_cache.as_deref(), Some("write back"));
    assert_eq!(
        (sda.queue_requests, sda.read_ahead_bytes),
        (Some(256), Some(4 << 20))
    );
    assert_eq!(sda.physical_block_bytes, Some(4096));
}

#[test]
fn a_volume_is_found_by_the_name_that_its_mount_has() {
    let fixture = Fixture::unpack(include_str!("../../fixtures/linux-4.18-x86_64.txt"));
    let (kernel, mut devices) = (fixture.kernel(100, 4096), Vec::new());
    // Btrfs has a number without a device.
    let path = std::path::Path::new("/var/lib/mysql");
    let place = crate::storage::placed(&kernel, path, (0, 40), &mut devices);
    assert_eq!(place.device.as_deref(), Some("dm-2"));
    assert_eq!(devices.len(), 5);
    // A dataset of ZFS with the volume's name.
    let mount = "40 28 0:40 / /var/lib/mysql rw shared:20 - zfs tank/vg0-mysql rw,xattr\n";
    fixture.put("proc/self/mountinfo", mount);
    let place = crate::storage::placed(&kernel, path, (0, 40), &mut devices);
    assert_eq!(place.filesystem, "zfs");
    assert_eq!(place.device, None);
}

#[test]
fn linux_5_10_with_nvme_disks_and_early_pressure() {
    let text = include_str!("../../fixtures/linux-5.10-x86_64.txt");
    let (sampler, sample, _fixture) = observed(text, 900, Some((259, 1)));
    let machine = sampler.machine();
    assert_eq!(machine.not_observed, [""; 0]);
    assert_eq!(machine.cgroups, [], "nothing is limited");
    let cpu = machine.cpu.unwrap();
    assert_eq!(
        (cpu.turbo, cpu.cores, cpu.sockets),
        (Some(true), Some(1), Some(1))
    );
    assert_eq!(cpu.governors, ["schedutil"]);
    assert_eq!(
        sample.pressure,
        Some(Pressure {
            cpu_some_s: 0.05,
            io_some_s: 0.2,
            io_full_s: 0.18,
            ..Pressure::default()
        })
    );
    let disk = sample.disk.unwrap();
    assert_eq!(disk.device, "nvme0n1", "the disk of the partition");
    assert_eq!((disk.reads, disk.writes, disk.busy_s), (100, 200, 0.5));
    assert_eq!(disk.flush_wait_s(), Some(0.02 / 40.0));
    assert_eq!(disk.requests.map(|it| it.flushes), Some(Some(40)));
    assert_eq!(names(&sample.other_disks), [""; 0]);
    let group = sample.cgroup.unwrap();
    assert_eq!((group.cpu_s, group.throttled_s), (Some(0.5), Some(0.0)));
    assert_eq!(
        (group.reads, group.written_bytes),
        (Some(100), Some(819_200))
    );
    assert_eq!(group.pressure.map(|it| it.cpu_some_s), Some(0.0001));
}

#[test]
fn linux_6_18_inside_a_container() {
    let text = include_str!("../../fixtures/linux-6.18-x86_64.txt");
    let (sampler, sample, _fixture) = observed(text, 900, None);
    let machine = sampler.machine();
    assert_eq!(machine.not_observed.len(), 2, "{:?}", machine.not_observed);
    let missing = machine.not_observed.join("\n");
    assert!(missing.contains("context switches of the server not observed: it has 300 threads"));
    assert!(
        missing.contains("open files of the server not observed: "),
        "{missing}"
    );
    let limits = |of: Peer| Cgroup {
        of,
        path: "/".to_owned(),
        version: 2,
        cpu_limit: Some(1.5),
        cpus: Some(1),
        memory_limit_bytes: Some(2 << 30),
        memory_high_bytes: Some(1_932_735_283),
        io_limited: false,
    };
    assert_eq!(
        machine.cgroups,
        [limits(Peer::Server), limits(Peer::Client)]
    );
    let cpu = machine.cpu.unwrap();
    assert_eq!(cpu.hypervisor.as_deref(), Some("kvm"));
    assert_eq!((cpu.turbo, cpu.frequency_max_hz), (None, None));
    assert_eq!(
        sample.cgroup,
        Some(CgroupUse {
            cpu_s: Some(0.9),
            periods: Some(10),
            throttled_periods: Some(9),
            throttled_s: Some(0.4),
            memory_bytes: Some(2_147_000_000),
            memory_limit_hits: Some(50),
            oom_kills: Some(1),
            pressure: Some(Pressure {
                cpu_some_s: 0.9,
                memory_some_s: 0.2,
                memory_full_s: 0.1,
                ..Pressure::default()
            }),
            ..CgroupUse::default()
        })
    );
    assert_eq!(sample.cpus[0].steal_s, 0.06);
    assert_eq!(
        sample.tcp,
        Some(TcpUse {
            segments_sent: 50,
            retransmitted: 2,
            listen_overflows: Some(1),
            listen_drops: Some(2),
        })
    );
    assert_eq!(
        sample.interfaces,
        [InterfaceUse {
            interface: "eth0".to_owned(),
            received_bytes: 500,
            received_packets: 5,
            sent_bytes: 600,
            sent_packets: 6,
            errors: 0,
            drops: 0,
        }],
        "lo moved nothing"
    );
    assert_eq!(
        sample.paging,
        Some(Paging {
            in_bytes: 100 * 1024,
            out_bytes: 600 * 1024,
            swapped_in_bytes: 0,
            swapped_out_bytes: 4096,
            faults: 600,
            major_faults: 0,
            oom_kills: Some(1),
        })
    );
    assert_eq!(
        sample.server,
        Some(ProcessUse {
            user_s: 0.3,
            system_s: 0.2,
            resident_bytes: 61_440 * 4096,
            threads: Some(300),
            open_files: None,
            read_bytes: Some(409_600),
            written_bytes: Some(819_200),
            voluntary_switches: None,
            involuntary_switches: None,
            minor_faults: Some(0),
            major_faults: Some(0),
        })
    );
    assert_eq!(names(&sample.other_disks), ["vda"]);
}

#[test]
fn what_changed_is_told_at_the_end() {
    let fixture = Fixture::unpack(include_str!("../../fixtures/linux-4.18-x86_64.txt"));
    let kernel = fixture.kernel(100, 4096);
    let mut sampler = Sampler::observing(kernel, Host::Both, Some(900), None);
    let mut devices = Vec::new();
    describe_stack(&sampler.kernel, (8, 0), &mut devices);
    sampler.storage = Some(Storage {
        devices,
        ..Storage::default()
    });
    assert_eq!(sampler.changes(), [], "nothing yet");
    for cpu in [0, 1, 3] {
        let file = format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor");
        fixture.put(&file, "powersave\n");
    }
    let disk = "sys/devices/pci0000:00/0000:02:00.0/host0/target0:0:0/0:0:0:0/block/sda";
    fixture.put(&format!("{disk}/queue/write_cache"), "write through\n");
    fixture.put(&format!("{disk}/queue/read_ahead_kb"), "128\n");
    let group = "sys/fs/cgroup/cpu,cpuacct/system.slice/mysqld.service";
    fixture.put(&format!("{group}/cpu.cfs_quota_us"), "100000\n");
    let told: Vec<_> = sampler
        .changes()
        .into_iter()
        .map(|changed| format!("{}: {} -> {}", changed.what, changed.from, changed.to))
        .collect();
    let expected = [
        "CPU governor: performance powersave -> powersave",
        "control group of the server: CPU 0.5 -> CPU 1",
        "read-ahead of sda: 4194304 -> 131072",
        "write cache of sda: write back -> write through",
    ];
    assert_eq!(told, expected);
}
