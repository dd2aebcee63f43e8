//! The next step after an answer, as a command to paste.

use std::path::Path;

use audit::Scope;
use samples::printable;
use verdict::Decision;

use super::gain::Gain;
use crate::{grid::Grid, results::Results, sentences::answer, text::shell::shell_word};

/// Executions of a combination from which on its figures are more than rough.
const EXECUTIONS_TO_CLAIM: usize = 3;
/// Maximum number of repeats that are suggested.
const REPEATS_WORTHWHILE: usize = 50;

/// What would complete an answer, or make it more certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// Measure the runs that are missing.
    Resume,
    /// This number of runs of each combination, which should decide what is inconclusive; side by side, of sessions.
    Repeats(usize),
    /// Runs that are long enough to rely on, and repeats.
    Longer,
    /// More connections than this number, with which the throughput was still rising.
    MoreThan(u32),
}

/// The command for the next step: first the one that completes the answer, then the one that makes it more certain.
pub(super) fn command(
    results: &Results,
    grid: &Grid<'_>,
    dir: &Path,
    again: &dyn Fn(NextStep) -> Option<String>,
) -> String {
    let shown = dir.display().to_string();
    // A path that is cut is no command to paste.
    let dir = printable(&shown);
    next_step(results, grid)
        .and_then(again)
        .unwrap_or_else(|| format!("dbdyno audit {}", shell_word(&dir)))
}

fn next_step(results: &Results, grid: &Grid<'_>) -> Option<NextStep> {
    let scope = results.audit.as_ref().map(|it| it.assessment.scope);
    let is_undecided = |it: &&verdict::Answer| it.decision == Decision::Inconclusive;
    // A repeat of runs side by side is a session with many batches of slices.
    let turns = results.runs.iter().flat_map(|it| &it.side_by_side);
    let of_repeat = turns.map(|it| it.batches_at_most().max(1)).max();
    let of_repeat = of_repeat.unwrap_or(1) as usize;
    let repeats = |executions: usize| executions.div_ceil(of_repeat);
    let needed = grid
        .answers
        .iter()
        .filter(is_undecided)
        .filter_map(|it| it.executions_needed)
        .max()
        .map(repeats);
    match (scope, needed) {
        (Some(Scope::Interrupted { .. }), _) => Some(NextStep::Resume),
        // The number of runs of a search follows from their figures.
        _ if !results.searches.is_empty() => None,
        (_, Some(needed)) if needed <= REPEATS_WORTHWHILE => Some(NextStep::Repeats(needed)),
        (_, Some(_)) => Some(NextStep::Longer),
        _ => match (rising_up_to(grid), scope) {
            (Some(connections), _) => Some(NextStep::MoreThan(connections)),
            (None, Some(Scope::Rough { .. })) => {
                Some(NextStep::Repeats(repeats(EXECUTIONS_TO_CLAIM)))
            }
            (None, Some(Scope::Short { .. })) => Some(NextStep::Longer),
            _ => None,
        },
    }
}

/// The largest number of clients, if the highest throughput was measured with it and rose up to there.
fn rising_up_to(grid: &Grid<'_>) -> Option<u32> {
    let x = grid.x.as_ref().filter(|_| grid.x_counts_clients())?;
    let (facet, peak) = answer::highest_of_all(grid)?;
    let is_rising = Gain::of(facet, peak.line, &peak) == Some(Gain::Rising);
    let clients = x.levels[peak.x].parse().ok();
    clients.filter(|_| is_rising && x.levels.len() > 1)
}
