//! The comparisons that answer a question, each with its decision.

use std::{cmp::Ordering, collections::BTreeMap};

use stats::Comparison;

use crate::{
    decision::{ComparedExecutions, Decision},
    family::decide_primary,
    measure::Measure,
    measure_comparison::{Compared, compared},
    question::Question,
    short_slices::ShortSlices,
    side::Execution,
};

/// One comparison with the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Levels that both sides share, of the factors that are not part of the question.
    pub within: Vec<(String, String)>,
    /// The compared levels of the question's factors.
    pub levels: Vec<(String, String)>,
    /// True if the executions are batches of slices of runs side by side.
    pub of_batches: bool,
    /// The means over the executions of the baseline and of the other side; `None` if one of them lacks the metric.
    pub means: Option<[f64; 2]>,
    pub decision: Decision,
    /// The numbers; `None` if a side has fewer than two executions that can be compared.
    pub comparison: Option<Comparison>,
    /// True if every execution of the smaller side has one of the other side in its block.
    pub paired: bool,
    /// The comparison's p-value, adjusted for the number of comparisons and of interim analyses.
    pub p_value: Option<f64>,
    /// Executions per side that would detect a difference of `effect` with 80 % power; only of an inconclusive
    /// comparison. For an experiment that runs until decided: executions that would decide it if the observed
    /// difference is the true one.
    pub executions_needed: Option<usize>,
    /// The observed difference, or the smallest that matters if that is larger, as a share.
    pub effect: f64,
    /// The smallest difference that these executions detect with 80 % power, as a share, by the standard error and the
    /// confidence of the interval; `None` if it is not known.
    pub smallest_effect: Option<f64>,
    /// How an experiment that runs until decided reached this decision.
    pub looks: Option<InterimAnalyses>,
    /// The slices of a side, if they hold too few operations: nothing is then decided.
    pub short_slices: Option<ShortSlices>,
}

impl Answer {
    /// What its executions are, and how they are compared.
    pub fn compared_executions(&self) -> ComparedExecutions {
        ComparedExecutions {
            of_batches: self.of_batches,
            paired: self.paired,
        }
    }
}

/// How an experiment that runs until decided reached its decision: each comparison was analysed after every block, and the
/// interval is widened so that all analyses of all comparisons together have an error rate of 5 %. Of runs side by side a
/// pair of batches counts as a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InterimAnalyses {
    /// Blocks after which it was decided, or all blocks so far.
    pub blocks: usize,
    /// The maximum number of blocks (the budget).
    pub blocks_at_most: usize,
    /// True if its time budget was used up earlier.
    pub time_is_spent: bool,
}

/// One comparison of a question: of the baseline, A, with another combination, B.
pub(crate) struct ComparisonPair<'e, 'r> {
    pub(crate) levels: Levels,
    pub(crate) a: Vec<&'e Execution<'r>>,
    pub(crate) b: Vec<&'e Execution<'r>>,
    /// `None` if an execution lacks the metric.
    pub(crate) compared: Option<Compared>,
}

/// Compares the complete executions with the baseline, grouped by the levels that they share; first the combinations that
/// differ from it in one factor, else in the order in which the combinations first ran.
///
/// Pass only one of several attempts at a run. Combinations without a matching baseline are left out.
pub fn answers(question: &Question, executions: &[Execution<'_>]) -> Vec<Answer> {
    let asked = asked(question, executions).into_iter();
    asked.map(|it| answer(question, it)).collect()
}

/// The comparison that is explained: the first that found a difference, or else the first; `None` without any.
pub fn explained_answer(answers: &[Answer]) -> Option<&Answer> {
    let is_different = |answer: &&Answer| answer.decision.is_different();
    answers.iter().find(is_different).or(answers.first())
}

/// True if these answer a question, and every comparison is decided.
pub fn are_decided(answers: &[Answer]) -> bool {
    let is_open = |answer: &Answer| answer.decision == Decision::Inconclusive;
    !answers.is_empty() && !answers.iter().any(is_open)
}

/// The slices that are too short for a decision, if that is so of every comparison that is not decided: more of such slices
/// decide none.
pub fn undecidable_slices(answers: &[Answer]) -> Option<ShortSlices> {
    let open = answers.iter();
    let mut open = open.filter(|answer| answer.decision == Decision::Inconclusive);
    let first = open.next()?.short_slices?;
    open.all(|answer| answer.short_slices.is_some())
        .then_some(first)
}

/// The combinations whose comparison with the baseline is decided, as the runs name them: they need no further execution.
pub fn decided_combinations(
    question: &Question,
    executions: &[Execution<'_>],
) -> Vec<BTreeMap<String, String>> {
    let answers = answers(question, executions).into_iter();
    let decided = answers.filter(|answer| answer.decision != Decision::Inconclusive);
    decided
        .map(|answer| answer.levels.into_iter().chain(answer.within).collect())
        .collect()
}

/// As [`answers`], with the compared values.
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
    // A difference of several factors has no single cause: those of one factor come first.
    all.sort_by(|a, b| {
        let changed = |it: &ComparisonPair<'_, '_>| question.changed_factors(&it.levels.asked);
        in_order(&a.levels.within, &b.levels.within).then(changed(a).cmp(&changed(b)))
    });
    let mut family: Vec<&mut Compared> = all.iter_mut().flat_map(|it| &mut it.compared).collect();
    decide_primary(question.min_effect, &mut family);
    all
}

fn answer(question: &Question, asked: ComparisonPair<'_, '_>) -> Answer {
    let ComparisonPair {
        levels,
        a,
        b,
        compared,
    } = asked;
    let mut executions = a.iter().chain(&b);
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
        of_batches: executions.any(|it| it.record.batch.is_some()),
        means: of.map(|it| it.means),
        decision: of.map_or(Decision::Inconclusive, |it| it.decision),
        comparison: of.and_then(|it| it.comparison),
        paired: of.is_some_and(is_paired),
        p_value: of.and_then(|it| it.p_value),
        executions_needed: of.and_then(|it| it.executions_needed),
        effect: of.map_or(question.min_effect, |it| it.effect),
        smallest_effect: of.and_then(|it| it.smallest_effect),
        looks,
        short_slices: ShortSlices::of([&a, &b]),
    }
}

/// Orders levels: numbers by value, the rest as text.
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

/// A combination's levels: those of the question's factors in its order, and the others.
#[derive(Clone, PartialEq)]
pub(crate) struct Levels {
    pub(crate) asked: Vec<(String, String)>,
    pub(crate) within: Vec<(String, String)>,
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
