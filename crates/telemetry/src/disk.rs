//! Activity of the block devices.

use std::{collections::BTreeMap, path::Path};

use procfs_core::{DiskStat, DiskStats, FromRead};
use samples::{DiskRequests, DiskUse};

use crate::{
    block_device::{BlockDevice, Number},
    error::{NotObserved, note},
    kernel::{Kernel, difference, difference_of, seconds_between},
};

/// Bytes in a sector of /proc/diskstats, whatever the device's own sector size.
///
/// Source: the kernel's Documentation/block/stat.rst.
const SECTOR_BYTES: u64 = 512;

/// Flushes of these disks since they were attached; `None` where the kernel counts none, or does not know one of them.
pub fn disk_flushes(names: &[&str]) -> Option<u64> {
    let kernel = Kernel::running();
    let DiskStats(disks) = DiskStats::from_file(kernel.path("proc/diskstats")).ok()?;
    let of = |name: &&str| disks.iter().find(|it| it.name == **name)?.flushes;
    let flushes: Option<Vec<u64>> = names.iter().map(of).collect();
    flushes
        .filter(|it| !it.is_empty())
        .map(|it| it.iter().sum())
}

/// Counters of the block devices since they were attached, without partitions.
#[derive(Debug)]
pub(crate) struct DiskCounters(BTreeMap<Number, DiskStat>);

/// Cache of which device numbers are partitions.
#[derive(Debug, Default)]
pub(crate) struct Partitions(BTreeMap<Number, bool>);

impl Partitions {
    fn contains(&mut self, kernel: &Kernel, number: Number) -> bool {
        *self.0.entry(number).or_insert_with(|| {
            let (major, minor) = number;
            let file = format!("sys/dev/block/{major}:{minor}/partition");
            Path::exists(&kernel.path(&file))
        })
    }
}

impl DiskCounters {
    /// Reads the counters; adds an entry to `missing` when they cannot be read, or when `watched` is not among them.
    pub(crate) fn read(
        kernel: &Kernel,
        partitions: &mut Partitions,
        watched: Option<&BlockDevice>,
        missing: &mut Vec<NotObserved>,
    ) -> Option<Self> {
        let disks = DiskStats::from_file(kernel.path("proc/diskstats"));
        let disks = disks.map_err(|source| match watched {
            Some(disk) => NotObserved::DiskCounters {
                device: disk.name.clone(),
                source,
            },
            None => NotObserved::counters("disks", source),
        });
        let DiskStats(disks) = note(disks, missing)?;
        let numbered = disks.into_iter().filter_map(|disk| {
            let number = (disk.major.try_into().ok()?, disk.minor.try_into().ok()?);
            (!partitions.contains(kernel, number)).then_some((number, disk))
        });
        let counters = Self(numbered.collect());
        if let Some(disk) = watched.filter(|disk| !counters.0.contains_key(&disk.number())) {
            missing.push(NotObserved::DiskNotCounted {
                device: disk.name.clone(),
            });
        }
        Some(counters)
    }

    pub(crate) fn disk_since(&self, earlier: &Self, disk: &BlockDevice) -> Option<DiskUse> {
        let number = disk.number();
        let (now, before) = (self.0.get(&number)?, earlier.0.get(&number)?);
        Some(use_between(now, before, &disk.name))
    }

    /// Activity of all devices but one since `earlier`; idle ones are left out.
    pub(crate) fn others_since(
        &self,
        earlier: &Self,
        without: Option<&BlockDevice>,
    ) -> Vec<DiskUse> {
        let without = without.map(BlockDevice::number);
        let others = self
            .0
            .iter()
            .filter(|(number, _)| Some(**number) != without);
        let uses = others.filter_map(|(number, now)| {
            let disk = use_between(now, earlier.0.get(number)?, &now.name);
            let flushes = disk.requests.and_then(|requests| requests.flushes);
            let did = disk.reads + disk.writes + flushes.unwrap_or(0);
            (did > 0 || disk.busy_s > 0.0).then_some(disk)
        });
        uses.collect()
    }
}

fn use_between(now: &DiskStat, before: &DiskStat, device: &str) -> DiskUse {
    let bytes = |now, before| difference(now, before) * SECTOR_BYTES;
    let seconds = |now, before| seconds_between(now, before, 1000);
    let seconds_of = |now: Option<u64>, before: Option<u64>| Some(seconds(now?, before?));
    DiskUse {
        device: device.to_owned(),
        reads: difference(now.reads, before.reads),
        writes: difference(now.writes, before.writes),
        read_bytes: bytes(now.sectors_read, before.sectors_read),
        written_bytes: bytes(now.sectors_written, before.sectors_written),
        busy_s: seconds(now.time_in_progress, before.time_in_progress),
        requests: Some(DiskRequests {
            read_s: seconds(now.time_reading, before.time_reading),
            write_s: seconds(now.time_writing, before.time_writing),
            queued_s: seconds(
                now.weighted_time_in_progress,
                before.weighted_time_in_progress,
            ),
            reads_merged: difference(now.merged, before.merged),
            writes_merged: difference(now.writes_merged, before.writes_merged),
            discards: difference_of(now.discards, before.discards),
            discarded_bytes: difference_of(now.sectors_discarded, before.sectors_discarded)
                .map(|sectors| sectors * SECTOR_BYTES),
            discard_s: seconds_of(now.time_discarding, before.time_discarding),
            flushes: difference_of(now.flushes, before.flushes),
            flush_s: seconds_of(now.time_flushing, before.time_flushing),
        }),
    }
}
