//! Rule H08: only one number of connections or one depth was measured.

use std::collections::BTreeSet;

use samples::{Access, StorageRecord};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
    set::Set,
};

pub(super) const RULE: Rule = Rule {
    id: "H08",
    name: "more than one number of connections or of requests in flight was measured",
    found: "only one number of connections or of requests in flight was measured",
    measures: "The numbers of connections in all runs and, if the load has stages, in all stages. For storage: the depths of the random patterns. If no random patterns were measured: the numbers of writers in the commit measurements.",
    threshold: "warn if all runs of a comparison used the same number of connections, or if a storage measurement used only one depth or one number of writers. Note if a run without a comparison used only one number of connections",
    source: "Matsunobu, Ten points for correct benchmarks (2009), point 3",
    consequence: "Disks, networks and mutexes behave differently at 1 and at 100 connections: a setting that is faster at one number of connections may be slower at another number.",
    remedy: "Make `connections` a factor of the experiment, with the levels 1, 2, 4 and so on, until throughput no longer rises.",
    judge: Judge::SetOrStorage(judge, of_storage),
};

fn judge(set: &Set<'_>) -> Outcome {
    let numbers: BTreeSet<u32> = set.runs.iter().flat_map(numbers_of).collect();
    let (Some(least), Some(most)) = (numbers.first(), numbers.last()) else {
        return Err(missing("runs"));
    };
    let is_of_disk = set.runs.iter().any(|run| run.record.disk_load.is_some());
    let noun = if is_of_disk {
        "requests in flight"
    } else {
        "connections"
    };
    let evidence = match numbers.len() {
        1 => format!("all runs had {least} {noun}"),
        count => format!("{count} different numbers of {noun}, from {least} to {most}"),
    };
    let level = match numbers.len() {
        1 if set.compares() => Level::Warn,
        1 => Level::Note,
        _ => Level::Pass,
    };
    Ok(Finding::new(level, evidence).with("numbers_of_connections", numbers.len() as f64))
}

/// The number of connections of a run with all of its loads, or those of a stage at its begin and at its end.
fn numbers_of(run: &Run<'_>) -> Vec<u32> {
    match run.stage {
        Some(stage) => vec![stage.connections_from, stage.connections_to],
        None => vec![run.connections()],
    }
}

fn of_storage(record: &StorageRecord) -> Outcome {
    let random = record.patterns.iter().map(|it| &it.pattern);
    let random = random.filter(|it| it.access == Access::Random);
    let depths: BTreeSet<u32> = random.map(|it| it.depth).collect();
    let writers: BTreeSet<u32> = record.commits.iter().map(|it| it.writers).collect();
    let has_depths = !depths.is_empty();
    let (noun, numbers) = if has_depths {
        ("depths", depths)
    } else {
        ("numbers of writers", writers)
    };
    let (Some(least), Some(most)) = (numbers.first(), numbers.last()) else {
        return Err(no_subject(
            "neither random patterns nor commits were measured",
        ));
    };
    let (level, evidence) = match numbers.len() {
        1 if has_depths => (Level::Warn, format!("only depth {least} was measured")),
        1 => (
            Level::Warn,
            format!(
                "commits were measured only with {}",
                units::counted(*least as usize, "writer")
            ),
        ),
        count => (
            Level::Pass,
            format!("{count} {noun}, from {least} to {most}"),
        ),
    };
    Ok(Finding::new(level, evidence).with("numbers", numbers.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let runs = blocks_over("mix", &["1:0", "1:1"]);
        let outcome = judged_together(&RULE, &runs, over(&["mix"]));
        assert_found(&outcome, Level::Warn, "all runs had 8 connections");
        assert_found(&judged(&RULE, |_| {}), Level::Note, "8 connections");
    }

    #[test]
    fn stages_have_numbers_of_their_own() {
        let mut run = healthy();
        in_stages(&mut run, [(8, 8), (8, 64)]);
        let outcome = judged_stages(&RULE, std::slice::from_ref(&run), over(&[]));
        assert_found(
            &outcome,
            Level::Pass,
            "2 different numbers of connections, from 8 to 64",
        );
        in_stages(&mut run, [(8, 8), (8, 8)]);
        let outcome = judged_stages(&RULE, &[run], over(&[]));
        assert_found(&outcome, Level::Note, "all runs had 8 connections");
    }

    #[test]
    fn storage_is_measured_at_several_depths() {
        let outcome = judged_storage(&RULE, |_| {});
        assert_found(&outcome, Level::Pass, "3 depths, from 1 to 64");
        let outcome = judged_storage(&RULE, |record| {
            record.patterns.retain(|it| it.pattern.depth == 16);
        });
        assert_found(&outcome, Level::Warn, "only depth 16");
        let outcome = judged_storage(&RULE, |record| record.patterns.clear());
        assert_found(&outcome, Level::Warn, "only with 1 writer");
        assert_no_subject(&judged_storage(&RULE, |record| {
            record.patterns.clear();
            record.commits.clear();
        }));
    }

    #[test]
    fn passes() {
        let mut runs = blocks_over("connections", &["8", "16"]);
        for run in &mut runs {
            run.header.connections = run.header.combination["connections"].parse().unwrap();
        }
        let outcome = judged_together(&RULE, &runs, over(&["connections"]));
        assert_found(
            &outcome,
            Level::Pass,
            "2 different numbers of connections, from 8 to 16",
        );
    }
}
