//! The next step after an answer, as a command to paste.

use std::path::Path;

use audit::{Scope, mostly_shared};
use samples::{Disturbance, printable};
use stats::Comparison;
use verdict::{Answer, Decision, Outcome, Question};

use super::gain::Gain;
use crate::{
    expectations, grid::Grid, results::Results, sentences::answer, text::shell::shell_word,
};

/// Executions of a combination from which on its figures are more than rough.
const EXECUTIONS_TO_CLAIM: usize = 3;
/// Maximum number of repeats that are suggested.
const REPEATS_WORTHWHILE: usize = 50;
/// Half the width of an undecided interval, in smallest differences that matter, from which on more runs are no remedy:
/// they narrow it by the root of their number, so that it takes 25 times as many.
const FAR_WIDER: f64 = 5.0;

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
    /// The same comparison by slices that are close in time, which share the changes of the machine's speed.
    SideBySide,
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
    if step == Some(NextStep::Resume) {
        return again(NextStep::Resume).unwrap_or(audit);
    }
    // More or longer runs beside other programs would decide as little.
    let others = neighbours_of_undecided(results, grid);
    let is_noisy = needs_closer_runs(results, grid, others.is_some());
    let side_by_side = is_noisy.then(|| again(NextStep::SideBySide)).flatten();
    match (others, side_by_side) {
        (Some(others), Some(command)) => {
            format!("measure without {others} (H14) and side by side: {command}")
        }
        (Some(others), None) => match again(NextStep::Again) {
            Some(command) => format!("measure without {others} (H14): {command}"),
            None => format!("measure without {others} (H14), see {audit}"),
        },
        (None, Some(command)) => command,
        (None, None) => step.and_then(again).unwrap_or(audit),
    }
}

/// True if a comparison of runs that follow each other is undecided, and other programs used the machine or its interval is
/// far too wide.
fn needs_closer_runs(results: &Results, grid: &Grid<'_>, is_machine_shared: bool) -> bool {
    let Some(question) = &results.verdict else {
        return false;
    };
    let undecided = grid.answers.iter();
    let mut undecided =
        undecided.filter(|it| it.decision == Decision::Inconclusive && !it.of_batches);
    undecided.any(|it| is_machine_shared || is_far_too_wide(question, it))
}

/// True if the interval of an undecided comparison is far wider than the smallest difference that matters, and would not be
/// decided by as many runs again.
fn is_far_too_wide(question: &Question, answer: &Answer) -> bool {
    answer.comparison.is_some_and(|it| {
        let needed = answer.executions_needed;
        let is_near = needed.is_some_and(|needed| needed <= 2 * it.executions);
        half_width(&it) > FAR_WIDER * question.min_effect.ln_1p() && !is_near
    })
}

/// Half the width of an interval, as a logarithm.
fn half_width(comparison: &Comparison) -> f64 {
    (comparison.ratio.high / comparison.ratio.low).ln() / 2.0
}

/// The number of executions a side that should decide an undecided comparison. One that used up the budget for its analyses
/// has no such number: then that with which half the interval is as wide as the smallest difference that matters, as its
/// width shrinks with the root of the number. `None` if more executions decide nothing.
fn executions_to_decide(question: &Question, answer: &Answer) -> Option<usize> {
    let is_spent = answer.looks.is_some() && answer.short_slices.is_none();
    let by_width = || {
        let comparison = answer.comparison.filter(|_| is_spent)?;
        let widths = half_width(&comparison) / question.min_effect.ln_1p();
        let needed = comparison.executions as f64 * widths.powi(2);
        Some((needed.ceil() as usize).max(comparison.executions + 1))
    };
    answer.executions_needed.or_else(by_width)
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
    let question = results.verdict.as_ref();
    let needed = grid
        .answers
        .iter()
        .filter(is_undecided)
        .filter_map(|it| executions_to_decide(question?, it))
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

#[cfg(test)]
mod tests {
    use stats::compare_pairs;
    use verdict::{InterimAnalyses, Metric};

    use super::*;

    fn question() -> Question {
        Question {
            metric: Metric::Throughput,
            baseline: Vec::new(),
            min_effect: 0.02,
            until_decided: None,
        }
    }

    /// An inconclusive comparison of these pairs.
    fn undecided(pairs: &[(f64, f64)], executions_needed: Option<usize>) -> Answer {
        Answer {
            within: Vec::new(),
            levels: Vec::new(),
            of_batches: false,
            means: None,
            decision: Decision::Inconclusive,
            comparison: compare_pairs(pairs, 0.95),
            paired: true,
            p_value: None,
            executions_needed,
            effect: 0.02,
            smallest_effect: None,
            looks: None,
            short_slices: None,
        }
    }

    #[test]
    fn a_spent_budget_is_extended_until_the_interval_is_as_narrow_as_the_margin() {
        // Logarithms of -0.04, 0 and 0.04 in three pairs: a half-width of 4.3027 · 0.04 / √3 = 0.0994, which is 5.02
        // times ln 1.02 = 0.0198: 3 · 5.02² = 75.5 executions.
        let wide = [(1.0, (-0.04_f64).exp()), (1.0, 0.04_f64.exp()), (1.0, 1.0)];
        // With a hundredth of that, one more execution is enough.
        let narrow = wide.map(|(a, b)| (a, b.powf(0.01)));
        let looks = Some(InterimAnalyses {
            blocks: 3,
            blocks_at_most: 3,
            time_is_spent: true,
        });
        for (pairs, executions_needed, looks, expected) in [
            (wide, Some(12), looks, Some(12)),
            (wide, None, looks, Some(76)),
            (narrow, None, looks, Some(4)),
            (wide, None, None, None),
        ] {
            let answer = Answer {
                looks,
                ..undecided(&pairs, executions_needed)
            };
            let found = executions_to_decide(&question(), &answer);
            assert_eq!(found, expected, "{pairs:?} {executions_needed:?}");
        }
    }

    #[test]
    fn an_interval_that_more_runs_would_not_narrow_is_far_too_wide() {
        // Logarithms of -0.223, 0 and 0.223 in three pairs: a half-width of 4.3027 · 0.223 / √3 = 0.554, which is more than
        // five times ln 1.02 = 0.099. With a hundredth instead of 0.223, it is 0.025.
        let wide = [(100.0, 80.0), (100.0, 125.0), (100.0, 100.0)];
        let narrow = [(100.0, 101.0), (100.0, 99.0), (100.0, 100.0)];
        for (pairs, executions_needed, expected) in [
            (wide, None, true),
            (wide, Some(7), true),
            (wide, Some(6), false),
            (narrow, None, false),
        ] {
            let answer = undecided(&pairs, executions_needed);
            let found = is_far_too_wide(&question(), &answer);
            assert_eq!(found, expected, "{pairs:?} {executions_needed:?}");
        }
    }
}
