//! Rule H03: the disk may acknowledge flushes that it did not perform.

use samples::StorageRecord;
use units::{count, duration, seconds};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
    storage::{is_virtual, one_writer},
};

/// Shortest flush of any device that writes to its medium, seconds.
const FLUSH_AT_LEAST_S: f64 = 10e-6;
/// Rotations per second of the fastest disks, at 15,000 rpm, plus 20 %.
const FLUSHES_OF_A_DISK_PER_S: f64 = 1.2 * 15_000.0 / 60.0;
/// Number of flushes below which the rule is not evaluated.
const FLUSHES_AT_LEAST: u64 = 100;

pub(super) const RULE: Rule = Rule {
    id: "H03",
    name: "the disk's flush times are plausible",
    found: "the disk may acknowledge flushes without carrying them out",
    measures: "The mean time of a cache flush on the data directory's disk in the measured phase, and the number of flushes per second. For storage: the median time of a redo log write with its flush, or the median time of an imported job's flushes.",
    threshold: "fail if the mean time (for storage, the median time) is below 10 us. Warn if a physical hard disk carries out more than 300 flushes per second, which is 1.2 flushes per rotation at 15,000 rpm",
    source: "Matsunobu, Ten points for correct benchmarks (2009), points 1 and 2; our own power-cut tests",
    consequence: "The disk or its controller acknowledges data that it has not written. Unless a battery or a capacitor protects this data, commits that were acknowledged in this way are lost in a power cut. A disk that really flushes is slower by orders of magnitude.",
    remedy: "Disable the disk's volatile cache, or state which battery or capacitor protects it. For a virtual disk, find out how the host caches its writes.",
    judge: Judge::RunOrStorage(judge, of_storage),
};

fn judge(run: &Run<'_>) -> Outcome {
    let samples = run.samples()?;
    let disks: Vec<_> = samples
        .iter()
        .filter_map(|sample| sample.disk.as_ref())
        .collect();
    let device = disks
        .first()
        .ok_or_else(|| missing("the disk of the data directory"))?;
    let counted = disks.iter().filter_map(|disk| {
        let requests = disk.requests?;
        Some((requests.flushes?, requests.flush_s?))
    });
    let counted: Vec<_> = counted.collect();
    if counted.is_empty() {
        return Err(missing(format!(
            "flushes of {} (not counted by this kernel)",
            device.device
        )));
    }
    let flushes: u64 = counted.iter().map(|(flushes, _)| flushes).sum();
    if flushes < FLUSHES_AT_LEAST {
        return Err(no_subject(format!(
            "{} was flushed only {flushes} times",
            device.device
        )));
    }
    let flush_s: f64 = counted.iter().map(|(_, flush_s)| flush_s).sum();
    let length_s: f64 = samples.iter().map(|sample| sample.length_s).sum();
    let (mean_s, per_s) = (flush_s / flushes as f64, flushes as f64 / length_s);
    let is_virtual = run.machine().is_ok_and(|machine| machine.virtualised);
    let storage = run
        .record
        .storage
        .iter()
        .flat_map(|storage| &storage.devices);
    let rotates = storage
        .into_iter()
        .any(|it| it.name == device.device && it.rotational == Some(true));
    let is_too_fast = mean_s < FLUSH_AT_LEAST_S;
    // Under a hypervisor the rotational flag of a disk is not reliable.
    let is_impossible = rotates && !is_virtual && per_s > FLUSHES_OF_A_DISK_PER_S;
    let level = match (is_too_fast, is_impossible) {
        (true, _) => Level::Fail,
        // The cache of the disk, or of a controller, which a battery may protect.
        (_, true) => Level::Warn,
        _ => Level::Pass,
    };
    let kind = if is_impossible { "the hard disk " } else { "" };
    let evidence = format!(
        "{kind}{} carried out {} flushes per second, each in {} on average",
        device.device,
        count(per_s),
        seconds(mean_s)
    );
    Ok(Finding::new(level, evidence)
        .with("flush_mean_us", mean_s * 1e6)
        .with("flushes_per_s", per_s))
}

