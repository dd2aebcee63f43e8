//! What is read out of a storage record: the highest rates, the knee, the ends of bursts, the steady state.

use samples::{Access, Pattern, PatternResult, StorageDirectory, StorageRecord};
use stats::{Burst, SteadyWindow, burst};

/// A depth that reaches this share of the highest rate is the knee: deeper queues add latency and little else.
pub(super) const KNEE_AT: f64 = 0.9;
/// A page of InnoDB, bytes.
pub(super) const PAGE: u64 = 16 << 10;

/// Random requests of one block size and one share of reads, over rising depths.
#[derive(Debug)]
pub(super) struct DepthCourse<'a> {
    pub(super) results: Vec<&'a PatternResult>,
}

impl<'a> DepthCourse<'a> {
    /// `None` where none was measured.
    pub(super) fn of(
        record: &'a StorageRecord,
        block_bytes: u64,
        reads_percent: u32,
    ) -> Option<Self> {
        let is_of_it = |it: &&PatternResult| {
            let pattern = &it.pattern;
            pattern.access == Access::Random
                && pattern.block_bytes == block_bytes
                && pattern.reads_percent == reads_percent
                && it.error.is_none()
        };
        let mut results: Vec<_> = record.patterns.iter().filter(is_of_it).collect();
        results.sort_by_key(|it| it.pattern.depth);
        (!results.is_empty()).then_some(Self { results })
    }

    /// The result with the highest rate.
    pub(super) fn highest(&self) -> &'a PatternResult {
        let rates = self.results.iter().copied();
        rates
            .max_by(|a, b| a.iops().total_cmp(&b.iops()))
            .expect("a course has a result")
    }

    /// The smallest depth that reaches [`KNEE_AT`] of the highest rate; `None` for fewer than three depths.
    pub(super) fn knee(&self) -> Option<&'a PatternResult> {
        let enough = self.highest().iops() * KNEE_AT;
        let mut reaching = self.results.iter().filter(|it| it.iops() >= enough);
        let knee = reaching.next().copied();
        knee.filter(|_| self.results.len() >= 3)
    }
}

/// The result of a sequential pattern that only reads or only writes.
pub(super) fn sequential(record: &StorageRecord, reads_percent: u32) -> Option<&PatternResult> {
    record.patterns.iter().find(|it| {
        it.pattern.access == Access::Sequential
            && it.pattern.reads_percent == reads_percent
            && it.error.is_none()
    })
}

/// What was measured: the directory, or the files of an import.
pub(crate) fn name(record: &StorageRecord) -> String {
    let header = &record.header;
    match header.imported_from.as_slice() {
        [] => header.directory.clone(),
        files => files.join(", "),
    }
}

pub(super) fn place(record: &StorageRecord) -> Option<&StorageDirectory> {
    record.header.storage.places.first()
}

/// The rounds of the steady state by both criteria; `None` for fewer than five.
pub(super) fn steady(record: &StorageRecord) -> Option<SteadyWindow> {
    let rates: Vec<f64> = record.rounds.iter().map(|it| it.result.iops()).collect();
    SteadyWindow::of(&rates)
}

/// The ends of the bursts, by the number of their cell.
pub(super) fn bursts(record: &StorageRecord) -> Vec<(usize, Burst)> {
    let cells = record.bursts.iter().enumerate();
    let cells = cells.filter(|(_, cell)| !cell.is_recovery);
    cells
        .filter_map(|(index, cell)| Some((index, burst(&cell.iops)?)))
        .collect()
}

/// Whether CrystalDiskMark measures the same: sequential, and 4 KiB at depths 1 and 32, reads and writes.
pub(super) fn is_of_crystal_disk_mark(pattern: &Pattern) -> bool {
    let whole = matches!(pattern.reads_percent, 0 | 100);
    let small = pattern.block_bytes == 4096 && matches!(pattern.depth, 1 | 32);
    whole && (pattern.access == Access::Sequential || small)
}

/// Write caches that lose nothing when the power goes, as far as the kernel knows.
const SAFE_CACHE: &str = "write through";

/// Whether a power cut may lose writes that the disk has reported as flushed: it has a volatile write cache, and the
/// kernel does not know whether the disk protects it.
pub(super) fn may_lose_flushed(record: &StorageRecord) -> bool {
    let devices = record.header.storage.devices.iter();
    let mut caches = devices.filter_map(|it| it.write_cache.as_deref());
    caches.any(|it| it != SAFE_CACHE)
}

#[cfg(test)]
pub(super) mod testing {
    //! Records made up for the tests of these files.

    use samples::{
        CommitResult, Latency, MachineUse, MeasurementCpu, ProgramUse, Requests, StorageMode,
        testing::storage_header,
    };

    use super::*;

    /// A median latency, in microseconds.
    pub(in crate::storage) fn latency(p50_us: u64, p99_us: u64) -> Latency {
        Latency {
            mean_ns: p50_us as f64 * 1e3,
            p50_ns: p50_us * 1000,
            p95_ns: p99_us * 900,
            p99_ns: p99_us * 1000,
            p999_ns: p99_us * 2000,
            max_ns: p99_us * 5000,
        }
    }

