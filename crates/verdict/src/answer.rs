//! The comparisons that a question asks for, each with its decision.

use std::{cmp::Ordering, collections::BTreeMap};

use samples::{Record, RunSummary};
use stats::{
    Comparison, Side, Step, UntilDecided, compare, compare_pairs, executions_needed, holm,
};

use crate::{
    decision::{CONFIDENCE, Decision, decide},
    question::{Budget, Question},
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
    /// an inconclusive comparison. Until decided: executions that would decide it if what was seen so far is the truth.
    pub executions_needed: Option<usize>,
    /// How an experiment that runs until it is decided came to this.
    pub looks: Option<Looks>,
}

/// How an experiment that runs until it is decided came to its decision: each comparison was looked at after every block,
/// and the interval is so much wider that all looks at all comparisons together err in one of twenty experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looks {
    /// Blocks after which it was decided, or all that there are.
    pub blocks: usize,
    /// The budget.
    pub blocks_at_most: usize,
    /// True where its time was spent before.
    pub time_is_spent: bool,
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
        answers.extend(others.map(|(levels, values)| {
            let pairs = pairs(base_values, values);
            (measured(levels, base_values, values, &pairs), pairs)
        }));
    }
    answers.sort_by(|(a, _), (b, _)| in_order(&a.within, &b.within));
    if let Some(budget) = question.until_decided {
        decide_by_looks(question, budget, &mut answers);
    }
    let mut answers: Vec<Answer> = answers.into_iter().map(|(answer, _)| answer).collect();
    if question.until_decided.is_none() {
        decide_together(question, &mut answers);
    }
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

/// The executions of either side that share a block, in the order of the blocks.
fn pairs(base: &ByBlock, other: &ByBlock) -> Vec<(f64, f64)> {
    base.iter()
        .filter_map(|(block, a)| Some((*a, *other.get(block)?)))
        .collect()
}

fn measured(levels: &Levels, base: &ByBlock, other: &ByBlock, pairs: &[(f64, f64)]) -> Answer {
    let paired = pairs.len() == base.len().min(other.len());
    let comparison = if paired {
        compare_pairs(pairs, CONFIDENCE)
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
        looks: None,
    }
}

/// Decides each comparison by the first block that decides it; of the chance to err, each gets its part.
fn decide_by_looks(question: &Question, budget: Budget, answers: &mut [(Answer, Vec<(f64, f64)>)]) {
    let alpha = (1.0 - CONFIDENCE) / answers.len().max(1) as f64;
    let Some(rule) = UntilDecided::new(question.min_effect, budget.blocks, alpha) else {
        return;
    };
    for (answer, pairs) in answers {
        let Some(standing) = rule.judge(pairs) else {
            continue;
        };
        // Before the first look there is only what the executions themselves say.
        answer.comparison = standing.comparison.or(answer.comparison);
        answer.paired = true;
        answer.looks = Some(Looks {
            blocks: standing.blocks,
            blocks_at_most: budget.blocks,
            time_is_spent: budget.time_is_spent,
        });
        let more = match question.metric.more_is_better() {
            true => [Decision::Faster, Decision::Slower],
            false => [Decision::Slower, Decision::Faster],
        };
        answer.decision = match standing.step {
            Step::Decided(Side::More) => more[0],
            Step::Decided(Side::Less) => more[1],
            Step::Decided(Side::Equivalent) => Decision::Equivalent,
            Step::Continue { blocks_needed } => {
                answer.executions_needed = blocks_needed;
                Decision::Inconclusive
            }
            Step::Spent => Decision::Inconclusive,
        };
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
