//! Names the cost that changed where two results differ: which one, by how much, and its meaning.
//!
//! The rules are in one table. Those that hold are ranked: first a limit that one side reached; then rows that an index
//! would save, because they increase every other cost; then the other specific costs by the time that they explain at
//! nominal prices; last the unspecific costs, such as CPU time.

mod evidence;
mod external_causes;
mod finding;
mod logs;
mod price;
mod rules;

use crate::{costs::Cost, measure_comparison::Compared, side::Execution};

use evidence::Evidence;
use finding::Rank;
use rules::RULES;

/// The cause of a difference between two results.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    /// Name of the rule that holds.
    pub rule: &'static str,
    /// The cost that changed; `None` for a limit or a time that no counter has.
    pub cost: Option<Cost>,
    /// The figures and their meaning.
    pub sentence: String,
    /// Time per operation that it explains at nominal prices, microseconds; 0 where it has none.
    pub explains_us: f64,
}

/// The causes of the difference of the two sides in a combination, the most specific first; empty if no observed cost
/// changed.
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
        // A side is not worse because it has the lower cost.
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
    // A cost that two rules find is reported by the first.
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