    /// A hundred seconds of CPUs, of which other programs used this share, 0 to 1.
    pub(in crate::storage) fn machine_cpu(others: f64) -> MeasurementCpu {
        MeasurementCpu {
            machine: MachineUse {
                user_s: 100.0 * others,
                idle_s: 100.0 - 100.0 * others,
                ..MachineUse::default()
            },
            own_user_s: 0.0,
            programs: vec![ProgramUse {
                name: "rustc".to_owned(),
                user_s: 100.0 * others,
            }],
        }
    }

    /// A pattern with its rate; mixed ones have half of it on each side.
    pub(in crate::storage) fn result(
        name: &str,
        block_bytes: u64,
        reads_percent: u32,
        depth: u32,
        iops: f64,
    ) -> PatternResult {
        let access = if name.contains("seq") {
            Access::Sequential
        } else {
            Access::Random
        };
        let side = |share: u32| {
            let iops = iops * f64::from(share) / 100.0;
            (share > 0).then(|| Requests {
                count: iops as u64 * 4,
                iops,
                iops_deviation: iops * 0.05,
                rate_samples: 8,
                bytes_per_s: iops * block_bytes as f64,
                latency: Some(latency(100 * u64::from(depth), 400 * u64::from(depth))),
                ..Requests::default()
            })
        };
        PatternResult {
            pattern: Pattern {
                name: name.to_owned(),
                access,
                block_bytes,
                reads_percent,
                depth,
            },
            repeat: 1,
            read: side(reads_percent),
            write: side(100 - reads_percent),
            cpu: Some(0.3),
            machine_cpu: None,
            error: None,
            imported: None,
        }
    }

    /// What `storage quick` measures on a fair disk.
    pub(in crate::storage) fn record() -> StorageRecord {
        let mut header = storage_header();
        header.mode = StorageMode::Quick;
        header.storage.places[0].mount_options = "relatime,rw".to_owned();
        header.storage.places[0].device = Some("vda".to_owned());
        header.storage.devices = vec![samples::BlockDevice {
            name: "vda".to_owned(),
            kind: "disk".to_owned(),
            rotational: Some(true),
            scheduler: Some("none".to_owned()),
            write_cache: Some("write back".to_owned()),
            ..samples::BlockDevice::default()
        }];
        (header.file_bytes, header.each_s) = (1 << 30, 4.0);
        header.writers = vec![1, 8];
        let mut record = StorageRecord::new(header);
        record.patterns = vec![
            result("001_seq_read", 1 << 20, 100, 1, 2_162.0),
            result("002_seq_write", 1 << 20, 0, 1, 913.0),
            result("003_rand_16k_r100_q1", 16384, 100, 1, 14_648.0),
            result("004_rand_16k_r100_q16", 16384, 100, 16, 59_565.0),
            result("005_rand_16k_r100_q64", 16384, 100, 64, 64_527.0),
            result("006_rand_16k_r0_q1", 16384, 0, 1, 8_684.0),
            result("007_rand_16k_r0_q16", 16384, 0, 16, 37_479.0),
            result("008_rand_16k_r50_q16", 16384, 50, 16, 47_468.0),
        ];
        let commit = |writers: u32, commits: u64| CommitResult {
            writers,
            sequence: samples::CommitSequence::Mariadb,
            elapsed_s: 8.0,
            commits,
            groups: commits / u64::from(writers),
            redo_direct: true,
            commit: latency(370, 2_100),
            redo: latency(160, 900),
            binlog: latency(190, 1_200),
            device_flushes: Some(2 * commits / u64::from(writers)),
            machine_cpu: None,
        };
        record.commits = vec![commit(1, 19_360), commit(8, 72_800)];
        record.is_complete = true;
        record
    }
}

#[cfg(test)]
mod tests {
    use super::{testing::*, *};

    #[test]
    fn the_knee_is_the_smallest_depth_near_the_highest_rate() {
        let record = record();
        let reads = DepthCourse::of(&record, PAGE, 100).unwrap();
        assert_eq!(reads.highest().pattern.depth, 64);
        assert_eq!(reads.knee().unwrap().pattern.depth, 16);
        assert!(DepthCourse::of(&record, PAGE, 0).unwrap().knee().is_none());
        assert!(DepthCourse::of(&record, 4096, 100).is_none());
    }

    #[test]
    fn the_cells_of_crystal_disk_mark() {
        let is = |name, block, reads, depth| {
            is_of_crystal_disk_mark(&result(name, block, reads, depth, 1.0).pattern)
        };
        assert!(is("001_seq_read", 1 << 20, 100, 1));
        assert!(is("rand", 4096, 0, 32) && is("rand", 4096, 100, 1));
        assert!(!is("rand", 4096, 50, 1) && !is("rand", 8192, 100, 1) && !is("rand", 4096, 0, 64));
    }
}
