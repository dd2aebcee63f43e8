//! What the progress of a command shows, for those who look on from elsewhere.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The steps that are in progress, the outermost first.
#[derive(Debug, Clone, Default)]
pub(crate) struct StepStack(Arc<Mutex<Steps>>);

#[derive(Debug, Default)]
struct Steps {
    begun: u64,
    steps: Vec<(u64, String)>,
}

/// One of them; it is over when this goes.
#[derive(Debug)]
pub(crate) struct ShownStep {
    shown: StepStack,
    number: u64,
}

impl StepStack {
    /// What each step says.
    pub(crate) fn lines(&self) -> Vec<String> {
        let steps = self.steps();
        steps.steps.iter().map(|(_, said)| said.clone()).collect()
    }

    pub(crate) fn begin(&self, what: &str) -> ShownStep {
        let mut steps = self.steps();
        steps.begun += 1;
        let number = steps.begun;
        steps.steps.push((number, what.to_owned()));
        ShownStep {
            shown: self.clone(),
            number,
        }
    }

    fn steps(&self) -> MutexGuard<'_, Steps> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ShownStep {
    /// Says what the step does now.
    pub(crate) fn say(&self, what: &str) {
        let mut steps = self.shown.steps();
        let step = steps.steps.iter_mut();
        for (_, said) in step.filter(|(number, _)| *number == self.number) {
            what.clone_into(said);
        }
    }
}

impl Drop for ShownStep {
    fn drop(&mut self) {
        let mut steps = self.shown.steps();
        steps.steps.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_shown_until_it_is_over() {
        let shown = StepStack::default();
        let runs = shown.begin("runs");
        let load = shown.begin("loading");
        runs.say("run 1 of 2");
        assert_eq!(shown.lines(), ["run 1 of 2", "loading"]);
        drop(load);
        assert_eq!(shown.lines(), ["run 1 of 2"]);
        drop(runs);
        assert!(shown.lines().is_empty());
    }
}
