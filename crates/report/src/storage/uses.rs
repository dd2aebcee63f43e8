//! What a disk is fit for, use by use, each with its threshold. There is no score over all of them.

use samples::{CommitResult, StorageRecord};
use units::{bytes_per_s, duration, per_s};

use super::readings::{DepthCourse, PAGE, sequential};

/// How fit a disk is for a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suitability {
    Fit,
    Weak,
    Unfit,
}

impl Suitability {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Fit => "fit",
            Self::Weak => "weak",
            Self::Unfit => "unfit",
        }
    }

    fn of(is_fit: bool, is_weak: bool) -> Self {
        match (is_fit, is_weak) {
            (true, _) => Self::Fit,
            (false, true) => Self::Weak,
            (false, false) => Self::Unfit,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Use {
    pub(super) name: &'static str,
    /// `None` where what decides it was not measured.
    pub(super) fitness: Option<Suitability>,
    /// What was measured.
    pub(super) evidence: String,
    /// What fit and weak mean.
    pub(super) threshold: String,
}

const COMMITS_FIT: f64 = 500.0;
const COMMITS_WEAK: f64 = 100.0;
const COMMIT_P99_FIT_NS: u64 = 10_000_000;
const READS_FIT: f64 = 2_000.0;
const READS_WEAK: f64 = 200.0;
const READ_P99_FIT_NS: u64 = 5_000_000;
/// The defaults of innodb_io_capacity and innodb_io_capacity_max.
const FLUSHES_FIT: f64 = 2_000.0;
const FLUSHES_WEAK: f64 = 200.0;
const FILES_FIT: f64 = 200.0 * 1048576.0;
const FILES_WEAK: f64 = 50.0 * 1048576.0;

const NOT_MEASURED: &str = "not measured";

/// Every use, whether it was measured or not.
pub(super) fn uses(record: &StorageRecord) -> Vec<Use> {
    vec![
        commits(record),
        reads(record),
        flushes(record),
        files(record),
    ]
}

pub(super) fn one_writer(record: &StorageRecord) -> Option<&CommitResult> {
    record.commits.iter().find(|it| it.writers == 1)
}

fn commits(record: &StorageRecord) -> Use {
    let probe = one_writer(record);
    let fitness = probe.map(|it| {
        let (rate, p99_ns) = (it.commits_per_s(), it.commit.p99_ns);
        Suitability::of(
            rate >= COMMITS_FIT && p99_ns <= COMMIT_P99_FIT_NS,
            rate >= COMMITS_WEAK,
        )
    });
    let evidence = probe.map(|it| {
        let (rate, p99) = (per_s(it.commits_per_s()), duration(it.commit.p99_ns as f64));
        format!("{rate} with one writer, p99 {p99}")
    });
    Use {
        name: "durable commits",
        fitness,
        evidence: evidence.unwrap_or_else(|| NOT_MEASURED.to_owned()),
        threshold: format!(
            "fit: {} with one writer and p99 up to {}; weak: {}",
            per_s(COMMITS_FIT),
            duration(COMMIT_P99_FIT_NS as f64),
            per_s(COMMITS_WEAK)
        ),
    }
}

fn reads(record: &StorageRecord) -> Use {
    let course = DepthCourse::of(record, PAGE, 100);
    let single = record.random(PAGE, 100, 1);
    let single = single.and_then(|it| it.read.as_ref()?.latency);
    let both = course.as_ref().zip(single);
    let fitness = both.map(|(course, single)| {
        let highest = course.highest().iops();
        Suitability::of(
            highest >= READS_FIT && single.p99_ns <= READ_P99_FIT_NS,
            highest >= READS_WEAK,
        )
    });
    let evidence = both.map(|(course, single)| {
        format!(
            "up to {}, p99 {} at depth 1",
            per_s(course.highest().iops()),
            duration(single.p99_ns as f64)
        )
    });
    Use {
        name: "random reads of pages",
        fitness,
        evidence: evidence.unwrap_or_else(|| NOT_MEASURED.to_owned()),
        threshold: format!(
            "fit: {} at some depth and p99 up to {} at depth 1; weak: {}",
            per_s(READS_FIT),
            duration(READ_P99_FIT_NS as f64),
            per_s(READS_WEAK)
        ),
    }
}

fn flushes(record: &StorageRecord) -> Use {
    let course = DepthCourse::of(record, PAGE, 0);
    let highest = course.map(|it| it.highest().iops());
    Use {
        name: "flushing of pages",
        fitness: highest.map(|it| Suitability::of(it >= FLUSHES_FIT, it >= FLUSHES_WEAK)),
        evidence: highest.map_or(NOT_MEASURED.to_owned(), |it| format!("up to {}", per_s(it))),
        threshold: format!(
            "fit: {} writes, the default of innodb_io_capacity_max; weak: {}, that of innodb_io_capacity",
            per_s(FLUSHES_FIT),
            per_s(FLUSHES_WEAK)
        ),
    }
}

fn files(record: &StorageRecord) -> Use {
    let rates = sequential(record, 100).zip(sequential(record, 0));
    let rates = rates.map(|(read, write)| (read.bytes_per_s(), write.bytes_per_s()));
    Use {
        name: "backup and bulk load",
        fitness: rates.map(|(read, write)| {
            let slower = read.min(write);
            Suitability::of(slower >= FILES_FIT, slower >= FILES_WEAK)
        }),
        evidence: rates.map_or(NOT_MEASURED.to_owned(), |(read, write)| {
            format!("reads {}, writes {}", bytes_per_s(read), bytes_per_s(write))
        }),
        threshold: format!(
            "fit: both {}; weak: both {}",
            bytes_per_s(FILES_FIT),
            bytes_per_s(FILES_WEAK)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{super::readings::testing::*, *};

    #[test]
    fn each_use_has_its_own_answer() {
        let mut record = record();
        let fitness =
            |record: &StorageRecord| uses(record).iter().map(|it| it.fitness).collect::<Vec<_>>();
        assert_eq!(fitness(&record), [Some(Suitability::Fit); 4]);
        record.commits[0].commit.p99_ns = 12_000_000;
        record.patterns[1] = result("002_seq_write", 1 << 20, 0, 1, 10.0);
        record.patterns.retain(|it| {
            it.pattern.depth != 64 && it.pattern.reads_percent != 100
                || it.pattern.name.contains("seq")
        });
        let after = fitness(&record);
        assert_eq!(
            after,
            [
                Some(Suitability::Weak),
                None,
                Some(Suitability::Fit),
                Some(Suitability::Unfit)
            ]
        );
        record.commits.clear();
        assert_eq!(uses(&record)[0].evidence, "not measured");
    }
}
