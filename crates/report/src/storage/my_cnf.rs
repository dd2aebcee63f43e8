//! The lines of a my.cnf that follow from what was measured, each with its reason.

use audit::{Level, Subject, audit};
use mycnf::IoCapacity;
use samples::{NOISY_FROM, PatternResult, StorageRecord};
use units::{counted, duration, moment, per_s, percent};

use super::{
    doubt::{Doubt, REMEDY},
    readings::{DepthCourse, PAGE, place, steady},
};

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

/// Lines for which the figures are no ground, although something was measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeftOut {
    pub(super) names: &'static [&'static str],
    /// Why, and what to do.
    pub(super) reason: String,
}

/// The lines that follow, and those that are left out.
#[derive(Debug, Default)]
pub(super) struct CnfLines {
    pub(super) lines: Vec<CnfLine>,
    pub(super) left_out: Vec<LeftOut>,
}

impl CnfLines {
    /// The lines to paste; those that are left out are comments. `None` where there are none of either.
    ///
    /// ```text
    /// [mysqld]
    /// # innodb_flush_neighbors: left out, because other programs used 93 % of the CPU (rustc); measure again on ...
    /// # the file system supports direct I/O; pages are not cached twice
    /// innodb_flush_method = O_DIRECT
    /// ```
    pub(super) fn text(&self) -> Option<String> {
        let left_out = self.left_out.iter();
        let left_out = left_out
            .map(|it| format!("# {}: left out, because {}", it.names.join(", "), it.reason));
        let lines = self.lines.iter();
        let lines = lines.map(|it| format!("# {}\n{} = {}", it.reason, it.name, it.value));
        let all: Vec<String> = left_out.chain(lines).collect();
        (!all.is_empty()).then(|| format!("[mysqld]\n{}", all.join("\n")))
    }

    fn add(&mut self, names: &'static [&'static str], found: Result<Vec<CnfLine>, String>) {
        match found {
            Ok(lines) => self.lines.extend(lines),
            Err(reason) => self.left_out.push(LeftOut { names, reason }),
        }
    }
}

/// What follows; nothing where nothing was measured that decides it, or where the device is unknown: an import's figures
/// may be those of any disk, or of none.
pub(super) fn lines(record: &StorageRecord) -> CnfLines {
    let mut all = CnfLines::default();
    if place(record).is_none() {
        return all;
    }
    if let Some(writes) = writes_per_s(record) {
        let names = &["innodb_io_capacity", "innodb_io_capacity_max"];
        all.add(names, writes.map(|it| capacity(&it)));
    }
    if let Some(line) = neighbours(record) {
        all.add(&["innodb_flush_neighbors"], line.map(|it| vec![it]));
    }
    let lines = &mut all.lines;
    if record.header.direct && !place(record).is_some_and(|it| it.is_raw_device()) {
        lines.push(CnfLine {
            name: "innodb_flush_method",
            value: "O_DIRECT".to_owned(),
            reason: "the file system supports direct I/O; pages are not cached twice".to_owned(),
        });
    }
    all
}

fn capacity(writes: &PageWrites) -> Vec<CnfLine> {
    let PageWrites { per_s: rate, how } = writes;
    let IoCapacity { normal, max } = IoCapacity::of_disk(*rate);
    let measured = format!("{} random writes of 16 KiB, {how}", per_s(*rate));
    let (of_normal, of_max) = if IoCapacity::is_exceeded_by(*rate) {
        (
            format!("half of innodb_io_capacity_max; the disk does {measured}"),
            format!(
                "at most {}: only a measurement of the server shows whether a higher limit helps",
                IoCapacity::MAX_AT_MOST
            ),
        )
    } else {
        (
            format!("half of {measured}"),
            "the measured rate: urgent flushing may use the whole disk".to_owned(),
        )
    };
    vec![
        CnfLine {
            name: "innodb_io_capacity",
            value: normal.to_string(),
            reason: of_normal,
        },
        CnfLine {
            name: "innodb_io_capacity_max",
            value: max.to_string(),
            reason: of_max,
        },
    ]
}

/// Random writes of pages per second; `None` where they were not measured for 3 s at a rate that held, or on an unknown
/// device, or while other programs had the CPUs, or if rule H05 suspects a cache.
pub fn page_writes_per_s(record: &StorageRecord) -> Option<f64> {
    place(record)?;
    let writes = writes_per_s(record)?.ok()?;
    Some(writes.per_s)
}

/// A rate of random writes of pages.
struct PageWrites {
    per_s: f64,
    /// How it was measured.
    how: String,
}

