//! Rule M12: runs are missing, replaced, or from another experiment.

use std::collections::BTreeSet;

use units::counted;

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    set::Set,
};

pub(super) const RULE: Rule = Rule {
    id: "M12",
    name: "all planned runs exist, and no others",
    found: "runs are missing, replaced or from another experiment",
    measures: "The run records compared with the plan: missing runs, interrupted runs, and attempts that were replaced by later attempts. Also whether every record belongs to the experiment file in the same directory.",
    threshold: "invalid if there are records of another experiment. Fail if runs are missing or were interrupted. Warn if attempts were replaced by later attempts. Note if runs were repeated because other programs had disturbed them",
    source: "benchstat's documentation, which warns against repeating runs until the result is significant; J. Simmons et al., False-Positive Psychology \
        (2011)",
    consequence: "Anything can be proved by dropping runs, or by repeating runs until the desired result appears.",
    remedy: "Run `dbdyno run FILE --resume` to execute the missing runs. State why attempts were replaced.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    if set.runs.is_empty() {
        return Err(missing("runs"));
    }
    let broken: Vec<_> = set
        .runs
        .iter()
        .filter(|run| !run.record.is_complete())
        .collect();
    let complete = set.complete_count();
    if !set.declared.is_experiment {
        return match broken.first() {
            Some(run) => {
                let why = run.record.incomplete_why().unwrap_or_default();
                Ok(Finding::new(
                    Level::Fail,
                    format!("{} was interrupted: {why}", run.name()),
                ))
            }
            None => Err(no_subject("no plan was declared")),
        };
    }
    let planned = set
        .declared
        .planned_runs
        .ok_or_else(|| missing("the plan"))? as usize;
    let hashes: BTreeSet<&str> = set
        .runs
        .iter()
        .map(|run| run.record.header.experiment_sha256.as_str())
        .collect();
    let mut problems = Vec::new();
    let mut level = Level::Pass;
    let mut note = |of: Level, what: String| {
        level = level.max(of);
        problems.push(what);
    };
    if hashes.len() > 1 {
        note(
            Level::Invalid,
            format!(
                "the records belong to {} different experiments",
                hashes.len()
            ),
        );
    }
    if set.kept.experiment_is_unchanged == Some(false) {
        note(
            Level::Invalid,
            "the experiment file next to the records is not the one that produced them".to_owned(),
        );
    }
    if complete < planned {
        let first = broken.first().map_or(String::new(), |run| {
            format!(
                "; {} was interrupted: {}",
                run.name(),
                run.record.incomplete_why().unwrap_or_default()
            )
        });
        note(
            Level::Fail,
            format!("{complete} of {planned} planned runs are complete{first}"),
        );
    }
    if set.kept.replaced > 0 {
        let attempts = counted(set.kept.replaced as usize, "attempt");
        note(
            Level::Warn,
            format!("{attempts} replaced by later attempts"),
        );
    }
    if set.kept.disturbed > 0 {
        let runs = counted(set.kept.disturbed as usize, "run");
        note(
            Level::Note,
            format!(
                "{runs} repeated because other programs used more of the machine than the experiment allows"
            ),
        );
    }
    let evidence = if problems.is_empty() {
        format!("all {planned} planned runs exist, and no others")
    } else {
        problems.join("; ")
    };
    Ok(Finding::new(level, evidence)
        .with("complete_runs", complete as f64)
        .with("planned_runs", planned as f64)
        .with("replaced_attempts", f64::from(set.kept.replaced)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fixture::*,
        subject::{BesideRecords, Preregistration},
    };

    fn planned(runs: u32) -> Preregistration {
        Preregistration {
            planned_runs: Some(runs),
            ..over(&["flush"])
        }
    }

    #[test]
    fn found() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        let outcome = judged_together(&RULE, &runs[..9], planned(10));
        assert_found(&outcome, Level::Fail, "9 of 10 planned runs are complete");
        let replaced = BesideRecords {
            replaced: 2,
            ..BesideRecords::default()
        };
        let outcome = judged_with_kept(&RULE, &runs, planned(10), replaced);
        assert_found(
            &outcome,
            Level::Warn,
            "2 attempts replaced by later attempts",
        );
        runs[3].header.experiment_sha256 = "another".to_owned();
        let outcome = judged_together(&RULE, &runs, planned(10));
        assert_found(&outcome, Level::Invalid, "to 2 different experiments");
        let outcome = judged(&RULE, |record| record.end = None);
        assert_found(&outcome, Level::Fail, "dbdyno ended before the run did");
    }

    #[test]
    fn passes() {
        let runs = blocks_over("flush", &["1", "2"]);
        assert_found(
            &judged_together(&RULE, &runs, planned(10)),
            Level::Pass,
            "all 10 planned runs",
        );
        assert_no_subject(&judged(&RULE, |_| {}));
    }
}
