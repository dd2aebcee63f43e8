//! Rule H14: other programs used the machine.

use samples::{DiskTraffic, Disturbance, StorageRecord, Telemetry};
use units::percent;

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
    words::other_programs_in_words,
};

/// Share of the time in which some program waited for a disk while the server hardly used it.
const WAITING: f64 = 0.1;
/// The server's share of the bytes read, below which the waits are caused by other programs.
const OWN_READS: f64 = 0.5;
/// The same for the bytes written. It is lower because a file system's journal may write up to three blocks more for
/// one page of the redo log that the server writes and syncs.
const OWN_WRITES: f64 = 0.2;

pub(super) const RULE: Rule = Rule {
    id: "H14",
    name: "no other program used the machine",
    found: "other programs used the machine",
    measures: "The user CPU time of programs other than the server and the client. CPU steal. The time during which tasks waited for a disk that other programs kept busy. For storage: the user CPU time of programs other than dbdyno and fio, and CPU steal, in each pattern, commit measurement, time series and round.",
    threshold: "invalid if other programs used more than 5 % of the CPU. Invalid if CPU steal was above 1 %. Invalid if I/O pressure was above 10 % while the server caused less than half of the bytes read or, if the disks wrote more than they read, less than a fifth of the bytes written. The waits are not judged if a directory of the server is on ZFS, or if the disks below a volume or an array are not recorded. For storage, the most disturbed of these measurements counts, and the waits are not judged",
    source: "krun (Barrett et al., Virtual Machine Warmup Blows Hot and Cold, OOPSLA 2017), which makes the same check before each run",
    consequence: "The run shared the machine with other programs, which may not be active in the next run: the figures are not repeatable.",
    remedy: "Stop the other programs (the finding names the three busiest), keep the machine free, and repeat the run.",
    judge: Judge::RunOrStorage(judge, of_storage),
};

fn judge(run: &Run<'_>) -> Outcome {
    let samples = run.samples()?;
    let disturbance = Disturbance::of(run.record);
    let disturbance = disturbance
        .ok_or_else(|| missing("the CPU time of the server's process and of its machine"))?;
    let length_s: f64 = samples.iter().map(|sample| sample.length_s).sum();
    let waiting: Option<f64> = samples.iter().map(|it| Some(it.pressure?.io_some_s)).sum();
    let waiting = waiting.map(|waited_s| (waited_s / length_s).min(1.0));
    let mut problems = cpu_problems(&disturbance, "");
    let own =
        own_traffic(&samples, &run.disk_traffic(&samples)).filter(|_| is_comparable(run, &samples));
    if let Some((waiting, own)) = waiting
        .zip(own)
        .filter(|(waiting, own)| *waiting > WAITING && own.share < own.least)
    {
        problems.push(format!(
            "tasks waited for a disk {} of the time, and only {} of the bytes {} were the server's",
            percent(waiting),
            percent(own.share),
            own.moved
        ));
    }
    Ok(finding(&disturbance, "", &problems))
}

/// A program that ran for a minute of a suite disturbed only what was measured in that minute: the most disturbed
/// measurement decides.
fn of_storage(record: &StorageRecord) -> Outcome {
    let disturbance = Disturbance::greatest(record.machine_cpus());
    let disturbance = disturbance.ok_or_else(|| missing("the CPU time of other programs"))?;
    let problems = cpu_problems(&disturbance, "up to ");
    Ok(finding(&disturbance, "up to ", &problems))
}

/// The shares that are above their limits, each as a clause; `up_to` is written before a share.
fn cpu_problems(disturbance: &Disturbance, up_to: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if disturbance.others > Disturbance::OTHERS {
        problems.push(other_programs_in_words(disturbance, up_to));
    }
    if disturbance.steal > Disturbance::STEAL {
        let steal = percent(disturbance.steal);
        problems.push(format!("CPU steal was {up_to}{steal}"));
    }
    problems
}

/// Invalid with these problems, or else a pass.
fn finding(disturbance: &Disturbance, up_to: &str, problems: &[String]) -> Finding {
    let (others, steal) = (disturbance.others, disturbance.steal);
    let found = if problems.is_empty() {
        let evidence = format!(
            "other programs used {up_to}{} of the CPU, and CPU steal was {up_to}{}",
            percent(others),
            percent(steal)
        );
        Finding::new(Level::Pass, evidence)
    } else {
        Finding::new(Level::Invalid, problems.join("; "))
    };
    found
        .with("others_cpu_share", others)
        .with("steal_share", steal)
}

