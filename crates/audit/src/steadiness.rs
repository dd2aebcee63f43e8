//! Courses that do not stay at one level, by the classes of a run's state.

use stats::{Evidence, Steadiness, judge_run};
use units::counted;

/// Why the mean course does not stay at one level, as text; `None` if it does.
pub(crate) fn moves_between_levels(mean: &[f64]) -> Option<String> {
    let state = judge_run(mean, &Evidence::default()).ok()?;
    let is_moving = matches!(
        state.steadiness,
        Steadiness::Cyclic | Steadiness::NeverSteady
    );
    let reasons: Vec<String> = state.reasons.iter().map(ToString::to_string).collect();
    (is_moving && !reasons.is_empty()).then(|| reasons.join("; "))
}

/// The executions that are not steady by themselves, in words: their mean can hide it. `None` if there is none.
pub(crate) fn unsteady_by_themselves(courses: &[Vec<f64>]) -> Option<String> {
    let states = courses.iter().filter_map(|course| {
        let state = judge_run(course, &Evidence::default()).ok()?;
        (state.steadiness != Steadiness::Steady).then_some(state)
    });
    let states: Vec<_> = states.collect();
    let first = states.first()?;
    let reasons: Vec<String> = first.reasons.iter().map(ToString::to_string).collect();
    let word = first.steadiness.word();
    Some(format!(
        "some executions are not steady by themselves: {} of {} ({word}: {})",
        states.len(),
        counted(courses.len(), "run"),
        reasons.join(", ")
    ))
}
