//! Doubts about a decision: figures of failed operations, or of a client at its limit, are not the server's.

use samples::Record;
use verdict::{Answer, Decision, Question};

use crate::grid::Grid;

/// The rule that a run of a decided comparison breaks, so that its figures are not the server's:
/// `operations failed (W10)`; `None` where nothing is decided or no run breaks one. `dbdyno compare` refuses such runs.
pub(crate) fn doubt(question: &Question, answer: &Answer, grid: &Grid<'_>) -> Option<String> {
    if answer.decision == Decision::Inconclusive {
        return None;
    }
    let is_of = |side: &[(String, String)], record: &Record| {
        let mut levels = side.iter().chain(&answer.within);
        levels.all(|(factor, level)| {
            let of_record = record.header.combination.get(factor);
            of_record.map_or("", String::as_str) == level
        })
    };
    let records = grid.executions.iter().map(|it| it.record);
    let mut of_sides = records.filter(|record| {
        let is_of_side = is_of(&question.baseline, record) || is_of(&answer.levels, record);
        record.is_complete() && is_of_side
    });
    let rule = of_sides.find_map(audit::unfit)?;
    Some(format!("{} ({})", rule.found, rule.id))
}

/// The doubts about several decisions: ` Doubtful: 3 of them, because operations failed (W10).`; empty without any.
pub(crate) fn doubts_of_decisions(question: &Question, grid: &Grid<'_>) -> String {
    let doubts = grid
        .answers
        .iter()
        .filter_map(|answer| doubt(question, answer, grid));
    let doubts: Vec<String> = doubts.collect();
    match doubts.first() {
        None => String::new(),
        Some(why) => format!(" Doubtful: {} of them, because {why}.", doubts.len()),
    }
}
