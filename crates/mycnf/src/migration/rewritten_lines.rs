//! The lines that have been rewritten, judged once more by the new version.

use std::path::Path;

use super::{Migration, Move, is_left_to_pins};
use crate::entry::Origin;
use crate::file::OptionFile;
use crate::lint::advice;
use crate::machine::Machine;
use crate::rewrite::Edit;
use crate::rule::{Level, Rewrite};
use crate::rules::rules_of_files;
use crate::subject::Subject;
use crate::target::Target;

impl Migration {
    /// Judges the rewritten lines once more: what has a new name may have a value that the new version does not take.
    pub(super) fn judge_rewritten(&mut self, moved: &OptionFile, to: &Target, path: &Path) {
        let (new, machine) = (self.rewritten(moved), Machine::default());
        let findings = advice(&Subject::new(&new, to, &machine), rules_of_files());
        let is_rewritten = |at: &Origin, moves: &[Move]| {
            let mut moves = moves.iter();
            moves.any(|one| matches!(one, Move::Rewritten { at: done, .. } if done == at))
        };
        for advice in findings {
            let is_left = is_left_to_pins(&advice);
            let is_adjusted = advice.changes_value();
            let remark = advice.remark;
            let is_changed = remark.level == Level::Refused || is_adjusted;
            let Some(at) = remark.at.filter(|_| is_changed && !is_left) else {
                continue;
            };
            if !is_rewritten(&at, &self.moves) {
                continue;
            }
            match remark.rewrite {
                Some(Rewrite::Replace(better)) => self.replace_again(&at, &better, path),
                _ if self.has_open(&at) => {}
                _ => self.moves.push(Move::Open {
                    at: Some(at),
                    option: remark.option,
                    what: match remark.fix.filter(|_| is_adjusted) {
                        Some(fix) => format!("{}; {fix}", remark.what),
                        None => remark.what,
                    },
                }),
            }
        }
    }

    /// Gives a rewritten line another text.
    fn replace_again(&mut self, at: &Origin, better: &str, path: &Path) {
        for one in &mut self.moves {
            if let Move::Rewritten { at: done, now, .. } = one
                && done == at
            {
                better.clone_into(now);
            }
        }
        for edit in &mut self.edits {
            if let Edit::Line { line, rewrite, .. } = edit
                && at.path() == path
                && at.number() == Some(*line)
            {
                *rewrite = Rewrite::Replace(better.to_owned());
            }
        }
    }
}