fn of_storage(record: &StorageRecord) -> Outcome {
    let probed = one_writer(record).map(|it| {
        let per_s = 2.0 * it.groups as f64 / it.elapsed_s;
        (it.redo.p50_ns, per_s)
    });
    let imported = || {
        let jobs = record.patterns.iter().filter_map(|it| it.imported.as_ref());
        let flushes = jobs.filter_map(|it| Some((it.flushes.as_ref()?, it.elapsed_s)));
        let rates = flushes.map(|(it, elapsed_s)| (it.latency.p50_ns, it.count as f64 / elapsed_s));
        rates.min_by_key(|(p50_ns, _)| *p50_ns)
    };
    let (p50_ns, per_s) = probed
        .or_else(imported)
        .ok_or_else(|| missing("flushed writes (measured by dbdyno storage commit)"))?;
    let rotates = |it: &samples::BlockDevice| it.rotational == Some(true) && !is_virtual(it);
    let is_too_fast = (p50_ns as f64) < FLUSH_AT_LEAST_S * 1e9;
    let is_impossible =
        record.header.storage.disks().any(rotates) && per_s > FLUSHES_OF_A_DISK_PER_S;
    let (level, why) = match (is_too_fast, is_impossible) {
        (true, _) => (
            Level::Fail,
            ": no disk is that fast; a host or controller acknowledges flushes early",
        ),
        (_, true) => (
            Level::Warn,
            ": no hard disk is that fast; the disk's or a controller's cache acknowledges flushes before they are written",
        ),
        _ => (Level::Pass, ""),
    };
    let evidence = format!(
        "{} per flushed write, {} flushes per second{why}",
        duration(p50_ns as f64),
        count(per_s)
    );
    Ok(Finding::new(level, evidence)
        .with("flushed_write_p50_us", p50_ns as f64 / 1e3)
        .with("flushes_per_s", per_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            each_sample(record, |sample| {
                let disk = sample.disk.as_mut().unwrap();
                disk.requests.as_mut().unwrap().flush_s = Some(0.0009);
            });
        });
        assert_found(&outcome, Level::Fail, "each in 3.00 µs");
        let rotating = |flushes: u64| {
            judged(&RULE, |record| {
                record.storage[0].devices[0].rotational = Some(true);
                each_sample(record, |sample| {
                    let disk = sample.disk.as_mut().unwrap();
                    disk.requests.as_mut().unwrap().flushes = Some(flushes);
                });
            })
        };
        assert_found(&rotating(1000), Level::Warn, "the hard disk nvme0n1 ");
        // At 15,000 rpm.
        assert_eq!(level(&rotating(240)), Level::Pass);
    }

    #[test]
    fn storage_is_judged_by_its_flushes() {
        assert_eq!(level(&judged_storage(&RULE, |_| {})), Level::Pass);
        let outcome = judged_storage(&RULE, |record| record.commits[0].redo.p50_ns = 2_000);
        assert_found(&outcome, Level::Fail, "2.00 µs per flushed write");
        let rotating = |name: &str| {
            judged_storage(&RULE, |record| {
                let device = &mut record.header.storage.devices[0];
                (device.name, device.rotational) = (name.to_owned(), Some(true));
            })
        };
        assert_found(&rotating("sda"), Level::Warn, "no hard disk");
        assert_eq!(level(&rotating("vda")), Level::Pass, "the flag says little");
        let imported = |p50_ns| {
            judged_storage(&RULE, |record| {
                record.commits.clear();
                record.patterns[1].imported = Some(imported_job(p50_ns));
            })
        };
        assert_found(
            &imported(Some(3_000)),
            Level::Fail,
            "3.00 µs per flushed write",
        );
        assert_missing(&imported(None), "flushed writes");
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "each in 66.7 µs");
        let outcome = judged(&RULE, |record| {
            record.storage[0].devices[0].rotational = Some(true);
            record.machines[0].virtualised = true;
        });
        assert_eq!(level(&outcome), Level::Pass);
    }

    #[test]
    fn without_flushes_there_is_nothing_to_judge() {
        let without = |flushes| {
            judged(&RULE, |record| {
                each_sample(record, |sample| {
                    let disk = sample.disk.as_mut().unwrap();
                    disk.requests.as_mut().unwrap().flushes = flushes;
                });
            })
        };
        assert_missing(&without(None), "flushes of nvme0n1");
        assert_no_subject(&without(Some(0)));
    }
}
