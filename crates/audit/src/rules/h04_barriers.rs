//! Rule H04: the file system does not pass flushes on.

use samples::StorageRecord;

use crate::{
    durability::barrier_off,
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

pub(super) const RULE: Rule = Rule {
    id: "H04",
    name: "the file system passes flushes on",
    found: "the file system does not pass flushes on",
    measures: "The mount options of the file systems that contain the data, the redo log, the binary log, InnoDB's system tablespace and the doublewrite buffer. For storage: the mount options of the measured file system, and the write cache of its disks.",
    threshold: "invalid if a file system is mounted with nobarrier, barrier=0 or barrier=none. For storage, this is only a warning if all disks of the file system have a write-through cache",
    source: "our own power-cut tests: ext4 with nobarrier lost 43,312 of 62,178 acknowledged commits although innodb_flush_log_at_trx_commit was 1; MySQL 5.6 parameter review (MyNA, 2013), which uses nobarrier",
    consequence: "The server acknowledges commits that are not yet on a disk: the write throughput is that of a server without durability.",
    remedy: "Mount the file system with barriers, and measure again.",
    judge: Judge::RunOrStorage(judge, of_storage),
};

fn judge(run: &Run<'_>) -> Outcome {
    let durable = [
        "data",
        "redo log",
        "binary log",
        "InnoDB's system tablespace",
        "doublewrite buffer",
    ];
    let places = run.storage()?.places.iter();
    let places: Vec<_> = places
        .filter(|place| {
            place
                .holds
                .iter()
                .any(|what| durable.contains(&what.as_str()))
        })
        .collect();
    if places.is_empty() {
        return Err(missing("the file systems of the data and the redo log"));
    }
    let off = places
        .iter()
        .find_map(|place| Some((place, barrier_off(&place.mount_options)?)));
    Ok(match off {
        Some((place, option)) => Finding::new(
            Level::Invalid,
            format!(
                "{} ({}) contains {} and is mounted with {option}",
                place.mount_point,
                place.filesystem,
                place.holds.join(", ")
            ),
        ),
        None => {
            let told: Vec<_> = places
                .iter()
                .map(|place| format!("{} ({})", place.filesystem, place.mount_options))
                .collect();
            Finding::new(Level::Pass, format!("mounted as {}", told.join("; ")))
        }
    })
}

fn of_storage(record: &StorageRecord) -> Outcome {
    let place = record.header.storage.places.first();
    let place = place.ok_or_else(|| missing("the file system"))?;
    if place.is_raw_device() {
        return Err(no_subject("a raw device is not mounted"));
    }
    let caches: Vec<&str> = record
        .header
        .storage
        .disks()
        .map(|it| it.write_cache.as_deref().unwrap_or("unknown"))
        .collect();
    let is_safe = !caches.is_empty() && caches.iter().all(|it| *it == "write through");
    let cached = format!("write cache: {}", caches.join(", "));
    Ok(match barrier_off(&place.mount_options) {
        Some(option) if is_safe => Finding::new(
            Level::Warn,
            format!("mounted with {option}; {cached}, as far as the kernel knows"),
        ),
        Some(option) => Finding::new(
            Level::Invalid,
            format!("mounted with {option}: flushes do not reach the disk ({cached})"),
        ),
        None => {
            let (kind, options) = (&place.filesystem, &place.mount_options);
            Finding::new(
                Level::Pass,
                format!("mounted as {kind} ({options}); {cached}"),
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        for option in ["nobarrier", "barrier=0"] {
            let outcome = judged(&RULE, |record| {
                record.storage[0].places[0].mount_options = format!("noatime,{option},rw");
            });
            assert_found(&outcome, Level::Invalid, option);
        }
    }

    #[test]
    fn storage_is_judged_with_its_write_cache() {
        let mounted = |options: &str, cache: &str| {
            judged_storage(&RULE, |record| {
                options.clone_into(&mut record.header.storage.places[0].mount_options);
                record.header.storage.devices[0].write_cache = Some(cache.to_owned());
            })
        };
        let outcome = mounted("nobarrier,rw", "write back");
        assert_found(&outcome, Level::Invalid, "(write cache: write back)");
        let outcome = mounted("barrier=0,rw", "write through");
        assert_found(&outcome, Level::Warn, "mounted with barrier=0");
        assert_eq!(level(&mounted("rw", "write back")), Level::Pass);
        let outcome = judged_storage(&RULE, |record| record.header.storage.places.clear());
        assert_missing(&outcome, "the file system");
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "xfs (noatime,rw)");
        let outcome = judged(&RULE, |record| {
            record.storage[0].places[0].mount_options = "barrier=1,rw".to_owned();
        });
        assert_eq!(level(&outcome), Level::Pass);
    }

    #[test]
    fn storage_that_nobody_saw_is_not_evaluated() {
        assert_missing(&judged(&RULE, |record| record.storage.clear()), "storage");
    }
}
