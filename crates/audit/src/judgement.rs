//! The evaluation of all rules: the outcome of each, and their summary.

use std::collections::BTreeMap;

use units::counted;

use crate::{
    assessment::Assessment,
    disk_load,
    finding::{Finding, Level, Outcome, SkipReason, missing, no_subject},
    rule::{Judge, Rule},
    rules::RULES,
    run::Run,
    set::{Noun, Set},
    subject::Subject,
};

/// A sentence lists at most this many run numbers.
const RUNS_NAMED: usize = 8;

/// The result of all rules.
#[derive(Debug, Clone)]
pub struct Audit {
    pub assessment: Assessment,
    /// The outcomes, in the order of the rules.
    pub judgements: Vec<Judgement>,
}

/// The outcome of one rule.
#[derive(Debug, Clone)]
pub struct Judgement {
    pub rule: &'static Rule,
    /// Its finding, or the reason why it has none.
    pub outcome: Outcome,
}

impl Judgement {
    /// The title: what was found if it is a problem, otherwise the requirement.
    pub fn title(&self) -> &'static str {
        match &self.outcome {
            Ok(finding) if finding.level > Level::Note => self.rule.found,
            _ => self.rule.name,
        }
    }
}

impl Audit {
    /// The worst level found; `None` where no rule was evaluated.
    pub fn worst(&self) -> Option<Level> {
        let found = self
            .judgements
            .iter()
            .filter_map(|it| it.outcome.as_ref().ok());
        found.map(|finding| finding.level).max()
    }

    pub fn count(&self, level: Level) -> usize {
        let found = self
            .judgements
            .iter()
            .filter_map(|it| it.outcome.as_ref().ok());
        found.filter(|finding| finding.level == level).count()
    }

    pub fn not_evaluated(&self) -> usize {
        let why = self
            .judgements
            .iter()
            .filter_map(|it| it.outcome.as_ref().err());
        why.filter(|why| matches!(why, SkipReason::NotEvaluated(_)))
            .count()
    }

    /// The judgements with the worst first; within a level in the order of the rules.
    pub fn by_level(&self) -> Vec<&Judgement> {
        let mut judgements: Vec<_> = self.judgements.iter().collect();
        judgements.sort_by_key(|it| match &it.outcome {
            Ok(finding) => (0, std::cmp::Reverse(Some(finding.level))),
            Err(SkipReason::NotEvaluated(_)) => (1, std::cmp::Reverse(None)),
            Err(SkipReason::DoesNotApply(_)) => (2, std::cmp::Reverse(None)),
        });
        judgements
    }
}

/// Evaluates all rules; those about servers side by side only where there are any.
pub fn audit(subject: &Subject<'_>) -> Audit {
    let sets = Sets::of(subject);
    let mut runs = subject.runs.iter();
    let has_sessions = runs.any(|run| run.record.side_by_side.is_some());
    let rules = RULES
        .iter()
        .filter(|rule| has_sessions || !rule.is_of_sessions());
    let judgements = rules.map(|rule| Judgement {
        rule,
        outcome: sets.outcome(rule),
    });
    let judgements: Vec<_> = judgements.collect();
    let outcomes: Vec<_> = judgements.iter().map(|it| (it.rule, &it.outcome)).collect();
    Audit {
        assessment: Assessment::of(&sets.runs, sets.by_stage(), sets.by_batch(), &outcomes),
        judgements,
    }
}

pub fn judge(rule: &Rule, subject: &Subject<'_>) -> Outcome {
    Sets::of(subject).outcome(rule)
}

/// The runs of a subject and, if they have any, their stages and their batches of slices.
struct Sets<'a> {
    runs: Set<'a>,
    stages: Option<Set<'a>>,
    batches: Option<Set<'a>>,
}

impl<'a> Sets<'a> {
    fn of(subject: &'a Subject<'a>) -> Self {
        Self {
            runs: Set::of(subject),
            stages: Set::of_stages(subject),
            batches: Set::of_batches(subject),
        }
    }

    /// The stages, or the runs if none has any.
    fn by_stage(&self) -> &Set<'a> {
        self.stages.as_ref().unwrap_or(&self.runs)
    }

    /// The batches, or the runs if none has any.
    fn by_batch(&self) -> &Set<'a> {
        self.batches.as_ref().unwrap_or(&self.runs)
    }

    fn outcome(&self, rule: &Rule) -> Outcome {
        let batches = self.batches.as_ref().filter(|_| rule.judges_batches());
        let stages = self.stages.as_ref().filter(|_| rule.judges_stages());
        let Some(parts) = batches.or(stages) else {
            return outcome(rule, &self.runs);
        };
        let mut finding = outcome(rule, parts)?;
        // Several parts of a run may have it.
        finding.runs.sort_unstable();
        finding.runs.dedup();
        Ok(finding)
    }
}

