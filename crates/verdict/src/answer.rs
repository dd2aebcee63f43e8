//! The comparisons that a question asks for, each with its decision.

use std::{cmp::Ordering, collections::BTreeMap};

use stats::Comparison;

use crate::{
    compared::{Compared, compared},
    decision::Decision,
    family::decide_primary,
    measure::Measure,
    question::Question,
    side::Execution,
};

/// One comparison with the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Levels that both sides share, of the factors that the question does not name.
    pub within: Vec<(String, String)>,
    /// The compared levels of the question's factors.
    pub levels: Vec<(String, String)>,
    /// The means over the executions of the baseline and of the other side; `None` where one of them lacks the metric.
    pub means: Option<[f64; 2]>,
    /// What is decided.
    pub decision: Decision,
    /// The numbers; `None` where a side has fewer than two executions that can be compared.
    pub comparison: Option<Comparison>,
    /// True where every execution of the smaller side has one of the other side in its block.
    pub paired: bool,
    /// The comparison's probability, raised for the number of comparisons and of looks at them.
    pub p_value: Option<f64>,
    /// Executions a side that would find a difference of `effect`, in four of five experiments; only of an inconclusive
    /// comparison. Until decided: executions that would decide it if what was seen so far is the truth.
    pub executions_needed: Option<usize>,
    /// The difference that was found, or the smallest that matters where that is larger, as a share.
    pub effect: f64,
    /// How an experiment that runs until it is decided came to this.
    pub looks: Option<InterimAnalyses>,
}

/// How an experiment that runs until it is decided came to its decision: each comparison was looked at after every block,
/// and the interval is so much wider that all looks at all comparisons together err in one of twenty experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterimAnalyses {
    /// Blocks after which it was decided, or all that there are.
    pub blocks: usize,
    /// The budget.
    pub blocks_at_most: usize,
    /// True where its time was spent before.
    pub time_is_spent: bool,
}

/// One comparison that a question asks for: of the baseline, A, with another combination, B.
pub(crate) struct ComparisonPair<'e, 'r> {
    levels: Levels,
    pub(crate) a: Vec<&'e Execution<'r>>,
    pub(crate) b: Vec<&'e Execution<'r>>,
    /// `None` where an execution lacks the metric.
    pub(crate) compared: Option<Compared>,
}

/// Compares the complete executions with the baseline, grouped by what they share, in the order in which the combinations
/// first ran.
///
/// Of several attempts at one run only one must be given. Combinations without a baseline beside them are left out.
pub fn answers(question: &Question, executions: &[Execution<'_>]) -> Vec<Answer> {
    let asked = asked(question, executions).into_iter();
    asked.map(|it| answer(question, it)).collect()
}

/// As [`answers`], with what was compared.
pub(crate) fn asked<'e, 'r>(
    question: &Question,
    executions: &'e [Execution<'r>],
) -> Vec<ComparisonPair<'e, 'r>> {
    let mut combinations: Vec<(Levels, Vec<&Execution<'_>>)> = Vec::new();
    for execution in executions.iter().filter(|it| it.record.is_complete()) {
        let levels = Levels::of(question, &execution.record.header.combination);
        match combinations.iter_mut().find(|(known, _)| *known == levels) {
            Some((_, of_levels)) => of_levels.push(execution),
            None => combinations.push((levels, vec![execution])),
        }
    }
    let measure = Measure::Metric(question.metric);
    let looked_at = question.until_decided.map(|budget| budget.blocks);
    let mut all = Vec::new();
    for (base, a) in &combinations {
        if base.asked != question.baseline {
            continue;
        }
        let others = combinations
            .iter()
            .filter(|(levels, _)| levels.within == base.within && levels.asked != base.asked);
        all.extend(others.map(|(levels, b)| ComparisonPair {
            levels: levels.clone(),
            a: a.clone(),
            b: b.clone(),
            compared: compared(measure, a, b, looked_at),
        }));
    }
    all.sort_by(|a, b| in_order(&a.levels.within, &b.levels.within));
    let mut family: Vec<&mut Compared> = all.iter_mut().flat_map(|it| &mut it.compared).collect();
    decide_primary(question.min_effect, &mut family);
    all
}

fn answer(question: &Question, asked: ComparisonPair<'_, '_>) -> Answer {
    let ComparisonPair {
        levels, compared, ..
    } = asked;
    let is_paired = |it: &Compared| it.is_paired();
    let looks = question.until_decided.and_then(|budget| {
        Some(InterimAnalyses {
            blocks: compared.as_ref()?.blocks?,
            blocks_at_most: budget.blocks,
            time_is_spent: budget.time_is_spent,
        })
    });
    let of = compared.as_ref();
    Answer {
        within: levels.within,
        levels: levels.asked,
        means: of.map(|it| it.means),
        decision: of.map_or(Decision::Inconclusive, |it| it.decision),
        comparison: of.and_then(|it| it.comparison),
        paired: of.is_some_and(is_paired),
        p_value: of.and_then(|it| it.p_value),
        executions_needed: of.and_then(|it| it.executions_needed),
        effect: of.map_or(question.min_effect, |it| it.effect),
        looks,
    }
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
#[derive(Clone, PartialEq)]
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

#[cfg(test)]
mod tests;
