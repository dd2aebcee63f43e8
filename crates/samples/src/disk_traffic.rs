//! The traffic of a machine's disks, each request once, also where one device passes it on to another.

use crate::{
    machine::BlockDevice,
    telemetry::{DiskUse, Telemetry},
};

/// The traffic of one device in one interval, without that which it carries for the devices above it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskTraffic {
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Completed flushes; `None` if the kernel does not count them.
    pub flushes: Option<u64>,
}

impl Telemetry {
    /// The traffic of each disk of the sample, without that which it carries for others of the sample: the volume
    /// `dm-0` reads from `nvme0n1` below it, whose counters contain these reads too. `devices` has the stacks.
    ///
    /// The rest of the lower disk counts, because it may have other partitions. An array may distribute a request over
    /// its disks or repeat it on each: all its traffic is subtracted from each disk.
    pub fn traffic_once(&self, devices: &[BlockDevice]) -> impl Iterator<Item = DiskTraffic> {
        self.disks().map(move |disk| {
            let above = self.disks().filter(|upper| {
                upper.device != disk.device
                    && is_directly_above(&upper.device, &disk.device, self, devices)
            });
            let above: Vec<&DiskUse> = above.collect();
            let rest = |value: fn(&DiskUse) -> u64| {
                let passed_on: u64 = above.iter().map(|it| value(it)).sum();
                value(disk).saturating_sub(passed_on)
            };
            DiskTraffic {
                read_bytes: rest(|it| it.read_bytes),
                written_bytes: rest(|it| it.written_bytes),
                flushes: flushes(disk).map(|_| rest(|it| flushes(it).unwrap_or(0))),
            }
        })
    }
}

fn flushes(disk: &DiskUse) -> Option<u64> {
    disk.requests?.flushes
}

/// Whether a device is made of another one, directly or by devices that the sample does not have, such as partitions.
fn is_directly_above(
    upper: &str,
    lower: &str,
    sample: &Telemetry,
    devices: &[BlockDevice],
) -> bool {
    let mut names = vec![upper];
    let mut at = 0;
    // Each name once: an altered record may have a circle.
    while let Some(name) = names.get(at).copied() {
        at += 1;
        let of_name = devices.iter().filter(|it| it.name == name);
        for part in of_name.flat_map(|it| &it.made_of) {
            if part == lower {
                return true;
            }
            let is_counted = sample.disks().any(|it| it.device == *part);
            if !is_counted && !names.contains(&part.as_str()) {
                names.push(part);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::DiskRequests;

    fn device(name: &str, made_of: &[&str]) -> BlockDevice {
        BlockDevice {
            name: name.to_owned(),
            made_of: made_of.iter().map(|&it| it.to_owned()).collect(),
            ..BlockDevice::default()
        }
    }

    fn disk(device: &str, read_bytes: u64, flushes: Option<u64>) -> DiskUse {
        DiskUse {
            device: device.to_owned(),
            read_bytes,
            requests: Some(DiskRequests {
                flushes,
                ..DiskRequests::default()
            }),
            ..DiskUse::default()
        }
    }

    /// The bytes read and the flushes of each disk.
    fn counted(disks: &[DiskUse], devices: &[BlockDevice]) -> Vec<(u64, Option<u64>)> {
        let sample = Telemetry {
            other_disks: disks.to_vec(),
            ..Telemetry::default()
        };
        let traffic = sample.traffic_once(devices);
        traffic.map(|it| (it.read_bytes, it.flushes)).collect()
    }

    #[test]
    fn what_a_volume_reads_is_not_counted_on_the_disk_below_it_once_more() {
        let devices = [
            device("dm-1", &["dm-0"]),
            device("dm-0", &["nvme0n1p3"]),
            device("nvme0n1p3", &["nvme0n1"]),
            device("nvme0n1", &[]),
        ];
        let of = |name: &str, read: u64| disk(name, read, Some(0));
        let of_disk = disk("nvme0n1", 550, Some(30));
        // The other partitions of the disk had 500.
        let one = counted(&[of("dm-0", 50), of_disk.clone()], &devices);
        assert_eq!(one, [(50, Some(0)), (500, Some(30))]);
        let two = counted(&[of("dm-1", 50), of("dm-0", 50), of_disk.clone()], &devices);
        assert_eq!(two, [(50, Some(0)), (0, Some(0)), (500, Some(30))]);
        let not_in_sample = counted(&[of("dm-1", 50), of_disk], &devices);
        assert_eq!(not_in_sample, [(50, Some(0)), (500, Some(30))]);
    }

    #[test]
    fn an_array_may_distribute_requests_or_repeat_them() {
        let devices = [device("md0", &["sda", "sdb"])];
        let of = |name: &str, read: u64| disk(name, read, None);
        let each = counted(&[of("md0", 100), of("sda", 50), of("sdb", 100)], &devices);
        assert_eq!(each, [(100, None), (0, None), (0, None)]);
    }

    #[test]
    fn a_circle_of_devices_ends() {
        let devices = [device("a", &["b"]), device("b", &["c", "a"])];
        let each = counted(&[disk("a", 1, None), disk("d", 2, None)], &devices);
        assert_eq!(each, [(1, None), (2, None)]);
    }
}