/// Random writes of pages, in steady rounds where there are some. An error says why the figure is not the rate of the disk
/// alone, and what to do. `None` where they were not measured.
fn writes_per_s(record: &StorageRecord) -> Option<Result<PageWrites, String>> {
    let of_pages = |it: &samples::SteadyRound| {
        let pattern = &it.result.pattern;
        pattern.block_bytes == PAGE && pattern.reads_percent == 0
    };
    let is_of_pages = record.rounds.iter().all(of_pages);
    if let Some(window) = steady(record).filter(|it| is_of_pages && it.is_steady()) {
        let doubt = Doubt::of_patterns(record.rounds.iter().map(|it| &it.result));
        return Some(match doubt {
            Some(doubt) => Err(in_doubt(&doubt)),
            None => Ok(PageWrites {
                per_s: window.mean,
                how: "in the steady state".to_owned(),
            }),
        });
    }
    let course = DepthCourse::of(record, PAGE, 0)?;
    let highest = course.highest();
    if let Some(objection) = objection(record, &course) {
        return Some(Err(objection));
    }
    let each = moment(record.measured_s(highest));
    let depth = highest.pattern.depth;
    Some(Ok(PageWrites {
        per_s: highest.iops(),
        how: format!(
            "measured for {each} at depth {depth}; a cache may hide a slower disk: see `dbdyno storage steady`"
        ),
    }))
}

/// Why the highest rate is not that of the disk alone: the page cache takes what the disk has not written yet, a second may
/// be that of the disk's own cache, and other programs may have slowed it down.
fn objection(record: &StorageRecord, course: &DepthCourse<'_>) -> Option<String> {
    let highest = course.highest();
    if !record.is_direct(highest) {
        let remedy = "measure on a file system that supports direct I/O";
        return Some(format!("the writes went through the page cache; {remedy}"));
    }
    let measured_s = record.measured_s(highest);
    if measured_s < MEASURED_S_AT_LEAST {
        return Some(format!(
            "the writes were measured for {}; measure for at least {}",
            moment(measured_s),
            moment(MEASURED_S_AT_LEAST)
        ));
    }
    let doubt = Doubt::of_course(course);
    let noise = || noise(record, highest);
    let doubt = doubt.map(|doubt| in_doubt(&doubt));
    doubt.or_else(noise).or_else(|| suspicion(record))
}

/// What the audit says of a disk that is much faster or slower than its kind: a host's cache may also take the writes
/// of a few seconds.
fn suspicion(record: &StorageRecord) -> Option<String> {
    let audit = audit(&Subject::of_storage(record));
    let found = audit
        .by_level()
        .into_iter()
        .find(|it| it.rule.id == "H05")?;
    let finding = found.outcome.as_ref().ok()?;
    let is_suspect = finding.level > Level::Note;
    is_suspect.then(|| {
        format!(
            "{} (H05); measure the steady state with `dbdyno storage steady`",
            finding.evidence
        )
    })
}

fn in_doubt(doubt: &Doubt) -> String {
    format!("{}; {REMEDY}", doubt.in_words())
}

/// The rate varied. Where those of half of the patterns did, something else used the disk, and it may have used the disk
/// during these writes, too.
fn noise(record: &StorageRecord, highest: &PatternResult) -> Option<String> {
    let of_all = record.patterns.len();
    let noisy = record.patterns.iter().filter(|it| it.is_noisy()).count();
    let variation = highest.variation().filter(|_| highest.is_noisy());
    let what = match variation {
        Some(variation) => format!("the rate of the writes varied by {}", percent(variation)),
        None if noisy * 2 >= of_all => format!(
            "the rate varied by more than {} in {noisy} of {}",
            percent(NOISY_FROM),
            counted(of_all, "pattern")
        ),
        None => return None,
    };
    Some(format!(
        "{what}; measure again while no other program uses the disk"
    ))
}

/// Neighbouring pages are flushed together only where a head has to move. An error where reads may be slow for another
/// reason; `None` where nothing is known.
fn neighbours(record: &StorageRecord) -> Option<Result<CnfLine, String>> {
    let devices = &record.header.storage.devices;
    let rotational = devices.iter().find_map(|it| it.rotational)?;
    let single = record.random(PAGE, 100, 1);
    let p50_ns = single.and_then(|it| Some(it.read.as_ref()?.latency?.p50_ns));
    // Many virtual disks call themselves rotational and are not: without a read that was measured, nothing is known.
    if rotational && p50_ns.is_none() {
        return None;
    }
    let fast = p50_ns.filter(|it| *it < HEAD_AT_LEAST_NS);
    let is_slow = rotational && fast.is_none();
    if let Some(doubt) = Doubt::of_patterns(single).filter(|_| is_slow) {
        return Some(Err(in_doubt(&doubt)));
    }
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
    Some(Ok(CnfLine {
        name: "innodb_flush_neighbors",
        value: value.to_owned(),
        reason,
    }))
}

#[cfg(test)]
mod tests {
    use super::{super::readings::testing::*, *};
    use samples::SteadyRound;

    /// A disk whose reads are as fast as those of its kind.
    fn solid() -> StorageRecord {
        let mut record = record();
        record.header.storage.devices[0].rotational = Some(false);
        record
    }

    fn told(record: &StorageRecord) -> Vec<(&'static str, String)> {
        let lines = lines(record).lines.into_iter();
        lines.map(|it| (it.name, it.value)).collect()
    }