/// Whether the disks' traffic may be compared with the server's. ZFS reads and writes whole records, of which the server
/// uses a part. A volume or an array whose disks are not recorded has all its traffic counted twice.
fn is_comparable(run: &Run<'_>, samples: &[&Telemetry]) -> bool {
    let places = run.storage().map(|it| it.places.as_slice());
    let is_on_zfs = places.is_ok_and(|all| all.iter().any(|place| place.filesystem == "zfs"));
    let is_known = |name: &str| run.devices().iter().any(|it| it.name == name);
    let is_stacked = |name: &str| name.starts_with("dm-") || name.starts_with("md");
    let mut disks = samples.iter().flat_map(|it| it.disks());
    !is_on_zfs && disks.all(|disk| !is_stacked(&disk.device) || is_known(&disk.device))
}

/// The server's share of the disk traffic, in the direction with more bytes.
struct OwnTraffic {
    share: f64,
    /// The share below which others cause the waits.
    least: f64,
    /// The direction: `read` or `written`.
    moved: &'static str,
}

/// `None` if unknown or without traffic.
fn own_traffic(samples: &[&Telemetry], disks: &[DiskTraffic]) -> Option<OwnTraffic> {
    let (mut own_read, mut own_written) = (0.0, 0.0);
    for sample in samples {
        let server = sample.server?;
        own_read += server.read_bytes? as f64;
        own_written += server.written_bytes? as f64;
    }
    let read: f64 = disks.iter().map(|disk| disk.read_bytes as f64).sum();
    let written: f64 = disks.iter().map(|disk| disk.written_bytes as f64).sum();
    let (own, all, least, moved) = if read >= written {
        (own_read, read, OWN_READS, "read")
    } else {
        (own_written, written, OWN_WRITES, "written")
    };
    (all > 0.0).then(|| OwnTraffic {
        share: (own / all).min(1.0),
        least,
        moved,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    /// A run whose tasks waited for a disk from which another program and the server read these MiB per second.
    fn reading(other_mib: u64, server_mib: u64) -> Outcome {
        judged(&RULE, |record| {
            each_sample(record, |sample| {
                sample.pressure.as_mut().unwrap().io_some_s = 0.5;
                sample.disk.as_mut().unwrap().read_bytes = (other_mib + server_mib) << 20;
                let server = sample.server.as_mut().unwrap();
                server.read_bytes = Some(server_mib << 20);
                server.written_bytes = Some(8 << 20);
            });
        })
    }

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            each_sample(record, |sample| {
                sample.server.as_mut().unwrap().user_s = 5.0
            });
        });
        assert_found(
            &outcome,
            Level::Invalid,
            "other programs used 16 % of the CPU",
        );
        let beside = |program: &str| {
            judged(&RULE, |record| {
                each_sample(record, |sample| {
                    sample.server.as_mut().unwrap().user_s = 5.0;
                    sample.programs = vec![samples::ProgramUse {
                        name: program.to_owned(),
                        user_s: 1.0,
                    }];
                });
            })
        };
        for (program, named) in [("rustc", "rustc"), ("mariadbd", "another mariadbd")] {
            let part = format!("16 % of the CPU ({named})");
            assert_found(&beside(program), Level::Invalid, &part);
        }
        let outcome = judged(&RULE, |record| {
            each_sample(record, |sample| {
                sample.machine.as_mut().unwrap().steal_s = 0.4
            });
        });
        assert_found(&outcome, Level::Invalid, "CPU steal was 4.8 %");
        let outcome = judged(&RULE, |record| {
            each_sample(record, |sample| {
                sample.pressure.as_mut().unwrap().io_some_s = 0.5;
                let server = sample.server.as_mut().unwrap();
                (server.read_bytes, server.written_bytes) = (Some(0), Some(1 << 20));
            });
        });
        assert_found(
            &outcome,
            Level::Invalid,
            "waited for a disk 50 % of the time",
        );
        let outcome = reading(380, 100);
        assert_found(&outcome, Level::Invalid, "only 21 % of the bytes read");
    }

    #[test]
    fn passes() {
        assert_found(
            &judged(&RULE, |_| {}),
            Level::Pass,
            "other programs used 1.2 % of the CPU",
        );
        let outcome = judged(&RULE, |record| {
            each_sample(record, |sample| {
                sample.pressure.as_mut().unwrap().io_some_s = 0.5;
                let server = sample.server.as_mut().unwrap();
                (server.read_bytes, server.written_bytes) = (Some(0), Some(8 << 20));
            });
        });
        assert_eq!(
            level(&outcome),
            Level::Pass,
            "the server waits for its own disk"
        );
        assert_eq!(level(&reading(80, 100)), Level::Pass);
    }

    /// A run on the volume dm-0, of which the server wrote 3 of 10 MiB per second, and another partition of the disk
    /// below had these MiB per second.
    fn on_a_volume(of_other_partition_mib: u64) -> Outcome {
        judged(&RULE, |record| {
            let storage = &mut record.storage[0];
            let mut partition = storage.devices[0].clone();
            (partition.name, partition.kind) = ("nvme0n1p3".to_owned(), "partition".to_owned());
            partition.made_of = vec!["nvme0n1".to_owned()];
            let mut volume = storage.devices[0].clone();
            (volume.name, volume.kind) = ("dm-0".to_owned(), "volume".to_owned());
            volume.made_of = vec!["nvme0n1p3".to_owned()];
            storage.devices.extend([partition, volume]);
            each_sample(record, |sample| {
                sample.pressure.as_mut().unwrap().io_some_s = 0.5;
                let disk = sample.disk.as_mut().unwrap();
                (disk.read_bytes, disk.written_bytes) = (0, 10 << 20);
                let mut below = disk.clone();
                below.written_bytes += of_other_partition_mib << 20;
                disk.device = "dm-0".to_owned();
                sample.other_disks = vec![below];
                let server = sample.server.as_mut().unwrap();
                (server.read_bytes, server.written_bytes) = (Some(0), Some(3 << 20));
            });
        })
    }

    #[test]
    fn the_disk_below_a_volume_has_only_the_traffic_of_its_other_partitions() {
        assert_eq!(level(&on_a_volume(0)), Level::Pass);
        assert_found(
            &on_a_volume(90),
            Level::Invalid,
            "only 3 % of the bytes written were the server's",
        );
    }

    #[test]
    fn the_traffic_of_a_volume_or_a_file_system_that_is_not_comparable_is_not_judged() {
        let waiting_on = |volume: &str, filesystem: &str| {
            judged(&RULE, |record| {
                record.storage[0].places[0].filesystem = filesystem.to_owned();
                each_sample(record, |sample| {
                    sample.pressure.as_mut().unwrap().io_some_s = 0.5;
                    let disk = sample.disk.as_mut().unwrap();
                    (disk.read_bytes, disk.written_bytes) = (100 << 20, 0);
                    let mut other = disk.clone();
                    other.device = volume.to_owned();
                    sample.other_disks = vec![other];
                    let server = sample.server.as_mut().unwrap();
                    (server.read_bytes, server.written_bytes) = (Some(90 << 20), Some(0));
                });
            })
        };
        // Another disk.
        assert_eq!(level(&waiting_on("sda", "xfs")), Level::Invalid);
        // The disks below these are not recorded, as in a container or for another volume than the server's.
        assert_eq!(level(&waiting_on("dm-0", "xfs")), Level::Pass);
        assert_eq!(level(&waiting_on("md127", "xfs")), Level::Pass);
        assert_eq!(level(&waiting_on("sda", "zfs")), Level::Pass);
    }

    #[test]
    fn the_most_disturbed_measurement_of_storage_counts() {
        let outcome = judged_storage(&RULE, |_| {});
        assert_found(
            &outcome,
            Level::Pass,
            "other programs used up to 0.5 % of the CPU",
        );
        let outcome = judged_storage(&RULE, |record| {
            record.commits[0].machine_cpu = Some(machine_cpu(18.6));
        });
        assert_found(
            &outcome,
            Level::Invalid,
            "other programs used up to 93 % of the CPU (rustc)",
        );
        let outcome = judged_storage(&RULE, |record| {
            let mut cpu = machine_cpu(0.0);
            cpu.machine.steal_s = 1.0;
            record.patterns[2].machine_cpu = Some(cpu);
        });
        assert_found(&outcome, Level::Invalid, "CPU steal was up to 4.8 %");
    }

    #[test]
    fn a_record_of_storage_without_cpu_times_is_not_evaluated() {
        let outcome = judged_storage(&RULE, |record| {
            record.commits[0].machine_cpu = None;
            for pattern in &mut record.patterns {
                pattern.machine_cpu = None;
            }
        });
        assert_missing(&outcome, "the CPU time of other programs");
    }

    #[test]
    fn a_host_that_nobody_watched_is_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.telemetry.clear()),
            "telemetry",
        );
    }
}
