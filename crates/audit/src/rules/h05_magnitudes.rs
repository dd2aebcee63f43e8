//! Rule H05: the disk is much slower or faster than its kind.

use samples::{Peer, StorageRecord};
use units::{duration, seconds};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
    storage::single,
};

/// Number of reads below which their mean is not used.
const READS_AT_LEAST: u64 = 50;
/// Requests in flight above which a read waits for others.
const IN_FLIGHT_AT_MOST: f64 = 2.0;
/// Time of a read on a rotating disk, and on one without moving parts, seconds.
const MOVING_S: f64 = 0.005;
const SOLID_S: f64 = 0.0002;
/// Factor in read time from which the disk is of another kind.
const ANOTHER_KIND: f64 = 5.0;

pub(super) const RULE: Rule = Rule {
    id: "H05",
    name: "the disk's read time is typical of its kind",
    found: "the disk is much slower or faster than is typical of its kind",
    measures: "The mean read time of the data disk in samples with at most two requests in flight, compared with the typical read time: 5 ms for a hard disk, 0.2 ms for a solid-state disk. For storage: the median time of random direct reads at depth 1.",
    threshold: "warn if a read takes more than five times the typical time. If a control group limits the server's I/O, this is only a note. Warn if a read from a hard disk takes less than a fifth of the typical time. A run on a virtual machine passes despite such fast reads, because a hypervisor's report that the disk is a hard disk is not reliable. A storage measurement gets the warning even on a virtual machine",
    source: "Matsunobu, Ten points for correct benchmarks (2009), point 2, which lists typical times",
    consequence: "The device is not what it claims to be, so the figures are misleading.",
    remedy: "Find out what is behind the device (a network, a controller's cache, a limit), and state it with the figures.",
    judge: Judge::RunOrStorage(judge, of_storage),
};

fn judge(run: &Run<'_>) -> Outcome {
    let samples = run.samples()?;
    let of_disk = samples
        .iter()
        .filter_map(|sample| Some((sample.length_s, sample.disk.as_ref()?)));
    let of_disk: Vec<_> = of_disk.collect();
    let (_, first) = of_disk
        .first()
        .ok_or_else(|| missing("the disk of the data directory"))?;
    let name = &first.device;
    let calm = of_disk.iter().filter_map(|(length_s, disk)| {
        let requests = disk.requests?;
        let is_calm = requests.queued_s / length_s <= IN_FLIGHT_AT_MOST;
        is_calm.then_some((disk.reads, requests.read_s))
    });
    let calm: Vec<_> = calm.collect();
    let reads: u64 = calm.iter().map(|(reads, _)| reads).sum();
    if reads < READS_AT_LEAST {
        let why = format!("{name} had hardly any reads while few requests were in flight");
        return Err(no_subject(why));
    }
    let devices = &run.storage()?.devices;
    let rotates = devices
        .iter()
        .find(|device| device.name == *name)
        .and_then(|device| device.rotational)
        .ok_or_else(|| missing(format!("whether {name} is a hard disk")))?;
    let mean_s = calm.iter().map(|(_, read_s)| read_s).sum::<f64>() / reads as f64;
    let (kind_s, kind) = if rotates {
        (MOVING_S, "a hard disk")
    } else {
        (SOLID_S, "a solid-state disk")
    };
    let is_virtual = run.machine()?.virtualised;
    let is_limited = run
        .machine()?
        .cgroups
        .iter()
        .any(|group| group.of == Peer::Server && group.io_limited);
    let (level, but) = match mean_s / kind_s {
        slower if slower > ANOTHER_KIND && is_limited => {
            (Level::Note, ", under a control group limit")
        }
        slower if slower > ANOTHER_KIND => (Level::Warn, ", which is far too slow for this kind"),
        // Under a hypervisor the rotational flag of a disk is not reliable.
        slower if slower < 1.0 / ANOTHER_KIND && rotates && is_virtual => (
            Level::Pass,
            ", which is too fast for a hard disk, but only a hypervisor reports the disk as one",
        ),
        slower if slower < 1.0 / ANOTHER_KIND && rotates => {
            (Level::Warn, ", which is far too fast for this kind")
        }
        _ => (Level::Pass, ""),
    };
    let evidence = format!("{name}, {kind}, took {} per read{but}", seconds(mean_s));
    Ok(Finding::new(level, evidence).with("read_mean_us", mean_s * 1e6))
}