/// Evaluates one rule over the prepared runs.
fn outcome(rule: &Rule, set: &Set<'_>) -> Outcome {
    if set.runs.iter().any(|run| run.record.disk_load.is_some()) {
        return disk_load::outcome(rule, &set.runs, || of_runs(rule, set));
    }
    match (rule.judge, set.storage) {
        (
            Judge::Storage(judge) | Judge::RunOrStorage(_, judge) | Judge::SetOrStorage(_, judge),
            Some(record),
        ) => judge(record),
        (Judge::Run(_) | Judge::Set(_), Some(_)) => {
            Err(no_subject("the results contain no run of a server"))
        }
        (_, None) => of_runs(rule, set),
    }
}

fn of_runs(rule: &Rule, set: &Set<'_>) -> Outcome {
    match rule.judge {
        Judge::Run(judge) | Judge::RunOrStorage(judge, _) => over_runs(set, judge),
        Judge::Set(judge) | Judge::SetOrStorage(judge, _) => judge(set),
        Judge::Storage(_) => Err(no_subject("the results contain no storage measurement")),
    }
}

/// The outcome of a rule over single runs for all of them: the worst finding, and the runs that have it.
///
/// Runs in which the rule could not be evaluated count, unless another run has a worse finding.
fn over_runs(set: &Set<'_>, judge: fn(&Run<'_>) -> Outcome) -> Outcome {
    let outcomes: Vec<(&Run<'_>, Outcome)> = set.runs.iter().map(|run| (run, judge(run))).collect();
    if let [(_, only)] = outcomes.as_slice() {
        return only.clone();
    }
    let found = outcomes
        .iter()
        .filter_map(|(run, outcome)| Some((*run, outcome.as_ref().ok()?)));
    let found: Vec<(&Run<'_>, &Finding)> = found.collect();
    let worst = found.iter().map(|(_, finding)| finding.level).max();
    let noun = set.noun();
    let unseen = reasons(&outcomes, noun, |why| match why {
        SkipReason::NotEvaluated(what) => Some(what),
        SkipReason::DoesNotApply(_) => None,
    });
    match worst {
        Some(level) if level > Level::Note || unseen.is_none() => {
            Ok(of_level(&found, outcomes.len(), noun, level))
        }
        _ if unseen.is_some() => Err(missing(unseen.unwrap_or_default())),
        _ => {
            let why = reasons(&outcomes, noun, |why| match why {
                SkipReason::DoesNotApply(why) => Some(why),
                SkipReason::NotEvaluated(_) => None,
            });
            Err(no_subject(
                why.unwrap_or_else(|| "the results contain no run".to_owned()),
            ))
        }
    }
}

/// The reasons of one kind, each with the number of runs or stages that have it.
fn reasons<'o>(
    outcomes: &'o [(&Run<'_>, Outcome)],
    noun: Noun,
    kind: impl Fn(&'o SkipReason) -> Option<&'o String>,
) -> Option<String> {
    let mut by_reason: BTreeMap<&String, usize> = BTreeMap::new();
    for (_, outcome) in outcomes {
        if let Some(reason) = outcome.as_ref().err().and_then(&kind) {
            *by_reason.entry(reason).or_default() += 1;
        }
    }
    let of_all = |count: usize| {
        if count == outcomes.len() {
            String::new()
        } else {
            format!(" ({} of {})", count, counted(outcomes.len(), noun.word()))
        }
    };
    let words = by_reason
        .iter()
        .map(|(reason, count)| format!("{reason}{}", of_all(*count)));
    (!by_reason.is_empty()).then(|| words.collect::<Vec<_>>().join("; "))
}

