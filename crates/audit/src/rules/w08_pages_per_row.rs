//! Rule W08: statements read more rows or pages than their plan needs.

use units::count;

use crate::{
    finding::{Finding, Level, Outcome, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

/// Pages read as a multiple of the pages that the rows need.
const TIMES: f64 = 2.0;
/// Pages per operation below which they do not matter.
const PAGES_AT_LEAST: f64 = 0.1;
/// Rows read in scans per operation, from which the operations scan. Statements of other clients are included.
const SCANNED: f64 = 100.0;
/// Counters of reads by key. Each can cost two pages: a leaf of a secondary index, and the page of the row; root and
/// branches are in memory.
const BY_KEY: [&str; 3] = [
    "Handler_read_key",
    "Handler_read_first",
    "Handler_read_last",
];
/// Counters of next rows in a range. Each costs the page of its row if the index is secondary.
const NEXT: [&str; 2] = ["Handler_read_next", "Handler_read_prev"];
const BY_POSITION: &str = "Handler_read_rnd";
const SCAN: &str = "Handler_read_rnd_next";
/// Counters of changed rows. Each touches the page of the row and one of each secondary index, whose number is unknown.
const CHANGES: [&str; 3] = ["Handler_write", "Handler_update", "Handler_delete"];
const PAGES_PER_CHANGE: f64 = 4.0;

pub(super) const RULE: Rule = Rule {
    id: "W08",
    name: "statements read no more rows and pages than their plan needs",
    found: "statements read more rows or pages than their plan needs",
    measures: "The number of pages that InnoDB read per operation, compared with the maximum number of pages that the examined rows can need. A look-up by key needs at most two pages. Each further row of a range needs at most one page. A changed row needs at most four pages. Also the number of rows per operation that were read in scans.",
    threshold: "warn if more than twice this maximum number of pages was read. Warn if more than 100 rows per operation were read in scans, and fewer rows were read by key or in ranges",
    source: "Matsunobu, Ten points for correct benchmarks (2009), on disk I/O: reading a range of ten rows through a secondary index takes eleven random reads",
    consequence: "The server uses a plan other than the intended one, or statements from outside the workload also read data. In both cases the figures describe a different query.",
    remedy: "Run EXPLAIN for the statements on the run's data. Run ANALYZE TABLE after loading.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let operations = run.operations_per_s()?;
    let per_operation = |names: &[&str]| {
        let each: Result<Vec<f64>, _> = names.iter().map(|name| run.counter_per_s(name)).collect();
        each.map(|each| each.iter().sum::<f64>() / operations)
    };
    let by_key = per_operation(&BY_KEY)?;
    let next = per_operation(&NEXT)?;
    let by_position = per_operation(&[BY_POSITION])?;
    let scanned = per_operation(&[SCAN])?;
    let changed = per_operation(&CHANGES)?;
    let looked_at = by_key + next + by_position + scanned + changed;
    if looked_at < PAGES_AT_LEAST {
        return Err(no_subject("the operations examine hardly any rows"));
    }
    let needed = 2.0 * by_key + next + 2.0 * by_position + scanned + PAGES_PER_CHANGE * changed;
    let read = per_operation(&["Innodb_buffer_pool_reads"])?;
    let is_scanning = scanned > SCANNED && scanned > by_key + next;
    let is_more = read > PAGES_AT_LEAST && read > TIMES * needed;
    let evidence = format!(
        "{} pages were read per operation; {} rows were changed or were read by key or in ranges, and {} rows were scanned; all these rows need at most {} pages",
        count(read),
        count(by_key + next + by_position + changed),
        count(scanned),
        count(needed)
    );
    let level = if is_scanning || is_more {
        Level::Warn
    } else {
        Level::Pass
    };
    Ok(Finding::new(level, evidence)
        .with("pages_read_per_operation", read)
        .with("pages_needed_at_most", needed)
        .with("rows_scanned_per_operation", scanned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    fn with(counters: &[(&str, f64)]) -> Outcome {
        judged(&RULE, |record| {
            counter(record, "Handler_read_key", 1000.0);
            for (name, per_s) in counters {
                counter(record, name, *per_s);
            }
        })
    }

    #[test]
    fn found() {
        let outcome = with(&[("Innodb_buffer_pool_reads", 9_000.0)]);
        assert_found(&outcome, Level::Warn, "9.00 pages were read per operation");
        let outcome = with(&[("Handler_read_rnd_next", 500_000.0)]);
        assert_found(&outcome, Level::Warn, "500 rows were scanned");
    }

    #[test]
    fn passes() {
        let outcome = with(&[("Innodb_buffer_pool_reads", 900.0)]);
        assert_found(&outcome, Level::Pass, "0.900 pages were read per operation");
    }

    #[test]
    fn counters_that_nobody_read_are_not_evaluated() {
        let outcome = judged(&RULE, |record| record.server_status.clear());
        assert_missing(&outcome, "counters");
        assert_no_subject(&judged(&RULE, |_| {}));
    }
}
