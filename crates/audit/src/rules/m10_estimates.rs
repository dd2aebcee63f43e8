//! Rule M10: data sizes are estimates.

use units::bytes;

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
};

pub(super) const RULE: Rule = Rule {
    id: "M10",
    name: "estimated data sizes are not mistaken for measured ones",
    found: "data sizes are estimates",
    measures: "Whether the data size comes from the tablespace files or from information_schema, which estimates rows and sizes.",
    threshold: "note if only estimates are known",
    source: "Matsunobu on information_schema (2009); MySQL Reference Manual, SHOW TABLE STATUS: InnoDB's row counts may be off by 40 to 50 %",
    consequence: "Ratios of data to memory may be wrong by half if they are based on estimates.",
    remedy: "Use the sizes of the files in the data directory. If you cannot read these files, run ANALYZE TABLE before the sizes are read, and state that they are estimates.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let dataset = run.record.dataset.as_ref();
    let counted = dataset.and_then(|data| Some((data.rows, data.disk_bytes?)));
    let estimated = run.record.table_sizes.first().map(|sizes| {
        let rows: u64 = sizes.tables.iter().map(|table| table.rows).sum();
        (rows, sizes.all_bytes)
    });
    Ok(match (counted, estimated) {
        (Some((rows, size)), _) => {
            let evidence = format!("{rows} rows were loaded, with {} on disk", bytes(size));
            Finding::new(Level::Pass, evidence)
        }
        (None, Some((rows, size))) => {
            let evidence = format!(
                "about {rows} rows and {}, estimated by information_schema",
                bytes(size)
            );
            Finding::new(Level::Note, evidence)
        }
        (None, None) => return Err(missing("the data size")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| record.dataset = None);
        assert_found(&outcome, Level::Note, "about 998000 rows and 2.00 GiB");
    }

    #[test]
    fn passes() {
        assert_found(
            &judged(&RULE, |_| {}),
            Level::Pass,
            "1000000 rows were loaded",
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