/// The findings of one level merged: the text of the first, and all runs that have it. `noun` is what they are called, and
/// `runs` the number of all, of which some may not have been evaluated.
fn of_level(found: &[(&Run<'_>, &Finding)], runs: usize, noun: Noun, level: Level) -> Finding {
    let same: Vec<_> = found
        .iter()
        .filter(|(_, finding)| finding.level == level)
        .collect();
    let (run, first) = same[0];
    let mut finding = (*first).clone();
    finding.runs = same.iter().map(|(run, _)| run.record.header.run).collect();
    // The loads and the stages of a run are beside each other.
    finding.runs.dedup();
    let all = found.len();
    let word = if all < runs {
        format!("evaluated {}", noun.word())
    } else {
        noun.word().to_owned()
    };
    finding.evidence = if same.len() == all {
        format!("in all {all} {word}s; {}: {}", run.name(), first.evidence)
    } else if same.len() == 1 {
        format!("in 1 of {all} {word}s, {}: {}", run.name(), first.evidence)
    } else {
        let mut named: Vec<_> = same
            .iter()
            .map(|(run, _)| run.record.header.number_in_words())
            .collect();
        // The stages of a run are beside each other.
        named.dedup();
        let named = crate::words::listed(&named, RUNS_NAMED);
        let of_runs = match noun {
            Noun::Run => "",
            Noun::Record | Noun::Stage => "of runs ",
        };
        format!(
            "in {} of {all} {word}s ({of_runs}{named}); {}: {}",
            same.len(),
            run.name(),
            first.evidence
        )
    };
    finding
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assessment::MachineState;
    use crate::fixture::{blocks_over, empty, healthy, over};

    /// Rules whose only input is the first line of a record.
    const BY_HEADER: &[&str] = &["H11"];

    #[test]
    fn a_record_with_nothing_in_it_passes_nothing() {
        let record = empty();
        let audit = audit(&Subject::of_run(&record, None));
        for judgement in &audit.judgements {
            let level = judgement.outcome.as_ref().map(|finding| finding.level);
            let may_pass = BY_HEADER.contains(&judgement.rule.id);
            assert!(
                level != Ok(Level::Pass) || may_pass,
                "{}",
                judgement.rule.id
            );
        }
        assert_eq!(audit.assessment.machine, MachineState::NotObserved);
    }

    #[test]
    fn the_healthy_run_has_nothing_above_a_note_but_its_clients() {
        let record = healthy();
        let limit = crate::fixture::limit();
        let audit = audit(&Subject::of_run(&record, Some(limit)));
        let above: Vec<_> = audit
            .judgements
            .iter()
            .filter(|it| it.outcome.as_ref().is_ok_and(|it| it.level > Level::Note))
            .map(|it| it.rule.id)
            .collect();
        // Client and server ran on the same machine.
        assert_eq!(above, ["H11"]);
        assert_eq!(audit.assessment.machine, MachineState::Quiet);
    }

    #[test]
    fn rules_about_sessions_are_left_out_of_other_runs() {
        let mut record = healthy();
        let judged = |record: &samples::Record| {
            let audit = audit(&Subject::of_run(record, None));
            let ids = audit.judgements.iter().map(|it| it.rule.id);
            ids.collect::<Vec<_>>()
        };
        let others = judged(&record);
        assert!(!others.contains(&"M13"));
        crate::fixture::in_turns(&mut record);
        let all = judged(&record);
        assert_eq!((all.len(), all.contains(&"M13")), (others.len() + 1, true));
    }

    #[test]
    fn sound_storage_has_nothing_above_a_note() {
        let record = crate::fixture::sound_storage();
        let audit = audit(&Subject::of_storage(&record));
        assert_eq!(audit.worst(), Some(Level::Note));
        let judged = audit.judgements.iter().filter(|it| it.outcome.is_ok());
        let judged: Vec<_> = judged.map(|it| it.rule.id).collect();
        let all = "H01 H02 H03 H04 H05 H06 H08 H09 H14 W01 W14 C04 M04";
        assert_eq!(judged.join(" "), all);
        // There are no rounds; all other rules judge runs.
        assert_eq!(audit.not_evaluated(), 1);
        assert_eq!(audit.assessment.letter(), None);
        assert_eq!(
            audit.assessment.in_words(),
            "a measurement of storage, no grade; machine quiet"
        );
    }

    #[test]
    fn runs_to_which_a_rule_does_not_apply_are_not_counted() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        for run in &mut runs {
            crate::fixture::each_sample(run, |sample| {
                let requests = sample.disk.as_mut().unwrap().requests.as_mut().unwrap();
                requests.flush_s = Some(0.003);
            });
        }
        // A run that hardly wrote says nothing about flushes.
        crate::fixture::each_sample(&mut runs[0], |sample| {
            sample.disk.as_mut().unwrap().writes = 0;
        });
        let rule = crate::rule("H02").unwrap();
        let finding = crate::fixture::judged_together(rule, &runs, over(&["flush"])).unwrap();
        assert!(
            finding
                .evidence
                .starts_with("in all 9 evaluated runs; run 2: "),
            "{}",
            finding.evidence
        );
    }

    #[test]
    fn what_holds_for_some_runs_names_them() {
        let mut runs = blocks_over("flush", &["1", "2"]);
        runs[2].header.transport = "unix socket".to_owned();
        for run in &mut runs {
            run.machines[0].host = samples::Host::Client;
        }
        let declared = over(&["flush"]);
        let judged = |id: &str, runs: &[samples::Record]| {
            let rule = crate::rule(id).unwrap();
            crate::fixture::judged_together(rule, runs, declared.clone())
        };
        let finding = judged("H11", &runs).unwrap();
        assert_eq!(finding.runs, [3]);
        assert!(
            finding
                .evidence
                .starts_with("in 1 of 10 runs, run 3: the clients ran on the server's own machine"),
            "{}",
            finding.evidence
        );
        runs[5].header.transport = "unix socket".to_owned();
        let finding = judged("H11", &runs).unwrap();
        assert!(
            finding
                .evidence
                .starts_with("in 2 of 10 runs (3, 6); run 3: "),
            "{}",
            finding.evidence
        );
        runs[1].collected.clear();
        let unseen = judged("T05", &runs).unwrap_err();
        let expected =
            SkipReason::NotEvaluated("the cost of collecting telemetry (1 of 10 runs)".to_owned());
        assert_eq!(unseen, expected);
    }
}