    #[test]
    fn lines_follow_from_what_was_measured() {
        let mut record = solid();
        let expected = [
            // The disk does 37.5k writes per second.
            ("innodb_io_capacity", "10000".to_owned()),
            ("innodb_io_capacity_max", "20000".to_owned()),
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
        assert_eq!(told(&record)[1].1, "3100");
        record.patterns.clear();
        record.rounds.clear();
        record.header.direct = false;
        // The device calls itself rotational, and no read tells whether it is.
        record.header.storage.devices[0].rotational = Some(true);
        assert_eq!(told(&record), []);
        let mut unknown = super::super::readings::testing::record();
        unknown.header.storage = samples::Storage::default();
        assert_eq!(told(&unknown), []);
    }

    /// What is left out, with the reasons.
    fn left_out(record: &StorageRecord) -> Vec<(String, String)> {
        let left_out = lines(record).left_out.into_iter();
        left_out
            .map(|it| (it.names.join(", "), it.reason))
            .collect()
    }

    /// The reason why both capacities are left out.
    #[track_caller]
    fn without_capacities(record: &StorageRecord) -> String {
        let is_capacity = |(name, _): &(&str, String)| name.starts_with("innodb_io");
        assert!(!told(record).iter().any(is_capacity), "{:?}", told(record));
        assert_eq!(page_writes_per_s(record), None);
        let [(names, reason)]: [(String, String); 1] = left_out(record).try_into().unwrap();
        assert_eq!(names, "innodb_io_capacity, innodb_io_capacity_max");
        reason
    }

    fn make_noisy(result: &mut PatternResult) {
        for side in result.read.iter_mut().chain(&mut result.write) {
            (side.rate_samples, side.iops_deviation) = (10, side.iops);
        }
    }

    #[test]
    fn neither_a_second_nor_the_page_cache_is_a_line() {
        assert_eq!(left_out(&solid()), []);
        let mut short = solid();
        short.header.each_s = 1.0;
        assert_eq!(
            without_capacities(&short),
            "the writes were measured for 1 s; measure for at least 3 s"
        );
        let mut cached = solid();
        cached.header.direct = false;
        assert_eq!(
            without_capacities(&cached),
            "the writes went through the page cache; measure on a file system that supports direct I/O"
        );
    }

    #[test]
    fn a_noisy_figure_is_no_line() {
        let mut noisy = solid();
        make_noisy(&mut noisy.patterns[6]);
        assert_eq!(
            without_capacities(&noisy),
            "the rate of the writes varied by 100 %; measure again while no other program uses the disk"
        );
        // The writes held their rate, but the other patterns say that the disk had other users.
        let mut noisy = solid();
        for at in [0, 1, 2] {
            make_noisy(&mut noisy.patterns[at]);
        }
        assert_eq!(left_out(&noisy), []);
        make_noisy(&mut noisy.patterns[7]);
        assert_eq!(
            without_capacities(&noisy),
            "the rate varied by more than 30 % in 4 of 8 patterns; measure again while no other program uses the disk"
        );
    }

    /// The answer calls such reads suspect, and the writes come from the same disk.
    #[test]
    fn a_suspect_figure_is_no_line() {
        assert_eq!(
            without_capacities(&record()),
            "100 µs per read from vda, although it claims to be rotational: it is virtual, or a host's cache answers the \
             reads (H05); measure the steady state with `dbdyno storage steady`"
        );
        assert_eq!(
            told(&record())[0],
            ("innodb_flush_neighbors", "0".to_owned())
        );
    }

    #[test]
    fn a_figure_of_a_busy_machine_is_no_line() {
        let why = "other programs used 93 % of the CPU (rustc); measure again on an idle machine";
        let mut busy = record();
        busy.patterns[5].machine_cpu = Some(machine_cpu(0.93));
        assert_eq!(without_capacities(&busy), why);
        busy.patterns[5].machine_cpu = None;
        busy.patterns[2].machine_cpu = Some(machine_cpu(0.93));
        // A fast read is fast in spite of other programs; a slow one may be slow because of them.
        let of_capacity = |(names, _): &(String, String)| names.starts_with("innodb_io");
        assert!(left_out(&busy).iter().all(of_capacity));
        let read = busy.patterns[2].read.as_mut().unwrap();
        read.latency = Some(latency(4_000, 9_000));
        let expected = [("innodb_flush_neighbors".to_owned(), why.to_owned())];
        assert_eq!(left_out(&busy), expected);
        let text = lines(&busy).text().unwrap();
        let begin =
            format!("[mysqld]\n# innodb_flush_neighbors: left out, because {why}\n# half of");
        assert!(text.starts_with(&begin), "{text}");
        let round = |round| SteadyRound {
            round,
            result: PatternResult {
                machine_cpu: Some(machine_cpu(0.93)),
                ..result("rand_16k_r0_q16", PAGE, 0, 16, 3_100.0)
            },
        };
        let mut steady = record();
        steady.rounds = (1..=5).map(round).collect();
        assert_eq!(without_capacities(&steady), why);
    }
}