fn of_storage(record: &StorageRecord) -> Outcome {
    let reads = single(record, 100).filter(|it| record.is_direct(it));
    let p50_ns = reads
        .filter_map(|it| Some(it.read.as_ref()?.latency?.p50_ns))
        .min()
        .ok_or_else(|| missing("random direct reads at depth 1"))?;
    let disk = record
        .header
        .storage
        .disks()
        .find_map(|it| Some((&it.name, it.rotational?)));
    let (name, rotates) = disk.ok_or_else(|| missing("whether the disk is a hard disk"))?;
    let kind_s = if rotates { MOVING_S } else { SOLID_S };
    let (level, meaning) = match p50_ns as f64 / 1e9 / kind_s {
        slower if slower > ANOTHER_KIND => (Level::Warn, "far too slow for its kind"),
        slower if slower < 1.0 / ANOTHER_KIND && rotates => (
            Level::Warn,
            "although it claims to be rotational: it is virtual, or a host's cache answers the reads",
        ),
        _ => (Level::Pass, "typical of its kind"),
    };
    let evidence = format!(
        "{} per read from {name}, {meaning}",
        duration(p50_ns as f64)
    );
    Ok(Finding::new(level, evidence).with("read_p50_us", p50_ns as f64 / 1e3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    /// Reads of `each_s` seconds on a rotating or non-rotating disk.
    fn reading(each_s: f64, rotates: bool) -> Outcome {
        judged(&RULE, |record| {
            record.storage[0].devices[0].rotational = Some(rotates);
            each_sample(record, |sample| {
                let disk = sample.disk.as_mut().unwrap();
                disk.reads = 100;
                disk.requests.as_mut().unwrap().read_s = 100.0 * each_s;
            });
        })
    }

    #[test]
    fn found() {
        assert_found(
            &reading(0.0048, false),
            Level::Warn,
            "far too slow for this kind",
        );
        assert_found(
            &reading(0.0001, true),
            Level::Warn,
            "far too fast for this kind",
        );
    }

    #[test]
    fn storage_is_judged_by_its_single_reads() {
        let reading = |p50_us: u64, rotates: Option<bool>| {
            judged_storage(&RULE, |record| {
                record.header.storage.devices[0].rotational = rotates;
                let read = record.patterns[0].read.as_mut().unwrap();
                read.latency.as_mut().unwrap().p50_ns = p50_us * 1_000;
            })
        };
        assert_eq!(level(&reading(100, Some(false))), Level::Pass);
        assert_eq!(level(&reading(4_000, Some(true))), Level::Pass);
        let outcome = reading(38, Some(true));
        assert_found(
            &outcome,
            Level::Warn,
            "38.0 µs per read from nvme0n1, although it claims",
        );
        assert_found(&reading(4_800, Some(false)), Level::Warn, "far too slow");
        assert_missing(&reading(100, None), "is a hard disk");
        let outcome = judged_storage(&RULE, |record| record.header.direct = false);
        assert_missing(&outcome, "random direct reads");
    }

    #[test]
    fn passes() {
        assert_found(&reading(0.0003, false), Level::Pass, "took 300 µs per read");
        assert_eq!(
            level(&reading(0.00001, false)),
            Level::Pass,
            "faster is fine"
        );
        assert_eq!(level(&reading(0.006, true)), Level::Pass);
        let outcome = judged(&RULE, |record| {
            record.machines[0].virtualised = true;
            record.storage[0].devices[0].rotational = Some(true);
            each_sample(record, |sample| {
                let disk = sample.disk.as_mut().unwrap();
                disk.reads = 100;
                disk.requests.as_mut().unwrap().read_s = 0.01;
            });
        });
        assert_found(
            &outcome,
            Level::Pass,
            "only a hypervisor reports the disk as one",
        );
    }

    #[test]
    fn what_is_hardly_read_from_is_not_judged() {
        assert_no_subject(&judged(&RULE, |_| {}));
        let outcome = judged(&RULE, |record| {
            each_sample(record, |sample| sample.disk = None);
        });
        assert_missing(&outcome, "disk of the data directory");
    }
}
