//! Tests of the sampler with the files of several kernels.

use std::{cell::Cell, path::Path};

use samples::{DiskRequests, DiskUse, Host};

use super::*;
use crate::fixture::Fixture;

const LINUX_6_1: &str = include_str!("../../fixtures/linux-6.1-x86_64.txt");
const LINUX_5_15: &str = include_str!("../../fixtures/linux-5.15-arm64.txt");
const LINUX_3_10: &str = include_str!("../../fixtures/linux-3.10-x86_64.txt");

/// A sampler that watches the server of the 6.1 fixture and its disk.
fn sampler_6_1(fixture: &Fixture) -> Sampler {
    let kernel = fixture.kernel(100, 4096);
    let disk = BlockDevice::numbered(&kernel, 254, 1).expect("the fixture has the partition");
    Sampler::observing(kernel, Host::Both, Some(4242), Some(Ok(disk)))
}

fn near(seconds: f64, expected: f64) -> bool {
    (seconds - expected).abs() < 1e-9
}

#[test]
fn a_second_of_a_loaded_server() {
    let fixture = Fixture::unpack(LINUX_6_1);
    let mut sampler = sampler_6_1(&fixture);
    fixture.advance();
    let sample = sampler.sample(&|| 1.0);

    assert_eq!(
        (sample.t_s, sample.length_s, sample.host),
        (0.0, 1.0, Host::Both)
    );
    let machine = sample.machine.unwrap();
    assert!(
        near(machine.user_s, 1.01),
        "52+48 user and 1 nice: {machine:?}"
    );
    assert!(
        near(machine.system_s, 0.46),
        "40 system, 1 irq, 5 softirq: {machine:?}"
    );
    assert!(near(machine.iowait_s, 0.10), "{machine:?}");
    assert!(near(machine.steal_s, 0.13), "{machine:?}");
    assert!(near(machine.idle_s, 0.30), "{machine:?}");
    let server = sample.server.unwrap();
    assert!(
        near(server.user_s, 0.75) && near(server.system_s, 0.24),
        "{server:?}"
    );
    assert_eq!(server.resident_bytes, 61_500 * 4096);
    let client = sample.client.unwrap();
    assert!(
        near(client.user_s, 0.21) && near(client.system_s, 0.15),
        "{client:?}"
    );
    let memory = sample.memory.unwrap();
    assert_eq!(memory.total_bytes, 8_048_832 * 1024);
    assert_eq!(memory.available_bytes, 4_410_220 * 1024);
    assert_eq!(memory.swap_used_bytes, 1024 * 1024);
    let disk = DiskUse {
        device: "vda".to_owned(),
        reads: 100,
        writes: 400,
        read_bytes: 3200 * 512,
        written_bytes: 12_800 * 512,
        busy_s: 0.63,
        requests: Some(DiskRequests {
            read_s: 0.112,
            write_s: 0.4,
            queued_s: 0.436,
            reads_merged: 3,
            writes_merged: 44,
            discards: Some(0),
            discarded_bytes: Some(0),
            discard_s: Some(0.0),
            flushes: Some(0),
            flush_s: Some(0.0),
        }),
    };
    assert_eq!(sample.disk, Some(disk), "the disk and not its partition");
}

#[test]
fn the_second_sample_counts_from_the_first() {
    let fixture = Fixture::unpack(LINUX_6_1);
    let mut sampler = sampler_6_1(&fixture);
    fixture.advance();
    sampler.sample(&|| 1.0);
    let idle = sampler.sample(&|| 2.5);
    assert_eq!((idle.t_s, idle.length_s), (1.0, 1.5));
    assert_eq!(
        idle.machine,
        Some(samples::MachineUse::default()),
        "nothing moved"
    );
    assert_eq!(idle.disk.map(|disk| disk.writes), Some(0));
}

#[test]
fn lengths_have_no_digits_that_nobody_measured() {
    let fixture = Fixture::unpack(LINUX_6_1);
    let mut sampler = sampler_6_1(&fixture);
    sampler.sample(&|| 0.105560526);
    assert_eq!(sampler.sample(&|| 0.205613699).length_s, 0.100053173);
    assert_eq!(
        sampler.sample(&|| 0.2).length_s,
        0.0,
        "time does not go backwards"
    );
}

