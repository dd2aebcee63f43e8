//! Advice as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use super::candidate::{Candidate, Remedy};

/// A candidate with the statement that it is for, and what came of it.
#[derive(Debug)]
pub(super) struct Advice {
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
        /// Size of the index.
        index_bytes: Option<f64>,
    },
    /// It does not; a sentence per statement.
    Rejected(Vec<String>),
    /// It cannot be made, with the server's reason.
    CannotBeMade(String),
    /// More candidates than were measured.
    NotTried,
}

impl Advice {
    /// Whether a comparison can measure it.
    pub(super) fn is_variant(&self) -> bool {
        matches!(self.candidate.remedy, Remedy::Variant { .. })
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
        let (Remedy::Variant { parts: what, .. } | Remedy::Rewrite(what)) = &it.candidate.remedy;
        line(&mut text, &format!("{}: {verdict}{what}", it.statement));
        line(&mut text, &format!("  {}", it.candidate.reason));
        match &it.proof {
            Some(Proof::Kept {
                faster,
                slower,
                index_bytes,
            }) => {
                for sentence in faster.iter().chain(slower) {
                    line(&mut text, &format!("  {sentence}"));
                }
                if let Some(bytes) = index_bytes {
                    line(
                        &mut text,
                        &format!("  size of the index: {}", units::bytes(*bytes as u64)),
                    );
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
    if !is_tried && all.iter().any(Advice::is_variant) {
        line(
            &mut text,
            "Nothing was tried: --try measures these on copies of a private server.",
        );
    }
    text
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
        Remedy::Rewrite(what) => ("rewrite", what),
    };
    let proof = it.proof.as_ref().map(|proof| match proof {
        Proof::Kept {
            faster,
            slower,
            index_bytes,
        } => json!({ "outcome": "proved", "faster": faster, "slower": slower, "index_bytes": index_bytes }),
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
