//! Rule C01: durability was weakened without a declaration, or differs between the sides.

use std::collections::BTreeSet;

use mycnf::DurabilityClass;

use crate::{
    durability::{Durability, durability},
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    set::Set,
};

pub(super) const RULE: Rule = Rule {
    id: "C01",
    name: "no figure depends on an undeclared loss of durability",
    found: "durability was weakened without being declared",
    measures: "The durability class of each run. D4: no commit is lost in a power cut. D3: the binary log may lack some commits. D2: a power cut loses the last commits (innodb_flush_log_at_trx_commit=2, or no barriers). D1: a server crash loses the last commits (innodb_flush_log_at_trx_commit=0). D0: no guarantee (no redo log, no doublewrite buffer on a file system other than zfs and btrfs, nosync, or data in memory).",
    threshold: "invalid if the classes differ and the experiment does not set the variable that causes the difference. Fail if all runs have the same class below D4 and the experiment does not set the variable that lowers it. Note if the experiment sets this variable. Fail if only some of the runs flush a binary log at every commit and the experiment sets neither log_bin nor sync_binlog",
    source: "our own power-cut tests: with innodb_flush_log_at_trx_commit=2, 34,299 of 141,314 acknowledged commits were lost; with innodb_doublewrite=0, the server failed to restart in 4 of 4 tests; MySQL 5.6 parameter review (MyNA, 2013), which measures with both settings relaxed",
    consequence: "The faster side is faster because it gives up durability: its last commits are lost in a crash.",
    remedy: "Measure with the production settings. If you study durability itself, set the variables that determine it in the experiment file; the report then states these variables with the figures.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let runs: Result<Vec<Durability>, _> = set.runs.iter().map(durability).collect();
    let runs = runs?;
    let least = runs
        .iter()
        .min_by_key(|run| run.class)
        .ok_or_else(|| missing("runs"))?;
    let classes: BTreeSet<DurabilityClass> = runs.iter().map(|run| run.class).collect();
    let is_declared = runs
        .iter()
        .flat_map(|run| &run.lacks)
        .all(|lack| set.declared.variables.contains(lack.variable));
    let told: Vec<_> = classes.iter().rev().map(|class| class.name()).collect();
    let lacks: BTreeSet<&str> = runs
        .iter()
        .flat_map(|run| &run.lacks)
        .map(|lack| lack.what.as_str())
        .collect();
    let lacks: Vec<_> = lacks.into_iter().collect();
    let because = if lacks.is_empty() {
        String::new()
    } else {
        format!(": {}", lacks.join(", "))
    };
    let one_sided = one_sided_binlog(set, &runs);
    let evidence = format!(
        "durability class {} ({}){because}{}{}",
        told.join(" and "),
        least.class.in_words(),
        if is_declared && !lacks.is_empty() {
            ", as the experiment declares"
        } else {
            ""
        },
        if one_sided {
            "; only some of the runs flush the binary log at every commit (sync_binlog=1)"
        } else {
            ""
        }
    );
    let unseen: BTreeSet<&str> = runs.iter().flat_map(|run| &run.unseen).copied().collect();
    let level = match (classes.len(), least.class) {
        // Also where each class is D4, of which nothing is to be declared.
        _ if is_declared && one_sided => Level::Fail,
        (1, DurabilityClass::D4) if !unseen.is_empty() => {
            let unseen: Vec<_> = unseen.into_iter().collect();
            return Err(missing(format!(
                "{} (according to the settings alone, the class is D4)",
                unseen.join(", ")
            )));
        }
        (1, DurabilityClass::D4) => Level::Pass,
        _ if is_declared => Level::Note,
        (1, _) => Level::Fail,
        _ => Level::Invalid,
    };
    Ok(Finding::new(level, evidence).with("class", f64::from(least.class as u8)))
}