#[test]
fn a_sample_ends_when_its_counters_were_read() {
    let fixture = Fixture::unpack(LINUX_6_1);
    let mut sampler = sampler_6_1(&fixture);
    // Called at 0.5 s, the thread loses the CPU while it reads; until it has it again, the counters advance by a second.
    let times_s = [0.5, 1.0, 1.0, 1.002];
    let at = Cell::new(0);
    let now_s = || {
        if at.get() == 1 {
            fixture.advance();
        }
        let now_s = times_s[at.get()];
        at.set(at.get() + 1);
        now_s
    };
    let sample = sampler.sample(&now_s);
    assert_eq!((sample.t_s, sample.length_s), (0.0, 1.002));
    let machine = sample.machine.unwrap();
    assert!(near(machine.capacity_s(), 2.0), "{machine:?}");
    let next = sampler.sample(&|| 1.5);
    assert_eq!((next.t_s, next.length_s), (1.002, 0.498));
    assert_eq!(next.machine, Some(samples::MachineUse::default()));
}

#[test]
fn the_machine_is_described() {
    let fixture = Fixture::unpack(LINUX_6_1);
    let machine = sampler_6_1(&fixture).machine();
    assert_eq!(
        machine,
        Machine {
            host: Host::Both,
            name: "db1".to_owned(),
            cpu_model: "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz".to_owned(),
            cpus: 2,
            memory_bytes: 8_048_832 * 1024,
            kernel: "6.1.0-26-amd64".to_owned(),
            virtualised: true,
            ..machine.clone()
        }
    );
    assert_eq!(machine.not_observed, [""; 0]);
}

#[test]
fn a_server_that_ended_stays_away() {
    let fixture = Fixture::unpack(LINUX_3_10);
    let kernel = fixture.kernel(100, 4096);
    let disk = BlockDevice::numbered(&kernel, 253, 0).expect("the fixture has the volume");
    let mut sampler = Sampler::observing(kernel, Host::Both, Some(777), Some(Ok(disk)));
    let missing = sampler.machine().not_observed;
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert!(
        missing[0].starts_with("pressure (PSI) not observed: "),
        "{missing:?}"
    );

    let before = sampler.sample(&|| 0.5);
    assert!(before.server.is_some());
    fixture.advance();
    let sample = sampler.sample(&|| 1.0);
    assert_eq!(
        sample.server, None,
        "nobody waited for it, but it has ended"
    );
    let machine = sample.machine.unwrap();
    assert!(
        near(machine.iowait_s, 0.0),
        "its counter went backwards: {machine:?}"
    );
    assert!(near(machine.user_s, 0.5), "{machine:?}");
    assert_eq!(
        sample.disk.map(|disk| (disk.device, disk.reads)),
        Some(("dm-0".to_owned(), 4))
    );

    // Another process with its id.
    fixture.put(
        "proc/777/stat",
        "801 (bash) S 1 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 99999 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0",
    );
    assert_eq!(sampler.sample(&|| 2.0).server, None);
    assert_eq!(sampler.sample(&|| 3.0).server, None);
}

