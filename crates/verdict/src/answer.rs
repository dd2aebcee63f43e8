//! The comparisons that a question asks for, each with its decision.

use std::{cmp::Ordering, collections::BTreeMap};

use samples::{Record, RunSummary};
use stats::{Comparison, compare, compare_pairs, executions_needed, holm};

use crate::{
    decision::{CONFIDENCE, Decision, decide},
    question::Question,
};

/// One comparison with the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Levels that both sides share, of the factors that the question does not name.
    pub within: Vec<(String, String)>,
    /// The compared levels of the question's factors.
    pub levels: Vec<(String, String)>,
    /// What is decided.
    pub decision: Decision,
    /// The numbers; `None` where a side has fewer than two executions that can be compared.
    pub comparison: Option<Comparison>,
    /// True where every execution of the smaller side has one of the other side in its block.
    pub paired: bool,
    /// The comparison's probability, raised for the number of comparisons (Holm).
    pub p_value: Option<f64>,
    /// Executions a side that would find a difference of the size that matters, in four of five experiments; only of
    /// an inconclusive comparison.
    pub executions_needed: Option<usize>,
}

/// The values of one combination by block.
type ByBlock = BTreeMap<u32, f64>;

/// One execution of one combination.
struct Execution<'a> {
    block: u32,
    combination: &'a BTreeMap<String, String>,
    value: f64,
}

/// Compares the complete runs with the baseline, grouped by what they share, in the order in which the combinations
/// first ran.
///
/// Each run comes with its figures; of several attempts at one only one must be given. Combinations without a baseline
/// beside them are left out.
pub fn answers<'a>(
    question: &Question,
    runs: impl IntoIterator<Item = (&'a Record, &'a RunSummary)>,
) -> Vec<Answer> {
    let executions: Vec<Execution<'_>> = runs
        .into_iter()
        .filter(|(record, _)| record.is_complete())
        .filter_map(|(record, summary)| {
            Some(Execution {
                block: record.header.block,
                combination: &record.header.combination,
                value: question.metric.of(summary)?,
            })
        })
        .collect();
    judge(question, &executions)
}

fn judge(question: &Question, executions: &[Execution<'_>]) -> Vec<Answer> {
    let mut combinations: Vec<(Levels, ByBlock)> = Vec::new();
    for execution in executions {
        let levels = Levels::of(question, execution.combination);
        let at = combinations.iter().position(|(known, _)| *known == levels);
        let at = at.unwrap_or_else(|| {
            combinations.push((levels, ByBlock::new()));
            combinations.len() - 1
        });
        combinations[at].1.insert(execution.block, execution.value);
    }
    let mut answers = Vec::new();
    for (base, base_values) in &combinations {
        if base.asked != question.baseline {
            continue;
        }
        let others = combinations
            .iter()
            .filter(|(levels, _)| levels.within == base.within && levels.asked != base.asked);
        answers.extend(others.map(|(levels, values)| measured(levels, base_values, values)));
    }
    answers.sort_by(|a, b| in_order(&a.within, &b.within));
    decide_together(question, &mut answers);
    answers
}

/// Orders levels: numbers by their value, the rest as text.
pub(crate) fn in_order(a: &[(String, String)], b: &[(String, String)]) -> Ordering {
    let number = |level: &str| level.parse::<f64>().ok();
    let orders = a
        .iter()
        .zip(b)
        .map(|((_, a), (_, b))| match (number(a), number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => a.cmp(b),
        });
    orders.fold(Ordering::Equal, Ordering::then)
}

/// A combination's levels: those of the question's factors in its order, and the rest.
#[derive(PartialEq)]
struct Levels {
    asked: Vec<(String, String)>,
    within: Vec<(String, String)>,
}

impl Levels {
    fn of(question: &Question, combination: &BTreeMap<String, String>) -> Self {
        let level = |factor: &String| combination.get(factor).cloned();
        let named = |factor: &String| question.baseline.iter().any(|(name, _)| name == factor);
        Self {
            asked: question
                .baseline
                .iter()
                .map(|(factor, _)| (factor.clone(), level(factor).unwrap_or_default()))
                .collect(),
            within: combination
                .iter()
                .filter(|(factor, _)| !named(factor))
                .map(|(factor, level)| (factor.clone(), level.clone()))
                .collect(),
        }
    }
}

fn measured(levels: &Levels, base: &ByBlock, other: &ByBlock) -> Answer {
    let pairs: Vec<(f64, f64)> = base
        .iter()
        .filter_map(|(block, a)| Some((*a, *other.get(block)?)))
        .collect();
    let paired = pairs.len() == base.len().min(other.len());
    let comparison = if paired {
        compare_pairs(&pairs, CONFIDENCE)
    } else {
        let values = |by_block: &ByBlock| by_block.values().copied().collect::<Vec<_>>();
        compare(&values(base), &values(other), CONFIDENCE)
    };
    Answer {
        within: levels.within.clone(),
        levels: levels.asked.clone(),
        decision: Decision::Inconclusive,
        comparison,
        paired,
        p_value: None,
        executions_needed: None,
    }
}

/// Decides all comparisons together: among many, some differ by chance.
fn decide_together(question: &Question, answers: &mut [Answer]) {
    let p_values: Vec<f64> = answers
        .iter()
        .filter_map(|answer| Some(answer.comparison?.p_value))
        .collect();
    let compared = answers
        .iter_mut()
        .filter_map(|answer| answer.comparison.map(|comparison| (answer, comparison)));
    for ((answer, comparison), p_value) in compared.zip(holm(&p_values)) {
        answer.p_value = Some(p_value);
        let more_is_better = question.metric.more_is_better();
        answer.decision = decide(&comparison, p_value, question.min_effect, more_is_better);
        if answer.decision == Decision::Inconclusive {
            answer.executions_needed =
                executions_needed(comparison.deviation, question.min_effect.ln_1p())
                    .map(|needed| needed.max(comparison.executions + 1));
        }
    }
}

#[cfg(test)]
mod tests;
