//! The limit under which a disk was measured: its values, what it does to latencies, and whether the disk reached it.

use samples::{DiskLimit, Pattern, PatternResult, StorageRecord};
use units::per_s;

use crate::sentences::set_limit::{OF_THE_THROTTLE, of_disk};

/// A rate below this share of what the limit allows is the disk's own, or that of the depth.
const REACHED_FROM: f64 = 0.9;
/// More patterns than this are not named.
const NAMED_AT_MOST: usize = 4;

/// `reads 1.00k/s, writes 1.00k/s on disk 7:0 (cgroup v1); ...`; `None` without a limit.
pub(super) fn limit_in_words(record: &StorageRecord) -> Option<String> {
    let limit = record.header.limit.as_ref()?;
    Some(format!("{}; {OF_THE_THROTTLE}", of_disk(limit)))
}

/// What a reader of the figures has to know of the limit, each as one sentence: what is not limited, and which patterns the
/// disk itself held below the limit.
pub(super) fn limit_notes(record: &StorageRecord) -> Vec<String> {
    let Some(limit) = &record.header.limit else {
        return Vec::new();
    };
    let mut notes = limit.not_limited.clone();
    let rounds = record.rounds.iter().map(|it| &it.result);
    let results = record.patterns.iter().chain(rounds);
    let below = results.filter_map(|result| below(limit, result));
    let below: Vec<String> = below.collect();
    if !below.is_empty() {
        let mut named: Vec<_> = below.iter().take(NAMED_AT_MOST).cloned().collect();
        if below.len() > NAMED_AT_MOST {
            named.push(format!("and {} more", below.len() - NAMED_AT_MOST));
        }
        notes.push(format!(
            "Below the limit, so the disk or the depth determines the rate: {}",
            named.join(", ")
        ));
    }
    notes
}

/// `NAME 598/s of 1.00k/s` where a pattern stayed below what the limit allows.
fn below(limit: &DiskLimit, result: &PatternResult) -> Option<String> {
    let allowed = allowed_per_s(limit, &result.pattern)?;
    let is_below = result.error.is_none() && result.iops() < allowed * REACHED_FROM;
    is_below.then(|| {
        format!(
            "{} {} of {}",
            result.pattern.name,
            per_s(result.iops()),
            per_s(allowed)
        )
    })
}

/// Requests per second that the limit allows a pattern. Reads and writes are limited separately, so that the side with the
/// larger share decides. `None` where no side is limited.
fn allowed_per_s(limit: &DiskLimit, pattern: &Pattern) -> Option<f64> {
    let of_side = |iops: Option<u64>, bytes_per_s: Option<u64>, percent: u32| {
        let by_bytes = bytes_per_s.map(|it| it as f64 / pattern.block_bytes as f64);
        let limits = [iops.map(|it| it as f64), by_bytes].into_iter().flatten();
        let lowest = limits.min_by(f64::total_cmp)?;
        (percent > 0).then(|| lowest * 100.0 / f64::from(percent))
    };
    let reads = of_side(
        limit.read_iops,
        limit.read_bytes_per_s,
        pattern.reads_percent,
    );
    let writes = of_side(
        limit.write_iops,
        limit.write_bytes_per_s,
        100 - pattern.reads_percent,
    );
    [reads, writes].into_iter().flatten().min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::{super::readings::testing::*, *};

    fn limit() -> DiskLimit {
        DiskLimit {
            read_iops: Some(1000),
            write_iops: Some(1000),
            cgroup_version: 1,
            device: "7:0".to_owned(),
            ..DiskLimit::default()
        }
    }

    #[test]
    fn the_side_with_the_larger_share_decides() {
        let allowed = |limit: &DiskLimit, reads| {
            let pattern = result("x", 4096, reads, 16, 1.0).pattern;
            allowed_per_s(limit, &pattern).map(f64::round)
        };
        let both = limit();
        let found = [100, 90, 50, 10, 0].map(|reads| allowed(&both, reads).unwrap());
        assert_eq!(found, [1000.0, 1111.0, 2000.0, 1111.0, 1000.0]);
        let bytes = DiskLimit {
            read_bytes_per_s: Some(4096 * 100),
            ..DiskLimit::default()
        };
        assert_eq!(allowed(&bytes, 50), Some(200.0));
        assert_eq!(allowed(&bytes, 0), None);
    }

    #[test]
    fn what_the_disk_itself_limits_is_named() {
        let mut record = record();
        assert_eq!(limit_in_words(&record), None);
        record.header.limit = Some(DiskLimit {
            not_limited: vec!["Write-back is not limited".to_owned()],
            ..limit()
        });
        record.patterns = vec![
            result("a", 4096, 100, 16, 990.0),
            result("b", 4096, 50, 16, 1200.0),
        ];
        let words = limit_in_words(&record).unwrap();
        assert!(
            words.starts_with("reads 1.00k/s, writes 1.00k/s on disk 7:0 (cgroup v1); latencies"),
            "{words}"
        );
        assert_eq!(
            limit_notes(&record),
            [
                "Write-back is not limited",
                "Below the limit, so the disk or the depth determines the rate: b 1.20k/s of 2.00k/s"
            ]
        );
    }
}
