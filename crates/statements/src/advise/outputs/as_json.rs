//! Advice as one object for programs.

use serde_json::{Value, json};
use verdict::Decision;

use crate::{
    advise::{
        candidate::{Parts, Remedy},
        diagnosis::{Advice, Diagnosis},
        index_review::{DropReason, NeedlessIndex},
        index_set::IndexSet,
        proof::{Effect, Measured, Proof},
        untried::UntriedStatement,
    },
    compare::{IndexPrice, WriteTimes},
};

/// One object with all candidates, in the order in which they are tried.
pub(super) fn json(diagnosis: &Diagnosis, headline: &str, incomplete: Option<&str>) -> String {
    let statements: Vec<Value> = diagnosis
        .statements
        .iter()
        .map(|it| {
            json!({
                "statement": it.name,
                "text": it.text,
                "time_s": it.time_s,
                "executions": it.executions,
            })
        })
        .collect();
    let untried = diagnosis
        .trial
        .and_then(|_| UntriedStatement::of(diagnosis));
    let untried = untried.map(|it| {
        let remedies = it.advice.iter().map(|it| it.candidate.remedy.words());
        json!({
            "statement": it.statement.name,
            "remedies": remedies.collect::<Vec<_>>(),
        })
    });
    let indexes = IndexSet::of(diagnosis);
    let candidates = diagnosis.advice.iter();
    let candidates: Vec<Value> = candidates.map(|it| advice_json(it, &indexes)).collect();
    let needless: Vec<Value> = diagnosis.needless.iter().map(needless_json).collect();
    let failed = diagnosis.failed.iter();
    let failed: Vec<&str> = failed.map(|it| it.error.message.as_str()).collect();
    let trial = diagnosis.trial.map(|it| {
        json!({
            "budget_s": it.budget.as_secs_f64(),
            "blocks_s": diagnosis.blocks_took.as_secs_f64(),
            "whole_s": it.whole.as_secs_f64(),
        })
    });
    format!(
        "{:#}\n",
        json!({
            "version": 1,
            "answer": headline,
            "incomplete": incomplete,
            "failed": failed,
            "trial_time": trial,
            "statements": statements,
            "untried_statement": untried,
            "candidates": candidates,
            "enough_indexes": indexes.enough(),
            "needless_indexes": needless,
            "notes": diagnosis.notes,
        })
    )
}

fn advice_json(it: &Advice, indexes: &IndexSet<'_>) -> Value {
    let remedy = &it.candidate.remedy;
    let (kind, what, text) = match remedy {
        Remedy::Statistics(_) => ("variant", remedy.words(), None),
        Remedy::Author(_) => ("rewrite", remedy.words(), None),
        Remedy::Side(change) => match (&change.parts, &change.text) {
            (_, None) => ("variant", remedy.words(), None),
            // Another text alone is the remedy itself.
            (Parts::None, Some(text)) => ("statement", text.clone(), Some(text)),
            (_, Some(text)) => ("variant and statement", remedy.words(), Some(text)),
        },
    };
    json!({
        "statement": it.statement,
        "also_for": it.also_for,
        "reason": it.candidate.reason,
        "kind": kind,
        "remedy": what,
        "text": text,
        "saving_s": it.saving_s,
        "unaffected_statements": it.unaffected,
        "alternative_to": indexes.alternative_to(it),
        "trial": it.proof.as_ref().map(|proof| proof_json(remedy, proof)),
    })
}

fn proof_json(remedy: &Remedy, proof: &Proof) -> Value {
    match proof {
        Proof::Measured(measured) => measured_json(measured),
        Proof::Unused => json!({
            "outcome": "not proved",
            "reason": remedy.why_unused(),
        }),
        Proof::CannotBeMade(why) => json!({ "outcome": "cannot be made", "reason": why }),
        Proof::NotTried => json!({ "outcome": "not tried" }),
    }
}

fn measured_json(measured: &Measured) -> Value {
    let effects = measured.effects.iter().chain(&measured.undecided);
    let effects: Vec<Value> = effects.map(effect_json).collect();
    let verdict = measured.outcome.words();
    let together = measured.together.as_deref().map(effect_json);
    if !measured.outcome.is_proved() {
        let sentences = measured.effects.iter().map(Effect::sentence);
        return json!({
            "outcome": "not proved",
            "verdict": verdict,
            "statements": sentences.collect::<Vec<_>>(),
            "effects": effects,
            "together": together,
        });
    }
    let sentences = |decision| {
        let effects = measured.effects_of(decision);
        effects.map(Effect::sentence).collect::<Vec<_>>()
    };
    json!({
        "outcome": "proved",
        "verdict": verdict,
        "faster": sentences(Decision::Faster),
        "slower": sentences(Decision::Slower),
        "undecided": measured.undecided.iter().map(Effect::sentence).collect::<Vec<_>>(),
        "effects": effects,
        "together": together,
        "index_price": measured.price.as_ref().map(price_json),
    })
}

fn effect_json(it: &Effect) -> Value {
    json!({
        "statement": it.statement,
        "verdict": it.verdict.word(),
        "mean_s": it.means_s,
        "ratio": it.ratio.map(|it| it.estimate),
        "ratio_low": it.ratio.map(|it| it.low),
        "ratio_high": it.ratio.map(|it| it.high),
        "has_no_rows": it.emptiness.is_some(),
        "why": it.why,
    })
}

fn price_json(price: &IndexPrice) -> Value {
    let times = |it: &WriteTimes| {
        json!({
            "before_s": it.means_s[0],
            "after_s": it.means_s[1],
            "ratio": it.ratio.map(|it| it.estimate),
            "ratio_low": it.ratio.map(|it| it.low),
            "ratio_high": it.ratio.map(|it| it.high),
        })
    };
    let writes = price.writes.as_ref();
    json!({
        "bytes": price.bytes,
        "insert": writes.ok().map(|it| times(&it.insert)),
        "update": writes.ok().and_then(|it| it.update.as_ref()).map(times),
        "writes_not_measured": writes.err(),
    })
}

fn needless_json(it: &NeedlessIndex) -> Value {
    let (duplicate_of, shorter_than, unused_for_s) = match &it.why {
        DropReason::Duplicate { of } => (Some(of), None, None),
        DropReason::Shorter { of } => (None, Some(of), None),
        DropReason::Unused { since } => (None, None, Some(since.as_secs())),
    };
    json!({
        "table": it.table,
        "index": it.index,
        "duplicate_of": duplicate_of,
        "shorter_than": shorter_than,
        "unused_for_s": unused_for_s,
        "sentence": it.sentence(),
    })
}
