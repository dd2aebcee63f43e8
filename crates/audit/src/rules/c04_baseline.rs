//! Rule C04: a default setting limits the workload.

use samples::StorageRecord;
use units::{count, mean_bytes};

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
    set::Set,
};

/// Default buffer pool size of all current servers, bytes.
const DEFAULT_POOL: f64 = 134_217_728.0;
/// Memory of a machine from which the default pool is too small, bytes.
const MEMORY: f64 = 1_073_741_824.0;
/// Pages flushed as a share of innodb_io_capacity, from which that setting limits flushing.
const AT_CAPACITY: f64 = 0.9;
/// Data as a share of the pool, below which the size of the pool does not matter.
const FITS: f64 = 0.8;

pub(super) const RULE: Rule = Rule {
    id: "C04",
    name: "no default setting limits the workload",
    found: "a default setting limits the workload",
    measures: "The buffer pool size compared with its default and with the machine's memory. The number of pages flushed per second compared with innodb_io_capacity. For storage: the I/O scheduler of the disks.",
    threshold: "the buffer pool size is judged only if it is the default of 128 MiB, the experiment does not set it, and the machine has at least 1 GiB of memory. Fail if the data does not fit into this buffer pool, otherwise note. Warn if pages are flushed at 90 % of innodb_io_capacity or more. For storage: warn if a solid-state disk uses the scheduler bfq or cfq",
    source: "a published test of MySQL 8.0.21's redo log (July 2020), in which a larger buffer pool and a higher I/O capacity reduced the load time from 17 minutes to 2 minutes, while the setting under study changed it by a quarter; the kernel's Documentation/block/bfq-iosched.rst: bfq handles at most about 30,000 requests per second on an average CPU",
    consequence: "The figures show the effect of the defaults, not of the setting under study.",
    remedy: "Give the buffer pool most of a dedicated machine's memory and set innodb_io_capacity to the disk's capability, then repeat the study. For storage: switch the I/O scheduler off (`echo none > /sys/block/DISK/queue/scheduler`).",
    judge: Judge::SetOrStorage(judge, of_storage),
};

fn judge(set: &Set<'_>) -> Outcome {
    let is_set = set.declared.variables.contains("innodb_buffer_pool_size");
    set.worst(|run| of_run(run, is_set))
}

/// Schedulers that sort for a moving head, or share a disk among programs.
const SLOW_SCHEDULERS: [&str; 2] = ["bfq", "cfq"];

fn of_storage(record: &StorageRecord) -> Outcome {
    let known = record
        .header
        .storage
        .disks()
        .filter_map(|it| Some((it, it.scheduler.as_deref()?)));
    let known: Vec<_> = known.collect();
    let is_slow = |(disk, scheduler): &&(&samples::BlockDevice, &str)| {
        SLOW_SCHEDULERS.contains(scheduler) && disk.rotational != Some(true)
    };
    let found = known.iter().find(is_slow);
    let first = known.first();
    let (disk, scheduler) = found
        .or(first)
        .ok_or_else(|| missing("the scheduler of the disk"))?;
    let level = if found.is_some() {
        Level::Warn
    } else {
        Level::Pass
    };
    let evidence = format!("{} uses the scheduler {scheduler}", disk.name);
    Ok(Finding::new(level, evidence))
}

fn of_run(run: &Run<'_>, is_set: bool) -> Outcome {
    let pool = run.buffer_pool_bytes()?;
    let memory = run.machine()?.memory_bytes as f64;
    let mut problems = Vec::new();
    let mut level = Level::Pass;
    if pool == DEFAULT_POOL && memory >= MEMORY && !is_set {
        let fits = run.data_bytes()? < FITS * pool;
        level = if fits { Level::Note } else { Level::Fail };
        let and = if fits {
            "; the data fits into the buffer pool"
        } else {
            ""
        };
        problems.push(format!(
            "the buffer pool has its default size of {} on a machine with {} of memory{and}",
            mean_bytes(pool),
            mean_bytes(memory)
        ));
    }
    let flushed = run.counter_per_s("Innodb_buffer_pool_pages_flushed")?;
    let capacity = run.number("innodb_io_capacity").unwrap_or(f64::INFINITY);
    if flushed >= AT_CAPACITY * capacity {
        level = level.max(Level::Warn);
        problems.push(format!(
            "{} pages per second were flushed, while innodb_io_capacity is {}",
            count(flushed),
            count(capacity)
        ));
    }
    let evidence = if problems.is_empty() {
        format!(
            "a buffer pool of {} on a machine with {} of memory; {} pages were flushed per second",
            mean_bytes(pool),
            mean_bytes(memory),
            count(flushed)
        )
    } else {
        format!("{}: {}", run.name(), problems.join("; "))
    };
    Ok(Finding::new(level, evidence)
        .with("buffer_pool_bytes", pool)
        .with("pages_flushed_per_s", flushed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let default =
            |record: &mut samples::Record| set(record, "innodb_buffer_pool_size", "134217728");
        assert_found(
            &judged(&RULE, default),
            Level::Fail,
            "its default size of 128 MiB on a machine with 16.0 GiB",
        );
        let outcome = judged(&RULE, |record| {
            default(record);
            record.dataset.as_mut().unwrap().disk_bytes = Some(50 << 20);
        });
        assert_found(&outcome, Level::Note, "the data fits into the buffer pool");
        // After loading a table, the pool has to hold the loaded table.
        let outcome = judged(&RULE, |record| {
            default(record);
            record.dataset.as_mut().unwrap().disk_bytes = Some(50 << 20);
            record.loaded = Some(samples::Loaded {
                disk_bytes: Some(90 << 20),
                ..samples::Loaded::new("one", 1_000_000, 80_000_000, 60.0)
            });
        });
        assert_found(&outcome, Level::Fail, "its default size of 128 MiB");
        let outcome = judged(&RULE, |record| {
            counter(record, "Innodb_buffer_pool_pages_flushed", 2000.0)
        });
        assert_found(&outcome, Level::Warn, "innodb_io_capacity is 2.00k");
    }

    #[test]
    fn storage_is_judged_by_its_scheduler() {
        let scheduled = |scheduler: Option<&str>| {
            judged_storage(&RULE, |record| {
                record.header.storage.devices[0].scheduler = scheduler.map(str::to_owned);
            })
        };
        assert_found(
            &scheduled(Some("bfq")),
            Level::Warn,
            "nvme0n1 uses the scheduler bfq",
        );
        assert_eq!(level(&scheduled(Some("none"))), Level::Pass);
        assert_missing(&scheduled(None), "scheduler");
    }

    #[test]
    fn passes() {
        assert_found(
            &judged(&RULE, |_| {}),
            Level::Pass,
            "a buffer pool of 8.00 GiB on a machine with 16.0 GiB",
        );
    }

    #[test]
    fn a_machine_that_nobody_saw_is_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.machines.clear()),
            "server's host",
        );
    }
}
