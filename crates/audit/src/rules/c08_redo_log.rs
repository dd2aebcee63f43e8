//! Rule C08: the redo log was disabled.

use crate::{
    durability::redo_log_is_off,
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

pub(super) const RULE: Rule = Rule {
    id: "C08",
    name: "the redo log is enabled, except in measurements of data loading",
    found: "the redo log was disabled",
    measures: "The value of Innodb_redo_log_enabled (MySQL 8.0.21 and later) from the start to the end of the run.",
    threshold: "note if the redo log was disabled in a measurement of data loading. Invalid if it was disabled in a run that does not measure data loading",
    source: "a published test of MySQL 8.0.21 with the redo log disabled (July 2020); MySQL Reference Manual, Disabling Redo Logging: meant only for loading data into a new instance",
    consequence: "After a crash, the data directory is unusable. Writes are fast only because they are not durable.",
    remedy: "Run ALTER INSTANCE ENABLE INNODB REDO_LOG, check Innodb_redo_log_enabled, and measure again.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    run.server()?;
    if run.is_mariadb() || run.version().as_slice() < [8, 0, 21].as_slice() {
        return Err(no_subject("this server always writes its redo log"));
    }
    let is_off = redo_log_is_off(run).ok_or_else(|| missing("Innodb_redo_log_enabled"))?;
    Ok(match (is_off, &run.record.loaded) {
        (false, _) => Finding::new(Level::Pass, "the redo log was enabled"),
        (true, Some(loaded)) => {
            let evidence = format!(
                "the redo log was disabled while {} was loaded",
                loaded.table
            );
            Finding::new(Level::Note, evidence)
        }
        (true, None) => Finding::new(
            Level::Invalid,
            "the redo log was disabled during the measurement",
        ),
    })
}

#[cfg(test)]
mod tests {
    use samples::{Loaded, Record};

    use super::*;
    use crate::fixture::*;

    fn redo_log(record: &mut Record, value: f64) {
        record.servers[0].version = "8.0.33".to_owned();
        let values = &mut record.server_status[0].values;
        values.insert("Innodb_redo_log_enabled".to_owned(), value);
    }

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| redo_log(record, 0.0));
        assert_found(&outcome, Level::Invalid, "the redo log was disabled");
        let outcome = judged(&RULE, |record| {
            redo_log(record, 0.0);
            record.loaded = Some(Loaded::new("lineitem", 1, 1, 1.0));
        });
        assert_found(&outcome, Level::Note, "while lineitem was loaded");
    }

    #[test]
    fn passes() {
        assert_eq!(
            level(&judged(&RULE, |record| redo_log(record, 1.0))),
            Level::Pass
        );
        assert_no_subject(&judged(&RULE, |_| {}));
    }

    #[test]
    fn a_server_that_was_not_asked_is_not_evaluated() {
        let outcome = judged(&RULE, |record| {
            redo_log(record, 1.0);
            record.server_status.clear();
        });
        assert_missing(&outcome, "Innodb_redo_log_enabled");
    }
}
