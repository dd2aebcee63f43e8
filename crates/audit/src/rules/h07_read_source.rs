//! Rule H07: the sides of a comparison read from different storage.

use samples::StorageRecord;
use units::duration;

use crate::{
    disk_load::storage_record,
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
    set::{Set, in_words},
    storage::single,
};

/// Time per row or read from which it comes from a rotating disk, nanoseconds.
const DISK_NS: f64 = 3e6;
/// Time per row or read up to which it comes from memory on the same machine, nanoseconds.
const MEMORY_NS: f64 = 20e3;
/// Rows per operation below which the time per row is not used.
const ROWS_AT_LEAST: f64 = 0.5;

pub(super) const RULE: Rule = Rule {
    id: "H07",
    name: "the compared sides read from the same class of storage",
    found: "the compared sides read from different classes of storage",
    measures: "The time per row in each combination: the response time divided by the number of rows that the server read for each operation. For storage: the time per read. In a record of dbdyno storage, only random reads with one request in flight count.",
    threshold: "invalid if one side takes more than 3 ms per row or read, as a hard disk does, and another side takes less than 20 us, as local memory does",
    source: "Matsunobu, Ten points for correct benchmarks (2009), points 2 and 4",
    consequence: "The class of storage changes the time per row by a factor of a hundred or more, whatever else differs.",
    remedy: "Compare memory with memory, disk with disk, local with local and remote with remote.",
    judge: Judge::SetOrStorage(judge, of_storage),
};

fn judge(set: &Set<'_>) -> Outcome {
    let compared = set.compared();
    if compared.is_empty() || !set.compares() {
        return Err(no_subject("no comparison was declared"));
    }
    let mut times = Vec::new();
    for (levels, runs) in set.combinations() {
        let each: Result<Vec<Option<f64>>, _> = runs.iter().map(|run| ns_each(run)).collect();
        let each: Vec<f64> = each?.into_iter().flatten().collect();
        if !each.is_empty() {
            let mean_ns = each.iter().sum::<f64>() / each.len() as f64;
            times.push((mean_ns, in_words(&levels)));
        }
    }
    let reads_disk = set.complete().any(|run| run.record.disk_load.is_some());
    let (what, hardly) = if reads_disk {
        ("read", "nothing was read")
    } else {
        ("row", "the operations read hardly any rows")
    };
    finding(what, &times).ok_or_else(|| no_subject(hardly))
}

fn of_storage(record: &StorageRecord) -> Outcome {
    let reads = single(record, 100).filter_map(|result| {
        let latency = result.read.as_ref()?.latency.as_ref()?;
        Some((latency.mean_ns, result.pattern.name.clone()))
    });
    let reads: Vec<(f64, String)> = reads.collect();
    if reads.len() < 2 {
        let why = "fewer than two patterns of random reads have one request in flight";
        return Err(no_subject(why));
    }
    finding("read", &reads).ok_or_else(|| no_subject("nothing was read"))
}

/// What the shortest and the longest of these times per row or read say; `None` without any.
fn finding(what: &str, times: &[(f64, String)]) -> Option<Finding> {
    let least = times.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let most = times.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let level = if most.0 > DISK_NS && least.0 < MEMORY_NS {
        Level::Invalid
    } else {
        Level::Pass
    };
    let evidence = format!(
        "{} per {what} with {}, and {} with {}",
        duration(least.0),
        least.1,
        duration(most.0),
        most.1
    );
    let finding = Finding::new(level, evidence)
        .with(&format!("least_us_per_{what}"), least.0 / 1e3)
        .with(&format!("most_us_per_{what}"), most.0 / 1e3);
    Some(finding)
}

/// Time per row of a run's operations, or per read of a disk, nanoseconds; `None` if hardly any was read.
fn ns_each(run: &Run<'_>) -> Result<Option<f64>, crate::finding::SkipReason> {
    match storage_record(run) {
        Some(record) => {
            let reads = record.patterns.iter().filter_map(|it| it.read.as_ref());
            let means = reads.filter_map(|reads| Some(reads.latency.as_ref()?.mean_ns));
            Ok(means.reduce(f64::max))
        }
        None => ns_per_row(run),
    }
}

/// Response time per row read, nanoseconds; `None` if operations read hardly any rows.
fn ns_per_row(run: &Run<'_>) -> Result<Option<f64>, crate::finding::SkipReason> {
    if !run.record.header.beside.is_empty() {
        return Err(no_subject("rows are not counted separately for each load"));
    }
    let response = run.figures.response.as_ref();
    let response = response.ok_or_else(|| missing("response times"))?;
    let operations = run.throughput()?;
    let rows = run.counters()?.rows_read_per_s().unwrap_or(0.0);
    let per_operation = rows / operations;
    Ok((per_operation >= ROWS_AT_LEAST).then(|| response.mean_ns / per_operation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let mut runs = blocks_over("cache", &["cold", "hot"]);
        for run in &mut runs {
            if run.header.combination["cache"] == "hot" {
                counter(run, "Innodb_rows_read", 1_000_000.0);
            }
        }
        let outcome = judged_together(&RULE, &runs, over(&["cache"]));
        assert_found(
            &outcome,
            Level::Invalid,
            "7.99 µs per row with cache=hot, and 7.99 ms with cache=cold",
        );
    }

    #[test]
    fn reads_of_a_disk_and_of_its_cache_are_different_storage() {
        let mut runs = blocks_over("direct", &["off", "on"]);
        for run in &mut runs {
            let is_direct = run.header.combination["direct"] == "on";
            let mean_ns = if is_direct { 4_000_000 } else { 5_000 };
            on_a_disk(run, is_direct, 16 << 30);
            reads_of(run, mean_ns);
        }
        assert_found(
            &judged_together(&RULE, &runs, over(&["direct"])),
            Level::Invalid,
            "5.00 µs per read with direct=off, and 4.00 ms with direct=on",
        );
    }

    #[test]
    fn patterns_of_one_measurement() {
        let outcome = judged_storage(&RULE, |record| {
            let mut reads: Vec<_> = record.patterns.iter_mut().collect();
            let pattern = |result: &mut samples::PatternResult, name: &str, mean_ns| {
                result.pattern = samples::Pattern {
                    name: name.to_owned(),
                    access: samples::Access::Random,
                    block_bytes: 16 << 10,
                    reads_percent: 100,
                    depth: 1,
                };
                let latency = &mut result.read.as_mut().unwrap().latency;
                latency.as_mut().unwrap().mean_ns = mean_ns;
            };
            pattern(reads[0], "cached", 5_000.0);
            pattern(reads[2], "disk", 4e6);
        });
        assert_found(
            &outcome,
            Level::Invalid,
            "5.00 µs per read with cached, and 4.00 ms with disk",
        );
        assert_no_subject(&judged_storage(&RULE, |record| record.patterns.truncate(1)));
    }

    #[test]
    fn passes() {
        let runs = blocks_over("flush", &["1", "2"]);
        assert_eq!(
            level(&judged_together(&RULE, &runs, over(&["flush"]))),
            Level::Pass
        );
        assert_no_subject(&judged(&RULE, |_| {}));
    }

    #[test]
    fn counters_that_nobody_read_are_not_evaluated() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        runs[0].server_status.clear();
        assert_missing(&judged_together(&RULE, &runs, over(&["flush"])), "counters");
    }
}
