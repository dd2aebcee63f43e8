//! Rule C10: replication or a storage engine other than InnoDB was active.

use std::collections::BTreeSet;

use crate::{
    finding::{Finding, Level, Outcome},
    rule::{Judge, Rule},
    run::Run,
    words::listed,
};

/// Storage engines that need no declaration.
const ENGINES: &[&str] = &["InnoDB", ""];
/// Names of replica threads in the process list.
const REPLICA: &[&str] = &["slave", "replica", "from master", "relay log"];

pub(super) const RULE: Rule = Rule {
    id: "C10",
    name: "neither replication nor a storage engine other than InnoDB is active",
    found: "replication or a storage engine other than InnoDB was active",
    measures: "Replica threads in the process list, the binary log, and the storage engines of the tables.",
    threshold: "warn if replica threads are active, or if tables use a storage engine other than InnoDB. Note if the binary log is on; the note states its format",
    source: "the list of settings in Matsunobu's AUTO_INCREMENT measurements (2009); MySQL Reference Manual, Replication",
    consequence: "Replica threads use CPU, I/O and locks for work that no client requested. Storage engines other than InnoDB have different durability and locking rules.",
    remedy: "Run STOP REPLICA before the run, or report that replication was active. Convert all tables to InnoDB.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    run.server()?;
    let mut problems = Vec::new();
    let replicating: BTreeSet<String> = run
        .status()?
        .iter()
        .flat_map(|reading| reading.processes.keys())
        .filter(|state| {
            let state = state.to_lowercase();
            REPLICA.iter().any(|part| state.contains(part))
        })
        .cloned()
        .collect();
    if !replicating.is_empty() {
        let states: Vec<_> = replicating.into_iter().collect();
        problems.push(format!("replica threads: {}", listed(&states, 4)));
    }
    let tables = run
        .record
        .table_sizes
        .first()
        .map_or(&[][..], |sizes| &sizes.tables);
    let others: BTreeSet<String> = tables
        .iter()
        .filter(|table| !ENGINES.contains(&table.engine.as_str()))
        .map(|table| format!("{}.{} is {}", table.schema, table.table, table.engine))
        .collect();
    if !others.is_empty() {
        let others: Vec<_> = others.into_iter().collect();
        problems.push(listed(&others, 4));
    }
    let log = match run.is_on("log_bin") {
        Some(true) => format!(
            "the binary log is on (format {})",
            run.variable("binlog_format").unwrap_or("unknown")
        ),
        _ => "no binary log".to_owned(),
    };
    let level = match (problems.is_empty(), run.is_on("log_bin")) {
        (false, _) => Level::Warn,
        (true, Some(true)) => Level::Note,
        (true, _) => Level::Pass,
    };
    problems.push(log);
    Ok(Finding::new(level, problems.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            let processes = &mut record.server_status[50].processes;
            processes.insert("Slave_SQL: Reading event from the relay log".to_owned(), 1);
        });
        assert_found(&outcome, Level::Warn, "replica threads: Slave_SQL");
        let outcome = judged(&RULE, |record| {
            record.table_sizes[0].tables[0].engine = "MyISAM".to_owned();
        });
        assert_found(&outcome, Level::Warn, "test.one is MyISAM");
        let outcome = judged(&RULE, |record| set(record, "log_bin", "ON"));
        assert_found(&outcome, Level::Note, "format MIXED");
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "no binary log");
    }

    #[test]
    fn processes_that_nobody_saw_are_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.server_status.clear()),
            "counters",
        );
    }
}
