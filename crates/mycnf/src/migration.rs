//! The rewriting of an option file for another version or family.

use std::path::Path;

use crate::assignment::is_same_setting;
use crate::entry::{Entry, Origin};
use crate::file::OptionFile;
use crate::finding::option_as_written;
use crate::judge::parse_number;
use crate::line::{Line, parse_line};
use crate::lint::advice;
use crate::machine::Machine;
use crate::pin::{Pin, pins};
use crate::rename::size;
use crate::rewrite::Edit;
use crate::rule::{Advice, Level, Rewrite};
use crate::rules::rules_of_files;
use crate::subject::Subject;
use crate::target::Target;

/// The group that every server reads.
const GROUP: &str = "mysqld";

/// Groups of MariaDB that are no place for a pin: clients read the first, too, and not every server reads the second.
const SHARED_GROUPS: [&str; 2] = ["client-server", "galera"];

/// Rules after whose refusal nothing is left to set. Any other value that is refused is the user's to decide.
const NOTHING_LEFT: [&str; 2] = ["unknown-option", "old-password-hashes"];

/// Rules whose findings the pins solve.
const PINNED: [&str; 2] = [
    "binary-log-without-server-id",
    "collation-without-character-set",
];

/// What happens to one option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    /// Another line takes its place.
    Rewritten {
        /// The line.
        at: Origin,
        /// The option as written.
        was: String,
        /// The new line.
        now: String,
    },
    /// It is left out.
    Dropped {
        /// The line.
        at: Origin,
        /// The option as written.
        was: String,
        /// The reason.
        why: String,
    },
    /// A line is added that keeps what the old version did.
    Pinned {
        /// The new line.
        line: String,
        /// The reason.
        why: String,
    },
    /// It stays, and needs the user's decision.
    Open {
        /// The line; `None` if it is about an option that the file does not set.
        at: Option<Origin>,
        /// The option.
        option: String,
        /// What to decide.
        what: String,
    },
}

/// A file rewritten for another version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Migration {
    /// The changes of the file's own lines.
    pub edits: Vec<Edit>,
    /// The same with their reasons, in the order of the file; those of included files, which are not rewritten, too.
    pub moves: Vec<Move>,
    /// Defaults that change and are not pinned: name, old and new value.
    pub changed_defaults: Vec<(&'static str, &'static str, &'static str)>,
}

/// Rewrites a file of `from` for `to`. `text` is the content of `path`; lines of included files are reported, not edited.
pub fn migrate(
    file: &OptionFile,
    path: &Path,
    text: &[u8],
    from: &Target,
    to: &Target,
) -> Migration {
    let foreign = foreign_groups(from, to);
    let is_foreign = |group: &str| foreign.contains(&group.to_ascii_lowercase());
    let mut moved = file.clone();
    moved.rename_groups(|group| is_foreign(group).then(|| GROUP.to_owned()));
    let machine = Machine::default();
    let before = Subject::new(file, from, &machine);
    let mut after = Subject::new(&moved, to, &machine);
    after.redo_files = before.number("innodb_log_files_in_group").unwrap_or(1);

    let mut migration = Migration::default();
    migration.keep_flushing(&before, &after, path);
    let mut findings = advice(&after, rules_of_files());
    findings.sort_by_key(|advice| std::cmp::Reverse(advice.remark.level));
    for advice in &findings {
        migration.apply(advice, path, from);
    }
    migration.keep_redo_size(&before, &after, path);
    for advice in &findings {
        migration.leave_open(advice);
    }
    for (number, group) in headers(text) {
        if is_foreign(&group) {
            migration.edits.push(Edit::Line {
                line: number,
                rewrite: Rewrite::Replace(format!("[{GROUP}]")),
                reason: format!("was [{group}]"),
            });
        }
    }
    let pins = pins(&before, &after, &findings);
    migration.pin(&pins, &after, path, text);
    migration.changed_defaults = changed_defaults(&before, &after, &pins);
    migration.moves.sort_by_key(position);
    migration
}

/// Where a move belongs in the report: by line, additions behind.
fn position(one: &Move) -> u32 {
    match one {
        Move::Rewritten { at, .. } | Move::Dropped { at, .. } => at.number().unwrap_or(u32::MAX),
        Move::Open { at, .. } => at.as_ref().and_then(Origin::number).unwrap_or(u32::MAX),
        Move::Pinned { .. } => u32::MAX,
    }
}

