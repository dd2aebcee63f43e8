//! The comparisons of the question's clauses: each is decided once, whoever asks for it.

use verdict::{Answer, Execution, Question, answers};

use crate::results::{Clause, Results};

/// The comparisons of each clause, in the order of the clauses.
///
/// Clauses that ask for the same metric against the same baseline share the decisions, and so does `[verdict]`: all of
/// their comparisons are one family, of which a clause takes those that it is about.
pub(super) fn comparisons(
    results: &Results,
    executions: &[Execution<'_>],
    of_verdict: &[Answer],
) -> Vec<Vec<Answer>> {
    let verdict = results.verdict.iter();
    let mut decided: Vec<(&Question, Vec<Answer>)> = verdict
        .map(|question| (question, of_verdict.to_vec()))
        .collect();
    let clauses = results.clauses.iter();
    clauses
        .map(|clause| {
            let Some(question) = &clause.compared else {
                return Vec::new();
            };
            let known = decided.iter().position(|(known, _)| *known == question);
            let at = known.unwrap_or_else(|| {
                decided.push((question, answers(question, executions)));
                decided.len() - 1
            });
            let of_question = decided[at].1.iter();
            let about = of_question.filter(|answer| is_about(clause, answer));
            about.cloned().collect()
        })
        .collect()
}

/// True where the compared side has a level of each factor that the clause names.
fn is_about(clause: &Clause, answer: &Answer) -> bool {
    clause.filter.iter().all(|(factor, wanted)| {
        let mut levels = answer.within.iter().chain(&answer.levels);
        let level = levels.find(|(name, _)| name == factor);
        level.is_some_and(|(_, level)| wanted.contains(level))
    })
}
