//! Rule W13: commits do not share their flushes.

use units::count;

use crate::{
    commits::{commits_per_s, log_flushes_per_s},
    finding::{Finding, Level, Outcome, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

/// Flushes per commit from which no flush is shared.
const ALONE: f64 = 0.9;
/// Number of writers from which flushes should be shared.
const WRITERS: u32 = 8;

pub(super) const RULE: Rule = Rule {
    id: "W13",
    name: "commits share their flushes",
    found: "commits do not share their flushes",
    measures: "The number of flushes of InnoDB's log per commit in the measured phase. For servers that do not count log flushes separately (MariaDB 10.8 and later), all of InnoDB's flushes are counted.",
    threshold: "warn if a run with 8 or more connections has at least 0.9 flushes per commit",
    source: "Matsunobu, group commit in InnoDB (2009): 100,000 commits caused 200,251 flushes before group commit, and 26,092 flushes with it",
    consequence: "Every commit waits for its own flush: the disk's flush rate limits the throughput, regardless of the number of connections that write.",
    remedy: "Find out why commits run one at a time. Possible causes are two-phase commit in an old version, prepare_commit_mutex, and a lock that all transactions hold until they end.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let connections = run.connections();
    let commits = commits_per_s(run)?;
    let (flushes, which) = log_flushes_per_s(run)?;
    if commits < 1.0 || flushes < 1.0 {
        return Err(no_subject("no commit was flushed"));
    }
    if connections < WRITERS {
        return Err(no_subject(format!(
            "{connections} connections are too few to share many flushes"
        )));
    }
    let per_commit = flushes / commits;
    let level = if per_commit >= ALONE {
        Level::Warn
    } else {
        Level::Pass
    };
    let evidence = format!(
        "{per_commit:.2} flushes per commit: {} {which} and {} commits per second by {connections} connections",
        count(flushes),
        count(commits)
    );
    Ok(Finding::new(level, evidence).with("flushes_per_commit", per_commit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            counter(record, "Innodb_os_log_fsyncs", 2000.0)
        });
        assert_found(&outcome, Level::Warn, "2.00 flushes per commit");
    }

    #[test]
    fn passes() {
        assert_found(
            &judged(&RULE, |_| {}),
            Level::Pass,
            "0.30 flushes per commit",
        );
        assert_no_subject(&judged(&RULE, |record| counter(record, "Com_update", 0.0)));
        assert_no_subject(&judged(&RULE, |record| record.header.connections = 2));
    }
}
