//! The budget of an experiment that runs until decided.

use experiment::{Design, Experiment, Repeats};

use crate::searches::is_search;

/// Maximum number of blocks of an experiment that runs until its comparisons are decided; side by side, that of the pairs
/// of batches of all sessions together. `None` for any other experiment, and for searches, which compare nothing.
pub fn looked_at(experiment: &Experiment) -> Option<usize> {
    let plan = experiment.plan();
    let Repeats::UntilDecided { at_most, .. } = plan.repeats else {
        return None;
    };
    if is_search(experiment) {
        return None;
    }
    let Design::SideBySide(slicing) = plan.design else {
        return Some(at_most as usize);
    };
    // All combinations are measured for the same time.
    let loads = plan.runs.iter().flat_map(|run| &run.loads);
    let batches = loads.map(|load| slicing.batches_at_most(load.spec.duration));
    let of_session = batches.max().unwrap_or(1);
    Some(at_most as usize * of_session as usize)
}
