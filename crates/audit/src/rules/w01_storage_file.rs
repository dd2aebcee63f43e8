//! Rule W01: a claim about storage rests on a small file, or on sequential requests alone.

use samples::{Access, Pattern, StorageRecord};
use units::bytes;

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
};

/// A file that the caches of a host or controller cannot hold, bytes.
const FILE_AT_LEAST: u64 = 16 << 30;
/// The same against the page cache, as a multiple of the memory.
const MEMORIES: u64 = 4;
/// A page of InnoDB, bytes.
const PAGE: u64 = 16 << 10;

pub(super) const RULE: Rule = Rule {
    id: "W01",
    name: "storage is measured with random access to a file that no cache can hold",
    found: "the storage was measured with a file that a cache can hold, or only with sequential requests",
    measures: "For storage: whether random requests were measured, their sizes, and the size of the test file. For a time series, the size of the largest file counts.",
    threshold: "fail if no random requests were measured. If requests bypass the page cache, warn if the file is smaller than 16 GiB. If requests go through the page cache, fail if the file is smaller than 16 GiB or smaller than four times the machine's memory. Note if there are no requests of 16 KiB",
    source: "Matsunobu, Ten points for correct benchmarks (2009), point 5; a published test of Provisioned IOPS (2012), which used a file of 16 GB so that the array's caches would not improve the figures",
    consequence: "The figures describe a cache, or requests that a database does not make: a database reads and writes pages of 16 KiB at random.",
    remedy: "Run dbdyno storage suite --size 16G, or use a larger file. With fio, set direct=1, rw=randrw and bs=16k.",
    judge: Judge::Storage(of_storage),
};

fn of_storage(record: &StorageRecord) -> Outcome {
    let of_patterns = record.patterns.iter().map(|it| &it.pattern);
    let of_rounds = record.rounds.iter().map(|it| &it.result.pattern);
    let of_courses = record.bursts.iter().map(|it| &it.pattern);
    let all: Vec<&Pattern> = of_patterns.chain(of_rounds).chain(of_courses).collect();
    if all.is_empty() {
        return Err(no_subject("only commits were measured"));
    }
    let mut random = all.iter().filter(|it| it.access == Access::Random);
    if random.clone().next().is_none() {
        return Ok(Finding::new(
            Level::Fail,
            "only sequential requests were measured, but a database reads and writes pages at random",
        ));
    }
    let size = smallest_file(record).ok_or_else(|| missing("the size of the test file"))?;
    let is_direct = record.header.direct;
    let needed = match (is_direct, record.header.memory_bytes) {
        (true, _) => FILE_AT_LEAST,
        (false, Some(memory)) => FILE_AT_LEAST.max(memory.saturating_mul(MEMORIES)),
        (false, None) if size >= FILE_AT_LEAST => return Err(missing("the machine's memory")),
        (false, None) => FILE_AT_LEAST,
    };
    let has_pages = random.any(|it| it.block_bytes == PAGE);
    let (level, but) = match (size >= needed, is_direct) {
        (false, true) => (
            Level::Warn,
            " fits into the cache of a host or controller; `suite --size 16G` uses a file that is larger than most such caches"
                .to_owned(),
        ),
        (false, false) => (
            Level::Fail,
            format!(
                " is accessed through the page cache; a file of {} would be too large for it",
                bytes(needed)
            ),
        ),
        (true, _) if !has_pages => (
            Level::Note,
            ", but without requests of 16 KiB, InnoDB's page size".to_owned(),
        ),
        (true, _) => (
            Level::Pass,
            ", including random requests of 16 KiB".to_owned(),
        ),
    };
    let evidence = format!("a file of {}{but}", bytes(size));
    Ok(Finding::new(level, evidence).with("file_bytes", size as f64))
}

/// The size of the smallest file of a pattern or round, or the largest of a course: there the size is varied on purpose.
fn smallest_file(record: &StorageRecord) -> Option<u64> {
    let rounds = record.rounds.iter().map(|it| &it.result);
    let results = record.patterns.iter().chain(rounds);
    let sizes: Option<Vec<u64>> = results.map(|it| record.size_bytes(it)).collect();
    let of_results = sizes?.into_iter().min();
    let of_courses = || record.bursts.iter().filter_map(|it| it.size_bytes).max();
    of_results.or_else(of_courses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    fn with(direct: bool, file_bytes: u64) -> Outcome {
        judged_storage(&RULE, |record| {
            record.header.direct = direct;
            record.header.file_bytes = file_bytes;
        })
    }

    #[test]
    fn found() {
        assert_found(&with(true, 1 << 30), Level::Warn, "a file of 1.00 GiB fits");
        assert_found(
            &with(false, 16 << 30),
            Level::Fail,
            "a file of 64.0 GiB would",
        );
        let outcome = judged_storage(&RULE, |record| {
            for result in &mut record.patterns {
                result.pattern.access = Access::Sequential;
            }
        });
        assert_found(&outcome, Level::Fail, "only sequential requests");
        let outcome = judged_storage(&RULE, |record| {
            for result in &mut record.patterns {
                result.pattern.block_bytes = 4096;
            }
        });
        assert_found(&outcome, Level::Note, "without requests of 16 KiB");
    }

    #[test]
    fn passes() {
        assert_found(&with(true, 16 << 30), Level::Pass, "a file of 16.0 GiB");
        assert_eq!(level(&with(false, 64 << 30)), Level::Pass);
        let outcome = judged_storage(&RULE, |record| {
            record.patterns.clear();
            record.bursts = vec![course(&[1_000.0])];
            record.header.file_bytes = 0;
        });
        assert_eq!(
            level(&outcome),
            Level::Pass,
            "the largest file of the courses"
        );
    }

    #[test]
    fn a_size_that_no_file_says_is_not_evaluated() {
        assert_missing(&with(true, 0), "size of the test file");
        let outcome = judged_storage(&RULE, |record| {
            record.header.direct = false;
            record.header.memory_bytes = None;
        });
        assert_missing(&outcome, "memory");
        assert_no_subject(&judged_storage(&RULE, |record| record.patterns.clear()));
        assert_no_subject(&judged(&RULE, |_| {}));
    }
}
