//! The summary of all findings in three parts: the machine, the scope, and the method with its grade.

use std::collections::BTreeSet;

use units::{counted, seconds};

use crate::{
    finding::{Level, Outcome, SkipReason},
    grade::Grade,
    intervals::WideInterval,
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
        // The parts of which the report shows the figures.
        let shown = if batches.has_batches() {
            batches
        } else {
            stages
        };
        let best = || best_of_figures(set, shown, outcomes);
        Self {
            machine: MachineState::of(outcomes),
            scope,
            method: (scope == Scope::Claim).then(|| Grade::of(method).max(best())),
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

/// The best grade that the figures allow, however good the method is: figures of a machine that others used most of the
/// time, or with an interval as wide as the figure, are not sound.
fn best_of_figures(set: &Set<'_>, shown: &Set<'_>, outcomes: &[(&Rule, &Outcome)]) -> Grade {
    if is_mostly_shared(set, outcomes) || WideInterval::widest(shown).is_some() {
        Grade::C
    } else {
        Grade::A
    }
}

/// True if the rule about the machine is invalid in more than half of the runs.
fn is_mostly_shared(set: &Set<'_>, outcomes: &[(&Rule, &Outcome)]) -> bool {
    let rule = outcomes.iter().find(|(rule, _)| rule.is(MACHINE_RULE));
    let finding = rule.and_then(|(_, outcome)| outcome.as_ref().ok());
    let runs: BTreeSet<u32> = set.runs.iter().map(|run| run.record.header.run).collect();
    finding.is_some_and(|it| it.level == Level::Invalid && 2 * it.runs.len().max(1) > runs.len())
}

#[cfg(test)]
mod tests {
    use samples::RATE;

    use crate::{
        Subject, audit,
        fixture::{
            blocks_over, each_sample, healthy, in_turns, over, run_of, set_throughput, with_batches,
        },
        judge,
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

    /// Other load in some runs is reported for the machine and does not lower the grade of the method.
    #[test]
    fn a_machine_that_was_sometimes_busy_is_none_of_the_method() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        let quiet = assessed(&runs, None);
        assert_eq!(quiet.scope, Scope::Claim);
        each_sample(&mut runs[2], |sample| {
            sample.machine.as_mut().unwrap().user_s += 1.0;
        });
        let busy = assessed(&runs, None);
        assert_eq!(busy.machine, MachineState::Busy);
        assert_eq!(busy.method, quiet.method);
    }

    #[test]
    fn figures_of_a_machine_that_was_busy_in_most_runs_are_not_sound() {
        let with_busy = |count: usize| {
            let mut runs = blocks_over("flush", &["1", "2"]);
            for run in &mut runs[..count] {
                each_sample(run, |sample| {
                    sample.machine.as_mut().unwrap().user_s += 1.0;
                });
            }
            runs
        };
        let best = |count: usize| {
            let runs = with_busy(count);
            let subject = with_batches(&runs, &[], over(&["flush"]));
            let outcome = judge(MACHINE_RULE, &subject);
            let set = Set::of(&subject);
            best_of_figures(&set, &set, &[(MACHINE_RULE, &outcome)])
        };
        assert_eq!([best(5), best(6)], [Grade::A, Grade::C]);
        assert!(assessed(&with_busy(10), None).method >= Some(Grade::C));
    }

    #[test]
    fn a_figure_with_an_interval_as_wide_as_itself_is_not_sound() {
        let best = |between: [f64; 2]| {
            let mut runs = blocks_over("flush", &["1", "2"]);
            for (at, run) in runs.iter_mut().enumerate() {
                set_throughput(run, between[at / 2 % 2]);
            }
            let subject = with_batches(&runs, &[], over(&["flush"]));
            let set = Set::of(&subject);
            best_of_figures(&set, &set, &[])
        };
        assert_eq!(best([1000.0, 1300.0]), Grade::A);
        assert_eq!(best([500.0, 5000.0]), Grade::C);
        // An execution that did nothing is a part of the figure, and of its interval from 0/s on.
        assert_eq!(best([0.0, 5000.0]), Grade::C);
    }
}
