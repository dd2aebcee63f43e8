//! Rule H06: pages came from the operating system's page cache, not from the disk.

use samples::{StorageDirectory, StorageRecord};
use units::{bytes, mean_bytes, percent};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

/// Read rate below which reads do not matter, bytes per second.
const READ_AT_LEAST: f64 = 1024.0 * 1024.0;
/// Bytes read by InnoDB, as a multiple of the bytes that the disks delivered.
const MOST: f64 = 1.1;

pub(super) const RULE: Rule = Rule {
    id: "H06",
    name: "pages came from the disk, not from the page cache",
    found: "pages came from the page cache, not from the disk",
    measures: "The number of bytes that InnoDB read, compared with the number of bytes that all disks of the machine delivered in the same time. For storage: whether the requests bypassed the page cache, and the file size compared with the machine's memory.",
    threshold: "warn if InnoDB read at least 1 MiB/s and more than 1.1 times the bytes that the disks delivered. Fail if InnoDB did so with O_DIRECT, which bypasses the page cache. Not evaluated if the file system compresses, or is a network file system, FUSE, overlay or ZFS. For storage: warn if requests went through the page cache. Fail if, in addition, the file fits into the machine's memory",
    source: "Matsunobu, Ten points for correct benchmarks (2009), points 2 and 5",
    consequence: "Bytes that no disk delivered came from memory: the host's page cache, which the configuration does not show. The figures are valid only as long as the data fits into this memory.",
    remedy: "Set innodb_flush_method=O_DIRECT, give the memory to the buffer pool, or use more data than fits into the machine's memory. For storage: set direct=1.",
    judge: Judge::RunOrStorage(judge, of_storage),
};

fn judge(run: &Run<'_>) -> Outcome {
    let read = run.counter_per_s("Innodb_data_read")?;
    let samples = run.samples()?;
    if samples
        .iter()
        .all(|sample| sample.disk.is_none() && sample.paging.is_none())
    {
        return Err(missing("the bytes that the disks delivered"));
    }
    let length_s: f64 = samples.iter().map(|sample| sample.length_s).sum();
    let traffic = run.disk_traffic(&samples);
    let delivered: u64 = traffic.iter().map(|disk| disk.read_bytes).sum();
    let delivered = delivered as f64 / length_s;
    let is_direct = run
        .variable("innodb_flush_method")
        .is_some_and(|method| method.to_ascii_uppercase().starts_with("O_DIRECT"));
    let evidence = format!(
        "InnoDB read {}/s, while all disks together delivered {}/s",
        mean_bytes(read),
        mean_bytes(delivered)
    );
    let is_more = read >= READ_AT_LEAST && read > MOST * delivered;
    if let Some(place) = run.place_of("data").filter(|it| is_more && !is_counted(it)) {
        return Err(missing(format!(
            "the bytes that the disks delivered for {} ({})",
            place.mount_point, place.filesystem
        )));
    }
    let (level, evidence) = if read < READ_AT_LEAST {
        (Level::Pass, evidence)
    } else if read > MOST * delivered {
        let elsewhere = percent((1.0 - delivered / read).clamp(0.0, 1.0));
        let level = if is_direct { Level::Fail } else { Level::Warn };
        (level, format!("{evidence}: {elsewhere} came from memory"))
    } else {
        (Level::Pass, evidence)
    };
    Ok(Finding::new(level, evidence)
        .with("innodb_read_bytes_per_s", read)
        .with("disks_read_bytes_per_s", delivered))
}

/// Whether the disks deliver each byte that is read from a file system: those of a network are elsewhere, ZFS has a
/// cache of its own, and a compressed file has fewer bytes on them. The file system below overlay is unknown, and may be
/// one of these. The device may be unknown, as for Btrfs, because all disks together are counted.
fn is_counted(place: &StorageDirectory) -> bool {
    let is_unknown = ["", "overlay", "zfs"].contains(&place.filesystem.as_str());
    let is_compressed = place.mount_options.contains("compress");
    !is_unknown && !is_compressed && !place.is_remote()
}

