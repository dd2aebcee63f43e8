//! Names the cost that moved where two results differ: which one, by how much, and what that means.
//!
//! The rules stand in one table. Those that hold are ranked: a limit that one side ran into first; then rows that an
//! index would spare, for they make every other cost grow; then the other particular costs by the time that they explain
//! at nominal prices; last what is a cost of everything, such as CPU time.

mod evidence;
mod finding;
mod rules;

use crate::{compared::Compared, costs::Cost, side::Execution};

use evidence::Evidence;
use finding::Rank;
use rules::RULES;

/// Why two results differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    /// Name of the rule that holds.
    pub rule: &'static str,
    /// The cost that moved; `None` where it is a limit or a time that no counter has.
    pub cost: Option<Cost>,
    /// The figures, and what they mean.
    pub sentence: String,
    /// Time per operation that it explains at nominal prices, microseconds; 0 where it has none.
    pub explains_us: f64,
}

/// Why the two sides differ in a combination, the most particular cause first; empty where nothing that was observed
/// moved.
pub(crate) fn explain(
    metrics: &[Compared],
    costs: &[Compared],
    a: &[&Execution<'_>],
    b: &[&Execution<'_>],
) -> Vec<Cause> {
    causes(&Evidence::of(metrics, costs, a, b))
}

fn causes(evidence: &Evidence<'_>) -> Vec<Cause> {
    let found = RULES.iter().filter_map(|rule| {
        let found = (rule.judge)(evidence)?;
        // A side that is worse is not so because it bears less.
        if evidence
            .worse()
            .zip(found.side)
            .is_some_and(|(worse, side)| worse != side)
        {
            return None;
        }
        let rank = found.rank.unwrap_or(rule.rank);
        let cause = Cause {
            rule: rule.name,
            cost: found.cost,
            sentence: found.sentence,
            explains_us: found.explains_us,
        };
        Some((rank, cause))
    });
    let mut found: Vec<(Rank, Cause)> = found.collect();
    if found.iter().any(|(rank, _)| *rank < Rank::General) {
        found.retain(|(rank, _)| *rank < Rank::General);
    }
    found.sort_by(|(rank, cause), (other_rank, other)| {
        let by_time = match rank {
            Rank::General => std::cmp::Ordering::Equal,
            _ => other.explains_us.total_cmp(&cause.explains_us),
        };
        rank.cmp(other_rank).then(by_time)
    });
    // What two rules see in one cost is told by the first.
    let mut told = Vec::new();
    let causes = found.into_iter().map(|(_, cause)| cause);
    causes
        .filter(|cause| {
            cause.cost.is_none_or(|cost| {
                let is_new = !told.contains(&cost);
                told.push(cost);
                is_new
            })
        })
        .collect()
}

#[cfg(test)]
mod tests;
