//! A comparison as JSON.

use audit::{ONE_FACTOR, Outcome, SidesAudit, SkipReason};
use serde_json::{Value, json};
use stats::Interval;
use verdict::{Check, Compared, Contrast, Measure, SharedCombination};

use super::side_audits;
use crate::tables::unit::unit;

/// A comparison as one JSON object, ending with a line feed. Ratios are B over A; `docs/compare.md` documents the
/// fields.
pub fn contrast_as_json(contrast: &Contrast, checks: &[Check], audit: &SidesAudit) -> String {
    let one_factor = audit.together.iter().find(|it| it.rule.is(ONE_FACTOR));
    let differences = contrast
        .differences
        .iter()
        .map(|it| json!({"of": it.of.name(), "what": it.what, "a": it.a, "b": it.b}));
    let object = json!({
        "format": 1,
        "a": contrast.names[0],
        "b": contrast.names[1],
        "margin": contrast.margin,
        "primary": contrast.primary.map(verdict::Metric::name),
        "decided_by_the_experiment": contrast.is_asked,
        "unlike": contrast.unlike,
        "differences": differences.collect::<Vec<_>>(),
        "one_factor": one_factor.map(|it| judged(&it.outcome)),
        "audit": side_audits::json(audit),
        "disturbance": audit.disturbance().map(|it| json!({"side": it.of(), "evidence": it.finding.evidence})),
        "looked_at_blocks_at_most": contrast.looked_at,
        "combinations": contrast.places.iter().map(place).collect::<Vec<_>>(),
        "only_a": contrast.alone[0],
        "only_b": contrast.alone[1],
        "checks": checks.iter().map(check).collect::<Vec<_>>(),
    });
    format!("{object:#}\n")
}

fn judged(outcome: &Outcome) -> Value {
    match outcome {
        Ok(finding) => json!({"level": finding.level.name(), "evidence": finding.evidence}),
        Err(SkipReason::NotEvaluated(why)) => json!({"level": "not evaluated", "evidence": why}),
        Err(SkipReason::DoesNotApply(why)) => json!({"level": "does not apply", "evidence": why}),
    }
}

fn place(place: &SharedCombination) -> Value {
    let causes = place.causes.iter().map(|cause| {
        let cost = cause.cost.map(|cost| Measure::Cost(cost).name());
        json!({"rule": cause.rule, "cost": cost, "sentence": cause.sentence})
    });
    let not_observed = place
        .not_observed
        .iter()
        .map(|cost| Measure::Cost(*cost).name());
    json!({
        "levels": place.within,
        "executions_a": place.executions[0],
        "executions_b": place.executions[1],
        "paired": place.paired,
        "metrics": place.metrics.iter().map(compared).collect::<Vec<_>>(),
        "costs": place.costs.iter().map(compared).collect::<Vec<_>>(),
        "not_observed": not_observed.collect::<Vec<_>>(),
        "causes": causes.collect::<Vec<_>>(),
    })
}

fn compared(it: &Compared) -> Value {
    json!({
        "measure": it.measure.name(),
        "unit": unit(it.measure.scale()),
        "a": it.means[0],
        "b": it.means[1],
        "thin": it.thin.contains(&true),
        "decision": it.decision.word(),
        "ratio": it.comparison.filter(|_| it.amount().is_none()).map(|comparison| interval(comparison.ratio)),
        "difference": it.amount().map(interval),
        "p_value": it.p_value,
        "deviation": it.comparison.map(|comparison| comparison.deviation),
        "executions_needed": it.executions_needed,
        "smallest_effect": it.smallest_effect,
    })
}

fn interval(it: Interval) -> Value {
    json!({"estimate": it.estimate, "low": it.low, "high": it.high})
}

fn check(it: &Check) -> Value {
    json!({
        "measure": it.tolerance.measure.name(),
        "limit": it.tolerance.ratio,
        "levels": it.within,
        "confidence": it.confidence,
        "ratio": it.ratio.filter(|_| it.amount.is_none()).map(interval),
        "difference": it.amount.map(interval),
        "outcome": it.outcome.word(),
    })
}
