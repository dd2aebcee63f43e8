//! The answer for a terminal.

use units::{counted, fine_percent};
use verdict::PartStatus;

use super::{Proof, ProofLine, purpose_in_words};

/// Lines of kept and harmful options without `-v`; with the others the answer has at most 12.
const SHOWN_MAX: usize = 5;
/// Names in the line of what is dropped without `-v`.
const NAMES_MAX: usize = 8;

/// The answer as at most 12 lines, or with everything that is known.
pub fn proof_as_text(proof: &Proof, is_verbose: bool) -> String {
    let mut lines = vec![proof.answer(), proof.comparison()];
    let named: Vec<&ProofLine> = proof.kept().chain(proof.of(PartStatus::Harms)).collect();
    let shown = if is_verbose { usize::MAX } else { SHOWN_MAX };
    for line in named.iter().take(shown) {
        lines.push(one(line, is_verbose));
        if is_verbose {
            lines.extend(details(line));
        }
    }
    let rest = named.len().saturating_sub(shown);
    if rest > 0 {
        lines.push(format!("and {} more; -v shows all", counted(rest, "group")));
    }
    if is_verbose {
        let open = proof
            .of(PartStatus::Unresolved)
            .chain(proof.of(PartStatus::Untested));
        for line in proof.of(PartStatus::NoEffect).chain(open) {
            lines.push(one(line, true));
        }
        for line in &proof.untested {
            lines.push(format!("untested  {}: {}", line.line, line.why));
        }
        for round in &proof.rounds {
            lines.push(format!(
                "round     {}: {} in {}, {}: {}",
                purpose_in_words(round.purpose),
                counted(round.files, "file"),
                counted(round.blocks as usize, "block"),
                counted(round.runs, "run"),
                round.results
            ));
        }
    } else {
        lines.extend(dropped(proof));
        if !proof.untested.is_empty() {
            lines.push(format!(
                "untested  {} without possible effect, or unrelated to speed; -v lists them",
                counted(proof.untested.len(), "line")
            ));
        }
    }
    lines.push(proof.durability());
    lines.push(format!("results   {}", proof.results));
    lines.join("\n") + "\n"
}

/// One group of lines with effect and mechanism.
fn one(line: &ProofLine, is_verbose: bool) -> String {
    let word = match line.fate {
        PartStatus::Helps | PartStatus::Jointly | PartStatus::Pinned => "keep",
        PartStatus::Harms => "harms",
        PartStatus::NoEffect => "drop",
        PartStatus::Untested | PartStatus::Unresolved => "open",
    };
    let cause = line.causes.first().filter(|_| !is_verbose);
    let cause = cause.map(|cause| format!("; {cause}"));
    format!(
        "{word:<9} {}: {}{}",
        line.in_words(),
        line.evidence(),
        cause.unwrap_or_default()
    )
}

/// Mechanism and price of a group.
fn details(line: &ProofLine) -> Vec<String> {
    let causes = line
        .causes
        .iter()
        .map(|cause| format!("          why: {cause}"));
    let prices = line
        .prices
        .iter()
        .map(|price| format!("          price: {price}"));
    causes.chain(prices).collect()
}

/// The groups that are dropped without effect, in one line.
fn dropped(proof: &Proof) -> Option<String> {
    let dropped: Vec<&ProofLine> = proof.of(PartStatus::NoEffect).collect();
    if dropped.is_empty() {
        return None;
    }
    let names = dropped
        .iter()
        .take(NAMES_MAX)
        .map(|line| line.options.join("+"));
    let mut names: Vec<String> = names.collect();
    let rest = dropped.len().saturating_sub(NAMES_MAX);
    if rest > 0 {
        names.push(format!("{rest} more"));
    }
    let smallest = dropped.iter().filter_map(|line| line.smallest);
    let smallest = smallest.fold(0.0, f64::max);
    Some(format!(
        "drop      {} without a detected effect (smallest detectable: {} or less): {}",
        counted(dropped.len(), "group"),
        fine_percent(smallest),
        names.join(", ")
    ))
}