fn of_storage(record: &StorageRecord) -> Outcome {
    if record.patterns.is_empty() && record.bursts.is_empty() && record.rounds.is_empty() {
        return Err(no_subject("only commits were measured"));
    }
    let all = record.patterns.len();
    let buffered = record.patterns.iter().filter(|it| !record.is_direct(it));
    let buffered: Vec<_> = buffered.collect();
    if buffered.is_empty() && record.header.direct {
        let evidence = "all requests bypassed the page cache";
        return Ok(Finding::new(Level::Pass, evidence));
    }
    let sizes = buffered.iter().map(|it| record.size_bytes(it));
    let header = Some(record.header.file_bytes).filter(|it| *it > 0);
    let size = sizes.min().unwrap_or(header);
    let which = match buffered.len() {
        some if some < all => format!("requests in {some} of {all} patterns"),
        _ => "requests".to_owned(),
    };
    let (level, fits) = match (size, record.header.memory_bytes) {
        (Some(size), Some(memory)) if size <= memory => (
            Level::Fail,
            format!(
                ": a file of {} fits into the memory of {}",
                bytes(size),
                bytes(memory)
            ),
        ),
        _ => (
            Level::Warn,
            ", and memory may have answered them".to_owned(),
        ),
    };
    let evidence = format!("{which} went through the page cache{fits}");
    Ok(Finding::new(level, evidence).with("buffered_patterns", buffered.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    const MIB: f64 = 1048576.0;

    #[test]
    fn found() {
        let reading =
            |record: &mut samples::Record| counter(record, "Innodb_data_read", 100.0 * MIB);
        let outcome = judged(&RULE, |record| {
            reading(record);
            set(record, "innodb_flush_method", "fsync");
        });
        assert_found(&outcome, Level::Warn, "100 % came from memory");
        assert_eq!(level(&judged(&RULE, reading)), Level::Fail);
    }

    #[test]
    fn bytes_of_disks_that_are_elsewhere_or_compress_are_not_compared() {
        let judged_on = |filesystem: &str, device: Option<&str>, options: &str| {
            judged(&RULE, |record| {
                counter(record, "Innodb_data_read", 100.0 * MIB);
                let place = &mut record.storage[0].places[0];
                place.filesystem = filesystem.to_owned();
                place.device = device.map(str::to_owned);
                place.mount_options = options.to_owned();
            })
        };
        assert_missing(&judged_on("nfs4", None, "rw"), "nfs4");
        assert_missing(&judged_on("zfs", None, "rw"), "zfs");
        assert_missing(&judged_on("virtiofs", None, "rw"), "virtiofs");
        assert_missing(&judged_on("overlay", None, "rw"), "overlay");
        // A device of the pool's name is another one.
        assert_missing(&judged_on("zfs", Some("dm-3"), "rw"), "zfs");
        // The disks below btrfs on an unknown volume are among all disks.
        assert_eq!(level(&judged_on("btrfs", None, "rw")), Level::Fail);
        let compressed = judged_on("btrfs", Some("sda"), "compress=zstd:3,rw");
        assert_missing(&compressed, "btrfs");
        assert_eq!(level(&judged_on("tmpfs", None, "rw")), Level::Fail);
        assert_eq!(level(&judged_on("btrfs", Some("sda"), "rw")), Level::Fail);
    }

    #[test]
    fn bytes_that_a_volume_and_its_disk_count_are_counted_once() {
        let outcome = judged(&RULE, |record| {
            counter(record, "Innodb_data_read", 100.0 * MIB);
            let mut volume = record.storage[0].devices[0].clone();
            (volume.name, volume.made_of) = ("dm-0".to_owned(), vec!["nvme0n1".to_owned()]);
            record.storage[0].devices.push(volume);
            each_sample(record, |sample| {
                let disk = sample.disk.as_mut().unwrap();
                disk.read_bytes = 60 << 20;
                let below = disk.clone();
                disk.device = "dm-0".to_owned();
                sample.other_disks = vec![below];
            });
        });
        assert_found(&outcome, Level::Fail, "all disks together delivered 60");
    }

    #[test]
    fn storage_has_to_be_measured_past_the_page_cache() {
        assert_eq!(level(&judged_storage(&RULE, |_| {})), Level::Pass);
        let buffered = |file_bytes: u64| {
            judged_storage(&RULE, |record| {
                record.header.direct = false;
                record.header.file_bytes = file_bytes;
            })
        };
        let outcome = buffered(1 << 30);
        assert_found(
            &outcome,
            Level::Fail,
            "a file of 1.00 GiB fits into the memory",
        );
        let outcome = buffered(64 << 30);
        assert_found(&outcome, Level::Warn, "memory may have answered them");
        let outcome = judged_storage(&RULE, |record| {
            record.header.direct = false;
            for result in &mut record.patterns {
                let mut job = imported_job(None);
                job.direct = result.pattern.depth > 1;
                result.imported = Some(job);
            }
        });
        assert_found(&outcome, Level::Fail, "requests in 2 of 6 patterns");
        assert_no_subject(&judged_storage(&RULE, |record| record.patterns.clear()));
    }

    #[test]
    fn passes() {
        assert_eq!(level(&judged(&RULE, |_| {})), Level::Pass);
        let outcome = judged(&RULE, |record| {
            counter(record, "Innodb_data_read", 100.0 * MIB);
            each_sample(record, |sample| {
                sample.disk.as_mut().unwrap().read_bytes = 101 << 20;
            });
        });
        assert_found(
            &outcome,
            Level::Pass,
            "all disks together delivered 101 MiB/s",
        );
    }

    #[test]
    fn counters_that_nobody_read_are_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.server_status.clear()),
            "counters",
        );
    }
}
