//! The limits of a disk, from its storage record.

use samples::{Access, PatternResult, StorageRecord};

use crate::{memory_position::PAGE_BYTES, target::Target};

impl Target {
    /// The target with the limits of a measured disk where it names none itself: random reads and writes of InnoDB's pages
    /// past the page cache, at the queue depth that does most, and the time in which a single writer of durable commits
    /// writes and flushes the redo log. `None` if the record has none of them.
    pub fn with_disk(self, record: &StorageRecord) -> Option<Self> {
        let most = |reads_percent: u32| {
            let results = record.patterns.iter();
            let own = results.filter(|it| is_of_pages(record, it, reads_percent));
            own.map(PatternResult::iops).max_by(f64::total_cmp)
        };
        let mut commits = record.commits.iter();
        let single = commits.find(|it| it.writers == 1 && it.commits > 0);
        let (read_iops, write_iops) = (most(100), most(0));
        let fsync_s = single.map(|it| it.redo.mean_ns / 1e9);
        let is_any = read_iops.or(write_iops).or(fsync_s).is_some();
        is_any.then(|| Self {
            read_iops: self.read_iops.or(read_iops),
            write_iops: self.write_iops.or(write_iops),
            fsync_s: self.fsync_s.or(fsync_s),
            ..self
        })
    }
}

fn is_of_pages(record: &StorageRecord, result: &PatternResult, reads_percent: u32) -> bool {
    let pattern = &result.pattern;
    let is_whole = result.error.is_none() && result.iops() > 0.0;
    pattern.access == Access::Random
        && pattern.block_bytes == PAGE_BYTES
        && pattern.reads_percent == reads_percent
        && record.is_direct(result)
        && is_whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::parse_target;

    const QUICK: &str = include_str!("../../audit/fixtures/storage/quick.jsonl");

    #[test]
    fn the_limits_are_those_of_pages_and_of_one_writer() {
        let record = StorageRecord::parse(QUICK.as_bytes()).unwrap();
        let target = parse_target("cpus=8,write_iops=100").unwrap();
        let target = target.with_disk(&record).unwrap();
        assert_eq!((target.cpus, target.write_iops), (Some(8.0), Some(100.0)));
        let reads = target.read_iops.unwrap();
        assert!((reads - 24_426.857_714).abs() < 0.01, "{reads}");
        let fsync_s = target.fsync_s.unwrap();
        assert!((fsync_s - 0.003_936_995).abs() < 1e-9, "{fsync_s}");
    }

    #[test]
    fn a_record_without_them_gives_no_limit() {
        let first = QUICK.lines().next().unwrap().to_owned() + "\n";
        let record = StorageRecord::parse(first.as_bytes()).unwrap();
        let target = parse_target("cpus=8").unwrap();
        assert_eq!(target.with_disk(&record), None);
    }
}
