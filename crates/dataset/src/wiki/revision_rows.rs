//! The rows of `revision`.

use super::{
    history::{Draw, History, random, write_time},
    page_rows::{Page, field},
    text::{write_address, write_comment, write_sha1, write_user_name},
};
use crate::{
    table_data::Rows,
    uniform::{below, unit},
};

/// Revisions of one unit.
const UNIT: u64 = 1000;
/// Edits by users that are not registered, per 1000.
const ANONYMOUS: u64 = 268;
/// Edits of the registered that are marked as minor, in percent.
const MINOR: u64 = 22;

/// Revisions that came later from another wiki, per 1000: they keep the time at which they were written.
const IMPORTED: u64 = 1;

#[derive(Debug, Clone, Copy)]
pub(super) struct RevisionRows {
    history: History,
}

impl RevisionRows {
    pub(super) fn new(history: History) -> Self {
        Self { history }
    }

    fn write_row(&self, revision: u64, out: &mut Vec<u8>) {
        let history = &self.history;
        let mut numbers = random(Draw::Revision, revision);
        let index = history.page_of(revision);
        let (page, _) = Page::at(history, index);
        let (mut before, mut parent, mut all) = (0, None, 0);
        for other in history.revisions_of(index) {
            all += 1;
            if other < revision {
                before += 1;
                parent = parent.max(Some(other));
            }
        }
        let user = if below(&mut numbers, 1000) < ANONYMOUS {
            0
        } else {
            history.user_at(unit(&mut numbers))
        };
        let is_imported = below(&mut numbers, 1000) < IMPORTED;
        let written = if is_imported {
            below(&mut numbers, revision + 1)
        } else {
            revision
        };
        // A text grows from half of its last length to all of it.
        let bytes = page.bytes * (all + before + 1) / (2 * all);
        let id = History::revision_id(revision);

        field(id, out);
        field(History::page_id(index), out);
        field(id, out);
        write_comment(&mut numbers, out);
        out.push(b'\t');
        field(user, out);
        if user == 0 {
            write_address(&mut numbers, out);
        } else {
            write_user_name(user, &mut random(Draw::UserName, user), out);
        }
        out.push(b'\t');
        write_time(history.second_of(written), out);
        out.push(b'\t');
        let is_minor = user > 0 && below(&mut numbers, 100) < MINOR;
        field(is_minor.into(), out);
        field(0, out);
        field(bytes, out);
        field(parent.map_or(0, History::revision_id), out);
        write_sha1(&mut numbers, out);
        out.push(b'\n');
    }
}

impl Rows for RevisionRows {
    fn units(&self) -> u64 {
        self.history.revisions().div_ceil(UNIT)
    }

    fn write(&self, unit: u64, out: &mut Vec<u8>) -> u64 {
        let revisions = unit * UNIT..self.history.revisions().min((unit + 1) * UNIT);
        for revision in revisions.clone() {
            self.write_row(revision, out);
        }
        revisions.end - revisions.start
    }
}
