//! Runs that other work disturbed, in words: the repeated ones, and those that are included in the figures.

use audit::other_programs_in_words;
use samples::Disturbance;
use units::{counted, percent};

use crate::results::Results;

/// Maximum number of runs listed; further ones are counted.
const NAMED_AT_MOST: usize = 3;

/// The CPU use of others: `other programs used 12 % of the CPU (rustc, node), the hypervisor took 3 %`.
pub fn disturbance_in_words(disturbance: &Disturbance) -> String {
    let mut words = other_programs_in_words(disturbance, "");
    if disturbance.steal > 0.0 {
        words.push_str(&format!(
            ", the hypervisor took {}",
            percent(disturbance.steal)
        ));
    }
    words
}

/// The runs that were set aside and repeated, and the disturbed ones that are included in the figures; empty on a quiet
/// machine.
pub(crate) fn sentences(results: &Results) -> Vec<String> {
    let limits = &results.disturbances;
    let mut sentences = Vec::new();
    if !limits.set_aside.is_empty() {
        sentences.push(format!(
            "{} by other programs, set aside and repeated: {}.",
            was(limits.set_aside.len()),
            named(&limits.set_aside)
        ));
    }
    // Results from before the limits existed have none.
    let has_limits = limits.others > 0.0;
    // The machine is the same for all loads of a run.
    let kept: Vec<(u32, Disturbance)> = results
        .first_loads()
        .filter(|record| has_limits && record.is_complete())
        .filter_map(|record| Some((record.header.run, Disturbance::of(record)?)))
        .filter(|(_, disturbance)| disturbance.is_above(limits.others, limits.steal))
        .collect();
    if !kept.is_empty() {
        sentences.push(format!(
            "{} by other programs and {} still included in the figures: {}.",
            was(kept.len()),
            if kept.len() == 1 { "is" } else { "are" },
            named(&kept)
        ));
    }
    sentences
}

fn was(runs: usize) -> String {
    let verb = if runs == 1 { "was" } else { "were" };
    format!("{} {verb} disturbed", counted(runs, "run"))
}

fn named(runs: &[(u32, Disturbance)]) -> String {
    let mut words: Vec<String> = runs
        .iter()
        .take(NAMED_AT_MOST)
        .map(|(run, disturbance)| format!("run {run} ({})", disturbance_in_words(disturbance)))
        .collect();
    let more = runs.len().saturating_sub(NAMED_AT_MOST);
    if more > 0 {
        words.push(format!("{more} more"));
    }
    words.join(", ")
}
