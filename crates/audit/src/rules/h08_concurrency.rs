//! Rule H08: only one number of connections was measured.

use std::collections::BTreeSet;

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    set::Set,
};

pub(super) const RULE: Rule = Rule {
    id: "H08",
    name: "the figures say at how many connections, and at more than one number",
    found: "only one number of connections was measured",
    measures: "The numbers of connections over all runs.",
    threshold: "one number only, in an experiment that compares: warn; in a single run: note",
    source: "Matsunobu, Ten points for correct benchmarks (2009), point 3",
    consequence: "Disks, networks and mutexes answer differently at 1 and at 100 connections; what is faster at one number \
        may be slower at another.",
    remedy: "Make `connections` a factor of the experiment: 1, 2, 4 and so on, past the point where throughput stops rising.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let numbers: BTreeSet<u32> = set
        .runs
        .iter()
        .map(|run| run.record.connections())
        .collect();
    let (Some(least), Some(most)) = (numbers.first(), numbers.last()) else {
        return Err(missing("runs"));
    };
    let evidence = match numbers.len() {
        1 => format!("all runs had {least} connections"),
        count => format!("{count} numbers of connections, {least} to {most}"),
    };
    let level = match numbers.len() {
        1 if set.compares() => Level::Warn,
        1 => Level::Note,
        _ => Level::Pass,
    };
    Ok(Finding::new(level, evidence).with("numbers_of_connections", numbers.len() as f64))
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
    fn passes() {
        let mut runs = blocks_over("connections", &["8", "16"]);
        for run in &mut runs {
            run.header.connections = run.header.combination["connections"].parse().unwrap();
        }
        let outcome = judged_together(&RULE, &runs, over(&["connections"]));
        assert_found(&outcome, Level::Pass, "2 numbers of connections, 8 to 16");
    }
}
