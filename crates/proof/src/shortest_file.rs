//! The shortest file, with the reason of each line as a comment.

use std::fmt::Write as _;

use blame::Blamed;
use report::Proof;
use units::fine_percent;
use verdict::PartStatus;

use crate::{case::Case, option_line, rounds::Rounds};

/// The shortest file of a proof that is finished.
#[derive(Debug)]
pub struct ShortestFile {
    /// What is common to both files, what earned its place, and what is not about speed.
    pub text: String,
    /// Whether a line has a secret, so that only the file's owner may read it.
    pub has_secret: bool,
}

impl ShortestFile {
    /// The file with the evidence of each line.
    pub fn new(case: &Case, rounds: &Rounds, proof: &Proof) -> Result<Self, Blamed> {
        Ok(Self {
            text: text(case, rounds, proof)?,
            has_secret: has_secret(case),
        })
    }
}

fn text(case: &Case, rounds: &Rounds, proof: &Proof) -> Result<String, Blamed> {
    let mut text = format!(
        "# The shortest file that loses less than {} against {}, for {} under {}.\n# Measured by dbdyno config prove, against {}; \
         effects with the interval of the decision.\n# Groups that only other programs read are not copied.\n[mysqld]\n",
        fine_percent(case.terms.margin),
        case.file.display(),
        proof.version,
        proof.workload,
        case.base_in_words()
    );
    let mut line = |line: &str| {
        writeln!(text, "{line}").expect("writing to a String cannot fail");
    };
    for entry in &case.candidates.common {
        line("# as in the file that it was compared with");
        line(&option_line::own(entry)?);
    }
    let groups = case.candidates.groups.iter().zip(&proof.lines).enumerate();
    for (at, (group, found)) in groups.clone() {
        let is_kept = rounds.elimination.shortest().contains(&at);
        let lines = if is_kept { &group.lines } else { &group.base };
        if lines.is_empty() {
            continue;
        }
        if is_kept {
            line(&format!("# {}", one_line(&found.evidence())));
        } else {
            line("# as in the file that it was compared with");
        }
        for entry in lines {
            line(&option_line::own(entry)?);
        }
    }
    for untested in case.candidates.untested.iter().filter(|it| it.stays) {
        line(&format!("# not tested: {}", untested.why));
        line(&option_line::own(&untested.entry)?);
    }
    line("\n# Left out:");
    for (at, (_, found)) in groups {
        if !rounds.elimination.shortest().contains(&at) {
            let word = if found.fate == PartStatus::Harms {
                "harms: "
            } else {
                ""
            };
            let evidence = one_line(&found.evidence());
            for left_out in &found.lines {
                line(&format!("#   {}: {word}{evidence}", one_line(left_out)));
            }
        }
    }
    for untested in case.candidates.untested.iter().filter(|it| !it.stays) {
        line(&format!(
            "#   {}: {}",
            one_line(&option_line::shown(&untested.entry)),
            untested.why
        ));
    }
    Ok(text)
}

fn has_secret(case: &Case) -> bool {
    let candidates = &case.candidates;
    let untested = candidates.untested.iter().filter(|it| it.stays);
    let of_groups = candidates.groups.iter().flat_map(|group| &group.lines);
    let mut entries = candidates
        .common
        .iter()
        .chain(untested.map(|it| &it.entry))
        .chain(of_groups);
    // default_password_lifetime and validate_password_length have none.
    entries.any(|entry| {
        let name = entry.name.base();
        ["password", "secret", "token"]
            .iter()
            .any(|ending| name.ends_with(ending))
    })
}

/// The text without line ends, for a comment.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
