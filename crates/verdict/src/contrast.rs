//! Two results compared: every metric and every cost, in every combination that both have.

use std::collections::{BTreeMap, BTreeSet};

use samples::Record;

use crate::{
    answer::{Answer, ComparisonPair, asked, in_order},
    costs::Cost,
    decision::ComparedExecutions,
    differences::{Difference, differences},
    explanation::{Cause, explain},
    family::{decide_family, decide_primary},
    likeness::unlike,
    measure::Measure,
    measure_comparison::{Compared, compared},
    metric::Metric,
    question::Question,
    side::{Execution, Levels, Side},
};

/// The parameters of a comparison of two sides.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonParameters<'a> {
    /// The smallest difference that matters, as a share.
    pub margin: f64,
    /// The metric that decides; `None` chooses the first of [`Metric::HEADLINE`] that both sides have.
    pub primary: Option<Metric>,
    /// The experiment's own question, with all executions of its results: if the sides are two of the combinations that
    /// it compares, its decision about them applies.
    pub asked: Option<(&'a Question, &'a [Execution<'a>])>,
}

impl ComparisonParameters<'_> {
    pub fn of(margin: f64) -> Self {
        Self {
            margin,
            primary: None,
            asked: None,
        }
    }
}

/// Two results compared.
#[derive(Debug, Clone)]
pub struct Contrast {
    /// The sides as they were named, A and B.
    pub names: [String; 2],
    /// The smallest difference that matters, as a share.
    pub margin: f64,
    /// The metric that decides; `None` if both sides have none.
    pub primary: Option<Metric>,
    /// True if the experiment's own question made the decision, together with its other comparisons.
    pub is_asked: bool,
    /// The combinations that both have, in the order of their levels.
    pub places: Vec<SharedCombination>,
    /// Combinations that only one side has.
    pub alone: [Vec<Levels>; 2],
    /// Why the sides did not do the same work, one sentence each; empty if they did, or if that is unknown.
    pub unlike: Vec<String>,
    /// The other differences between them.
    pub differences: Vec<Difference>,
    /// If executions were added until they decided: the maximum number of blocks. The intervals are widened so that
    /// they hold despite an analysis after every block.
    pub looked_at: Option<usize>,
}

/// One combination that both sides have.
#[derive(Debug, Clone)]
pub struct SharedCombination {
    /// The levels that the sides share.
    pub within: Levels,
    /// Executions of each side.
    pub executions: [usize; 2],
    /// True if the executions are batches of slices of runs side by side.
    pub of_batches: bool,
    /// True if every execution of the smaller side has one of the other in its block.
    pub paired: bool,
    /// The metrics that both sides have; the deciding one is the first.
    pub metrics: Vec<Compared>,
    /// The costs per operation that both sides have.
    pub costs: Vec<Compared>,
    /// Costs that were not observed on at least one side.
    pub not_observed: Vec<Cost>,
    /// The causes of the difference in the metrics, the most specific first.
    pub causes: Vec<Cause>,
}

impl SharedCombination {
    /// What its executions are, and how they are compared.
    pub fn compared_executions(&self) -> ComparedExecutions {
        ComparedExecutions {
            of_batches: self.of_batches,
            paired: self.paired,
        }
    }
}

