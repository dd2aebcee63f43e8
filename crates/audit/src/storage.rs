//! What several rules read out of a measurement of storage.

use samples::{Access, BlockDevice, CommitResult, PatternResult, StorageRecord};

/// Whether the name of a disk is that of a hypervisor's: virtio and Xen.
pub(crate) fn is_virtual(disk: &BlockDevice) -> bool {
    ["vd", "xvd"]
        .iter()
        .any(|begin| disk.name.starts_with(begin))
}

/// The probe of durable commits with one writer.
pub(crate) fn one_writer(record: &StorageRecord) -> Option<&CommitResult> {
    record.commits.iter().find(|it| it.writers == 1)
}

/// The results of random requests of this share of reads at depth 1.
pub(crate) fn single(
    record: &StorageRecord,
    reads_percent: u32,
) -> impl Iterator<Item = &PatternResult> {
    let of_it = move |it: &&PatternResult| {
        let pattern = &it.pattern;
        let is_single = pattern.access == Access::Random && pattern.depth == 1;
        is_single && pattern.reads_percent == reads_percent && it.error.is_none()
    };
    record.patterns.iter().filter(of_it)
}
