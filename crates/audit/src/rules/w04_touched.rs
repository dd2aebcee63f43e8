//! Rule W04: the load touches less of the data than declared.

use samples::KeyOrder;
use units::percent;

use crate::{
    finding::{Finding, Level, Outcome, SkipReason, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

/// Smallest share of the data that has to be requested.
const TOUCHED: f64 = 0.5;

pub(super) const RULE: Rule = Rule {
    id: "W04",
    name: "the load touches as much of the data as production does",
    found: "the load touches less of the data than production does",
    measures: "The share of the keys that the load, including its warm-up, could have requested. The rule applies only if the data is larger than the buffer pool. If the keys are drawn at random from a list of n words, the expected number of different words is n(1-e^(-draws/n)). Without such a list, InnoDB's pages give two bounds. Lower bound: the largest number of pages in the buffer pool at any time. Upper bound: the pages that were in the buffer pool at the start, plus the pages read after that.",
    threshold: "fail if the load touched less than half of the data. Not evaluated if the lower bound is below half of the data and the upper bound is not below it",
    source: "Matsunobu, Ten points for correct benchmarks (2009), point 7: with a hundred fixed users instead of a hundred thousand users, all requested rows fit into memory",
    consequence: "The requested rows fit into memory although the data does not: the figures describe a smaller database.",
    remedy: "Draw keys from all rows (file_size_equiv \"0\" in a .smack file), and run long enough to reach all of them.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let (data, pool) = (run.data_bytes()?, run.buffer_pool_bytes()?);
    if data <= pool {
        return Err(no_subject("the data fits into the buffer pool"));
    }
    if run.record.loaded.is_some() {
        return Err(no_subject("the run loads a table"));
    }
    if let Some((touched, draws, of)) = of_keys(run) {
        let evidence = format!(
            "{draws} draws could have requested {} of {of} keys",
            percent(touched)
        );
        return Ok(finding(touched, evidence));
    }
    let (least, most) = of_pages(run, data)?;
    let evidence = format!(
        "between {} and {} of the data's pages were touched",
        percent(least),
        percent(most)
    );
    match (least >= TOUCHED, most < TOUCHED) {
        (true, _) => Ok(finding(least, evidence)),
        (_, true) => Ok(finding(most, evidence)),
        _ => Err(missing(format!(
            "the exact share of the data's pages that were requested (it is between {} and {})",
            percent(least),
            percent(most)
        ))),
    }
}

fn finding(touched: f64, evidence: String) -> Finding {
    let level = if touched < TOUCHED {
        Level::Fail
    } else {
        Level::Pass
    };
    Finding::new(level, evidence).with("touched_share", touched)
}

/// The share of the keys that were drawn, with draws and keys; `None` unless they are drawn at random from one list.
fn of_keys(run: &Run<'_>) -> Option<(f64, u64, u64)> {
    let [keys] = run.record.keys.as_slice() else {
        return None;
    };
    let (used, offered) = (keys.used?, keys.offered?);
    if keys.drawn != KeyOrder::Random || used == 0 {
        return None;
    }
    let draws: u64 = run.record.intervals.iter().map(|it| it.succeeded()).sum();
    let found = used as f64 * -(-(draws as f64) / used as f64).exp_m1();
    Some((found / offered.max(used) as f64, draws, offered))
}

/// Bounds of the share of the data's pages that were touched, over the whole run.
fn of_pages(run: &Run<'_>, data: f64) -> Result<(f64, f64), SkipReason> {
    let page_bytes = run.number("innodb_page_size").unwrap_or(16384.0);
    let readings = &run.record.server_status;
    let in_pool = |reading: &samples::ServerStatus| {
        let pages = reading.values.get("Innodb_buffer_pool_pages_data");
        pages.copied()
    };
    let first = readings.iter().find_map(in_pool);
    let first = first.ok_or_else(|| missing("the number of pages in the buffer pool"))?;
    let most_in_pool = readings.iter().filter_map(in_pool).fold(first, f64::max);
    let read: f64 = readings
        .iter()
        .filter_map(|reading| reading.counters.get("Innodb_pages_read"))
        .sum();
    let pages = data / page_bytes;
    let share = |touched: f64| (touched / pages).clamp(0.0, 1.0);
    Ok((share(most_in_pool.min(first + read)), share(first + read)))
}

#[cfg(test)]
mod tests {
    use samples::{Keys, Record};

    use super::*;
    use crate::fixture::*;

    /// The healthy run with data of four times its buffer pool, which is 32,768 pages.
    fn large(record: &mut Record) {
        set(record, "innodb_buffer_pool_size", "536870912");
    }

    fn drawing(used: u64, offered: u64) -> Outcome {
        judged(&RULE, |record| {
            large(record);
            record.keys = vec![Keys {
                drawn: KeyOrder::Random,
                used: Some(used),
                offered: Some(offered),
                ..Keys::default()
            }];
        })
    }

    /// A pool that holds `held` pages from the first reading, and reads `per_s` pages more in each.
    fn reading(held: f64, per_s: f64) -> Outcome {
        judged(&RULE, |record| {
            large(record);
            counter(record, "Innodb_pages_read", per_s);
            let first = &mut record.server_status[0];
            let name = "Innodb_buffer_pool_pages_data".to_owned();
            first.values.insert(name, held);
        })
    }

    #[test]
    fn found() {
        let outcome = drawing(100, 1_000_000);
        assert_found(&outcome, Level::Fail, "0.01 % of 1000000 keys");
        // Of 131,072 pages.
        assert_found(
            &reading(20_000.0, 10.0),
            Level::Fail,
            "between 15 % and 16 %",
        );
    }

    #[test]
    fn passes() {
        assert_found(&drawing(9_000, 9_000), Level::Pass, "100 % of 9000 keys");
        assert_found(&reading(70_000.0, 0.0), Level::Pass, "53 %");
    }

    #[test]
    fn what_lies_between_the_bounds_is_not_evaluated() {
        assert_missing(&reading(20_000.0, 1000.0), "between 15 % and 100 %");
        assert_no_subject(&judged(&RULE, |_| {}));
    }
}
