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
const REPLICA: &[&str] = &["slave", "replica", "to send event", "relay log"];
/// Begins the names of the threads with which a source sends its binary log, whose states name the replica:
/// `Binlog Dump: Master has sent all binlog to slave; waiting for more updates`.
const SOURCE: &str = "binlog dump";
/// Is in the state of a commit that waits for a replica: `Query: Waiting for semi-sync ACK from slave`.
const SEMI_SYNC: &str = "semi-sync ack";

pub(super) const RULE: Rule = Rule {
    id: "C10",
    name: "neither replication nor a storage engine other than InnoDB is active",
    found: "replication or a storage engine other than InnoDB was active",
    measures: "Replica threads, threads that send the binary log to replicas, and commits that wait for a replica in the process list. The binary log, and the storage engines of the tables.",
    threshold: "warn if replica threads are active, if commits wait for a replica (semi-synchronous replication), or if tables use a storage engine other than InnoDB. Note if the binary log is on; the note states its format and whether replicas read it",
    source: "the list of settings in Matsunobu's AUTO_INCREMENT measurements (2009); MySQL Reference Manual, Replication",
    consequence: "Replica threads use CPU, I/O and locks for work that no client requested. Storage engines other than InnoDB have different durability and locking rules.",
    remedy: "On a replica, run STOP REPLICA before the run, or report that replication was active. On a source, report the replicas and whether commits wait for them. Convert all tables to InnoDB.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    run.server()?;
    let mut problems = Vec::new();
    let readings = run.status()?;
    let states = || {
        let states = readings.iter().flat_map(|reading| reading.processes.keys());
        states.map(|state| (state, state.to_lowercase()))
    };
    let has_replicas = states().any(|(_, state)| state.starts_with(SOURCE));
    let is_semi_sync = states().any(|(_, state)| state.contains(SEMI_SYNC));
    let replicating: BTreeSet<String> = states()
        .filter(|(_, state)| !state.starts_with(SOURCE) && !state.contains(SEMI_SYNC))
        .filter(|(_, state)| REPLICA.iter().any(|part| state.contains(part)))
        .map(|(state, _)| state.clone())
        .collect();
    if !replicating.is_empty() {
        let states: Vec<_> = replicating.into_iter().collect();
        problems.push(format!("replica threads: {}", listed(&states, 4)));
    }
    if is_semi_sync {
        problems.push("commits waited for a replica (semi-synchronous replication)".to_owned());
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
            "the binary log is on (format {}){}",
            run.variable("binlog_format").unwrap_or("unknown"),
            if has_replicas {
                ", and replicas read it"
            } else {
                ""
            }
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
    fn a_source_is_no_replica() {
        let with = |state: &str| {
            judged(&RULE, |record| {
                set(record, "log_bin", "ON");
                let processes = &mut record.server_status[50].processes;
                processes.insert(state.to_owned(), 1);
            })
        };
        for state in [
            "Binlog Dump: Master has sent all binlog to slave; waiting for more updates",
            "Binlog Dump GTID: Source has sent all binlog to replica; waiting for more updates",
        ] {
            assert_found(&with(state), Level::Note, "and replicas read it");
        }
        let waits = with("Query: Waiting for semi-sync ACK from replica");
        assert_found(&waits, Level::Warn, "commits waited for a replica");
        for state in [
            "Connect: Waiting for source to send event",
            "Slave_IO: Waiting for master to send event",
            "Query: Replica has read all relay log; waiting for more updates",
        ] {
            assert_found(&with(state), Level::Warn, "replica threads: ");
        }
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
