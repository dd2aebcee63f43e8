//! Two results side by side: every metric and every cost, in every combination that both have.

use std::collections::BTreeMap;

use samples::Record;

use crate::{
    answer::in_order,
    compared::{Compared, Look, compared, confidence_of_look, decide_together},
    costs::Cost,
    decision::CONFIDENCE,
    differences::{Difference, differences},
    explanation::{Cause, explain},
    likeness::unlike,
    measure::Measure,
    metric::Metric,
    side::{Execution, Levels, Side},
};

/// Two results side by side.
#[derive(Debug, Clone)]
pub struct Contrast {
    /// The sides as they were named, A and B.
    pub names: [String; 2],
    /// The smallest difference that matters, as a share.
    pub margin: f64,
    /// What both have, in the order of its levels.
    pub places: Vec<Place>,
    /// Combinations that only the one side has.
    pub alone: [Vec<Levels>; 2],
    /// Why the sides did not do the same thing, a sentence each; empty where they did, or where nobody can tell.
    pub unlike: Vec<String>,
    /// What else differs between them.
    pub differences: Vec<Difference>,
    /// Where executions were added until they decided: the most blocks that there could have been. The intervals are so
    /// much wider that they hold although somebody looked after every block.
    pub looked_at: Option<usize>,
}

/// One combination that both sides have.
#[derive(Debug, Clone)]
pub struct Place {
    /// The levels that the sides share.
    pub within: Levels,
    /// Executions of each side.
    pub executions: [usize; 2],
    /// True where every execution of the smaller side has one of the other in its block.
    pub paired: bool,
    /// The metrics that both sides have.
    pub metrics: Vec<Compared>,
    /// The costs per operation that both sides have.
    pub costs: Vec<Compared>,
    /// Costs that nobody looked at, on one side at least.
    pub not_observed: Vec<Cost>,
    /// Why the metrics differ, the most particular cause first.
    pub causes: Vec<Cause>,
}

/// Puts B beside A; `margin` is the smallest difference that matters, as a share.
///
/// The executions are compared in pairs of one block where both sides have them in the same blocks of the same results,
/// and as two lists otherwise. Sides of one combination each are compared even where their levels differ: what differs
/// is then told as unlike.
pub fn contrast(a: &Side<'_>, b: &Side<'_>, margin: f64) -> Contrast {
    let without = [&a.levels, &b.levels];
    let (mut of_a, mut of_b) = (a.places(&without), b.places(&without));
    let mut unlike_levels = Vec::new();
    if of_a.len() == 1 && of_b.len() == 1 {
        unlike_levels = join_alone(&mut of_a, &mut of_b);
    }
    let mut places: Vec<(Levels, Vec<&Execution<'_>>, Vec<&Execution<'_>>)> = Vec::new();
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
    let mut contrast = Contrast {
        names: [a.name.clone(), b.name.clone()],
        margin,
        places: places
            .iter()
            .map(|(levels, a, b)| place(levels, a, b, looked_at))
            .collect(),
        alone,
        unlike,
        differences: differences(&pairs),
        looked_at,
    };
    contrast.decide();
    for (place, (_, a, b)) in contrast.places.iter_mut().zip(&places) {
        place.causes = explain(&place.metrics, &place.costs, a, b);
    }
    contrast
}

/// Puts two combinations that are alone on their sides under the levels that they share; returns what differs.
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
) -> Place {
    let pairs = paired(a, b);
    let blocks = pairs.as_ref().map_or(a.len().min(b.len()), Vec::len);
    let look = Look {
        looked_at,
        confidence: confidence_of_look(looked_at, blocks, CONFIDENCE),
    };
    let compared = |measure| compared(measure, a, b, pairs.as_deref(), look);
    let metrics = Metric::ALL.into_iter().map(Measure::Metric);
    let costs = Cost::all().map(Measure::Cost);
    let costs: Vec<Compared> = costs.filter_map(&compared).collect();
    let is_compared = |cost: &Cost| costs.iter().any(|it| it.measure == Measure::Cost(*cost));
    Place {
        within: levels.clone(),
        executions: [a.len(), b.len()],
        paired: pairs.is_some(),
        metrics: metrics.filter_map(compared).collect(),
        not_observed: Cost::all().filter(|cost| !is_compared(cost)).collect(),
        costs,
        causes: Vec::new(),
    }
}

/// The executions of one block of the same results, in pairs; `None` where an execution of the smaller side has none.
fn paired<'e, 'r>(
    a: &[&'e Execution<'r>],
    b: &[&'e Execution<'r>],
) -> Option<Vec<(&'e Execution<'r>, &'e Execution<'r>)>> {
    let block = |execution: &Execution<'_>| (execution.results, execution.record.header.block);
    let pairs: Vec<_> = a
        .iter()
        .filter_map(|a| {
            let mut same = b.iter().filter(|b| block(b) == block(a));
            Some((*a, *same.next().filter(|_| same.next().is_none())?))
        })
        .collect();
    let blocks: std::collections::BTreeSet<_> = pairs.iter().map(|(a, _)| block(a)).collect();
    let is_whole = pairs.len() == a.len().min(b.len()) && blocks.len() == pairs.len();
    (is_whole && !pairs.is_empty()).then_some(pairs)
}

impl Contrast {
    /// Decides all metrics together, and all costs: among many, some differ by chance.
    fn decide(&mut self) {
        let margin = self.margin;
        let metrics = self.places.iter_mut().flat_map(|place| &mut place.metrics);
        decide_together(margin, metrics);
        let costs = self.places.iter_mut().flat_map(|place| &mut place.costs);
        decide_together(margin, costs);
    }
}

#[cfg(test)]
mod tests;
