//! Problems of the executions behind an answer: they were not steady, or other programs used the machine.

use audit::{Rule, mostly_shared, shared_machine};
use samples::Record;
use serde_json::{Value, json};
use verdict::{SteadyRuns, run_state};

/// The conditions under which executions were measured. Those of an emulated target are not counted.
#[derive(Debug, Clone, Default)]
pub struct MeasuringConditions {
    steady: SteadyRuns,
    /// Of each execution, the rule by which other programs used the machine.
    shared: Vec<Option<&'static Rule>>,
}

impl MeasuringConditions {
    /// Adds those of an execution.
    pub(crate) fn add(&mut self, execution: &Record) {
        self.steady.add(&run_state(execution));
        self.shared.push(shared_machine(execution));
    }

    /// The conditions of these executions and of others.
    pub(crate) fn with(&self, others: &Self) -> Self {
        let (ours, theirs) = (self.steady, others.steady);
        Self {
            steady: SteadyRuns {
                steady: ours.steady + theirs.steady,
                noisy: ours.noisy + theirs.noisy,
                not_steady: ours.not_steady + theirs.not_steady,
            },
            shared: [self.shared.as_slice(), others.shared.as_slice()].concat(),
        }
    }

    /// `steady: 4 of 24 executions, undecided because of noise: 12; beside other programs (H14): 20 of 24`; `None` if all
    /// executions that could be judged were steady, and at most half of all were beside other programs.
    pub fn problems(&self) -> Option<String> {
        let mut problems = Vec::new();
        let (steady, judged) = (self.steady.steady, self.steady.judged());
        if steady < judged {
            let noise = match self.steady.noisy {
                0 => String::new(),
                noisy => format!(", undecided because of noise: {noisy}"),
            };
            let judged = units::counted(judged, "execution");
            problems.push(format!("steady: {steady} of {judged}{noise}"));
        }
        if let Some(rule) = mostly_shared(self.shared.iter().copied()) {
            let all = if problems.is_empty() {
                units::counted(self.shared.len(), "execution")
            } else {
                self.shared.len().to_string()
            };
            let shared = self.beside_others();
            problems.push(format!(
                "beside other programs ({}): {shared} of {all}",
                rule.id
            ));
        }
        (!problems.is_empty()).then(|| problems.join("; "))
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "executions": self.shared.len(),
            "beside_other_programs": self.beside_others(),
            "steady": self.steady.steady,
            "not_steady": self.steady.not_steady,
            "undecided_because_of_noise": self.steady.noisy,
        })
    }

    fn beside_others(&self) -> usize {
        self.shared.iter().flatten().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(
        [steady, noisy, not_steady]: [usize; 3],
        shared: usize,
        all: usize,
    ) -> MeasuringConditions {
        let rule = audit::rule("H14");
        MeasuringConditions {
            steady: SteadyRuns {
                steady,
                noisy,
                not_steady,
            },
            shared: (0..all).map(|at| rule.filter(|_| at < shared)).collect(),
        }
    }

    #[test]
    fn executions_that_were_not_steady_or_shared_the_machine_are_counted() {
        for (states, shared, all, expected) in [
            ([24, 0, 0], 12, 24, None),
            // Too short to be judged.
            ([0, 0, 0], 0, 24, None),
            ([0, 0, 24], 0, 24, Some("steady: 0 of 24 executions")),
            (
                [4, 12, 8],
                12,
                24,
                Some("steady: 4 of 24 executions, undecided because of noise: 12"),
            ),
            (
                [24, 0, 0],
                13,
                24,
                Some("beside other programs (H14): 13 of 24 executions"),
            ),
            (
                [4, 12, 8],
                20,
                24,
                Some(
                    "steady: 4 of 24 executions, undecided because of noise: 12; beside other programs (H14): 20 of 24",
                ),
            ),
        ] {
            let found = conditions(states, shared, all).problems();
            assert_eq!(found.as_deref(), expected);
        }
    }

    #[test]
    fn the_executions_of_two_levels_are_counted_together() {
        let both = conditions([1, 0, 3], 0, 4).with(&conditions([2, 1, 1], 3, 4));
        let expected = "steady: 3 of 8 executions, undecided because of noise: 1";
        assert_eq!(both.problems().as_deref(), Some(expected));
        assert_eq!(both.json()["beside_other_programs"], 3);
    }
}
