//! Rule C09: the run was too short for its redo log to wrap, so part of the flushing is postponed until after the run.

use units::{mean_bytes, percent, si};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    redo::{capacity_bytes, written_bytes},
    rule::{Judge, Rule},
    run::Run,
};

/// Number of times that the redo log has to wrap.
const WRAPS: f64 = 2.0;
/// Growth of the checkpoint age over the measured phase, as a share of the capacity.
const GROWTH: f64 = 0.05;
/// Redo written as a share of the capacity, below which it causes no flushing.
const WRITTEN_AT_LEAST: f64 = 0.01;

pub(super) const RULE: Rule = Rule {
    id: "C09",
    name: "the figures include the cost of flushing",
    found: "part of the flushing is postponed until after the run",
    measures: "The amount of redo log written in the measured phase, as a multiple of the redo log's capacity. The change of the checkpoint age during the measured phase.",
    threshold: "note if less than twice the capacity was written. Warn if, in addition, the checkpoint age grew by more than 5 % of the capacity",
    source: "a published test of MySQL 8.0.21's redo log (July 2020): with 2 GB of redo log for 820 MB of data, no checkpoint was ever forced",
    consequence: "Dirty pages accumulate and are written only after the run: the throughput is higher than the server could sustain.",
    remedy: "Measure for longer, or use a warm-up that writes until the checkpoint age is steady.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let capacity = capacity_bytes(run)?;
    let written = written_bytes(run)?;
    if written < WRITTEN_AT_LEAST * capacity {
        return Err(no_subject("hardly any redo log was written"));
    }
    let wraps = written / capacity;
    let ages: Vec<f64> = run
        .status()?
        .iter()
        .filter_map(|reading| Some(reading.innodb.as_ref()?.checkpoint_age_bytes()? as f64))
        .collect();
    let grown = match ages.as_slice() {
        [first, .., last] => (last - first) / capacity,
        _ => {
            return Err(missing(
                "the checkpoint age at the start and at the end of the measured phase",
            ));
        }
    };
    let level = match (wraps < WRAPS, grown > GROWTH) {
        (true, true) => Level::Warn,
        (true, false) => Level::Note,
        (false, _) => Level::Pass,
    };
    let evidence = format!(
        "{} of redo log were written, which is {} times its capacity ({}); the checkpoint age changed by {} of the capacity",
        mean_bytes(written),
        si(wraps),
        mean_bytes(capacity),
        percent(grown)
    );
    Ok(Finding::new(level, evidence)
        .with("redo_log_wraps", wraps)
        .with("checkpoint_age_growth", grown))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    fn small_log(growth_bytes: u64) -> Outcome {
        judged(&RULE, |record| {
            set(record, "innodb_log_file_size", "1073741824");
            for (second, reading) in record.server_status.iter_mut().enumerate() {
                let status = reading.innodb.as_mut().unwrap();
                let age = 20_000_000 + growth_bytes * second as u64;
                status.checkpoint_lsn = Some(status.lsn.unwrap() - age);
            }
        })
    }

    #[test]
    fn found() {
        assert_found(
            &small_log(4_000_000),
            Level::Warn,
            "0.447 times its capacity (1.00 GiB); the checkpoint age changed by 44 %",
        );
        assert_eq!(level(&small_log(0)), Level::Note);
    }

    #[test]
    fn passes() {
        assert_found(
            &judged(&RULE, |_| {}),
            Level::Pass,
            "14.3 times its capacity",
        );
    }

    #[test]
    fn a_status_that_nobody_asked_for_is_not_evaluated() {
        let outcome = judged(&RULE, |record| {
            record
                .server_status
                .iter_mut()
                .for_each(|reading| reading.innodb = None);
        });
        assert_missing(&outcome, "redo log written");
        assert_no_subject(&judged(&RULE, |record| {
            for reading in &mut record.server_status {
                reading.innodb.as_mut().unwrap().lsn = Some(1_000_000_000);
            }
        }));
    }
}
