//! Rule H09: the load does not use the disk's parallelism.

use samples::{Access, PatternResult, StorageRecord};
use units::{count, per_s, percent};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

/// Requests in flight up to which the disk serves them one at a time.
const ONE_AT_A_TIME: f64 = 1.5;
/// Growth of the rate to the deepest queue from which deeper ones may do more.
const STILL_RISING: f64 = 1.1;
/// Share of the time from which the disk counts as busy.
const BUSY: f64 = 0.5;

pub(super) const RULE: Rule = Rule {
    id: "H09",
    name: "the load uses the disk's parallelism",
    found: "the load does not use the disk's parallelism",
    measures: "The number of requests in flight at the data disk in each sample, and the share of the time during which the disk had requests. For storage: the rate of one kind of random request at two or more depths.",
    threshold: "note if a solid-state disk is busy for at least half of the time, but no sample has more than 1.5 requests in flight on average. For storage: note if the rate at the greatest depth is more than 10 % higher than the rate at the next smaller depth",
    source: "Matsunobu, Ten points for correct benchmarks (2009), point 3, and Matsunobu on disk I/O: a solid-state disk does several times as much work with 32 requests in flight as with one",
    consequence: "The disk seems to be the limit but is not: with more connections, it could deliver several times the throughput.",
    remedy: "Use more connections, or raise innodb_read_io_threads and innodb_write_io_threads, until throughput stops rising. For storage: use greater queue depths.",
    judge: Judge::RunOrStorage(judge, of_storage),
};

fn judge(run: &Run<'_>) -> Outcome {
    let samples = run.samples()?;
    let seen = samples.iter().filter_map(|sample| {
        let disk = sample.disk.as_ref()?;
        Some((sample.length_s, disk, disk.requests?))
    });
    let seen: Vec<_> = seen.collect();
    let (_, first, _) = seen
        .first()
        .ok_or_else(|| missing("the requests to the data directory's disk"))?;
    let length_s: f64 = seen.iter().map(|(length_s, ..)| length_s).sum();
    let busy = seen.iter().map(|(_, disk, _)| disk.busy_s).sum::<f64>() / length_s;
    let most = seen
        .iter()
        .map(|(length_s, _, requests)| requests.queued_s / length_s)
        .fold(0.0, f64::max);
    let devices = &run.storage()?.devices;
    let rotates = devices
        .iter()
        .find(|device| device.name == first.device)
        .and_then(|device| device.rotational)
        .ok_or_else(|| missing(format!("whether {} is a hard disk", first.device)))?;
    let is_serial = busy >= BUSY && most <= ONE_AT_A_TIME && !rotates;
    let level = if is_serial { Level::Note } else { Level::Pass };
    let evidence = format!(
        "{} had requests in flight {} of the time; the sample with the most requests had {} in flight on average",
        first.device,
        percent(busy.min(1.0)),
        count(most)
    );
    Ok(Finding::new(level, evidence)
        .with("busy_share", busy)
        .with("in_flight_most", most))
}

fn of_storage(record: &StorageRecord) -> Outcome {
    let of_kind = |kind: &PatternResult| {
        let random = record.patterns.iter().filter(|it| {
            let (ours, theirs) = (&kind.pattern, &it.pattern);
            theirs.access == Access::Random
                && it.error.is_none()
                && (ours.block_bytes, ours.reads_percent)
                    == (theirs.block_bytes, theirs.reads_percent)
        });
        let mut course: Vec<&PatternResult> = random.collect();
        course.sort_by_key(|it| it.pattern.depth);
        course.dedup_by_key(|it| it.pattern.depth);
        course
    };
    let courses = record.patterns.iter().map(of_kind);
    let courses: Vec<_> = courses.filter(|course| course.len() > 1).collect();
    let growth = |course: &Vec<&PatternResult>| {
        let rates: Vec<f64> = course.iter().rev().map(|it| it.iops()).collect();
        rates[0] / rates[1].max(f64::MIN_POSITIVE)
    };
    let steepest = courses
        .iter()
        .max_by(|a, b| growth(a).total_cmp(&growth(b)))
        .ok_or_else(|| no_subject("no random pattern was measured at two depths"))?;
    let (deepest, before) = (steepest[steepest.len() - 1], steepest[steepest.len() - 2]);
    let is_rising = growth(steepest) > STILL_RISING;
    let (level, meaning) = if is_rising {
        (Level::Note, ", so the rate is still rising")
    } else {
        (Level::Pass, "")
    };
    let evidence = format!(
        "{}: {} at depth {}, {} at depth {}{meaning}",
        deepest.pattern.name,
        per_s(before.iops()),
        before.pattern.depth,
        per_s(deepest.iops()),
        deepest.pattern.depth,
    );
    Ok(Finding::new(level, evidence).with("growth_at_the_end", growth(steepest)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    fn with(busy_s: f64, queued_s: f64) -> Outcome {
        judged(&RULE, |record| {
            each_sample(record, |sample| {
                let disk = sample.disk.as_mut().unwrap();
                disk.busy_s = busy_s;
                disk.requests.as_mut().unwrap().queued_s = queued_s;
            });
        })
    }

    #[test]
    fn found() {
        assert_found(
            &with(0.9, 0.95),
            Level::Note,
            "requests in flight 90 % of the time",
        );
    }

    #[test]
    fn storage_is_measured_until_the_rate_stops_rising() {
        let outcome = judged_storage(&RULE, |_| {});
        assert_found(&outcome, Level::Pass, "at depth 16");
        let outcome = judged_storage(&RULE, |record| {
            record.patterns.retain(|it| it.pattern.depth < 64);
        });
        assert_found(
            &outcome,
            Level::Note,
            "8.70k/s at depth 1, 37.5k/s at depth 16, so the rate",
        );
        assert_no_subject(&judged_storage(&RULE, |record| {
            record.patterns.retain(|it| it.pattern.depth == 1);
        }));
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "20 % of the time");
        assert_eq!(level(&with(1.0, 12.0)), Level::Pass, "many at a time");
    }

    #[test]
    fn a_disk_of_unknown_kind_is_not_evaluated() {
        let outcome = judged(&RULE, |record| record.storage[0].devices.clear());
        assert_missing(&outcome, "is a hard disk");
    }
}
