//! Rule: the buffer pool has its default on a machine with more memory.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

use super::memory_sum::option_to_lower;
use units::bytes;

pub(super) const RULE: Rule = Rule {
    id: "default-buffer-pool",
    title: "Buffer pool at its default",
    reason: "A buffer pool of 128 MB, the default, suits a small machine. Measure whether a larger buffer pool helps with your data.",
    source: "a measurement published in July 2020: on a machine with 8 GB of memory, loading a table took 17 minutes with a buffer pool of 128 MB, and 2 minutes with a buffer pool of 5 GB and a higher innodb_io_capacity",
    check,
};

/// Minimum memory of a machine on which the default is too small.
const MEMORY_BYTES: u64 = 2 << 30;

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let name = "innodb_buffer_pool_size";
    let is_dedicated = subject.is_on("innodb_dedicated_server") == Some(true);
    let Some(memory) = subject
        .machine
        .memory_bytes
        .filter(|memory| *memory >= MEMORY_BYTES)
    else {
        return Vec::new();
    };
    // If other buffers already need the memory, a larger pool is bad advice.
    if subject.set(name).is_some()
        || is_dedicated
        || subject.is_without_innodb()
        || option_to_lower(subject).is_some()
    {
        return Vec::new();
    }
    let pool = subject
        .number(name)
        .and_then(|pool| u64::try_from(pool).ok())
        .unwrap_or(0);
    let what = format!(
        "not set: the default is {}, but the machine has {} of memory",
        bytes(pool),
        bytes(memory)
    );
    let fix = "measure Innodb_buffer_pool_reads per query; a value near 0 means that the data in use already fits into the buffer pool";
    vec![RuleFinding::about(name, Level::Warning, what).fix(fix)]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn a_default_on_a_large_machine_is_named() {
        assert_found_on(
            &RULE,
            &with_memory(8),
            "mysql-8.0.33",
            "",
            &[
                "warning: innodb_buffer_pool_size: not set: the default is 128 MiB, but the machine has 8.00 GiB of memory",
            ],
        );
        assert_found_on(
            &RULE,
            &with_memory(8),
            "mysql-8.0.33",
            "innodb_buffer_pool_size=5G",
            &[],
        );
        assert_found(&RULE, "mysql-8.0.33", "", &[]);
        assert_found_on(&RULE, &with_memory(8), "mysql-5.5", "skip-innodb", &[]);
        assert_found_on(
            &RULE,
            &with_memory(8),
            "mysql-8.0.33",
            "max_connections=4000\nsort_buffer_size=32M",
            &[],
        );
    }
}