impl Migration {
    /// Turns what the new version says of a line into an edit.
    fn apply(&mut self, advice: &Advice, path: &Path, from: &Target) {
        let remark = &advice.remark;
        let Some(at) = &remark.at else { return };
        let is_done = self.moves.iter().any(|one| match one {
            Move::Rewritten { at: done, .. } | Move::Dropped { at: done, .. } => done == at,
            Move::Open { .. } | Move::Pinned { .. } => false,
        });
        if is_done || PINNED.contains(&advice.rule.id) {
            return;
        }
        let rewrite = match (&remark.rewrite, remark.level) {
            (Some(rewrite), _) => rewrite.clone(),
            (None, Level::Refused) if NOTHING_LEFT.contains(&advice.rule.id) => Rewrite::Remove,
            (None, _) => return,
        };
        let hint = remark.fix.as_deref().unwrap_or_default();
        let why = match hint
            .strip_prefix("leave it out")
            .map(|rest| rest.trim_start_matches(": "))
        {
            Some("") => remark.what.clone(),
            None if hint.is_empty() => remark.what.clone(),
            Some(reason) => format!("{}: {reason}", remark.what),
            None => format!("{}; {hint}", remark.what),
        };
        let reason = match &rewrite {
            Rewrite::Replace(_) => format!("was {} in {from}", remark.option),
            Rewrite::Remove => why.clone(),
        };
        self.moves.push(match &rewrite {
            Rewrite::Replace(line) => Move::Rewritten {
                at: at.clone(),
                was: remark.option.clone(),
                now: line.clone(),
            },
            Rewrite::Remove => Move::Dropped {
                at: at.clone(),
                was: remark.option.clone(),
                why,
            },
        });
        if let Some(line) = at.number().filter(|_| at.path() == path) {
            self.edits.push(Edit::Line {
                line,
                rewrite,
                reason,
            });
        }
    }

    /// Leaves a value to the user that the new version refuses or changes, where no edit has settled it.
    fn leave_open(&mut self, advice: &Advice) {
        let remark = &advice.remark;
        let is_open = remark.rewrite.is_none()
            && !PINNED.contains(&advice.rule.id)
            && (remark.level == Level::Refused || advice.rule.id == "adjusted-value");
        let Some(at) = remark.at.as_ref().filter(|_| is_open) else {
            return;
        };
        let value = |line: &str| {
            line.split_once('=')
                .map(|(_, value)| value.trim().to_owned())
        };
        let is_settled = self.moves.iter().any(|one| match one {
            Move::Dropped { at: done, .. } => done == at,
            // A new name settles nothing, a new value does.
            Move::Rewritten { at: done, was, now } => done == at && value(was) != value(now),
            Move::Open { .. } | Move::Pinned { .. } => false,
        });
        if is_settled {
            return;
        }
        let what = match &remark.fix {
            _ if advice.rule.id == "named-time-zone" => {
                format!("{}; a moved data directory has its own", remark.what)
            }
            Some(fix) => format!("{}; {fix}", remark.what),
            None => remark.what.clone(),
        };
        self.moves.push(Move::Open {
            at: Some(at.clone()),
            option: remark.option.clone(),
            what,
        });
    }

    /// Value 3 is MariaDB's alone and flushes every commit, like 1; MySQL cuts it to 2, which flushes once in a second.
    fn keep_flushing(&mut self, before: &Subject<'_>, after: &Subject<'_>, path: &Path) {
        if !before.is_mariadb() || after.is_mariadb() {
            return;
        }
        let name = "innodb_flush_log_at_trx_commit";
        let Some(entry) = after.set(name).map(|line| line.entry) else {
            return;
        };
        let value = entry.value.as_deref().and_then(parse_number);
        if value.is_some_and(|value| value >= 3) {
            let how = format!("in {}, which flushes each commit, too", before.target);
            self.replace(entry, format!("{name} = 1"), &how, path);
        }
    }

