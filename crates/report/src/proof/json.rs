//! The answer for programs.

use serde_json::{Value, json};
use stats::Interval;
use verdict::Purpose;

use super::{Proof, ProofLine, ProofRound, fate_word};

/// One JSON object, ending with a line feed; `docs/config.md` documents the fields.
pub fn proof_as_json(proof: &Proof) -> String {
    let untested = proof
        .untested
        .iter()
        .map(|it| json!({"line": it.line, "why": it.why}));
    let gain = proof.over_base.as_ref();
    let object = json!({
        "format": 1,
        "file": proof.file,
        "against": proof.against,
        "version": proof.version,
        "workload": proof.workload,
        "metric": proof.metric,
        "margin": proof.margin,
        "is_finished": proof.is_finished,
        "possible_loss": proof.possible_loss.map(|loss| json!({
            "share": loss.share,
            "against": if loss.without_harmful { "whole without harmful" } else { "whole" },
        })),
        "answer": proof.answer(),
        "shortest": proof.kept().flat_map(|line| &line.lines).collect::<Vec<_>>(),
        "over_base": gain.map(|it| json!({"of_shortest": it.of_shortest, "ratio": ratio(&it.ratio)})),
        "over_whole": proof.over_whole.as_ref().map(ratio),
        "durability": {
            "file": proof.class.name(),
            "shortest": proof.class_of_shortest.name(),
            "loses": proof.class_of_shortest.in_words(),
        },
        "groups": proof.lines.iter().map(group).collect::<Vec<_>>(),
        "untested": untested.collect::<Vec<_>>(),
        "rounds": proof.rounds.iter().map(round).collect::<Vec<_>>(),
        "results": proof.results,
    });
    format!("{object:#}\n")
}

fn group(line: &ProofLine) -> Value {
    json!({
        "options": line.options,
        "lines": line.lines,
        "fate": fate_word(line.fate),
        // `config lint` has rule and counter; a line that was not tested has none.
        "basis": line.effect.as_ref().map(|_| "measured"),
        "effect": line.effect.as_ref().map(ratio),
        "smallest_visible": line.smallest,
        "is_equivalent": line.is_equivalent,
        "pairs": line.executions,
        "round": line.round,
        "causes": line.causes,
        "prices": line.prices,
        "durability_without": line.class_without.map(|class| class.name()),
    })
}

fn round(round: &ProofRound) -> Value {
    let purpose = match round.purpose {
        Purpose::Screening => "screening",
        Purpose::Check => "check",
        Purpose::AddingBack => "adding back",
    };
    json!({
        "purpose": purpose,
        "results": round.results,
        "files": round.files,
        "blocks": round.blocks,
        "runs": round.runs,
    })
}

fn ratio(ratio: &Interval) -> Value {
    json!({"estimate": ratio.estimate, "low": ratio.low, "high": ratio.high})
}
