//! Rule W02: the data is about as large as the buffer pool.

use units::mean_bytes;

use crate::{
    finding::{Finding, Level, Outcome},
    rule::{Judge, Rule},
    run::Run,
};

/// Ratio of data to buffer pool below which all reads are answered from memory.
const IN_MEMORY: f64 = 0.8;
/// Ratio above which the disk is read continuously.
const FROM_DISK: f64 = 1.5;

pub(super) const RULE: Rule = Rule {
    id: "W02",
    name: "the data is either much smaller or much larger than memory",
    found: "the data is about as large as the buffer pool",
    measures: "The size of the data and indexes, compared with the buffer pool and with the machine's memory. If the sizes of the tablespace files are known, these sizes are used.",
    threshold: "warn if the data is 0.8 to 1.5 times as large as the buffer pool. Note if the data is smaller, because the figures then describe memory. Pass if the data is larger",
    source: "Matsunobu, Ten points for correct benchmarks (2009), point 6; HP Japan, MySQL Server 5.0 sizing information \
        (1, 2 and 10 GB of data with 4 GB of memory)",
    consequence: "If the data only just fits, 10 % more data or 10 % less memory reduces the throughput to a fraction. If all data is in memory, the figures say nothing about data that does not fit.",
    remedy: "Measure with the same ratio of data to memory as in production, or with three sizes around that ratio. In an experiment file, rows = \"4x\" means four times the buffer pool.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let data = run.data_bytes()?;
    let pool = run.buffer_pool_bytes()?;
    let ratio = data / pool;
    let memory = run
        .machine()
        .ok()
        .map(|machine| machine.memory_bytes as f64);
    let of_memory = memory
        .filter(|memory| *memory > 0.0)
        .map(|memory| data / memory);
    let (level, class) = match ratio {
        ratio if ratio < IN_MEMORY => (Level::Note, "the data fits into memory"),
        ratio if ratio <= FROM_DISK => {
            (Level::Warn, "the data is about as large as the buffer pool")
        }
        _ => (Level::Pass, "the data is larger than the buffer pool"),
    };
    let in_memory = of_memory.map_or(String::new(), |share| {
        format!(" and {share:.2} times the machine's memory")
    });
    let evidence = format!(
        "{} of data, which is {ratio:.2} times the buffer pool ({}){in_memory}: {class}",
        mean_bytes(data),
        mean_bytes(pool)
    );
    Ok(Finding::new(level, evidence).with("data_per_buffer_pool", ratio))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    fn with_pool(gib: u64) -> Outcome {
        judged(&RULE, |record| {
            set(record, "innodb_buffer_pool_size", &(gib << 30).to_string())
        })
    }

    #[test]
    fn found() {
        assert_found(
            &with_pool(2),
            Level::Warn,
            "1.00 times the buffer pool (2.00 GiB) and 0.12 times the machine's memory: the data is about as large as the buffer pool",
        );
        assert_found(&with_pool(8), Level::Note, "the data fits into memory");
    }

    #[test]
    fn passes() {
        assert_found(
            &with_pool(1),
            Level::Pass,
            "the data is larger than the buffer pool",
        );
    }

    #[test]
    fn data_of_unknown_size_is_not_evaluated() {
        let outcome = judged(&RULE, |record| {
            record.dataset = None;
            record.table_sizes.clear();
        });
        assert_missing(&outcome, "data size");
    }
}
