//! The order of the rounds, and the time of each.

use std::time::Duration;

use crate::advise::{
    candidate::{Remedy, SideChange},
    diagnosis::Advice,
};

/// What a candidate changes on its side; `None` of statistics, which are for all, and of what only an author can do.
pub(super) fn side_change(advice: &Advice) -> Option<&SideChange> {
    match &advice.candidate.remedy {
        Remedy::Side(change) => Some(change),
        Remedy::Statistics(_) | Remedy::Author(_) => None,
    }
}

/// Whether a candidate changes a server or its data, and not only its session or the text of the statement.
pub(super) fn needs_server(change: &SideChange) -> bool {
    change.parts.indexes().is_some() || change.parts.is_option()
}

/// The candidates that are measured, those first that save most by the plans. Fresh statistics have a round before.
pub(super) fn chosen(advice: &[Advice], at_most: usize) -> Vec<usize> {
    let measurable = advice.iter().enumerate();
    let measurable = measurable.filter(|(_, it)| side_change(it).is_some());
    let places = measurable.map(|(place, _)| place);
    places.take(at_most).collect()
}

/// The rounds of candidates: each that needs a server has one, and the others share one, at the place of the first.
pub(super) fn rounds(advice: &[Advice], places: &[usize]) -> Vec<Vec<usize>> {
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    let mut shared = None;
    for place in places {
        let has_server = side_change(&advice[*place]).is_some_and(needs_server);
        match shared.filter(|_| !has_server) {
            Some(at) => {
                let round: &mut Vec<usize> = &mut rounds[at];
                round.push(*place);
            }
            None => {
                if !has_server {
                    shared = Some(rounds.len());
                }
                rounds.push(vec![*place]);
            }
        }
    }
    rounds
}

/// Time of the next of some rounds: half of what is left, so that the best candidates have most, and at least an equal
/// part.
pub(super) fn budget_of_round(left: Duration, rounds: usize) -> Duration {
    let parts = u32::try_from(rounds).unwrap_or(u32::MAX).clamp(1, 2);
    left / parts
}