/// Compares side B with side A.
///
/// The executions are compared in pairs of one block if both sides have them in the same blocks of the same results,
/// and as two lists otherwise. Sides of one combination each are compared even if their levels differ: the difference
/// is then reported in `unlike`.
pub fn contrast(a: &Side<'_>, b: &Side<'_>, terms: &ComparisonParameters<'_>) -> Contrast {
    let without = [&a.levels, &b.levels];
    let (mut of_a, mut of_b) = (a.places(&without), b.places(&without));
    let mut unlike_levels = Vec::new();
    if of_a.len() == 1 && of_b.len() == 1 {
        unlike_levels = join_alone(&mut of_a, &mut of_b);
    }
    let mut places: Vec<Sides<'_, '_>> = Vec::new();
    for (levels, executions) in &of_a {
        if let Some(others) = of_b.get(levels) {
            places.push((levels.clone(), executions.clone(), others.clone()));
        }
    }
    places.sort_by(|one, other| {
        let pairs = |levels: &Levels| levels.clone().into_iter().collect::<Vec<_>>();
        in_order(&pairs(&one.0), &pairs(&other.0))
    });
    let alone = |own: &BTreeMap<Levels, _>, other: &BTreeMap<Levels, _>| {
        let levels = own.keys().filter(|levels| !other.contains_key(*levels));
        levels.cloned().collect::<Vec<Levels>>()
    };
    let alone = [alone(&of_a, &of_b), alone(&of_b, &of_a)];
    let pairs: Vec<(&Record, &Record)> = places
        .iter()
        .filter_map(|(_, a, b)| Some((a.first()?.record, b.first()?.record)))
        .collect();
    let mut unlike = unlike(&places);
    unlike.extend(unlike_levels);
    let looked_at = a.looked_at.max(b.looked_at);
    let found: Vec<SharedCombination> = places
        .iter()
        .map(|(levels, a, b)| place(levels, a, b, looked_at))
        .collect();
    let mut contrast = Contrast {
        names: [a.name.clone(), b.name.clone()],
        margin: terms.margin,
        primary: terms.primary.or_else(|| headline(&found)),
        is_asked: false,
        places: found,
        alone,
        unlike,
        differences: differences(&pairs),
        looked_at,
    };
    contrast.decide();
    if let Some((question, executions)) = terms.asked {
        contrast.take_over(&asked(question, executions), &places);
    }
    for (place, (_, a, b)) in contrast.places.iter_mut().zip(&places) {
        place.causes = explain(&place.metrics, &place.costs, a, b);
    }
    contrast
}

/// A comparison of a question as two sides with their costs: A is the baseline. `None` if these executions have no such
/// comparison.
pub fn contrast_of_answer(
    question: &Question,
    answer: &Answer,
    executions: &[Execution<'_>],
) -> Option<Contrast> {
    let pairs = asked(question, executions);
    let is_of_answer = |pair: &&ComparisonPair<'_, '_>| {
        pair.levels.asked == answer.levels && pair.levels.within == answer.within
    };
    let pair = pairs.iter().find(is_of_answer)?;
    let terms = ComparisonParameters {
        margin: question.min_effect,
        primary: Some(question.metric),
        asked: Some((question, executions)),
    };
    let a = side_of_question(question, &question.baseline, &pair.a);
    let b = side_of_question(question, &pair.levels.asked, &pair.b);
    Some(contrast(&a, &b, &terms))
}

fn side_of_question<'r>(
    question: &Question,
    levels: &[(String, String)],
    executions: &[&Execution<'r>],
) -> Side<'r> {
    let named = levels
        .iter()
        .map(|(factor, level)| format!("{factor} {level}"));
    Side {
        name: named.collect::<Vec<_>>().join(", "),
        levels: levels.iter().cloned().collect(),
        executions: executions.iter().map(|it| (*it).clone()).collect(),
        looked_at: question.until_decided.map(|budget| budget.blocks),
    }
}

/// Puts two combinations that have no counterpart under the levels that they share; returns the differences.
fn join_alone<'e, 'r>(
    of_a: &mut BTreeMap<Levels, Vec<&'e Execution<'r>>>,
    of_b: &mut BTreeMap<Levels, Vec<&'e Execution<'r>>>,
) -> Vec<String> {
    let (Some((a, in_a)), Some((b, in_b))) = (of_a.pop_first(), of_b.pop_first()) else {
        return Vec::new();
    };
    let shared = |(factor, level): &(&String, &String)| b.get(*factor) == Some(*level);
    let shared: Levels = a
        .iter()
        .filter(shared)
        .map(|(factor, level)| (factor.clone(), level.clone()))
        .collect();
    let names = a
        .keys()
        .chain(b.keys().filter(|factor| !a.contains_key(*factor)));
    let level = |levels: &Levels, factor: &String| match levels.get(factor) {
        Some(level) => level.clone(),
        None => "nothing".to_owned(),
    };
    let unlike = names
        .filter(|factor| !shared.contains_key(*factor))
        .map(|factor| {
            format!(
                "{factor}: {} against {}",
                level(&a, factor),
                level(&b, factor)
            )
        })
        .collect();
    of_a.insert(shared.clone(), in_a);
    of_b.insert(shared, in_b);
    unlike
}

