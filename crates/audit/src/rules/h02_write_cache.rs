//! Rule H02: the state of the disk's write cache is unknown.

use samples::StorageRecord;
use units::{count, duration, seconds};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
    storage::{one_writer, single},
};

/// Number of writes and of flushes below which their means are not used.
const AT_LEAST: u64 = 100;
/// Ratio of write speeds, with flushes to without, below which the cache is volatile and each flush empties it.
const VOLATILE: f64 = 0.05;
/// Ratio above which flushes are nearly free: the cache is non-volatile, or nothing was flushed.
const FREE: f64 = 0.6;

pub(super) const RULE: Rule = Rule {
    id: "H02",
    name: "it is known whether the disk's write cache is protected",
    found: "it is not known whether the disk's write cache is protected",
    measures: "The mean time of a write and of a flush on the data disk in the measured phase. From these times, the rule computes the write rate with a flush after each write, as a share of the rate without flushes. For storage: the mean time of a random write at depth 1, and the mean time of a redo log write with its flush. For an imported job that flushes: the mean times of its writes and flushes.",
    threshold: "warn if the share is above 0.6 and the cache is not known to be write-through: a protected cache and ignored flushes then look the same. Note if the share is between 0.05 and 0.6. Pass if the share is below 0.05: the flushes evidently empty a volatile cache",
    source: "Matsunobu, Ten points for correct benchmarks (2009), points 1 and 2; drives measured with fio by M. Callaghan \
        (mytools, 2025): a share of 0.01 to 0.02 for consumer drives, and of 0.67 to 0.9 for drives with power-loss protection",
    consequence: "The cost of a durable commit depends on the disk's write cache: it is about fifty times as high with a volatile cache as with a protected one.",
    remedy: "State the disk model with the figures. If flushes cost nothing, find out whether the disk has power-loss protection, for example with a power-cut test.",
    judge: Judge::RunOrStorage(judge, of_storage),
};

fn judge(run: &Run<'_>) -> Outcome {
    let samples = run.samples()?;
    let disks = samples.iter().filter_map(|sample| sample.disk.as_ref());
    let disks: Vec<_> = disks.collect();
    let device = disks
        .first()
        .ok_or_else(|| missing("the disk of the data directory"))?;
    let counted = disks.iter().filter_map(|disk| {
        let requests = disk.requests?;
        Some((
            disk.writes,
            requests.write_s,
            requests.flushes?,
            requests.flush_s?,
        ))
    });
    let counted: Vec<_> = counted.collect();
    if counted.is_empty() {
        let what = format!("flushes of {} (not counted by this kernel)", device.device);
        return Err(missing(what));
    }
    let writes: u64 = counted.iter().map(|it| it.0).sum();
    let flushes: u64 = counted.iter().map(|it| it.2).sum();
    if writes < AT_LEAST || flushes < AT_LEAST {
        let why = format!(
            "{} had only {writes} writes and {flushes} flushes",
            device.device
        );
        return Err(no_subject(why));
    }
    let write_s = counted.iter().map(|it| it.1).sum::<f64>() / writes as f64;
    let flush_s = counted.iter().map(|it| it.3).sum::<f64>() / flushes as f64;
    let share = write_s / (write_s + flush_s);
    if !share.is_finite() {
        return Err(missing(format!("the write times of {}", device.device)));
    }
    let devices = run.storage().map(|storage| storage.devices.as_slice());
    let of_device = devices.unwrap_or_default();
    let of_device = of_device.iter().find(|it| it.name == device.device);
    let cache = of_device.and_then(|it| it.write_cache.as_deref());
    let (level, meaning) = meaning(share, cache);
    let evidence = format!(
        "{} ({}) took {} per write and {} per flush: with a flush after each write, {} of the write rate would remain, which is {meaning}",
        device.device,
        cache.unwrap_or("cache unknown"),
        seconds(write_s),
        seconds(flush_s),
        count(share),
    );
    Ok(Finding::new(level, evidence)
        .with("write_mean_us", write_s * 1e6)
        .with("flush_mean_us", flush_s * 1e6)
        .with("flushed_share", share))
}

