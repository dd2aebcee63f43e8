//! The lines of a my.cnf that follow from what was measured, each with its reason.

use samples::StorageRecord;
use units::{duration, moment, per_s};

use super::readings::{DepthCourse, PAGE, place, steady};

/// The least that InnoDB takes.
const CAPACITY_AT_LEAST: f64 = 100.0;
/// Shorter measurements are of what a cache takes.
const MEASURED_S_AT_LEAST: f64 = 3.0;
/// Faster than this no head moves, whatever the device calls itself.
const HEAD_AT_LEAST_NS: u64 = 1_000_000;

/// A line with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CnfLine {
    pub(super) name: &'static str,
    pub(super) value: String,
    pub(super) reason: String,
}

/// What follows; nothing where nothing was measured that decides it, or where the device is unknown: an import's figures
/// may be those of any disk, or of none.
pub(super) fn lines(record: &StorageRecord) -> Vec<CnfLine> {
    if place(record).is_none() {
        return Vec::new();
    }
    let mut lines = Vec::new();
    if let Some((writes, source)) = writes_per_s(record) {
        let capacity = (writes / 2.0).max(CAPACITY_AT_LEAST);
        lines.push(CnfLine {
            name: "innodb_io_capacity",
            value: two_digits(capacity),
            reason: format!(
                "half of {} random writes of 16 KiB, {source}",
                per_s(writes)
            ),
        });
        lines.push(CnfLine {
            name: "innodb_io_capacity_max",
            value: two_digits(writes.max(CAPACITY_AT_LEAST)),
            reason: "the measured rate: urgent flushing may use the whole disk".to_owned(),
        });
    }
    lines.extend(neighbours(record));
    if record.header.direct && !place(record).is_some_and(|it| it.is_raw_device()) {
        lines.push(CnfLine {
            name: "innodb_flush_method",
            value: "O_DIRECT".to_owned(),
            reason: "the file system supports direct I/O; pages are not cached twice".to_owned(),
        });
    }
    lines
}

/// Random writes of pages per second; `None` where they were not measured for 3 s at a rate that held, or on an unknown
/// device.
pub fn page_writes_per_s(record: &StorageRecord) -> Option<f64> {
    place(record)?;
    writes_per_s(record).map(|(writes, _)| writes)
}

/// Random writes of pages per second, and how they were measured: in steady rounds where there are some.
fn writes_per_s(record: &StorageRecord) -> Option<(f64, String)> {
    let of_pages = |it: &samples::SteadyRound| {
        let pattern = &it.result.pattern;
        pattern.block_bytes == PAGE && pattern.reads_percent == 0
    };
    let is_of_pages = record.rounds.iter().all(of_pages);
    if let Some(window) = steady(record).filter(|it| is_of_pages && it.is_steady()) {
        return Some((window.mean, "in the steady state".to_owned()));
    }
    let highest = DepthCourse::of(record, PAGE, 0)?.highest();
    // What the page cache takes is not what the disk writes, a second may be that of its cache, and a rate that varied is
    // not that of the disk alone.
    let is_long = record.measured_s(highest) >= MEASURED_S_AT_LEAST;
    if !record.is_direct(highest) || !is_long || highest.is_noisy() {
        return None;
    }
    let each = moment(record.measured_s(highest));
    let depth = highest.pattern.depth;
    Some((
        highest.iops(),
        format!(
            "measured for {each} at depth {depth}; a cache may hide a slower disk: see `dbdyno storage steady`"
        ),
    ))
}

/// Neighbouring pages are flushed together only where a head has to move.
fn neighbours(record: &StorageRecord) -> Option<CnfLine> {
    let devices = &record.header.storage.devices;
    let rotational = devices.iter().find_map(|it| it.rotational)?;
    let single = record.random(PAGE, 100, 1).and_then(|it| it.read.as_ref());
    let p50_ns = single.and_then(|it| Some(it.latency?.p50_ns));
    // Many virtual disks call themselves rotational and are not: without a read that was measured, nothing is known.
    if rotational && p50_ns.is_none() {
        return None;
    }
    let fast = p50_ns.filter(|it| *it < HEAD_AT_LEAST_NS);
    let (value, reason) = match (rotational, fast) {
        (false, _) => (
            "0",
            "no moving head: writing neighbouring pages saves no time".to_owned(),
        ),
        (true, Some(p50_ns)) => (
            "0",
            format!(
                "a page is read in {}, so there is no moving head, although the device claims to be rotational",
                duration(p50_ns as f64)
            ),
        ),
        (true, None) => (
            "1",
            "the device is rotational: writing neighbouring pages costs nothing".to_owned(),
        ),
    };
    Some(CnfLine {
        name: "innodb_flush_neighbors",
        value: value.to_owned(),
        reason,
    })
}

/// Rounded down to two digits: more would claim to be exact.
fn two_digits(value: f64) -> String {
    let unit = 10f64.powf((value.log10().floor() - 1.0).max(0.0));
    format!("{:.0}", (value / unit).floor() * unit)
}

#[cfg(test)]
mod tests {
    use super::{super::readings::testing::*, *};
    use samples::SteadyRound;

    fn told(record: &StorageRecord) -> Vec<(&'static str, String)> {
        let lines = lines(record).into_iter();
        lines.map(|it| (it.name, it.value)).collect()
    }

    #[test]
    fn lines_follow_from_what_was_measured() {
        let mut record = record();
        let expected = [
            ("innodb_io_capacity", "18000".to_owned()),
            ("innodb_io_capacity_max", "37000".to_owned()),
            ("innodb_flush_neighbors", "0".to_owned()),
            ("innodb_flush_method", "O_DIRECT".to_owned()),
        ];
        assert_eq!(told(&record), expected);
        let round = |round| SteadyRound {
            round,
            result: result("rand_16k_r0_q16", PAGE, 0, 16, 3_100.0),
        };
        record.rounds = (1..=5).map(round).collect();
        assert_eq!(told(&record)[0].1, "1500");
        record.patterns.clear();
        record.rounds.clear();
        record.header.direct = false;
        // The device calls itself rotational, and no read tells whether it is.
        assert_eq!(told(&record), []);
        let mut unknown = super::super::readings::testing::record();
        unknown.header.storage = samples::Storage::default();
        assert_eq!(told(&unknown), []);
    }

    #[test]
    fn neither_a_second_nor_a_noisy_figure_is_a_line() {
        let capacities = |record: &StorageRecord| {
            let lines = told(record).into_iter();
            lines
                .filter(|(name, _)| name.starts_with("innodb_io"))
                .count()
        };
        assert_eq!(capacities(&record()), 2);
        let mut short = record();
        short.header.each_s = 1.0;
        assert_eq!(capacities(&short), 0);
        let mut noisy = record();
        for write in noisy.patterns.iter_mut().filter_map(|it| it.write.as_mut()) {
            write.rate_samples = 10;
            write.iops_deviation = write.iops;
        }
        assert_eq!(capacities(&noisy), 0);
    }

    #[test]
    fn two_digits_are_kept() {
        for (value, text) in [
            (18_739.0, "18000"),
            (199.0, "190"),
            (100.0, "100"),
            (99.0, "99"),
        ] {
            assert_eq!(two_digits(value), text);
        }
    }
}