fn place(
    levels: &Levels,
    a: &[&Execution<'_>],
    b: &[&Execution<'_>],
    looked_at: Option<usize>,
) -> SharedCombination {
    let compared = |measure| compared(measure, a, b, looked_at);
    let metrics = Metric::ALL.into_iter().map(Measure::Metric);
    let costs = Cost::all().map(Measure::Cost);
    let costs: Vec<Compared> = costs.filter_map(&compared).collect();
    let is_compared = |cost: &Cost| costs.iter().any(|it| it.measure == Measure::Cost(*cost));
    let metrics: Vec<Compared> = metrics.filter_map(compared).collect();
    let mut executions = a.iter().chain(b);
    SharedCombination {
        within: levels.clone(),
        executions: [a.len(), b.len()],
        of_batches: executions.any(|it| it.record.batch.is_some()),
        paired: metrics.first().is_some_and(Compared::is_paired),
        metrics,
        not_observed: Cost::all().filter(|cost| !is_compared(cost)).collect(),
        costs,
        causes: Vec::new(),
    }
}

/// The deciding metric of two results without a question.
fn headline(places: &[SharedCombination]) -> Option<Metric> {
    let metrics = || places.iter().flat_map(|place| &place.metrics);
    Metric::HEADLINE
        .into_iter()
        .find(|metric| metrics().any(|it| it.measure == Measure::Metric(*metric)))
}

/// A combination of two sides, with the executions of each.
type Sides<'e, 'r> = (Levels, Vec<&'e Execution<'r>>, Vec<&'e Execution<'r>>);

impl Contrast {
    /// The comparison that decides about a combination; `None` if an execution lacks the metric.
    pub fn primary_of<'c>(&self, place: &'c SharedCombination) -> Option<&'c Compared> {
        let primary = self.primary.map(Measure::Metric)?;
        place.metrics.iter().find(|it| it.measure == primary)
    }

    /// Decides the primary metric of all combinations, then the other metrics together, and all costs: among many, some
    /// differ by chance, but none of the others can change the decision of the primary metric.
    fn decide(&mut self) {
        let (margin, primary) = (self.margin, self.primary.map(Measure::Metric));
        for place in &mut self.places {
            // A stable sort: the others keep their order.
            place.metrics.sort_by_key(|it| Some(it.measure) != primary);
        }
        let metrics = self.places.iter_mut().flat_map(|place| &mut place.metrics);
        let (mut of_primary, mut others): (Vec<_>, Vec<_>) =
            metrics.partition(|it| Some(it.measure) == primary);
        decide_primary(margin, &mut of_primary);
        decide_family(margin, &mut others);
        let costs = self.places.iter_mut().flat_map(|place| &mut place.costs);
        decide_family(margin, &mut costs.collect::<Vec<_>>());
    }

    /// Adopts the decisions of a question if every combination is one of its comparisons, whichever side is the
    /// baseline.
    fn take_over(&mut self, asked: &[ComparisonPair<'_, '_>], sides: &[Sides<'_, '_>]) {
        let of_side = |(_, a, b): &Sides<'_, '_>| {
            asked.iter().find_map(|it| {
                let compared = it.compared.as_ref()?;
                if is_same(&it.a, a) && is_same(&it.b, b) {
                    return Some(compared.clone());
                }
                (is_same(&it.a, b) && is_same(&it.b, a)).then(|| compared.reversed())
            })
        };
        let Some(decided) = sides.iter().map(of_side).collect::<Option<Vec<Compared>>>() else {
            return;
        };
        self.is_asked = !decided.is_empty();
        for (place, decided) in self.places.iter_mut().zip(decided) {
            let mut metrics = place.metrics.iter_mut();
            if let Some(own) = metrics.find(|it| it.measure == decided.measure) {
                *own = decided;
            }
        }
    }
}

/// True if both are the runs of one combination.
fn is_same(one: &[&Execution<'_>], other: &[&Execution<'_>]) -> bool {
    // The batches of a run have blocks of their own.
    fn runs<'e>(side: &[&'e Execution<'_>]) -> BTreeSet<(usize, u32, u32, &'e Levels)> {
        let headers = side.iter().map(|it| (it.results, &it.record.header));
        headers
            .map(|(results, header)| (results, header.run, header.block, &header.combination))
            .collect()
    }
    one.len() == other.len() && runs(one) == runs(other)
}

#[cfg(test)]
mod tests;
