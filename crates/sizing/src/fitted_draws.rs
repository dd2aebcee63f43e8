//! All executions and draws of them, each with its scaling model.

use stats::Scalability;

use crate::{
    capacity_model::{CapacityModel, Evaluation, FittedDraw},
    cells::Draw,
};

/// The draws of one answer. They do not depend on the memory of the target, for which they can be evaluated again.
pub(crate) struct FittedDraws<'e> {
    pub(crate) all: FittedDraw<'e>,
    pub(crate) each: Vec<FittedDraw<'e>>,
    /// `None` without a series.
    pub(crate) scaling: Option<Scalability>,
}

impl<'e> FittedDraws<'e> {
    pub(crate) fn of(model: &CapacityModel<'e>, draws: Vec<Draw<'e>>, confidence: f64) -> Self {
        let all = model.fitted(model.cells.all(), None);
        let each = draws
            .into_iter()
            .map(|draw| model.fitted(draw, all.law.as_ref()));
        let each: Vec<FittedDraw<'e>> = each.collect();
        Self {
            scaling: model.scaling(&all, &each, confidence),
            all,
            each,
        }
    }

    /// Whether the series passed its peak.
    pub(crate) fn peak_is_known(&self) -> bool {
        let scaling = self.scaling.as_ref();
        scaling.is_some_and(|it| it.peak.is_ok())
    }

    /// The capacity by all executions and by each draw of them.
    pub(crate) fn evaluate(&self, model: &CapacityModel<'_>) -> (Evaluation, Vec<Evaluation>) {
        let peak_is_known = self.peak_is_known();
        let evaluate = |it: &FittedDraw<'_>| model.evaluate(it, peak_is_known);
        (
            evaluate(&self.all),
            self.each.iter().map(evaluate).collect(),
        )
    }
}
