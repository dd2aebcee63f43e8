//! Rule W15: the tables were nearly empty at the start.

use units::percent;

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

/// Rows at the start as a share of the final rows, below which a table counts as empty.
const SHARE: f64 = 0.5;
/// Inserted rows as a share of all, from which the load consists of inserts.
const GROWN: f64 = 0.1;

pub(super) const RULE: Rule = Rule {
    id: "W15",
    name: "inserts are measured on tables that are not empty",
    found: "the tables were nearly empty at the start",
    measures: "The server's estimate of the rows in the growing tables, at the start and at the end of the run.",
    threshold: "warn if a table had fewer than half of its final rows at the start",
    source: "Obama for America's keynote at the MySQL Conference 2009, reported by Matsunobu: a job took two minutes in the test and an hour in production",
    consequence: "The indexes of an empty table are shallow and stay in memory. The same inserts into a full table take many times as long.",
    remedy: "Fill the tables to their production size before you measure the inserts.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    if run.record.loaded.is_some() {
        return Err(no_subject("the run measures loading an empty table"));
    }
    let inserted = run.counter_per_s("Com_insert")? + run.counter_per_s("Com_load")?;
    if inserted == 0.0 {
        return Err(no_subject("no rows were inserted"));
    }
    let [start, .., end] = run.record.table_sizes.as_slice() else {
        return Err(missing(
            "the number of rows in the tables at the start and at the end",
        ));
    };
    let mut worst: Option<(f64, String)> = None;
    for table in &end.tables {
        let same = |other: &&samples::TableSize| {
            (&other.schema, &other.table) == (&table.schema, &table.table)
        };
        let before = start.tables.iter().find(same).map_or(0, |table| table.rows);
        let share = before as f64 / table.rows.max(1) as f64;
        if 1.0 - share >= GROWN && worst.as_ref().is_none_or(|(known, _)| share < *known) {
            let words = format!(
                "{}.{} had about {before} rows at the start and {} at the end ({} of the final number)",
                table.schema,
                table.table,
                table.rows,
                percent(share)
            );
            worst = Some((share, words));
        }
    }
    let (share, words) = worst.ok_or_else(|| no_subject("no table grew by a tenth"))?;
    let level = if share < SHARE {
        Level::Warn
    } else {
        Level::Pass
    };
    Ok(Finding::new(level, words).with("rows_at_start_share", share))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    fn growing(from: u64, to: u64) -> Outcome {
        judged(&RULE, |record| {
            counter(record, "Com_insert", 100.0);
            record.table_sizes[0].tables[0].rows = from;
            record.table_sizes[1].tables[0].rows = to;
        })
    }

    #[test]
    fn found() {
        assert_found(
            &growing(0, 100_000),
            Level::Warn,
            "test.one had about 0 rows at the start and 100000 at the end",
        );
    }

    #[test]
    fn passes() {
        assert_eq!(level(&growing(500_000, 600_000)), Level::Pass);
        assert_no_subject(&growing(500_000, 510_000));
        assert_no_subject(&judged(&RULE, |_| {}));
    }
}
