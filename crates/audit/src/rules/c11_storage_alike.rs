//! Rule C11: the storage is set up differently between runs, or changed.

use samples::Property;

use crate::{
    difference::{ConditionKind, Values, conditions, differing},
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    set::Set,
    words::listed,
};

pub(super) const RULE: Rule = Rule {
    id: "C11",
    name: "the storage setup was the same in all runs and did not change",
    found: "the storage setup differs between runs or changed during a run",
    measures: "For each of the server's directories: file system, mount options, device, scheduler, write cache and read-ahead. These items are compared between all runs, and between the start and the end of each run.",
    threshold: "invalid if runs of one combination differ. Invalid if anything changed during a run. Note if combinations differ",
    source: "MySQL 5.6 parameter review (MyNA, 2013), which mounts ext4 with nobarrier and noatime; Matsunobu, Ten points for \
        correct benchmarks (2009), point 5",
    consequence: "A scheduler or a mount option can change write performance as much as the factor under study.",
    remedy: "Put all sides on the same file system with the same mount options, or make the file system a factor (datadir = \"/mnt/{fs}\").",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    for run in &set.runs {
        run.storage()?;
        let changed: Vec<String> = run
            .record
            .changed
            .iter()
            .filter(|it| matches!(it.what, Property::Disk(..)))
            .map(|it| format!("{} from {} to {}", it.what, it.from, it.to))
            .collect();
        if !changed.is_empty() {
            let evidence = format!("changed during {}: {}", run.name(), changed.join(", "));
            return Ok(Finding::new(Level::Invalid, evidence));
        }
    }
    let storage = |run: &crate::run::Run<'_>| {
        let mut told = conditions(run);
        told.retain(|condition, _| condition.kind == ConditionKind::Storage);
        told
    };
    let combinations = set.combinations();
    if combinations.is_empty() {
        return Err(missing("complete runs"));
    }
    if set.runs.len() == 1 {
        return Err(no_subject("there is only one run"));
    }
    let of_runs: Vec<Vec<_>> = combinations
        .iter()
        .map(|(_, runs)| runs.iter().map(|run| storage(run)).collect())
        .collect();
    for runs in &of_runs {
        let each: Vec<_> = runs.iter().map(|run| vec![run.clone()]).collect();
        let names = names_of(&differing(&each));
        if !names.is_empty() {
            let evidence = format!("runs of one combination differ in: {}", listed(&names, 8));
            return Ok(Finding::new(Level::Invalid, evidence));
        }
    }
    let names = names_of(&differing(&of_runs));
    Ok(if names.is_empty() {
        Finding::new(
            Level::Pass,
            format!(
                "the storage setup was the same in all {} runs",
                set.runs.len()
            ),
        )
    } else {
        Finding::new(
            Level::Note,
            format!("combinations differ in: {}", listed(&names, 8)),
        )
    })
}

fn names_of(differing: &Values<'_>) -> Vec<String> {
    differing.keys().map(|it| it.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use samples::{Changed, DiskProperty};

    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        runs[4].storage[0].places[0].mount_options = "noatime,nobarrier,rw".to_owned();
        let outcome = judged_together(&RULE, &runs, over(&["flush"]));
        assert_found(&outcome, Level::Invalid, "mount options of the data");
        let mut runs = blocks_over("flush", &["1", "2"]);
        runs[4].storage[0].devices[0].read_ahead_bytes = Some(4 << 20);
        let outcome = judged_together(&RULE, &runs, over(&["flush"]));
        assert_found(&outcome, Level::Invalid, "read-ahead of nvme0n1");
        let mut runs = blocks_over("fs", &["xfs", "ext4"]);
        for run in &mut runs {
            run.storage[0].places[0].filesystem = run.header.combination["fs"].clone();
        }
        let outcome = judged_together(&RULE, &runs, over(&["fs"]));
        assert_found(&outcome, Level::Note, "file system of the data");
        let outcome = judged(&RULE, |record| {
            record.changed = vec![Changed {
                what: Property::Disk(DiskProperty::Scheduler, "nvme0n1".to_owned()),
                from: "none".to_owned(),
                to: "bfq".to_owned(),
                ..Changed::default()
            }];
        });
        assert_found(
            &outcome,
            Level::Invalid,
            "scheduler of nvme0n1 from none to bfq",
        );
    }

    #[test]
    fn passes() {
        let runs = blocks_over("flush", &["1", "2"]);
        assert_eq!(
            level(&judged_together(&RULE, &runs, over(&["flush"]))),
            Level::Pass
        );
        assert_no_subject(&judged(&RULE, |_| {}));
    }

    #[test]
    fn storage_that_nobody_saw_is_not_evaluated() {
        assert_missing(&judged(&RULE, |record| record.storage.clear()), "storage");
    }
}
