//! The audit of the sides of a comparison, in sentences and as JSON.

use audit::{ONE_FACTOR, SidesAudit};
use serde_json::{Value, json};
use stats::{FALSE_BY_DRIFT, FALSE_BY_SHIFT};
use units::percent;

use super::words::SIDES;

/// Grades, findings, and the order of the sides' runs.
pub(super) fn sentences(audit: &SidesAudit) -> Vec<String> {
    let sides = audit.sides.each_ref();
    let [a, b] = sides.map(|side| side.assessment.in_words());
    // Compared with the digits shown: the lengths of two runs always differ a little.
    let mut sentences = if a == b {
        vec![format!("Audit of each side: {a}.")]
    } else {
        let sides = SIDES.iter().zip([a, b]);
        sides
            .map(|(name, assessment)| format!("Audit of {name}: {assessment}."))
            .collect()
    };
    for it in audit.findings() {
        let consequence = if it.rule.is(ONE_FACTOR) {
            " The change cannot be attributed to one of them."
        } else {
            ""
        };
        sentences.push(format!(
            "{}, {} {}: {}.{consequence}",
            it.of(),
            it.finding.level.name(),
            it.rule.id,
            it.finding.evidence,
        ));
    }
    sentences.extend(audit.first.map(|first| {
        format!(
            "{} was measured before {}: the intervals do not cover changes on the machine between the two. If the sides are identical, a drift of 1 % per run makes {} of the comparisons show a difference, and a shift of 5 % makes {} show one (simulated with five runs a side and 3 % noise). An experiment with both sides as levels of a factor avoids this, because it mixes their runs.",
            SIDES[first],
            SIDES[1 - first],
            percent(FALSE_BY_DRIFT),
            percent(FALSE_BY_SHIFT),
        )
    }));
    sentences
}

/// The same as JSON.
pub(super) fn json(audit: &SidesAudit) -> Value {
    let [a, b] = audit.sides.each_ref().map(|side| side.assessment);
    let findings = audit.findings();
    let findings = findings.iter().map(|it| {
        json!({
            "side": it.side.map(|side| SIDES[side].to_lowercase()),
            "rule": it.rule.id,
            "level": it.finding.level.name(),
            "evidence": it.finding.evidence,
        })
    });
    json!({
        "grade_a": a.letter(),
        "grade_b": b.letter(),
        "machine_a": a.machine.word(),
        "machine_b": b.machine.word(),
        "scope_a": a.scope.word(),
        "scope_b": b.scope.word(),
        "findings": findings.collect::<Vec<_>>(),
        "measured_first": audit.first.map(|first| SIDES[first].to_lowercase()),
    })
}
