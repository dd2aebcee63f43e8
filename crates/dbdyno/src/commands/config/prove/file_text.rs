//! The shortest file, with the reason of each line as a comment.

use std::fmt::Write as _;

use report::Proof;
use runs::Blamed;
use verdict::Fate;

use super::{case::Case, course::Course};
use crate::commands::config::subject::line_of;

/// The text of the shortest file: what is common to both files, what earned its place, and what is not about speed.
pub(super) fn shortest(case: &Case, course: &Course, proof: &Proof) -> Result<String, Blamed> {
    let mut text = format!(
        "# The shortest file that is not slower than {}, for {} under {}.\n# Measured by dbdyno config prove, against {}; \
         effects with the interval of the decision.\n# Groups that only other programs read are not copied.\n[mysqld]\n",
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
        line(&line_of(entry));
    }
    let groups = case.candidates.groups.iter().zip(&proof.lines).enumerate();
    for (at, (group, found)) in groups.clone() {
        let is_kept = course.elimination.shortest().contains(&at);
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
            line(&line_of(entry));
        }
    }
    for untested in case.candidates.untested.iter().filter(|it| it.stays) {
        line(&format!("# not tested: {}", untested.why));
        line(&line_of(&untested.entry));
    }
    line("\n# Left out:");
    for (at, (_, found)) in groups {
        if !course.elimination.shortest().contains(&at) {
            let word = if found.fate == Fate::Harms {
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
            one_line(&line_of(&untested.entry)),
            untested.why
        ));
    }
    Ok(text)
}

/// The text without line ends, for a comment.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
