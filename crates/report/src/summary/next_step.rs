//! The next step after an answer, as a command to paste.

use std::path::Path;

use audit::Scope;
use samples::{Disturbance, printable};
use verdict::{Decision, Outcome};

use super::gain::Gain;
use crate::{
    expectations, grid::Grid, results::Results, sentences::answer, shared_machine::mostly_shared,
    text::shell::shell_word,
};

/// Executions of a combination from which on its figures are more than rough.
const EXECUTIONS_TO_CLAIM: usize = 3;
/// Maximum number of repeats that are suggested.
const REPEATS_WORTHWHILE: usize = 50;

/// What would complete an answer, or make it more certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// Measure the runs that are missing.
    Resume,
    /// The same runs, when the programs that used the machine are quiet.
    Again,
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
    let audit = format!("dbdyno audit {}", shell_word(&dir));
    let step = next_step(results, grid);
    // More or longer runs beside other programs would decide as little.
    let others = neighbours_of_undecided(results, grid).filter(|_| step != Some(NextStep::Resume));
    match others {
        Some(others) => match again(NextStep::Again) {
            Some(command) => format!("measure without {others} (H14): {command}"),
            None => format!("measure without {others} (H14), see {audit}"),
        },
        None => step.and_then(again).unwrap_or(audit),
    }
}

/// The programs, `rustc, another mariadbd`, that used the machine in most of the executions behind an undecided answer;
/// `None` for a decided one, and on a quiet machine.
fn neighbours_of_undecided(results: &Results, grid: &Grid<'_>) -> Option<String> {
    if !is_undecided(results, grid) {
        return None;
    }
    let all = || grid.executions.iter().enumerate();
    mostly_shared(all().map(|(at, _)| grid.shared_machine(at)))?;
    let shared = all().filter(|(at, _)| grid.shared_machine(*at).is_some());
    let found = shared.filter_map(|(_, it)| Disturbance::of(it.record));
    let busiest = found.max_by(|a, b| a.others.total_cmp(&b.others));
    let named = busiest.and_then(|it| it.programs_in_words());
    let named = named.map(|it| printable(&it).into_owned());
    Some(named.unwrap_or_else(|| "other programs".to_owned()))
}

/// True if a comparison, a search or a bound of `[expect]` is undecided.
fn is_undecided(results: &Results, grid: &Grid<'_>) -> bool {
    let mut comparisons = grid.answers.iter();
    let mut searches = results.searches.iter();
    let mut bounds = expectations::of_grid(results, grid).into_iter();
    comparisons.any(|it| it.decision == Decision::Inconclusive)
        || searches.any(|it| it.found.outcome() == Outcome::Undecided)
        || bounds.any(|it| it.outcome == Outcome::Undecided)
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
