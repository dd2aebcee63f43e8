//! How many of several runs were steady.

use stats::{Indeterminate, RunState, Steadiness};

/// The numbers of runs by their state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SteadyRuns {
    pub steady: usize,
    /// Those whose noise may hide a change.
    pub noisy: usize,
    pub not_steady: usize,
}

impl SteadyRuns {
    /// Counts a run by its state. A run that is too short to be judged, or has no state, is not counted.
    pub fn add(&mut self, state: &Result<RunState, Indeterminate>) {
        match state {
            Ok(state) if state.steadiness == Steadiness::Steady => self.steady += 1,
            Ok(_) => self.not_steady += 1,
            Err(Indeterminate::Noisy(_)) => self.noisy += 1,
            Err(Indeterminate::Short(_) | Indeterminate::Undefined) => {}
        }
    }

    /// Number of runs that could be judged, or could not because of noise.
    pub fn judged(&self) -> usize {
        self.steady + self.noisy + self.not_steady
    }
}

#[cfg(test)]
mod tests {
    use stats::Interval;

    use super::*;

    #[test]
    fn runs_that_are_too_short_are_not_counted() {
        let state = |steadiness| {
            let none = Interval {
                estimate: 0.0,
                low: 0.0,
                high: 0.0,
            };
            Ok(RunState {
                steadiness,
                from: 0,
                drift: none,
                reasons: Vec::new(),
                looks_too_few: None,
            })
        };
        let mut runs = SteadyRuns::default();
        for state in [
            state(Steadiness::Steady),
            state(Steadiness::Warming),
            state(Steadiness::Cyclic),
            Err(Indeterminate::Noisy(0.5)),
            Err(Indeterminate::Short(3)),
            Err(Indeterminate::Undefined),
        ] {
            runs.add(&state);
        }
        let expected = SteadyRuns {
            steady: 1,
            noisy: 1,
            not_steady: 2,
        };
        assert_eq!((runs, runs.judged()), (expected, 4));
    }
}
