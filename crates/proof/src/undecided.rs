//! The error of a proof that ended before it was decided.

use blame::{Blame, Blamed};
use report::Proof;
use units::{counted, fine_percent};
use verdict::PartStatus;

use crate::{case::Case, rounds::Rounds};

/// Which loss is possible, and what would decide it.
pub fn undecided(case: &Case, rounds: &Rounds, proof: &Proof) -> Blamed {
    let blocks = proof.rounds.last().map_or(0, |round| round.blocks);
    let margin = fine_percent(case.terms.margin);
    let why = if proof
        .lines
        .iter()
        .any(|it| it.fate == PartStatus::Unresolved)
    {
        "the shorter file is slower, and the last round does not show which of the dropped lines is needed".to_owned()
    } else if let Some(loss) = proof.possible_loss {
        format!("{}, and the margin is {margin}", loss.in_words())
    } else {
        let blocks = counted(blocks as usize, "block");
        format!("the last round ended after {blocks}, and a decision needs at least 3")
    };
    let message = format!("not decided: {why}; no shorter file is proposed");
    let is_short = rounds.measured.last().is_some_and(|it| it.time_is_spent);
    let hint = if is_short {
        "to continue, run the same command with a longer --budget; a longer --duration or a larger --min-effect starts \
         a new proof"
    } else {
        "a longer --duration, a quieter machine or a larger --min-effect can decide more, in a new proof"
    };
    Blamed::new(Blame::Undecided, message).hint(hint.to_owned())
}
