//! The requested and the achieved rate of each stage of a load, by combination, over the runs.

use std::collections::BTreeMap;

use samples::{LoadStage, STAGE};
use units::{counted, percent, si};
use verdict::Execution;

use super::answer::throughput_in_words;
use crate::grid::{Grid, cell::Figure, in_words};

/// A stage with a rate, of one combination, over its complete runs.
#[derive(Debug)]
pub(crate) struct StageRate {
    /// The levels that distinguish the combination, without the stage: `flush 1`; empty where there are none.
    pub(crate) combination: String,
    /// The stage as the first run has it.
    pub(crate) stage: LoadStage,
    /// Mean of the requested operations per second.
    pub(crate) asked_per_s: f64,
    /// Successful operations per second.
    pub(crate) achieved: Figure,
    /// Operations that began more than 1 ms late, or never, as a share of those that were due.
    pub(crate) late: f64,
    pub(crate) runs: usize,
    /// Number of runs that did not reach the rate.
    pub(crate) short: usize,
}

/// The stages that have a rate, in the order of the runs and of time.
pub(crate) fn summaries(grid: &Grid<'_>) -> Vec<StageRate> {
    type Combination = BTreeMap<String, String>;
    let mut stages: Vec<(&Combination, Vec<&Execution<'_>>)> = Vec::new();
    for execution in grid.executions.iter().filter(|it| it.record.is_complete()) {
        let combination = &execution.record.header.combination;
        match stages.iter_mut().find(|(known, _)| *known == combination) {
            Some((_, executions)) => executions.push(execution),
            None => stages.push((combination, vec![execution])),
        }
    }
    let all = stages.iter().filter_map(|(combination, executions)| {
        let levels = combination.iter().filter(|(factor, _)| {
            let is_constant = grid.constants.iter().any(|(name, _)| name == *factor);
            !is_constant && *factor != STAGE
        });
        let levels: Vec<(String, String)> = levels
            .map(|(factor, level)| (factor.clone(), level.clone()))
            .collect();
        summary(in_words(&levels), executions)
    });
    all.collect()
}

fn summary(combination: String, executions: &[&Execution<'_>]) -> Option<StageRate> {
    let [stage] = executions.first()?.record.stages.as_slice() else {
        return None;
    };
    let achieved = executions.iter();
    let achieved = achieved.filter_map(|it| it.figures().throughput_per_s);
    let offered = || {
        executions
            .iter()
            .filter_map(|it| it.record.offered.as_ref())
    };
    let due: u64 = offered().map(|it| it.due).sum();
    let late: u64 = offered().map(|it| it.late).sum();
    Some(StageRate {
        combination,
        stage: stage.clone(),
        asked_per_s: stage.rate_per_s()?,
        achieved: Figure::of(&achieved.collect::<Vec<_>>())?,
        late: late as f64 / due.max(1) as f64,
        runs: executions.len(),
        short: offered().filter(|it| it.shortfall.is_some()).count(),
    })
}

/// A sentence for each combination: `Rates: stage 1 100/s of 100/s, stage 2 1.05k/s of 1.05k/s.`
pub(crate) fn sentences(grid: &Grid<'_>) -> Vec<String> {
    let summaries = summaries(grid);
    let of_combinations = summaries.chunk_by(|a, b| a.combination == b.combination);
    of_combinations.map(sentence).collect()
}

fn sentence(stages: &[StageRate]) -> String {
    let words: Vec<String> = stages.iter().map(StageRate::in_words).collect();
    let subject = match stages.first().map(|it| it.combination.as_str()) {
        None | Some("") => String::new(),
        Some(combination) => format!("{combination}: "),
    };
    format!(
        "{subject}Achieved and requested rates: {}.",
        words.join("; ")
    )
}

impl StageRate {
    /// `stage 2 800/s of 1.05k/s (not reached in 2 of 3 runs)`.
    fn in_words(&self) -> String {
        let (achieved, asked) = (throughput_in_words(&self.achieved), si(self.asked_per_s));
        let missed = self.missed_in_words().map(|it| format!(" ({it})"));
        let missed = missed.unwrap_or_default();
        format!(
            "stage {} {achieved}/s of {asked}/s{missed}",
            self.stage.number
        )
    }

    /// `not reached in 2 of 3 runs`; `None` if every run reached the rate.
    pub(crate) fn missed_in_words(&self) -> Option<String> {
        let runs = counted(self.runs, "run");
        (self.short > 0).then(|| format!("not reached in {} of {runs}", self.short))
    }

    /// The achieved rate as a share of the requested one.
    pub(crate) fn share_in_words(&self) -> String {
        percent(self.achieved.mean / self.asked_per_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage_rate(number: u32, achieved_per_s: f64, short: usize) -> StageRate {
        StageRate {
            combination: "flush 1".to_owned(),
            stage: LoadStage {
                number,
                t_s: 0.0,
                length_s: 60.0,
                connections_from: 8,
                connections_to: 8,
                rate_from_per_s: Some(100.0),
                rate_to_per_s: Some(2000.0),
                offered: None,
            },
            asked_per_s: 1050.0,
            achieved: Figure::of(&[achieved_per_s]).unwrap(),
            late: 0.0,
            runs: 3,
            short,
        }
    }

    #[test]
    fn the_achieved_rate_is_compared_with_the_requested_one() {
        let stages = [stage_rate(1, 1050.0, 0), stage_rate(2, 525.0, 2)];
        assert_eq!(
            sentence(&stages),
            "flush 1: Achieved and requested rates: stage 1 1.05k/s of 1.05k/s; \
             stage 2 525/s of 1.05k/s (not reached in 2 of 3 runs)."
        );
        assert_eq!(stages[1].share_in_words(), "50 %");
    }
}
