//! The order of remedies and statements: by the time that a proved remedy saves of all statements, less the time that
//! it costs others. Each statement counts as many times as it is executed.

use verdict::Decision;

use super::{
    diagnosis::{Advice, DiagnosedStatement, Diagnosis},
    proof::{Effect, Measured, Outcome, Proof},
};

/// A statement with its advice.
pub(super) struct Group<'a> {
    pub(super) statement: &'a DiagnosedStatement,
    pub(super) advice: Vec<&'a Advice>,
}

/// The statements with advice; those first whose remedies save most, by their proofs or else by the plans.
pub(super) fn groups(diagnosis: &Diagnosis) -> Vec<Group<'_>> {
    let all = diagnosis.statements.iter().map(|statement| {
        let all = diagnosis.advice.iter();
        let own = all.filter(|it| place(diagnosis, it) == statement.at);
        let mut advice: Vec<&Advice> = own.collect();
        advice.sort_by(|a, b| {
            let by_rank = rank(a).cmp(&rank(b));
            by_rank.then(saved_s(diagnosis, b).total_cmp(&saved_s(diagnosis, a)))
        });
        Group { statement, advice }
    });
    let mut groups: Vec<Group<'_>> = all.filter(|it| !it.advice.is_empty()).collect();
    groups.sort_by(|a, b| {
        let most = |group: &Group<'_>, of: &dyn Fn(&Advice) -> f64| {
            group.advice.iter().map(|it| of(it)).fold(0.0, f64::max)
        };
        let proved = |it: &Advice| saved_s(diagnosis, it);
        let by_plan = |it: &Advice| it.saving_s;
        let by_proof = most(b, &proved).total_cmp(&most(a, &proved));
        by_proof.then(most(b, &by_plan).total_cmp(&most(a, &by_plan)))
    });
    groups
}

/// The proved remedies, those first that save most.
pub(super) fn proved(diagnosis: &Diagnosis) -> Vec<&Advice> {
    let all = diagnosis.advice.iter();
    let is_proved = |it: &&Advice| it.proof.as_ref().is_some_and(Proof::is_proved);
    let mut proved: Vec<&Advice> = all.filter(is_proved).collect();
    proved.sort_by(|a, b| saved_s(diagnosis, b).total_cmp(&saved_s(diagnosis, a)));
    proved
}

/// The statement below which advice is shown: that of its greatest proved effect, else the one that it was proposed for.
fn place(diagnosis: &Diagnosis, advice: &Advice) -> usize {
    let proved = proof_of(advice).and_then(|it| main_effect(diagnosis, it));
    let proved = proved.and_then(|effect| statement(diagnosis, effect));
    proved.map_or(advice.at, |statement| statement.at)
}

fn rank(advice: &Advice) -> u8 {
    match &advice.proof {
        Some(Proof::Measured(measured)) if measured.outcome.is_proved() => 0,
        None if advice.is_measurable() => 1,
        Some(Proof::Measured(_)) => 2,
        Some(Proof::Unused) => 3,
        Some(Proof::CannotBeMade(_)) => 4,
        Some(Proof::NotTried) => 5,
        None => 6,
    }
}

/// Seconds that a proved remedy saves of all statements, less those that it costs others; 0 for any other remedy.
pub(super) fn saved_s(diagnosis: &Diagnosis, advice: &Advice) -> f64 {
    let effects = proof_of(advice).map_or(&[][..], |it| it.effects.as_slice());
    effects.iter().map(|it| effect_s(diagnosis, it)).sum()
}

/// Seconds that an effect saves, by the time of its statement before the trial and the number of its executions;
/// negative if it costs time.
pub(super) fn effect_s(diagnosis: &Diagnosis, effect: &Effect) -> f64 {
    let statement = statement(diagnosis, effect);
    statement.map_or(0.0, |it| it.time_s * it.executions) * effect.saved_share()
}

/// The effect that saves most time. A remedy was not always proposed for this statement.
pub(super) fn main_effect<'a>(diagnosis: &Diagnosis, measured: &'a Measured) -> Option<&'a Effect> {
    let saved_s = |it: &&Effect| effect_s(diagnosis, it);
    let faster = measured.effects_of(Decision::Faster);
    faster.max_by(|a, b| saved_s(a).total_cmp(&saved_s(b)))
}

/// The statements that a remedy makes slower, those first that lose most time.
pub(super) fn costs<'a>(diagnosis: &Diagnosis, measured: &'a Measured) -> Vec<&'a Effect> {
    let mut slower: Vec<&Effect> = measured.effects_of(Decision::Slower).collect();
    slower.sort_by(|a, b| effect_s(diagnosis, a).total_cmp(&effect_s(diagnosis, b)));
    slower
}

/// What was measured of a proved remedy.
pub(super) fn proof_of(advice: &Advice) -> Option<&Measured> {
    let measured = advice.proof.as_ref().and_then(Proof::measured);
    measured.filter(|it| it.outcome.is_proved())
}

/// The outcome of a remedy that was measured.
pub(super) fn outcome(advice: &Advice) -> Option<Outcome> {
    let measured = advice.proof.as_ref().and_then(Proof::measured);
    measured.map(|it| it.outcome)
}

fn statement<'a>(diagnosis: &'a Diagnosis, effect: &Effect) -> Option<&'a DiagnosedStatement> {
    let mut statements = diagnosis.statements.iter();
    statements.find(|it| it.name == effect.statement)
}
