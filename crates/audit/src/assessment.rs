//! What all findings together say, in three words: the machine, the scope, and the method with its grade.

use units::{counted, seconds};

use crate::{
    finding::{Level, Outcome, Unjudged},
    grade::Grade,
    set::Set,
};

/// Executions of each combination below which nothing is claimed.
const EXECUTIONS_OF_A_CLAIM: usize = 3;

/// Seconds of a measured phase below which nothing is claimed: not even half a round of what InnoDB does every ten seconds.
const SECONDS_OF_A_CLAIM: f64 = 5.0;

/// The rule about other work on the machine, which is none of the method's.
const MACHINE_RULE: &str = "H14";

/// What all findings together say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assessment {
    /// Whether others worked on the machine.
    pub machine: MachineState,
    /// What the figures are good for.
    pub scope: Scope,
    /// The grade of the method; only of what claims something.
    pub method: Option<Grade>,
}

/// Whether others worked on the machine (rule H14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineState {
    /// Nobody did.
    Quiet,
    /// Somebody did, in one run at least.
    Busy,
    /// Nobody looked, or could tell.
    NotObserved,
}

/// What the figures are good for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scope {
    /// Something can be claimed: each combination was executed three times at least, and none was short.
    Claim,
    /// A rough figure of so few executions.
    Rough {
        /// Of the combination that has the fewest.
        executions: usize,
    },
    /// A rough figure of executions that are enough, but short.
    Short {
        /// Measured phase of the shortest of them, seconds.
        measured_s: f64,
    },
    /// Runs of the plan are missing.
    Interrupted {
        /// Complete runs.
        complete: usize,
        /// Runs that were planned.
        planned: usize,
    },
}

impl MachineState {
    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Busy => "busy",
            Self::NotObserved => "not observed",
        }
    }

    fn of(outcomes: &[(&str, &Outcome)]) -> Self {
        let rule = outcomes.iter().find(|(rule, _)| *rule == MACHINE_RULE);
        match rule.map(|(_, outcome)| outcome) {
            Some(Ok(finding)) if finding.level > Level::Note => Self::Busy,
            Some(Ok(_)) => Self::Quiet,
            Some(Err(Unjudged::NotEvaluated(_) | Unjudged::DoesNotApply(_))) | None => {
                Self::NotObserved
            }
        }
    }
}

impl Scope {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Rough { .. } | Self::Short { .. } => "rough",
            Self::Interrupted { .. } => "interrupted",
        }
    }

    fn of(set: &Set<'_>) -> Self {
        let complete = set.complete().count();
        let planned = set.declared.planned_runs.unwrap_or_default() as usize;
        if complete < planned {
            return Self::Interrupted { complete, planned };
        }
        let executions = set.combinations().iter().map(|(_, runs)| runs.len()).min();
        // A load of data takes as long as it takes.
        let lengths = set.complete().filter_map(|run| run.sustained_s().ok());
        let measured_s = lengths.fold(f64::INFINITY, f64::min);
        match executions.unwrap_or_default() {
            few if few < EXECUTIONS_OF_A_CLAIM => Self::Rough { executions: few },
            _ if measured_s < SECONDS_OF_A_CLAIM => Self::Short { measured_s },
            _ => Self::Claim,
        }
    }
}

impl Assessment {
    /// Of what each rule says, by its name.
    pub(crate) fn of(set: &Set<'_>, outcomes: &[(&str, &Outcome)]) -> Self {
        let scope = Scope::of(set);
        let method = outcomes.iter().filter(|(rule, _)| *rule != MACHINE_RULE);
        let method = method.map(|(_, outcome)| *outcome);
        Self {
            machine: MachineState::of(outcomes),
            scope,
            method: (scope == Scope::Claim).then(|| Grade::of(method)),
        }
    }

    /// The letter of the method's grade.
    pub fn letter(&self) -> Option<char> {
        self.method.map(Grade::letter)
    }

    /// `grade B: sound, with something to keep in mind; machine quiet`, or `rough, no grade: 1 execution; machine busy`.
    pub fn in_words(&self) -> String {
        let method = match (self.method, self.scope) {
            (Some(grade), _) => format!("grade {}: {}", grade.letter(), grade.in_words()),
            (None, Scope::Rough { executions }) => {
                format!("rough, no grade: {}", counted(executions, "execution"))
            }
            (None, Scope::Short { measured_s }) => {
                format!("rough, no grade: executions of {}", seconds(measured_s))
            }
            (None, Scope::Interrupted { complete, planned }) => {
                format!("no grade: {complete} of {planned} planned runs are complete")
            }
            (None, Scope::Claim) => "no grade".to_owned(),
        };
        format!("{method}; machine {}", self.machine.word())
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Subject, audit,
        fixture::{blocks_over, healthy, over},
        subject::Measured,
    };

    use super::*;

    fn assessed(runs: &[samples::Record], planned: Option<u32>) -> Assessment {
        let mut declared = over(&["flush"]);
        declared.planned_runs = planned;
        let runs = runs.iter().map(|record| Measured {
            record,
            limit: None,
            side: None,
        });
        let subject = Subject {
            runs: runs.collect(),
            declared,
            ..Subject::default()
        };
        audit(&subject).assessment
    }

    #[test]
    fn a_single_run_is_rough_and_has_no_grade() {
        let found = assessed(&[healthy()], None);
        assert_eq!(found.scope, Scope::Rough { executions: 1 });
        assert_eq!(found.letter(), None);
        assert_eq!(
            found.in_words(),
            "rough, no grade: 1 execution; machine quiet"
        );
    }

    /// As `dbdyno quick` makes them.
    #[test]
    fn short_runs_are_rough_and_have_no_grade() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        for run in &mut runs {
            for interval in &mut run.intervals {
                interval.length_s /= 100.0;
            }
        }
        let found = assessed(&runs, None);
        assert_eq!(found.letter(), None);
        assert_eq!(found.scope.word(), "rough");
        assert!(
            found
                .in_words()
                .starts_with("rough, no grade: executions of "),
            "{}",
            found.in_words()
        );
    }

    #[test]
    fn an_interrupted_plan_has_no_grade() {
        let runs = blocks_over("flush", &["1", "2"]);
        let found = assessed(&runs[..9], Some(10));
        assert_eq!(
            found.in_words(),
            "no grade: 9 of 10 planned runs are complete; machine quiet"
        );
    }

    /// Other work on the machine is told of the machine; the method is as good as before.
    #[test]
    fn a_busy_machine_is_none_of_the_method() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        let quiet = assessed(&runs, None);
        assert_eq!(quiet.scope, Scope::Claim);
        for sample in &mut runs[2].telemetry {
            let machine = sample.machine.as_mut().unwrap();
            machine.user_s += 1.0;
        }
        let busy = assessed(&runs, None);
        assert_eq!(busy.machine, MachineState::Busy);
        assert_eq!(busy.method, quiet.method);
    }
}