/// True if some of the runs alone flush a binary log at every commit, which the experiment does not ask for: both keep every
/// commit, but at another price.
fn one_sided_binlog(set: &Set<'_>, runs: &[Durability]) -> bool {
    let is_asked = ["log_bin", "sync_binlog"]
        .iter()
        .any(|name| set.declared.variables.contains(*name));
    let of_all = runs.iter().all(|run| run.has_flushed_binlog);
    !is_asked && !of_all && runs.iter().any(|run| run.has_flushed_binlog)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let cases = [
            ("innodb_flush_log_at_trx_commit", "2", "class D2"),
            ("innodb_flush_log_at_trx_commit", "0", "class D1"),
            ("innodb_doublewrite", "OFF", "class D0"),
            ("innodb_flush_method", "nosync", "class D0"),
            ("log_bin", "ON", "class D3"),
        ];
        for (name, value, class) in cases {
            let outcome = judged(&RULE, |record| set(record, name, value));
            assert_found(&outcome, Level::Fail, class);
        }
        let outcome = judged(&RULE, |record| {
            set(record, "log_bin", "ON");
            record.servers[0].variables.remove("sync_binlog");
        });
        assert_found(&outcome, Level::Fail, "sync_binlog=unknown");
        let mut runs = blocks_over("disk", &["a", "b"]);
        set(&mut runs[3], "innodb_flush_log_at_trx_commit", "2");
        let outcome = judged_together(&RULE, &runs, over(&["disk"]));
        assert_found(&outcome, Level::Invalid, "class D4 and D2");
    }

    #[test]
    fn what_the_experiment_declares_is_a_note() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        for run in &mut runs {
            let level = run.header.combination["flush"].clone();
            set(run, "innodb_flush_log_at_trx_commit", &level);
        }
        let mut declared = over(&["flush"]);
        declared
            .variables
            .insert("innodb_flush_log_at_trx_commit".to_owned());
        let outcome = judged_together(&RULE, &runs, declared);
        assert_found(&outcome, Level::Note, "class D4 and D2");
    }

    #[test]
    fn a_flushed_binary_log_on_one_side_is_found() {
        let runs = |sides: [bool; 2]| {
            let mut runs = blocks_over("version", &["mariadb-10.11", "mysql-8.0.33"]);
            for run in &mut runs {
                let at = usize::from(run.header.combination["version"] != "mariadb-10.11");
                if sides[at] {
                    set(run, "log_bin", "ON");
                    set(run, "sync_binlog", "1");
                }
            }
            runs
        };
        let judge = |sides| judged_together(&RULE, &runs(sides), over(&["version"]));
        let said = "only some of the runs flush the binary log at every commit (sync_binlog=1)";
        assert_found(&judge([false, true]), Level::Fail, said);
        assert_found(&judge([true, false]), Level::Fail, said);
        assert_found(&judge([true, true]), Level::Pass, "class D4");
        let mut declared = over(&["version"]);
        declared.variables.insert("log_bin".to_owned());
        let asked = judged_together(&RULE, &runs([false, true]), declared);
        assert_eq!(level(&asked), Level::Pass);
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "class D4");
        let outcome = judged(&RULE, |record| {
            set(record, "innodb_doublewrite", "OFF");
            record.storage[0].places[0].filesystem = "zfs".to_owned();
        });
        assert_eq!(
            level(&outcome),
            Level::Pass,
            "nothing is torn on a copy-on-write file system"
        );
    }

    #[test]
    fn btrfs_that_writes_in_place_tears_pages() {
        let on_btrfs = |options: &str| {
            judged(&RULE, |record| {
                set(record, "innodb_doublewrite", "OFF");
                let place = &mut record.storage[0].places[0];
                place.filesystem = "btrfs".to_owned();
                place.mount_options = options.to_owned();
            })
        };
        assert_eq!(level(&on_btrfs("noatime,rw")), Level::Pass);
        assert_found(&on_btrfs("nodatacow,rw"), Level::Fail, "class D0");
    }

    #[test]
    fn a_file_system_that_nobody_saw_is_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.storage.clear()),
            "file system and mount options",
        );
        assert_missing(&judged(&RULE, |record| record.servers.clear()), "variables");
    }
}