#[test]
fn what_is_missing_is_named() {
    let fixture = Fixture::unpack(LINUX_5_15);
    let sda = BlockDevice {
        major: 8,
        minor: 0,
        name: "sda".to_owned(),
    };
    let kernel = fixture.kernel(250, 65536);
    let mut sampler = Sampler::observing(kernel, Host::Both, Some(4242), Some(Ok(sda)));
    let machine = sampler.machine();
    assert_eq!((machine.cpus, machine.virtualised), (2, false));
    let missing = machine.not_observed;
    let named = |words: &str| missing.iter().any(|line| line.starts_with(words));
    for words in [
        "server process 4242 not observed: it is not running",
        "disk sda of the data directory not observed: ",
        "memory not observed: ",
        "CPU model not observed: ",
        "bytes read and written of dbdyno's process not observed: ",
        "open files of dbdyno's process not observed: ",
        "context switches of dbdyno's process not observed: ",
        "load average not observed: ",
        "paging and swapping not observed: ",
        "pressure (PSI) not observed: ",
        "network interfaces not observed: ",
        "TCP not observed: ",
    ] {
        assert!(named(words), "{words:?} in {missing:#?}");
    }
    assert_eq!(missing.len(), 12, "{missing:#?}");

    fixture.advance();
    let sample = sampler.sample(&|| 1.0);
    assert_eq!((sample.server, sample.memory), (None, None));
    assert_eq!(sample.disk, None);
    let client = sample.client.unwrap();
    assert!(
        near(client.user_s, 0.4) && near(client.system_s, 0.1),
        "250 ticks per second: {client:?}"
    );
    assert_eq!(client.resident_bytes, 41 * 65536);
}

#[test]
fn the_clients_machine_says_nothing_of_the_server() {
    let fixture = Fixture::unpack(LINUX_6_1);
    // Process 4242 exists on this machine, and is not the remote server.
    let mut sampler = Sampler::observing(fixture.kernel(100, 4096), Host::Client, Some(4242), None);
    assert_eq!(sampler.machine().not_observed, ["server host not observed"]);
    fixture.advance();
    let sample = sampler.sample(&|| 1.0);
    assert_eq!((sample.server, sample.disk), (None, None));
    assert!(sample.client.is_some() && sample.machine.is_some());
}

#[test]
fn the_servers_machine_says_nothing_of_the_client() {
    let fixture = Fixture::unpack(LINUX_6_1);
    let mut sampler = Sampler::observing(fixture.kernel(100, 4096), Host::Server, Some(4242), None);
    fixture.advance();
    let sample = sampler.sample(&|| 1.0);
    assert!(sample.client.is_none() && sample.server.is_some());
}

#[test]
fn files_that_vanish_in_mid_run_leave_gaps() {
    let fixture = Fixture::unpack(LINUX_6_1);
    let mut sampler = sampler_6_1(&fixture);
    for name in [
        "proc/stat",
        "proc/self",
        "proc/4242",
        "proc/meminfo",
        "proc/diskstats",
    ] {
        fixture.remove(name);
    }
    let sample = sampler.sample(&|| 1.0);
    assert!(sample.machine.is_none() && sample.server.is_none() && sample.client.is_none());
    assert!(sample.memory.is_none() && sample.disk.is_none());
    fixture.put("proc/stat", "cpu  1 1\n");
    assert!(sampler.sample(&|| 2.0).machine.is_none(), "a torn file");
}

#[test]
fn a_partition_stands_for_its_disk() {
    let fixture = Fixture::unpack(LINUX_6_1);
    let kernel = fixture.kernel(100, 4096);
    let disk = BlockDevice::numbered(&kernel, 254, 0);
    assert_eq!(BlockDevice::numbered(&kernel, 254, 1), disk);
    assert_eq!(disk.map(|disk| disk.name), Some("vda".to_owned()));
    assert_eq!(
        BlockDevice::numbered(&kernel, 0, 29),
        None,
        "a tmpfs has no device"
    );
}

#[test]
fn a_directory_without_a_device_names_its_file_system() {
    let fixture = Fixture::unpack(LINUX_6_1);
    let kernel = fixture.kernel(100, 4096);
    for (path, filesystem) in [
        ("/srv/data", "ext4"),
        ("/var/lib/mysql", "overlay"),
        ("/var/ram/data", "tmpfs"),
        ("/variable", "ext4"),
    ] {
        assert_eq!(
            kernel
                .mount_of(Path::new(path))
                .map(|mount| mount.fs_type)
                .as_deref(),
            Some(filesystem),
            "{path}"
        );
    }
    let error = NotObserved::NoBlockDevice {
        path: "/var/lib/mysql".into(),
        filesystem: Some("overlay".to_owned()),
    };
    assert_eq!(
        error.to_string(),
        "disk of the data directory /var/lib/mysql not observed: \
         its file system has no block device (overlay)"
    );
}
