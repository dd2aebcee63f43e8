//! What a disk is fit for, use by use, each with its threshold. There is no score over all of them.

use samples::{CommitResult, Disturbance, StorageRecord};
use units::{bytes_per_s, duration, per_s};

use super::{
    doubt::{Doubt, REMEDY},
    readings::{DepthCourse, PAGE, may_lose_flushed, sequential},
};
use crate::sentences::disturbances::disturbance_in_words;

/// How fit a disk is for a use.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Suitability {
    Fit,
    Weak,
    Unfit,
    /// Not fit by the figures, which may not be those of the disk.
    Undecided(Doubt),
}

impl Suitability {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Fit => "fit",
            Self::Weak => "weak",
            Self::Unfit => "unfit",
            Self::Undecided(_) => "cannot be told",
        }
    }

    /// A disk that is fit in spite of the doubt is fit: other load only makes it slower.
    fn with(self, doubt: Option<Doubt>) -> Self {
        match doubt {
            Some(doubt) if self != Self::Fit => Self::Undecided(doubt),
            _ => self,
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

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Use {
    pub(super) name: &'static str,
    /// `None` where what decides it was not measured.
    pub(super) fitness: Option<Suitability>,
    /// What was measured.
    pub(super) evidence: String,
    /// What fit and weak mean.
    pub(super) threshold: String,
    /// What was not measured and must hold for a disk that is fit.
    pub(super) condition: Option<&'static str>,
}

/// A flush that the disk only reports is fast, too, and no measurement can tell it from one that survives a power cut.
const FLUSHES_SURVIVE: &str = "if flushed writes survive a power cut";

impl Use {
    /// `fit`, `not judged`, `fit if flushed writes survive a power cut`.
    pub(super) fn verdict(&self) -> String {
        let fitness = self.fitness.as_ref();
        let name = fitness.map_or("not judged", |it| it.name());
        match self.condition {
            Some(condition) => format!("{name} {condition}"),
            None => name.to_owned(),
        }
    }

    /// Why it cannot be told whether the disk is fit, and what to do; `None` where it can.
    pub(super) fn reason(&self) -> Option<String> {
        let words = self.doubt()?.in_words();
        Some(format!("{words}; {REMEDY}"))
    }

    fn doubt(&self) -> Option<&Doubt> {
        match self.fitness.as_ref()? {
            Suitability::Undecided(doubt) => Some(doubt),
            Suitability::Fit | Suitability::Weak | Suitability::Unfit => None,
        }
    }
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

/// The uses that were judged: `durable commits: fit; flushing of pages: weak`. Those that other load disturbed come first,
/// with the reason of the most disturbed one. `None` where nothing was judged.
pub(super) fn uses_in_words(record: &StorageRecord) -> Option<String> {
    let uses = uses(record);
    let disturbed = uses
        .iter()
        .filter_map(|it| Some((it, it.doubt()?.disturbance()?)));
    let disturbed: Vec<(&Use, &Disturbance)> = disturbed.collect();
    let share = |it: &Disturbance| it.others + it.steal;
    let greatest = disturbed
        .iter()
        .max_by(|a, b| share(a.1).total_cmp(&share(b.1)));
    let together = greatest.map(|(one, disturbance)| {
        let names: Vec<_> = disturbed.iter().map(|(it, _)| it.name).collect();
        let why = disturbance_in_words(disturbance);
        format!("{}: {}, {why}", names.join(", "), one.verdict())
    });
    let is_alone = |it: &&Use| it.doubt().is_none_or(|doubt| doubt.disturbance().is_none());
    let alone = uses.iter().filter(is_alone).filter_map(|it| {
        it.fitness.as_ref()?;
        let (name, verdict) = (it.name, it.verdict());
        Some(match it.doubt() {
            Some(doubt) => format!("{name}: {verdict}, {}", doubt.in_words()),
            None => format!("{name}: {verdict}"),
        })
    });
    let clauses: Vec<String> = together.into_iter().chain(alone).collect();
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

pub(super) fn one_writer(record: &StorageRecord) -> Option<&CommitResult> {
    record.commits.iter().find(|it| it.writers == 1)
}

fn commits(record: &StorageRecord) -> Use {
    let probe = one_writer(record);
    let fitness = probe.map(|it| {
        let (rate, p99_ns) = (it.commits_per_s(), it.commit.p99_ns);
        let measured = Suitability::of(
            rate >= COMMITS_FIT && p99_ns <= COMMIT_P99_FIT_NS,
            rate >= COMMITS_WEAK,
        );
        measured.with(Doubt::of_commits(it))
    });
    let evidence = probe.map(|it| {
        let (rate, p99) = (per_s(it.commits_per_s()), duration(it.commit.p99_ns as f64));
        format!("{rate} with one writer, p99 {p99}")
    });
    let is_fit = fitness == Some(Suitability::Fit);
    Use {
        name: "durable commits",
        condition: (is_fit && may_lose_flushed(record)).then_some(FLUSHES_SURVIVE),
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
        let measured = Suitability::of(
            highest >= READS_FIT && single.p99_ns <= READ_P99_FIT_NS,
            highest >= READS_WEAK,
        );
        measured.with(Doubt::of_course(course))
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
        condition: None,
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
    let highest = course.as_ref().map(|it| it.highest().iops());
    Use {
        name: "flushing of pages",
        condition: None,
        fitness: course.map(|course| {
            let highest = course.highest().iops();
            let measured = Suitability::of(highest >= FLUSHES_FIT, highest >= FLUSHES_WEAK);
            measured.with(Doubt::of_course(&course))
        }),
        evidence: highest.map_or(NOT_MEASURED.to_owned(), |it| format!("up to {}", per_s(it))),
        threshold: format!(
            "fit: {} writes, the default of innodb_io_capacity_max; weak: {}, that of innodb_io_capacity",
            per_s(FLUSHES_FIT),
            per_s(FLUSHES_WEAK)
        ),
    }
}

fn files(record: &StorageRecord) -> Use {
    let both = sequential(record, 100).zip(sequential(record, 0));
    let rates = both.map(|(read, write)| (read.bytes_per_s(), write.bytes_per_s()));
    Use {
        name: "backup and bulk load",
        condition: None,
        fitness: both.map(|(read, write)| {
            let slower = read.bytes_per_s().min(write.bytes_per_s());
            let measured = Suitability::of(slower >= FILES_FIT, slower >= FILES_WEAK);
            measured.with(Doubt::of_patterns([read, write]))
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
        let fitness = |record: &StorageRecord| {
            let uses = uses(record).into_iter();
            uses.map(|it| it.fitness).collect::<Vec<_>>()
        };
        assert_eq!(fitness(&record), vec![Some(Suitability::Fit); 4]);
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

    /// The record of a disk that is weak for commits, while other programs used this share of the CPUs.
    fn disturbed(others: f64) -> StorageRecord {
        let mut record = record();
        record.commits[0].commit.p99_ns = 15_100_000;
        record.commits[0].machine_cpu = Some(machine_cpu(others));
        for result in &mut record.patterns {
            result.machine_cpu = Some(machine_cpu(others));
        }
        record
    }

    #[test]
    fn a_slow_use_cannot_be_told_where_other_programs_had_the_cpus() {
        assert_eq!(
            uses_in_words(&disturbed(0.04)).unwrap(),
            "durable commits: weak; random reads of pages: fit; flushing of pages: fit; backup and bulk load: fit"
        );
        let mut record = disturbed(0.93);
        assert_eq!(
            uses_in_words(&record).unwrap(),
            "durable commits: cannot be told, other programs used 93 % of the CPU (rustc); random reads of pages: fit; \
             flushing of pages: fit; backup and bulk load: fit"
        );
        record.patterns[1] = result("002_seq_write", 1 << 20, 0, 1, 10.0);
        record.patterns[1].machine_cpu = Some(machine_cpu(0.96));
        assert_eq!(
            uses_in_words(&record).unwrap(),
            "durable commits, backup and bulk load: cannot be told, other programs used 96 % of the CPU (rustc); random \
             reads of pages: fit; flushing of pages: fit"
        );
        assert_eq!(
            uses(&record)[0].reason().unwrap(),
            "other programs used 93 % of the CPU (rustc); measure again on an idle machine"
        );
    }

    #[test]
    fn slow_commits_cannot_be_told_where_the_cpu_is_slow() {
        let mut record = disturbed(0.0);
        record.commits[0].commit.mean_ns = 900e3;
        let words = uses_in_words(&record).unwrap();
        let begin = "durable commits: cannot be told, a commit takes 900 µs and its two flushes only 350 µs, so the CPU";
        assert!(words.starts_with(begin), "{words}");
        record.commits[0].commit.p99_ns = 1_000_000;
        let words = uses_in_words(&record).unwrap();
        assert!(
            words.starts_with("durable commits: fit if flushed writes survive a power cut;"),
            "{words}"
        );
        record.header.storage.devices[0].write_cache = Some("write through".to_owned());
        let words = uses_in_words(&record).unwrap();
        assert!(words.starts_with("durable commits: fit;"), "{words}");
    }
}
