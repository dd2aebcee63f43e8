//! Rule M02: the caches were still filling during the measurement.

use units::count;

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
};

/// Ratio of the misses in the first third to those in the last third, from which the cache was still filling.
const FILLING: f64 = 2.0;
/// Misses per operation below which they do not matter.
const MATTERS: f64 = 0.01;

pub(super) const RULE: Rule = Rule {
    id: "M02",
    name: "the caches were in a constant state during the measurement",
    found: "the caches were still filling during the measurement",
    measures: "The number of pages that InnoDB read per second in the first third and in the last third of the measured phase. Whether the server loaded the buffer pool from a file at startup.",
    threshold: "warn if more than twice as many pages per second were read in the first third as in the last third, and the first third read more than one page per 100 operations. Note if innodb_buffer_pool_load_at_startup is enabled",
    source: "MySQL 5.6 parameter review (MyNA, 2013): the first execution took 44.0 s, and the second execution took 41.1 s",
    consequence: "The figures mix a cold and a warm server. A longer run would give different figures.",
    remedy: "Warm up until the number of reads per second is constant (warmup = \"auto\", or dbdyno oltp prewarm). To measure a cold server on purpose, set cache = \"cold\" in the experiment file.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let readings = run.status()?;
    if readings.len() < 3 {
        return Err(missing(
            "at least three readings of the server's counters in the measured phase",
        ));
    }
    let third = readings.len() / 3;
    let per_s = |part: &[&samples::ServerStatus]| {
        let length_s: f64 = part.iter().map(|it| it.length_s).sum();
        let read: f64 = part
            .iter()
            .filter_map(|it| it.counters.get("Innodb_buffer_pool_reads"))
            .sum();
        read / length_s
    };
    let (first, last) = (
        per_s(&readings[..third]),
        per_s(&readings[readings.len() - third..]),
    );
    let operations = run.operations_per_s()?;
    let is_filling = first > FILLING * last && first > MATTERS * operations;
    let loads = run.is_on("innodb_buffer_pool_load_at_startup") == Some(true);
    let evidence = format!(
        "{} pages per second were read in the first third of the measured phase, and {} in the last third",
        count(first),
        count(last)
    );
    let (level, evidence) = match (is_filling, loads) {
        (true, _) => (Level::Warn, evidence),
        (false, true) => (
            Level::Note,
            format!("{evidence}; innodb_buffer_pool_load_at_startup is on"),
        ),
        (false, false) => (Level::Pass, evidence),
    };
    Ok(Finding::new(level, evidence)
        .with("reads_first_third_per_s", first)
        .with("reads_last_third_per_s", last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            for (second, reading) in record.server_status.iter_mut().enumerate() {
                let reads = 10_000.0 / (second + 1) as f64;
                reading
                    .counters
                    .insert("Innodb_buffer_pool_reads".to_owned(), reads);
            }
        });
        assert_found(&outcome, Level::Warn, "in the first third");
        let outcome = judged(&RULE, |record| {
            set(record, "innodb_buffer_pool_load_at_startup", "ON")
        });
        assert_found(&outcome, Level::Note, "load_at_startup is on");
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "0 pages per second");
        let outcome = judged(&RULE, |record| {
            counter(record, "Innodb_buffer_pool_reads", 500.0)
        });
        assert_eq!(
            level(&outcome),
            Level::Pass,
            "many reads, but as many at the end"
        );
    }

    #[test]
    fn counters_that_nobody_read_are_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.server_status.clear()),
            "counters",
        );
    }
}
