//! Rule H06: pages came from the operating system's page cache, not from the disk.

use units::{mean_bytes, percent};

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
};

/// Read rate below which reads do not matter, bytes per second.
const READ_AT_LEAST: f64 = 1024.0 * 1024.0;
/// Bytes read by InnoDB, as a multiple of the bytes that the disks delivered.
const MOST: f64 = 1.1;

pub(super) const RULE: Rule = Rule {
    id: "H06",
    name: "pages came from the disk, not from the page cache",
    found: "pages came from the page cache, not from the disk",
    measures: "Bytes that InnoDB read against bytes that all disks of the machine delivered in the same time.",
    threshold: "InnoDB read at least 1 MiB/s and more than 1.1 times what the disks delivered: warn; with O_DIRECT, \
        which leaves the page cache out, fail",
    source: "Matsunobu, Ten points for correct benchmarks (2009), points 2 and 5",
    consequence: "The rest came from memory that the configuration does not show: the host's page cache stands in for the \
        disk, and the figures hold only as long as the data fits into it.",
    remedy: "Set innodb_flush_method=O_DIRECT, or give the memory to the buffer pool, or make the data larger than the \
        machine's memory.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let read = run.counter_per_s("Innodb_data_read")?;
    let samples = run.samples()?;
    if samples
        .iter()
        .all(|sample| sample.disk.is_none() && sample.paging.is_none())
    {
        return Err(missing("what the disks delivered"));
    }
    let length_s: f64 = samples.iter().map(|sample| sample.length_s).sum();
    let delivered = |sample: &&samples::Telemetry| -> f64 {
        sample.disks().map(|disk| disk.read_bytes as f64).sum()
    };
    let delivered: f64 = samples.iter().map(delivered).sum::<f64>() / length_s;
    let is_direct = run
        .variable("innodb_flush_method")
        .is_some_and(|method| method.to_ascii_uppercase().starts_with("O_DIRECT"));
    let evidence = format!(
        "InnoDB read {}/s, all disks delivered {}/s",
        mean_bytes(read),
        mean_bytes(delivered)
    );
    let (level, evidence) = if read < READ_AT_LEAST {
        (Level::Pass, evidence)
    } else if read > MOST * delivered {
        let elsewhere = percent((1.0 - delivered / read).clamp(0.0, 1.0));
        let level = if is_direct { Level::Fail } else { Level::Warn };
        (level, format!("{evidence}: {elsewhere} came from memory"))
    } else {
        (Level::Pass, evidence)
    };
    Ok(Finding::new(level, evidence)
        .with("innodb_read_bytes_per_s", read)
        .with("disks_read_bytes_per_s", delivered))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    const MIB: f64 = 1048576.0;

    #[test]
    fn found() {
        let reading =
            |record: &mut samples::Record| counter(record, "Innodb_data_read", 100.0 * MIB);
        let outcome = judged(&RULE, |record| {
            reading(record);
            set(record, "innodb_flush_method", "fsync");
        });
        assert_found(&outcome, Level::Warn, "100 % came from memory");
        assert_eq!(level(&judged(&RULE, reading)), Level::Fail);
    }

    #[test]
    fn passes() {
        assert_eq!(level(&judged(&RULE, |_| {})), Level::Pass);
        let outcome = judged(&RULE, |record| {
            counter(record, "Innodb_data_read", 100.0 * MIB);
            each_sample(record, |sample| {
                sample.disk.as_mut().unwrap().read_bytes = 101 << 20;
            });
        });
        assert_found(&outcome, Level::Pass, "all disks delivered 101 MiB/s");
    }

    #[test]
    fn counters_that_nobody_read_are_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.server_status.clear()),
            "counters",
        );
    }
}
