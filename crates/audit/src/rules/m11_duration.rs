//! Rule M11: the run covers too few background cycles.

use units::{moment, seconds, si};

use crate::{
    finding::{Finding, Level, Outcome},
    redo::{capacity_bytes, written_bytes},
    rule::{Judge, Rule},
    run::Run,
};

/// Number of cycles of each background process that the run has to cover.
const PERIODS: f64 = 3.0;
/// Cycle of InnoDB's master thread, seconds.
const MASTER_THREAD_S: f64 = 10.0;
/// Pages read per operation below which replacement in the buffer pool is not part of the work.
const READS: f64 = 0.01;
/// Longest cycle that is considered, seconds.
const SLOWEST_S: f64 = 24.0 * 3600.0;

pub(super) const RULE: Rule = Rule {
    id: "M11",
    name: "the run covers several background cycles",
    found: "the run covers too few background cycles",
    measures: "The length of the measured phase, compared with the periods of the server's background work. These periods are one turnover of the redo log, one replacement of all buffer pool pages, and the master thread's cycle of ten seconds.",
    threshold: "warn if the measured phase covers fewer than 3 of any of these periods",
    source: "Matsunobu, Ten points for correct benchmarks (2009), point 10; M. Callaghan's benchmarks, which run until compaction and checkpoints have recurred",
    consequence: "The background work and its stalls are missing from the figures, or appear only in some runs.",
    remedy: "Measure for at least three periods of the slowest background process.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let measured_s = run.sustained_s()?;
    let mut periods = vec![("the master thread's work", MASTER_THREAD_S)];
    let written_per_s = written_bytes(run)? / measured_s;
    if written_per_s > 0.0 {
        periods.push((
            "the redo log's turnover",
            capacity_bytes(run)? / written_per_s,
        ));
    }
    let page_bytes = run.number("innodb_page_size").unwrap_or(16384.0);
    let read_per_s = run.counter_per_s("Innodb_buffer_pool_reads")? * page_bytes;
    let pool = run.buffer_pool_bytes()?;
    let matters = read_per_s > READS * page_bytes * run.operations_per_s()?;
    if matters && run.data_bytes().is_ok_and(|data| data > pool) {
        periods.push(("the buffer pool's replacement", pool / read_per_s));
    }
    periods.retain(|(_, period_s)| *period_s < SLOWEST_S);
    let slowest = periods.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let (what, period_s) = slowest.unwrap_or(("the master thread's work", MASTER_THREAD_S));
    let rounds = measured_s / period_s;
    let level = if rounds < PERIODS {
        Level::Warn
    } else {
        Level::Pass
    };
    let evidence = format!(
        "{} cover {} periods of {what} ({} each)",
        moment(measured_s),
        si(rounds),
        seconds(period_s)
    );
    Ok(Finding::new(level, evidence).with("rounds", rounds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            set(record, "innodb_log_file_size", "1073741824")
        });
        assert_found(&outcome, Level::Warn, "0.447 periods of the redo log");
    }

    #[test]
    fn passes() {
        assert_found(
            &judged(&RULE, |_| {}),
            Level::Pass,
            "12.0 periods of the master thread's work",
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
