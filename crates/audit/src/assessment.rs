//! The summary of all findings in three parts: the machine, the scope, and the method with its grade.

use units::{counted, seconds};

use crate::{
    finding::{Level, Outcome, SkipReason},
    grade::Grade,
    rule::Rule,
    rules::NEIGHBOURS,
    set::Set,
};

/// Executions of each combination below which no claim is made.
const EXECUTIONS_OF_A_CLAIM: usize = 3;

/// Measured phase in seconds below which no claim is made: less than half of InnoDB's ten-second background cycle.
const SECONDS_OF_A_CLAIM: f64 = 5.0;

/// The rule about other load on the machine, which does not count in the grade of the method.
pub const MACHINE_RULE: &Rule = NEIGHBOURS;

/// The summary of all findings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assessment {
    pub machine: MachineState,
    pub scope: Scope,
    /// The grade of the method; only where the scope is [`Scope::Claim`].
    pub method: Option<Grade>,
}

/// Whether other programs used the machine (rule H14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MachineState {
    /// No other load in any run.
    Quiet,
    /// Other load in at least one run.
    Busy,
    /// Not observed, or undecided.
    NotObserved,
}

/// Which claims the figures support.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scope {
    /// Claims are supported: each combination was executed at least three times, and no execution was too short.
    Claim,
    /// A rough figure from too few executions.
    Rough {
        /// Executions of the combination that has the fewest.
        executions: usize,
    },
    /// A rough figure from enough executions that were too short.
    Short {
        /// Measured phase of the shortest execution, seconds.
        measured_s: f64,
    },
    /// A measurement of storage.
    Storage {
        /// Whether everything that was planned was measured.
        is_complete: bool,
    },
    /// Runs of the plan are missing.
    Interrupted { complete: usize, planned: usize },
}

impl MachineState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Busy => "busy",
            Self::NotObserved => "not observed",
        }
    }

    fn of(outcomes: &[(&Rule, &Outcome)]) -> Self {
        let rule = outcomes.iter().find(|(rule, _)| rule.is(MACHINE_RULE));
        match rule.map(|(_, outcome)| outcome) {
            Some(Ok(finding)) if finding.level > Level::Note => Self::Busy,
            Some(Ok(_)) => Self::Quiet,
            Some(Err(SkipReason::NotEvaluated(_) | SkipReason::DoesNotApply(_))) | None => {
                Self::NotObserved
            }
        }
    }
}

impl Scope {
    pub fn word(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Rough { .. } | Self::Short { .. } => "rough",
            Self::Storage { is_complete: true } => "storage",
            Self::Interrupted { .. } | Self::Storage { .. } => "interrupted",
        }
    }

    fn of(set: &Set<'_>, stages: &Set<'_>, batches: &Set<'_>) -> Self {
        if let Some(record) = set.storage {
            return Self::Storage {
                is_complete: record.is_complete,
            };
        }
        let complete = set.complete_count();
        let planned = set.declared.planned_runs.unwrap_or_default() as usize;
        if complete < planned {
            return Self::Interrupted { complete, planned };
        }
        let combinations = batches.results();
        let executions = combinations.iter().map(|(_, runs)| runs.len()).min();
        // The duration of a data load is a result, so it is not checked.
        let lengths = stages.complete().filter_map(|run| run.sustained_s().ok());
        let measured_s = lengths.fold(f64::INFINITY, f64::min);
        match executions.unwrap_or_default() {
            few if few < EXECUTIONS_OF_A_CLAIM => Self::Rough { executions: few },
            _ if measured_s < SECONDS_OF_A_CLAIM => Self::Short { measured_s },
            _ => Self::Claim,
        }
    }
}

impl Assessment {
    /// The assessment of the outcomes, given with their rules; `stages` and `batches` are those of the runs, or the
    /// runs if they have none.
    pub(crate) fn of(
        set: &Set<'_>,
        stages: &Set<'_>,
        batches: &Set<'_>,
        outcomes: &[(&Rule, &Outcome)],
    ) -> Self {
        let scope = Scope::of(set, stages, batches);
        let method = outcomes.iter().filter(|(rule, _)| !rule.is(MACHINE_RULE));
        let method = method.map(|(_, outcome)| *outcome);
        Self {
            machine: MachineState::of(outcomes),
            scope,
            method: (scope == Scope::Claim).then(|| Grade::of(method)),
        }
    }

    /// The letter of the method's grade; `None` without a grade.
    pub fn letter(&self) -> Option<char> {
        self.method.map(Grade::letter)
    }

    /// `grade B: sound, with reservations; machine quiet`, or `rough, no grade: 1 execution; machine busy`.
    pub fn in_words(&self) -> String {
        format!(
            "{}; machine {}",
            self.method_in_words(),
            self.machine.word()
        )
    }

    /// The same without the machine: `grade B: sound, with reservations`.
    pub fn method_in_words(&self) -> String {
        match (self.method, self.scope) {
            (Some(grade), _) => format!("grade {}: {}", grade.letter(), grade.in_words()),
            (None, Scope::Rough { executions }) => {
                format!("rough, no grade: {}", counted(executions, "execution"))
            }
            (None, Scope::Short { measured_s }) => {
                format!("rough, no grade: executions of {}", seconds(measured_s))
            }
            (None, Scope::Storage { is_complete: true }) => {
                "a measurement of storage, no grade".to_owned()
            }
            (None, Scope::Storage { .. }) => {
                "an interrupted measurement of storage, no grade".to_owned()
            }
            (None, Scope::Interrupted { complete, planned }) => {
                format!("no grade: {complete} of {planned} planned runs are complete")
            }
            (None, Scope::Claim) => "no grade".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use samples::RATE;

    use crate::{
        Subject, audit,
        fixture::{blocks_over, healthy, in_turns, over, run_of, with_batches},
        subject::{AuditedRun, Preregistration},
    };

    use super::*;

    fn assessed(runs: &[samples::Record], planned: Option<u32>) -> Assessment {
        let mut declared = over(&["flush"]);
        declared.planned_runs = planned;
        let runs = runs.iter().map(|record| AuditedRun {
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
    fn the_batches_of_one_session_are_executions() {
        let runs = ["1", "2"].map(|level| {
            let mut run = run_of(1, 1, &[("flush", level)]);
            in_turns(&mut run);
            run
        });
        let batches = samples::Batches::of(&runs);
        let mut declared = over(&["flush"]);
        declared.planned_runs = Some(2);
        let subject = with_batches(&runs, &batches.records, declared);
        assert_eq!(audit(&subject).assessment.scope, Scope::Claim);
        let alone = assessed(&runs, Some(2)).scope;
        assert_eq!(alone, Scope::Rough { executions: 1 });
    }

    #[test]
    fn the_runs_of_all_rates_of_a_search_are_executions() {
        let mut runs = blocks_over("flush", &["1"]);
        for (run, rate_per_s) in runs.iter_mut().zip(100_u32..) {
            let level = rate_per_s.to_string();
            run.header.combination.insert(RATE.to_owned(), level);
        }
        let scope = |is_search: bool| {
            let declared = Preregistration {
                is_search,
                ..over(&["flush"])
            };
            let subject = with_batches(&runs, &[], declared);
            audit(&subject).assessment.scope
        };
        assert_eq!(scope(true), Scope::Claim);
        assert_eq!(scope(false), Scope::Rough { executions: 1 });
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

    /// The runs of `dbdyno quick`.
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

    /// Other load is reported for the machine and does not lower the grade of the method.
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