fn meaning(share: f64, cache: Option<&str>) -> (Level, &'static str) {
    match share {
        share if share < VOLATILE => (
            Level::Pass,
            "typical of a volatile cache that each flush empties",
        ),
        share if share <= FREE => (
            Level::Note,
            "between the values typical of a volatile and of a protected cache",
        ),
        _ if cache == Some("write through") => {
            (Level::Pass, "typical of a disk without a volatile cache")
        }
        _ => (
            Level::Warn,
            "typical of a protected cache or of ignored flushes",
        ),
    }
}

fn of_storage(record: &StorageRecord) -> Outcome {
    let imported = record.patterns.iter().find_map(|it| {
        let write_ns = it.write.as_ref()?.latency?.mean_ns;
        let flushes = it.imported.as_ref()?.flushes.as_ref()?;
        Some((write_ns, write_ns + flushes.latency.mean_ns))
    });
    let probed = || {
        let write = single(record, 0).find(|it| record.is_direct(it))?;
        let write_ns = write.write.as_ref()?.latency?.mean_ns;
        Some((write_ns, one_writer(record)?.redo.mean_ns))
    };
    let (write_ns, flushed_ns) = imported
        .or_else(probed)
        .ok_or_else(|| missing("flushed writes and random direct writes at depth 1"))?;
    let share = (write_ns / flushed_ns).min(1.0);
    if !share.is_finite() {
        return Err(missing("the write times"));
    }
    let cache = record
        .header
        .storage
        .disks()
        .find_map(|it| it.write_cache.as_deref());
    let (level, meaning) = meaning(share, cache);
    let evidence = format!(
        "{} per write without a flush and {} per write with its flush: {meaning} (cache: {})",
        duration(write_ns),
        duration(flushed_ns),
        cache.unwrap_or("unknown"),
    );
    Ok(Finding::new(level, evidence)
        .with("write_mean_us", write_ns / 1e3)
        .with("flushed_write_mean_us", flushed_ns / 1e3)
        .with("flushed_share", share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    fn flushing(flush_s: f64) -> Outcome {
        judged(&RULE, |record| {
            each_sample(record, |sample| {
                let requests = sample.disk.as_mut().unwrap().requests.as_mut().unwrap();
                requests.flush_s = Some(flush_s);
            });
        })
    }

    #[test]
    fn found() {
        assert_found(&flushing(0.003), Level::Warn, "ignored flushes");
        assert_found(
            &flushing(0.02),
            Level::Note,
            "between the values typical of a volatile",
        );
    }

    #[test]
    fn storage_is_judged_by_its_probe() {
        let probed = |redo_us: f64| {
            judged_storage(&RULE, |record| {
                record.commits[0].redo.mean_ns = redo_us * 1e3;
            })
        };
        assert_found(&probed(110.0), Level::Warn, "ignored flushes");
        assert_found(
            &probed(400.0),
            Level::Note,
            "400 µs per write with its flush: between",
        );
        assert_found(&probed(5_000.0), Level::Pass, "a volatile cache");
        let outcome = judged_storage(&RULE, |record| record.commits.clear());
        assert_missing(&outcome, "flushed writes");
        let outcome = judged_storage(&RULE, |record| {
            record.commits.clear();
            record.patterns[1].imported = Some(imported_job(Some(2_000)));
        });
        assert_found(&outcome, Level::Warn, "102 µs per write with its flush");
    }

    #[test]
    fn passes() {
        assert_found(
            &flushing(0.9),
            Level::Pass,
            "per flush: with a flush after each write, 0.023",
        );
        let outcome = judged(&RULE, |record| {
            record.storage[0].devices[0].write_cache = Some("write through".to_owned());
            each_sample(record, |sample| {
                let requests = sample.disk.as_mut().unwrap().requests.as_mut().unwrap();
                requests.flush_s = Some(0.003);
            });
        });
        assert_found(
            &outcome,
            Level::Pass,
            "typical of a disk without a volatile cache",
        );
    }

    #[test]
    fn a_disk_that_nobody_saw_is_not_evaluated() {
        let outcome = judged(&RULE, |record| {
            each_sample(record, |sample| sample.disk = None);
        });
        assert_missing(&outcome, "disk of the data directory");
        assert_no_subject(&judged(&RULE, |record| {
            each_sample(record, |sample| sample.disk.as_mut().unwrap().writes = 0);
        }));
    }
}
