//! The steadiness of the runs, and the stalls that their means hide, in words.

use samples::Record;
use stats::Steadiness;
use units::{counted, moment, percent};
use verdict::{RunStalls, SteadyRuns, run_stalls, run_state};

use crate::results::Results;

/// Maximum number of runs listed; further ones are counted.
const NAMED_AT_MOST: usize = 3;

/// The states of the complete runs, and their stalls; nothing for runs that are too short to judge.
pub(crate) fn sentences(results: &Results) -> Vec<String> {
    // A batch of slices is too short to be judged.
    let judged = results.runs_or_stages().iter();
    let complete: Vec<&Record> = judged.filter(|it| it.is_complete()).collect();
    let noun = if results.parts.staged.is_empty() {
        "run"
    } else {
        "stage"
    };
    steadiness(&complete, noun)
        .into_iter()
        .chain(stalls(&complete))
        .collect()
}

/// The states of these runs, or stages of runs.
fn steadiness(runs: &[&Record], noun: &str) -> Option<String> {
    let (mut counts, mut others) = (SteadyRuns::default(), Vec::new());
    for record in runs {
        let state = run_state(record);
        counts.add(&state);
        if let Ok(state) = state
            && state.steadiness != Steadiness::Steady
        {
            let reasons: Vec<String> = state.reasons.iter().map(ToString::to_string).collect();
            let word = state.steadiness.word();
            others.push(format!("{} ({word}: {})", name(record), reasons.join(", ")));
        }
    }
    let (steady, noisy, judged) = (counts.steady, counts.noisy, counts.judged());
    if judged == 0 {
        return None;
    }
    let mut text = match (judged, steady) {
        (1, 1) => format!("The {noun} was steady."),
        (_, steady) if steady == judged => format!("All {judged} {noun}s were steady."),
        _ => format!("Steady: {steady} of {}.", counted(judged, noun)),
    };
    if noisy > 0 {
        text.push_str(&format!(" Undecided because of noise: {noisy}."));
    }
    if !others.is_empty() {
        text.push_str(&format!(" Not steady: {}.", named(others)));
    }
    Some(text)
}

fn stalls(runs: &[&Record]) -> Option<String> {
    let stalled: Vec<String> = runs
        .iter()
        .filter_map(|record| Some((name(record), run_stalls(record)?)))
        .map(|(name, stalls)| format!("{name} ({})", in_words(&stalls)))
        .collect();
    (!stalled.is_empty()).then(|| format!("Stalls found: {}.", named(stalled)))
}

/// `run 3`, `run 3 (batch)` for one of several loads, or `stage 2 of run 3`.
fn name(record: &Record) -> String {
    let run = record.header.number_in_words();
    match record.stages.as_slice() {
        [stage] => format!("stage {} of run {run}", stage.number),
        _ => format!("run {run}"),
    }
}

/// The stalls in words:
/// `3 s of 60 s (5 %) below half of the median throughput, 2 s of it in a row; no answers for 1 s`.
fn in_words(stalls: &RunStalls) -> String {
    let RunStalls {
        measured_s,
        stalled_s,
        longest_s,
        longest_gap_s,
        ..
    } = stalls;
    let share = percent(stalled_s / measured_s);
    let mut words = format!(
        "{} of {} ({share}) below half of the median throughput, {} of it in a row",
        moment(*stalled_s),
        moment(*measured_s),
        moment(*longest_s)
    );
    if *longest_gap_s > 0.0 {
        words.push_str(&format!("; no answers for {}", moment(*longest_gap_s)));
    }
    words
}

fn named(mut runs: Vec<String>) -> String {
    let more = runs.len().saturating_sub(NAMED_AT_MOST);
    runs.truncate(NAMED_AT_MOST);
    if more > 0 {
        runs.push(format!("{more} more"));
    }
    runs.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stalls_in_words() {
        let stalls = RunStalls {
            measured_s: 60.0,
            stalled_s: 3.0,
            longest_s: 2.04,
            longest_gap_s: 0.0,
            median_per_s: 100.0,
        };
        let words = "3 s of 60 s (5 %) below half of the median throughput, 2 s of it in a row";
        assert_eq!(in_words(&stalls), words);
        let silent = RunStalls {
            longest_gap_s: 1.5,
            ..stalls
        };
        assert_eq!(in_words(&silent), format!("{words}; no answers for 1.5 s"));
    }

    #[test]
    fn few_are_named() {
        let runs = |count: usize| (1..=count).map(|run| format!("run {run}")).collect();
        assert_eq!(named(runs(2)), "run 1, run 2");
        assert_eq!(named(runs(5)), "run 1, run 2, run 3, 2 more");
        assert_eq!(steadiness(&[], "run"), None);
        assert_eq!(stalls(&[]), None);
    }
}
