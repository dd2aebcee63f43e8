//! Rule W12: the AUTO_INCREMENT lock serialises inserts or endangers replicas.

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

/// Connections from which the lock is contended.
const MANY: u32 = 8;

pub(super) const RULE: Rule = Rule {
    id: "W12",
    name: "AUTO_INCREMENT neither serialises inserts nor breaks replicas",
    found: "AUTO_INCREMENT serialises inserts or breaks replicas",
    measures: "For a run that inserts rows: innodb_autoinc_lock_mode, the number of connections, binlog_format and log_bin.",
    threshold: "fail if the mode is 2 and the binary log is statement-based. Warn if the mode is 0 and the run has 8 or more connections",
    source: "Matsunobu, InnoDB's AUTO_INCREMENT lock (2009): 200 connections reached 660 inserts/s with the old lock of MySQL 5.0.83, and about 20,000 inserts/s with MySQL 5.1.37",
    consequence: "In mode 0 each insert holds a table lock, so more connections do not insert more rows. In mode 2 with a statement-based binary log, replicas generate different ids.",
    remedy: "Set innodb_autoinc_lock_mode=1, or set it to 2 together with binlog_format=ROW.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let inserted = run.counter_per_s("Com_insert")? + run.counter_per_s("Com_load")?;
    if inserted == 0.0 {
        return Err(no_subject("no rows were inserted"));
    }
    let mode = run.variable("innodb_autoinc_lock_mode");
    let mode = mode.ok_or_else(|| missing("the variable innodb_autoinc_lock_mode"))?;
    let logs_statements = run.is_on("log_bin") == Some(true)
        && run
            .variable("binlog_format")
            .is_some_and(|format| format.eq_ignore_ascii_case("statement"));
    let connections = run.connections();
    let evidence = format!("innodb_autoinc_lock_mode={mode}, {connections} connections");
    Ok(match mode {
        "2" if logs_statements => Finding::new(
            Level::Fail,
            format!("{evidence}, and the binary log is statement-based"),
        ),
        "0" if connections >= MANY => Finding::new(Level::Warn, evidence),
        _ => Finding::new(Level::Pass, evidence),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    fn inserting(mode: &str, format: &str) -> Outcome {
        judged(&RULE, |record| {
            counter(record, "Com_insert", 100.0);
            set(record, "innodb_autoinc_lock_mode", mode);
            set(record, "log_bin", "ON");
            set(record, "binlog_format", format);
        })
    }

    #[test]
    fn found() {
        assert_found(
            &inserting("2", "STATEMENT"),
            Level::Fail,
            "is statement-based",
        );
        assert_found(&inserting("0", "ROW"), Level::Warn, "8 connections");
    }

    #[test]
    fn passes() {
        assert_eq!(level(&inserting("2", "ROW")), Level::Pass);
        assert_eq!(level(&inserting("1", "STATEMENT")), Level::Pass);
        assert_no_subject(&judged(&RULE, |_| {}));
    }
}