    /// Puts another line in the place of an option's; `how` the option was in the old version goes into the comment.
    fn replace(&mut self, entry: &Entry, now: String, how: &str, path: &Path) {
        let at = entry.origin.clone();
        let was = option_as_written(entry);
        let reason = format!("was {was} {how}");
        if let Some(line) = at.number().filter(|_| at.path() == path) {
            self.edits.push(Edit::Line {
                line,
                rewrite: Rewrite::Replace(now.clone()),
                reason,
            });
        }
        self.moves.push(Move::Rewritten { at, was, now });
    }

    /// Where the new version has one redo log file, it gets the size of all of the old ones.
    fn keep_redo_size(&mut self, before: &Subject<'_>, after: &Subject<'_>, path: &Path) {
        let name = "innodb_log_file_size";
        let files = before.number("innodb_log_files_in_group").unwrap_or(1);
        let is_one = after.number("innodb_log_files_in_group").unwrap_or(1) == 1;
        let (Some(line), Some(each)) = (after.set(name), after.number(name)) else {
            return;
        };
        let at = line.entry.origin.clone();
        let is_done = self
            .moves
            .iter()
            .any(|one| matches!(one, Move::Rewritten { at: done, .. } | Move::Dropped { at: done, .. } if *done == at));
        if files < 2 || !is_one || is_done {
            return;
        }
        let now = format!("{name} = {}", size(each.saturating_mul(files)));
        let how = format!("in each of {files} files");
        self.replace(line.entry, now, &how, path);
    }

    /// Adds the pins behind the last line of a group that only servers read.
    fn pin(&mut self, pins: &[Pin], after: &Subject<'_>, path: &Path, text: &[u8]) {
        if pins.is_empty() {
            return;
        }
        let is_shared = |group: &str| {
            let mut shared = SHARED_GROUPS.iter();
            shared.any(|shared| shared.eq_ignore_ascii_case(group))
        };
        let own = after
            .read()
            .filter(|line| line.entry.origin.path() == path && !is_shared(&line.entry.group));
        let last = own.filter_map(|line| line.entry.origin.number()).max();
        let mut lines = vec![String::new(), "# added by dbdyno config migrate".to_owned()];
        let end = u32::try_from(text.split_inclusive(|byte| *byte == b'\n').count());
        let place = last.or(end.ok()).unwrap_or(0);
        if last.is_none() {
            lines.push(format!("[{GROUP}]"));
        }
        for pin in pins {
            lines.push(format!("{}    # {}", pin.line, pin.why));
            self.moves.push(Move::Pinned {
                line: pin.line.clone(),
                why: pin.why.clone(),
            });
        }
        self.edits.push(Edit::After { line: place, lines });
    }
}

/// The groups that the old server reads and the new one does not.
fn foreign_groups(from: &Target, to: &Target) -> Vec<String> {
    let read = to.groups();
    let all = from.groups().into_iter();
    all.filter(|group| !read.contains(group)).collect()
}

/// The group lines of a text with their numbers.
fn headers(text: &[u8]) -> Vec<(u32, String)> {
    let lines = (1..).zip(text.split(|byte| *byte == b'\n'));
    let headers =
        lines.filter_map(
            |(number, line)| match parse_line(std::str::from_utf8(line).ok()?) {
                Ok(Line::Group(group)) => Some((number, group.to_owned())),
                _ => None,
            },
        );
    headers.collect()
}

/// Defaults of options with a text that change, that the file does not set, and that are not pinned.
fn changed_defaults(
    before: &Subject<'_>,
    after: &Subject<'_>,
    pins: &[Pin],
) -> Vec<(&'static str, &'static str, &'static str)> {
    let names = crate::explanation::explained_names();
    let changed = names.filter_map(|name| {
        let (old, new) = before
            .catalogue
            .default_value(name)
            .zip(after.catalogue.default_value(name))?;
        let is_set = before.set(name).is_some() || after.set(name).is_some();
        // The collation follows the character set.
        let is_decided_by =
            |decider: &str| name == "collation_server" && decider == "character_set_server";
        let is_pinned = pins
            .iter()
            .any(|pin| pin.option == name || is_decided_by(pin.option))
            || (name == "collation_server" && after.set("character_set_server").is_some());
        (!is_same_setting(name, old, new) && !is_set && !is_pinned).then_some((name, old, new))
    });
    changed.collect()
}
