//! Problems found: caches that answer instead of the disk, flushes that are too fast, noise.

use samples::StorageRecord;
use units::{bytes, counted, duration, percent};

use super::{
    readings::{PAGE, place},
    uses::one_writer,
};

/// No disk flushes in less; one with power-loss protection takes 12 µs and more.
const FLUSH_AT_LEAST_NS: u64 = 10_000;
/// No head moves in less: a rotational disk that answers faster is none, or is not asked.
const HEAD_AT_LEAST_NS: u64 = 1_000_000;
/// A file that most caches behind the page cache cannot hold, bytes.
const FILE_AT_LEAST: u64 = 16 << 30;
/// Mount options by which flushes do not reach the disk.
const WITHOUT_FLUSHES: [&str; 2] = ["nobarrier", "barrier=0"];

/// Each doubt as one clause.
pub(super) fn doubts(record: &StorageRecord) -> Vec<String> {
    let header = &record.header;
    let mut doubts = Vec::new();
    let options = place(record).map_or("", |it| it.mount_options.as_str());
    let without = |option: &str| WITHOUT_FLUSHES.contains(&option);
    if let Some(option) = options.split(',').find(|it| without(it)) {
        doubts.push(format!(
            "mounted with {option}: flushes do not reach the disk"
        ));
    }
    if let Some(probe) = one_writer(record).filter(|it| it.redo.p50_ns < FLUSH_AT_LEAST_NS) {
        doubts.push(format!(
            "a flushed write in {}: no disk is that fast; a host or controller does not wait for it",
            duration(probe.redo.p50_ns as f64)
        ));
    }
    if !header.direct && !record.patterns.is_empty() {
        doubts.push("reads went through the page cache, and may come from memory".to_owned());
    }
    let rotational = header
        .storage
        .devices
        .iter()
        .any(|it| it.rotational == Some(true));
    let single = [PAGE, 4096, 8192].into_iter();
    let single = single.filter_map(|block| record.random(block, 100, 1)?.read.as_ref());
    let p50_ns = single.map(|it| it.latency.p50_ns).min();
    if let Some(p50_ns) = p50_ns.filter(|it| rotational && *it < HEAD_AT_LEAST_NS) {
        doubts.push(format!(
            "reads in {} from a disk that calls itself rotational: it is virtual, or a host's cache answers",
            duration(p50_ns as f64)
        ));
    }
    let is_small = header.file_bytes > 0 && header.file_bytes < FILE_AT_LEAST;
    if is_small && !record.patterns.is_empty() {
        doubts.push(format!(
            "a file of {} fits into the cache of a host or controller; `suite --size 16G` exceeds most",
            bytes(header.file_bytes)
        ));
    }
    doubts
}

/// Patterns whose rate varied too much; `None` where there is none.
pub(super) fn noise(record: &StorageRecord) -> Option<String> {
    let noisy: Vec<_> = record.patterns.iter().filter(|it| it.is_noisy()).collect();
    let variation = |it: &&samples::PatternResult| it.variation().unwrap_or(0.0);
    let worst = noisy
        .iter()
        .copied()
        .max_by(|a, b| variation(a).total_cmp(&variation(b)))?;
    Some(format!(
        "{} of {}: the rate varied by {} in {}; other users of the disk, or throttling",
        noisy.len(),
        counted(record.patterns.len(), "pattern"),
        percent(variation(&worst)),
        worst.pattern.name
    ))
}

#[cfg(test)]
mod tests {
    use super::{super::readings::testing::*, *};

    #[test]
    fn doubts_have_their_evidence() {
        let mut record = record();
        let found = doubts(&record);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("calls itself rotational"));
        assert!(found[1].starts_with("a file of 1.00 GiB"));
        record.header.storage.places[0].mount_options = "nobarrier,rw".to_owned();
        record.header.storage.devices[0].rotational = Some(false);
        record.header.file_bytes = 16 << 30;
        record.commits[0].redo.p50_ns = 2_000;
        record.header.direct = false;
        let found = doubts(&record);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[1].starts_with("a flushed write in 2.00 µs"));
    }

    #[test]
    fn noise_names_the_worst() {
        let mut record = record();
        assert_eq!(noise(&record), None);
        if let Some(read) = &mut record.patterns[4].read {
            read.iops_deviation = read.iops * 0.52;
        }
        let words = noise(&record).unwrap();
        assert!(
            words.starts_with("1 of 8 patterns: the rate varied by 52 % in 005_"),
            "{words}"
        );
    }
}
