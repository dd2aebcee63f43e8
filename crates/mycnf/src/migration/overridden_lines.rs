//! The lines that do nothing in the old version beside the line of another option, and would count in the new one.

use std::path::Path;

use super::{Migration, Move};
use crate::entry::{Entry, Origin};
use crate::finding::option_as_written;
use crate::rewrite::Edit;
use crate::rule::Rewrite;
use crate::subject::Subject;

impl Migration {
    /// Leaves out the lines that no server of the file uses. This comes first: which of two lines counts is a matter of
    /// the old version, and every later step judges the lines by the new one.
    pub(super) fn drop_overridden(&mut self, before: &[Subject<'_>], path: &Path) {
        for subject in before {
            for line in subject.read() {
                let at = &line.entry.origin;
                let Some(other) = subject.line_instead_of(line) else {
                    continue;
                };
                if self.has_settled(at) || before.iter().any(|subject| uses(subject, at)) {
                    continue;
                }
                let other = option_as_written(other.entry);
                let why = format!("without effect in {} beside {other}", subject.target);
                self.leave_out(line.entry, why, path);
            }
        }
    }

    pub(super) fn leave_out(&mut self, entry: &Entry, why: String, path: &Path) {
        let at = &entry.origin;
        if let Some(number) = at.number().filter(|_| at.path() == path) {
            self.edits.push(Edit::Line {
                line: number,
                rewrite: Rewrite::Remove,
                reason: why.clone(),
            });
        }
        let was = self.as_written(entry);
        self.moves.push(Move::Dropped {
            at: at.clone(),
            was,
            why,
        });
    }
}

/// Whether a server reads a line, and no line of another option makes it ineffective.
fn uses(subject: &Subject<'_>, at: &Origin) -> bool {
    let mut read = subject.read();
    read.any(|line| line.entry.origin == *at && subject.line_instead_of(line).is_none())
}
