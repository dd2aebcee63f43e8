//! What the audit says of the sides of a comparison, in sentences and as JSON.

use audit::SidesAudit;
use serde_json::{Value, json};
use stats::{FALSE_BY_DRIFT, FALSE_BY_SHIFT};
use units::percent;

use super::words::SIDES;

/// Grades, findings, and how the runs of the sides followed each other.
pub(super) fn sentences(audit: &SidesAudit) -> Vec<String> {
    let [a, b] = audit.sides.each_ref().map(|side| side.grade.letter());
    let mut sentences = vec![format!("Audit: A has grade {a}, B has grade {b}.")];
    for it in audit.findings() {
        let consequence = if it.rule == "C02" {
            " The change cannot be ascribed to one of them."
        } else {
            ""
        };
        sentences.push(format!(
            "{}, {} {}: {}.{consequence}",
            it.of(),
            it.finding.level.name(),
            it.rule,
            it.finding.evidence,
        ));
    }
    sentences.extend(audit.first.map(|first| {
        format!(
            "{} was measured before {}: the intervals do not cover what changed on the machine in between. Of equal sides, \
             a drift by 1 % a run makes {} look different, and a shift by 5 % {} (simulated, five runs a side, 3 % noise). \
             An experiment that has both as levels of a factor mixes their runs.",
            SIDES[first],
            SIDES[1 - first],
            percent(FALSE_BY_DRIFT),
            percent(FALSE_BY_SHIFT),
        )
    }));
    sentences
}

/// The same for programs.
pub(super) fn json(audit: &SidesAudit) -> Value {
    let [a, b] = audit.sides.each_ref().map(|side| side.grade.letter());
    let findings = audit.findings();
    let findings = findings.iter().map(|it| {
        json!({
            "side": it.side.map(|side| SIDES[side].to_lowercase()),
            "rule": it.rule,
            "level": it.finding.level.name(),
            "evidence": it.finding.evidence,
        })
    });
    json!({
        "grade_a": a,
        "grade_b": b,
        "findings": findings.collect::<Vec<_>>(),
        "measured_first": audit.first.map(|first| SIDES[first].to_lowercase()),
    })
}
