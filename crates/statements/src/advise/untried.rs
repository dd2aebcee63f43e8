//! What a trial did not measure, of statements for which it proved nothing.

use verdict::Decision;

use super::{
    diagnosis::{Advice, DiagnosedStatement, Diagnosis},
    ranking::proof_of,
};

/// Share of the time of all statements that an untried candidate saves by the plans, from which it matters which indexes are
/// enough.
const PROMISING_FROM: f64 = 0.05;

/// The most expensive statement without a proved remedy that has candidates without a trial.
pub(super) struct UntriedStatement<'a> {
    pub(super) statement: &'a DiagnosedStatement,
    /// These candidates, in the order in which they would have been tried.
    pub(super) advice: Vec<&'a Advice>,
}

impl<'a> UntriedStatement<'a> {
    /// `None` if each statement has a proved remedy, or all its candidates were tried.
    pub(super) fn of(diagnosis: &'a Diagnosis) -> Option<Self> {
        let all = diagnosis.statements.iter().map(|statement| {
            let advice = diagnosis.advice.iter();
            let advice = advice
                .filter(|it| it.is_untried() && it.statements().contains(&statement.name.as_str()));
            Self {
                statement,
                advice: advice.collect(),
            }
        });
        let open =
            all.filter(|it| !it.advice.is_empty() && !has_remedy(diagnosis, &it.statement.name));
        open.max_by(|a, b| time_s(a.statement).total_cmp(&time_s(b.statement)))
    }
}

/// Whether a candidate was not tried that saves much by the plans, for a statement without a proved remedy.
pub(super) fn is_promising_left(diagnosis: &Diagnosis) -> bool {
    let all_s: f64 = diagnosis.statements.iter().map(time_s).sum();
    let untried = diagnosis.advice.iter().filter(|it| it.is_untried());
    let mut promising = untried.filter(|it| it.saving_s >= PROMISING_FROM * all_s);
    promising.any(|it| {
        let mut statements = it.statements().into_iter();
        statements.any(|name| !has_remedy(diagnosis, name))
    })
}

/// Time of all executions of a statement, seconds.
fn time_s(statement: &DiagnosedStatement) -> f64 {
    statement.time_s * statement.executions
}

/// Whether a proved remedy makes a statement faster.
fn has_remedy(diagnosis: &Diagnosis, statement: &str) -> bool {
    let mut proved = diagnosis.advice.iter().filter_map(proof_of);
    proved.any(|it| {
        let mut faster = it.effects_of(Decision::Faster);
        faster.any(|effect| effect.statement == statement)
    })
}
