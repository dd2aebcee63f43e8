//! Advice as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::candidate::{Candidate, Remedy};
use crate::commands::sql::compare::{IndexPrice, WriteTimes};

/// A candidate with the statement that it is for, and what came of it.
#[derive(Debug)]
pub(super) struct Advice {
    /// Index of the statement.
    pub(super) at: usize,
    /// Name of the statement.
    pub(super) statement: String,
    pub(super) candidate: Candidate,
    /// `None` if nothing was tried.
    pub(super) proof: Option<Proof>,
}

/// What a trial says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Proof {
    /// It makes these statements certainly faster.
    Kept {
        faster: Vec<String>,
        slower: Vec<String>,
        /// Size of the index and its part of writes.
        price: Option<IndexPrice>,
    },
    /// It does not; a sentence per statement.
    Rejected(Vec<String>),
    /// It cannot be made, or its copy does not start, with the reason.
    CannotBeMade(String),
    /// More candidates than were measured.
    NotTried,
}

impl Advice {
    /// Whether a comparison can measure it.
    pub(super) fn is_measurable(&self) -> bool {
        !matches!(self.candidate.remedy, Remedy::Author(_))
    }

    /// Whether it is an index for the sake of its other columns.
    pub(super) fn is_covering(&self) -> bool {
        matches!(&self.candidate.remedy, Remedy::Variant { name, .. } if name.starts_with("covering_"))
    }
}

/// A paragraph per candidate; of a trial those that were proved come first.
pub(super) fn text(all: &[Advice], is_tried: bool, incomplete: Option<&str>) -> String {
    let mut text = String::new();
    if let Some(why) = incomplete {
        line(&mut text, &format!("incomplete: {why}"));
    }
    if all.is_empty() {
        line(
            &mut text,
            "No candidates: nothing in the plans and costs suggests a remedy.",
        );
        return text;
    }
    let rank = |it: &&Advice| match it.proof {
        Some(Proof::Kept { .. }) => 0,
        None => 1,
        Some(Proof::NotTried) => 2,
        Some(Proof::Rejected(_)) => 3,
        Some(Proof::CannotBeMade(_)) => 4,
    };
    let mut ordered: Vec<&Advice> = all.iter().collect();
    ordered.sort_by_key(rank);
    for it in ordered {
        let verdict = match &it.proof {
            Some(Proof::Kept { .. }) => "proved: ",
            Some(Proof::Rejected(_)) => "not proved: ",
            Some(Proof::NotTried) => "not tried (--at-most): ",
            Some(Proof::CannotBeMade(_)) => "cannot be made: ",
            None if is_tried => "cannot be tried: ",
            None => "",
        };
        let what = match &it.candidate.remedy {
            Remedy::Variant { parts: what, .. } | Remedy::Author(what) => what.clone(),
            Remedy::Statement { text, .. } => format!("as {text}"),
        };
        line(&mut text, &format!("{}: {verdict}{what}", it.statement));
        line(&mut text, &format!("  {}", it.candidate.reason));
        match &it.proof {
            Some(Proof::Kept {
                faster,
                slower,
                price,
            }) => {
                for sentence in faster.iter().chain(slower) {
                    line(&mut text, &format!("  {sentence}"));
                }
                for sentence in price.iter().flat_map(price_sentences) {
                    line(&mut text, &format!("  {sentence}"));
                }
            }
            Some(Proof::Rejected(sentences)) => {
                for sentence in sentences {
                    line(&mut text, &format!("  {sentence}"));
                }
            }
            Some(Proof::CannotBeMade(why)) => line(&mut text, &format!("  {why}")),
            Some(Proof::NotTried) | None => {}
        }
    }
    if !is_tried && all.iter().any(Advice::is_measurable) {
        line(
            &mut text,
            "Nothing was tried: --try measures these on copies of a private server.",
        );
    }
    text
}

/// The size of an index, and what it adds to writes.
fn price_sentences(price: &IndexPrice) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(bytes) = price.bytes {
        sentences.push(format!("size of the index: {}", units::bytes(bytes as u64)));
    }
    let times = |times: &WriteTimes| {
        let [estimate, low, high] =
            [times.ratio.estimate, times.ratio.low, times.ratio.high].map(units::change);
        let [before, after] = times.means_s.map(units::seconds);
        format!("{before} to {after}, {estimate} ({low} to {high})")
    };
    sentences.push(match &price.writes {
        Ok(writes) => {
            let update = writes.update.as_ref();
            let update = update.map(|it| format!("; of an update of its columns {}", times(it)));
            format!(
                "time of an insert, without its commit: {}{}",
                times(&writes.insert),
                update.unwrap_or_default()
            )
        }
        Err(why) => format!("its part of writes was not measured: {why}"),
    });
    sentences
}

fn price_json(price: &IndexPrice) -> Value {
    let times = |it: &WriteTimes| {
        json!({
            "before_s": it.means_s[0],
            "after_s": it.means_s[1],
            "ratio": it.ratio.estimate,
            "ratio_low": it.ratio.low,
            "ratio_high": it.ratio.high,
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

fn line(text: &mut String, content: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{content}");
}

/// One object with all candidates.
pub(super) fn json(all: &[Advice], incomplete: Option<&str>) -> String {
    let candidates: Vec<Value> = all.iter().map(advice_json).collect();
    format!(
        "{:#}\n",
        json!({ "version": 1, "incomplete": incomplete, "candidates": candidates })
    )
}

fn advice_json(it: &Advice) -> Value {
    let (kind, what) = match &it.candidate.remedy {
        Remedy::Variant { parts, .. } => ("variant", parts),
        Remedy::Statement { text, .. } => ("statement", text),
        Remedy::Author(what) => ("rewrite", what),
    };
    let proof = it.proof.as_ref().map(|proof| match proof {
        Proof::Kept {
            faster,
            slower,
            price,
        } => json!({
            "outcome": "proved",
            "faster": faster,
            "slower": slower,
            "index_price": price.as_ref().map(price_json),
        }),
        Proof::Rejected(sentences) => json!({ "outcome": "not proved", "statements": sentences }),
        Proof::CannotBeMade(why) => json!({ "outcome": "cannot be made", "reason": why }),
        Proof::NotTried => json!({ "outcome": "not tried" }),
    });
    json!({
        "statement": it.statement,
        "reason": it.candidate.reason,
        "kind": kind,
        "remedy": what,
        "trial": proof,
    })
}
