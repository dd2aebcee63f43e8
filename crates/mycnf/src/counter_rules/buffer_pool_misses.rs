//! Rule: pages come from the disk because the buffer pool is full.

use crate::counter_rule::{Base, CounterRule, nothing_in_a_file, rate};
use crate::counters::Counters;
use crate::rule::{Level, Rule, RuleFinding};
use crate::rules::memory_sum::option_to_lower;
use crate::subject::Subject;
use units::{bytes, count, fine_percent};

pub(super) const RULE: CounterRule = CounterRule {
    rule: Rule {
        id: "buffer-pool-misses",
        title: "Pages read from disk",
        reason: "A page that is not in the buffer pool must be read from disk. While the buffer pool still has free pages, most of these pages are read for the first time, and a larger buffer pool would not avoid these reads.",
        source: "MySQL Reference Manual, \"Server Status Variables\"; the limits of 1 % and ten reads a second are our own",
        check: nothing_in_a_file,
    },
    base: Base {
        counters: &["Innodb_buffer_pool_read_requests"],
        at_least: 100_000,
    },
    judge,
};

/// Minimum share of requests that read from disk for a finding.
const SHARE: f64 = 0.01;
/// Minimum number of reads per second for a finding: fewer reads do not keep a disk busy.
const READS_PER_S: f64 = 10.0;
/// Share of free pages above which the pool may still be filling.
const FREE_SHARE: f64 = 0.05;
/// After a pool was read this many times, its free pages are those that the server keeps free on purpose.
const READ_OVER: u64 = 4;
const FREE: &str = "Innodb_buffer_pool_pages_free";
const TOTAL: &str = "Innodb_buffer_pool_pages_total";

fn judge(subject: &Subject<'_>, counters: &Counters) -> Option<RuleFinding> {
    let requests = "Innodb_buffer_pool_read_requests";
    let share = counters.share("Innodb_buffer_pool_reads", &[requests])?;
    let reads_per_s = counters.per_s("Innodb_buffer_pool_reads")?;
    let free = counters.share(FREE, &[TOTAL]);
    // The page cleaner keeps some pages free even in a small pool that is full; such a pool was read many times over.
    let reads = counters.get("Innodb_buffer_pool_reads")?;
    let is_filling = free.is_some_and(|free| free > FREE_SHARE)
        && counters
            .get(TOTAL)
            .is_some_and(|total| reads < READ_OVER.saturating_mul(total));
    if share < SHARE || reads_per_s < READS_PER_S || is_filling {
        return None;
    }
    let name = "innodb_buffer_pool_size";
    let pool = u64::try_from(subject.number(name)?).ok()?;
    let what = format!(
        "{} of {} page requests needed a read from disk ({}), and the buffer pool of {} is full",
        fine_percent(share),
        count(counters.get(requests)? as f64),
        rate(reads_per_s),
        bytes(pool)
    );
    let memory = subject.machine.memory_bytes;
    let fix = match memory {
        Some(memory) if option_to_lower(subject).is_some() => format!(
            "the configured buffers can already need all of the machine's memory ({}): find the statements that read the most pages, or add memory",
            bytes(memory)
        ),
        Some(memory) if pool as f64 > MEMORY_SHARE * memory as f64 => format!(
            "the buffer pool is already large for a machine with {} of memory: find the statements that read the most pages, or add memory",
            bytes(memory)
        ),
        Some(memory) => format!(
            "increase innodb_buffer_pool_size in steps (the machine has {} of memory), and measure Innodb_buffer_pool_reads per query",
            bytes(memory)
        ),
        None => "increase innodb_buffer_pool_size in steps if the machine has enough memory, and measure Innodb_buffer_pool_reads per query"
            .to_owned(),
    };
    Some(RuleFinding::of(subject, name, Level::Warning, what).fix(fix))
}

/// Share of the memory above which the rule does not advise a larger pool.
const MEMORY_SHARE: f64 = 0.75;

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    const FULL: [(&str, u64); 2] = [
        ("Innodb_buffer_pool_pages_free", 10),
        ("Innodb_buffer_pool_pages_total", 8192),
    ];
    const POOL: [(&str, &str); 1] = [("innodb_buffer_pool_size", "134217728")];

    #[test]
    fn misses_of_a_full_pool_are_named() {
        let busy = [
            ("Innodb_buffer_pool_read_requests", 200_000_000),
            ("Innodb_buffer_pool_reads", 10_000_000),
        ];
        assert_counted(
            &RULE,
            &POOL,
            &[&busy[..], &FULL].concat(),
            "warning: innodb_buffer_pool_size: 5 % of 200M page requests needed a read from disk (116 a second), and the buffer pool of 128 MiB is full; increase innodb_buffer_pool_size in steps if the machine",
        );
        let (memory, all) = (with_memory(8), [&busy[..], &FULL].concat());
        assert_counted_on(&RULE, &memory, &POOL, &all, "the machine has 8.00 GiB");
        let large = [("innodb_buffer_pool_size", "7516192768")];
        assert_counted_on(&RULE, &memory, &large, &all, "or add memory");
    }

    #[test]
    fn a_pool_that_fills_or_few_reads_are_no_need() {
        let cold = [
            ("Innodb_buffer_pool_pages_free", 400_000),
            ("Innodb_buffer_pool_pages_total", 1_000_000),
            ("Innodb_buffer_pool_read_requests", 50_000_000),
            ("Innodb_buffer_pool_reads", 1_000_000),
        ];
        assert_silent(&RULE, &POOL, &cold);
        let kept_free = [
            &cold[..2],
            &[
                ("Innodb_buffer_pool_read_requests", 50_000_000),
                ("Innodb_buffer_pool_reads", 5_000_000),
            ],
        ];
        assert_counted(
            &RULE,
            &POOL,
            &kept_free.concat(),
            "10 % of 50.0M page requests",
        );
        let few = [
            ("Innodb_buffer_pool_read_requests", 1_000_000),
            ("Innodb_buffer_pool_reads", 100_000),
        ];
        assert_silent(&RULE, &POOL, &[&few[..], &FULL].concat());
        assert_too_early(&RULE, &[("Innodb_buffer_pool_read_requests", 99_999)]);
    }
}
