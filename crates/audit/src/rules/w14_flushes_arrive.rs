//! Rule W14: commits do not reach the disk.

use samples::StorageRecord;
use units::count;

use crate::{
    commits::log_flushes_per_s,
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

/// Flushes by InnoDB per flush of the disks; the kernel may merge several that wait together.
const MOST: f64 = 1.2;
/// Flushes per second below which the rule is not evaluated.
const FLUSHES_AT_LEAST: f64 = 10.0;

pub(super) const RULE: Rule = Rule {
    id: "W14",
    name: "commits reach the disk",
    found: "commits do not reach the disk",
    measures: "The number of flushes that InnoDB requested, compared with the number of flushes that the machine's disks carried out in the same time. The rule applies only if a disk has a write cache that needs flushing, and if a disk of this machine is known to be below the file system of the redo log. For storage: the number of flushes that the commit probe requested, compared with the number of flushes that the disks carried out.",
    threshold: "fail if InnoDB or the commit probe requested more than 1.2 times as many flushes as the disks carried out",
    source: "Matsunobu, group commit in InnoDB (2009): a disk with a battery-backed cache is limited to about 10,000 flushes per second",
    consequence: "Something between InnoDB and the disk discards flushes. Acknowledged commits are only in a volatile cache and are lost in a power cut. The measured commit rate is not a rate that the disk can deliver.",
    remedy: "Check the mount options (barriers), the volume manager and the hypervisor's cache mode.",
    judge: Judge::RunOrStorage(judge, of_storage),
};

fn judge(run: &Run<'_>) -> Outcome {
    let (asked, which) = log_flushes_per_s(run)?;
    if asked < FLUSHES_AT_LEAST {
        return Err(no_subject("InnoDB requested hardly any flushes"));
    }
    let of_log = run.place_of("redo log").or_else(|| run.place_of("data"));
    if let Some(place) = of_log.filter(|place| place.device.is_none()) {
        let (mounted, kind) = (&place.mount_point, &place.filesystem);
        return Err(if place.is_in_memory() {
            no_subject("the redo log is in memory")
        } else {
            missing(format!("the disks below {mounted} ({kind})"))
        });
    }
    let devices = &run.storage()?.devices;
    let is_cached = |cache: &Option<String>| cache.as_deref() == Some("write back");
    if !devices.iter().any(|device| is_cached(&device.write_cache)) {
        return Err(no_subject("no disk has a write cache that needs flushing"));
    }
    let samples = run.samples()?;
    let length_s: f64 = samples.iter().map(|sample| sample.length_s).sum();
    let traffic = run.disk_traffic(&samples);
    let flushes: Option<u64> = traffic.iter().map(|disk| disk.flushes).sum();
    let flushes =
        flushes.ok_or_else(|| missing("flushes of the disks (not counted by this kernel)"))?;
    let carried_out = flushes as f64 / length_s;
    let level = if asked > MOST * carried_out {
        Level::Fail
    } else {
        Level::Pass
    };
    let evidence = format!(
        "{} {which} were requested per second, and the disks carried out {}",
        count(asked),
        count(carried_out)
    );
    Ok(Finding::new(level, evidence)
        .with("asked_per_s", asked)
        .with("carried_out_per_s", carried_out))
}

fn of_storage(record: &StorageRecord) -> Outcome {
    if record.commits.is_empty() {
        return Err(no_subject("no commits were measured"));
    }
    if record
        .header
        .storage
        .disks()
        .all(|it| it.write_cache.as_deref() == Some("write through"))
    {
        return Err(no_subject("no disk has a write cache that needs flushing"));
    }
    let counted = record.commits.iter();
    let counted = counted.filter_map(|it| Some((it, it.device_flushes?)));
    // A pair of flushes for each group of commits: redo log and binary log.
    let rates = counted.map(|(it, flushes)| {
        let (asked, carried_out) = (2.0 * it.groups as f64, flushes as f64);
        (asked / it.elapsed_s, carried_out / it.elapsed_s)
    });
    let (asked, carried_out) = rates
        .max_by(|a, b| (a.0 - MOST * a.1).total_cmp(&(b.0 - MOST * b.1)))
        .ok_or_else(|| missing("flushes of the disks (not counted by this kernel)"))?;
    if asked < FLUSHES_AT_LEAST {
        return Err(no_subject("the probe requested hardly any flushes"));
    }
    let level = if asked > MOST * carried_out {
        Level::Fail
    } else {
        Level::Pass
    };
    let evidence = format!(
        "the commit probe requested {} flushes per second, and the disks carried out {}",
        count(asked),
        count(carried_out)
    );
    Ok(Finding::new(level, evidence)
        .with("asked_per_s", asked)
        .with("carried_out_per_s", carried_out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    fn flushed(per_s: Option<u64>) -> Outcome {
        judged(&RULE, |record| {
            each_sample(record, |sample| {
                let disk = sample.disk.as_mut().unwrap();
                disk.requests.as_mut().unwrap().flushes = per_s;
            });
        })
    }

    #[test]
    fn found() {
        assert_found(
            &flushed(Some(10)),
            Level::Fail,
            "300 flushes of the log were requested per second, and the disks carried out 10",
        );
    }

    #[test]
    fn storage_is_judged_by_what_the_disks_carried_out() {
        let flushed = |flushes: Option<u64>| {
            judged_storage(&RULE, |record| record.commits[0].device_flushes = flushes)
        };
        assert_eq!(level(&flushed(Some(41_000))), Level::Pass);
        assert_found(
            &flushed(Some(30)),
            Level::Fail,
            "the commit probe requested 4.00k flushes",
        );
        assert_missing(&flushed(None), "flushes of the disks");
        assert_no_subject(&judged_storage(&RULE, |record| {
            record.header.storage.devices[0].write_cache = Some("write through".to_owned());
        }));
        assert_no_subject(&judged_storage(&RULE, |record| record.commits.clear()));
    }

    #[test]
    fn passes() {
        assert_eq!(level(&flushed(Some(300))), Level::Pass);
        let outcome = judged(&RULE, |record| {
            record.storage[0].devices[0].write_cache = Some("write through".to_owned());
        });
        assert_no_subject(&outcome);
    }

    #[test]
    fn flushes_of_a_loop_device_and_of_the_disk_below_it_are_counted_once() {
        let outcome = judged(&RULE, |record| {
            let mut file = record.storage[0].devices[0].clone();
            (file.name, file.made_of) = ("loop0".to_owned(), vec!["nvme0n1".to_owned()]);
            record.storage[0].devices.push(file);
            each_sample(record, |sample| {
                let disk = sample.disk.as_mut().unwrap();
                disk.requests.as_mut().unwrap().flushes = Some(150);
                let below = disk.clone();
                disk.device = "loop0".to_owned();
                sample.other_disks = vec![below];
            });
        });
        assert_found(&outcome, Level::Fail, "the disks carried out 150");
    }

    #[test]
    fn flushes_that_no_disk_of_this_machine_gets_are_not_compared() {
        let on = |filesystem: &str| {
            judged(&RULE, |record| {
                let place = &mut record.storage[0].places[0];
                (place.device, place.filesystem) = (None, filesystem.to_owned());
                each_sample(record, |sample| {
                    let disk = sample.disk.as_mut().unwrap();
                    disk.requests.as_mut().unwrap().flushes = Some(0);
                });
            })
        };
        assert_missing(&on("nfs4"), "the disks below /srv (nfs4)");
        assert_no_subject(&on("tmpfs"));
    }

    #[test]
    fn a_kernel_that_does_not_count_is_not_evaluated() {
        assert_missing(&flushed(None), "flushes of the disks");
    }
}
