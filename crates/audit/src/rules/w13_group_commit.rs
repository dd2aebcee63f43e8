//! Rule W13: commits do not share their flushes.

use std::collections::BTreeMap;

use units::{count, percent};

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
/// Share of the time with a flush of a disk in flight, below which shared flushes would not be worth a warning.
///
/// Source: G. M. Amdahl, Validity of the single processor approach (1967): without a part that takes the share s of the
/// time, the rest is at most 1 / (1 - s) times as fast, here 5 % faster.
const FLUSHING: f64 = 0.05;

pub(super) const RULE: Rule = Rule {
    id: "W13",
    name: "commits share their flushes",
    found: "commits do not share their flushes",
    measures: "The number of flushes of InnoDB's log per commit in the measured phase. For servers that do not count log flushes separately (MariaDB 10.8 and later), all of InnoDB's flushes are counted. The share of the time in which a disk flushed its cache, if it carried out at least half of these flushes and the kernel counts their time.",
    threshold: "warn if a run with 8 or more connections has at least 0.9 flushes per commit. Only a note if the disk flushed its cache for less than 5 % of the time",
    source: "Matsunobu, group commit in InnoDB (2009): 100,000 commits caused 200,251 flushes before group commit, and 26,092 flushes with it; for the 5 %, Amdahl's law (1967): if flushes took no time at all, the throughput would be at most 5 % higher",
    consequence: "Each commit needs a flush of its own: the throughput of commits cannot exceed the disk's flush rate, regardless of the number of connections that write.",
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
    let mut evidence = format!(
        "{per_commit:.2} flushes per commit: {} {which} and {} commits per second by {connections} connections",
        count(flushes),
        count(commits)
    );
    if per_commit < ALONE {
        let finding = Finding::new(Level::Pass, evidence);
        return Ok(finding.with("flushes_per_commit", per_commit));
    }
    let share = flushing_share(run, flushes);
    let level = match share {
        Some(share) if share < FLUSHING => Level::Note,
        _ => Level::Warn,
    };
    if let Some(share) = share {
        let share = percent(share);
        evidence = format!("{evidence}; the disk flushed its cache {share} of the time");
    }
    let finding = Finding::new(level, evidence).with("flushes_per_commit", per_commit);
    Ok(match share {
        Some(share) => finding.with("flushing_share", share),
        None => finding,
    })
}

/// Share of the time with a flush in flight, of the disk that flushed longest. `None` if it carried out less than half of
/// InnoDB's flushes: a sync of a disk without a volatile cache is no flush, and waits for its writes.
fn flushing_share(run: &Run<'_>, flushes_per_s: f64) -> Option<f64> {
    let samples = run.samples().ok()?;
    let length_s: f64 = samples.iter().map(|sample| sample.length_s).sum();
    let mut by_disk: BTreeMap<&str, (f64, u64)> = BTreeMap::new();
    for disk in samples.iter().flat_map(|it| it.disks()) {
        let requests = disk.requests;
        if let Some((took_s, flushes)) = requests.and_then(|it| it.flush_s.zip(it.flushes)) {
            let of_disk = by_disk.entry(&disk.device).or_default();
            of_disk.0 += took_s;
            of_disk.1 += flushes;
        }
    }
    let longest = by_disk.into_values().max_by(|a, b| a.0.total_cmp(&b.0));
    let (took_s, flushes) = longest?;
    let is_of_innodb = flushes as f64 >= 0.5 * flushes_per_s * length_s;
    (is_of_innodb && length_s > 0.0).then(|| (took_s / length_s).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    /// Two flushes per commit, with a disk that flushes for this part of each second; `None` if it has no volatile cache.
    fn two_per_commit(flush_s: Option<f64>) -> Outcome {
        judged(&RULE, |record| {
            counter(record, "Innodb_os_log_fsyncs", 2000.0);
            each_sample(record, |sample| {
                let requests = sample.disk.as_mut().unwrap().requests.as_mut().unwrap();
                requests.flushes = Some(flush_s.map_or(0, |_| 2000));
                requests.flush_s = Some(flush_s.unwrap_or(0.0));
            });
        })
    }

    #[test]
    fn found() {
        let outcome = two_per_commit(Some(0.4));
        let part = "by 8 connections; the disk flushed its cache 40 % of the time";
        assert_found(&outcome, Level::Warn, part);
        assert_found(
            &two_per_commit(None),
            Level::Warn,
            "2.00 flushes per commit",
        );
    }

    #[test]
    fn flushes_that_take_hardly_any_time_limit_nothing() {
        let part = "the disk flushed its cache 1 % of the time";
        assert_found(&two_per_commit(Some(0.01)), Level::Note, part);
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
