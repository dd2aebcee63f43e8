//! The rewriting of an option file for another version or family.

mod abbreviations;
mod changed_defaults;
mod foreign_plugins;
mod fractional_seconds;
mod lost_settings;
mod native_passwords;
mod overridden_lines;
mod place;
mod rewritten_lines;
mod values;

use std::collections::BTreeSet;
use std::path::Path;

use crate::entry::{Entry, Origin};
use crate::explanation::explanation;
use crate::file::OptionFile;
use crate::fix::Fix;
use crate::instances::SERVER_GROUP;
use crate::lint::{advice, advice_for_all};
use crate::machine::Machine;
use crate::name::OptionName;
use crate::pinned_defaults::{Pin, pins as pins_of};
use crate::rewrite::Edit;
use crate::rule::{Advice, Level, Rewrite, Rule};
use crate::rules::{
    OLD_PASSWORDS, STATEMENT_BINLOG, TIME_ZONE, TLS_UNAVAILABLE, UNKNOWN_OPTION, WRONG_VALUE,
    rules_of_files,
};
use crate::subject::Subject;
use crate::target::Target;
use crate::time_zone::TimeZone;
use crate::unknown::is_known_anywhere;
use abbreviations::Abbreviations;
use changed_defaults::changed_defaults;
use place::{Place, headers, place_of_pins};

/// Rules after whose refusal nothing is left to set. Any other value that is refused is the user's to decide.
const NOTHING_LEFT: [&Rule; 2] = [UNKNOWN_OPTION, OLD_PASSWORDS];

/// Rules whose risks are the user's to decide: they depend on the tables or the clients of the server, which no file
/// shows, or on two lines that contradict each other.
const RISKS_TO_DECIDE: [&Rule; 3] = [STATEMENT_BINLOG, TIME_ZONE, TLS_UNAVAILABLE];

/// What happens to one option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    /// Another line takes its place.
    Rewritten {
        at: Origin,
        /// The option as written.
        was: String,
        /// The new line.
        now: String,
    },
    /// It is left out.
    Dropped {
        at: Origin,
        /// The option as written.
        was: String,
        why: String,
    },
    /// A line is added that keeps what the old version did.
    Pinned { line: String, why: String },
    /// It needs the user's decision, and stays, or is left out because the new version refuses it.
    Open {
        /// The line; `None` if it is about an option that the file does not set.
        at: Option<Origin>,
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
    /// Differences of the versions that no option of the file decides.
    pub notes: Vec<String>,
    /// The lines that are judged with their names in full, as the user wrote them.
    written: Vec<(Origin, String)>,
}

/// Rewrites a file of `from` for `to`. `text` is the content of `path`; lines of included files are reported, not edited.
/// `taken` are lines that a server of the new version takes as they are, whatever its catalogue says of their names.
pub fn migrate(
    file: &OptionFile,
    path: &Path,
    text: &[u8],
    from: &Target,
    to: &Target,
    taken: &[Origin],
) -> Migration {
    let foreign = foreign_groups(from, to);
    let is_foreign = |group: &str| foreign.contains(&group.to_ascii_lowercase());
    let servers = file.per_server();
    let machine = Machine::default();
    let before = servers
        .iter()
        .map(|server| Subject::new(&server.file, from, &machine));
    let before: Vec<Subject<'_>> = before.collect();
    let abbreviations = Abbreviations::of(&before, &to.catalogue());
    let mut migration = Migration {
        written: abbreviations.as_written(),
        ..Migration::default()
    };
    migration.drop_overridden(&before, path);
    let moved = servers.iter().map(|server| {
        let mut moved = abbreviations.in_full(&migration.rewritten(&server.file));
        moved.rename_groups(|group| is_foreign(group).then(|| SERVER_GROUP.to_owned()));
        moved
    });
    let moved: Vec<OptionFile> = moved.collect();
    let after = moved.iter().zip(&servers).zip(&before);
    let after = after.map(|((moved, server), before)| {
        let mut after = Subject::new(moved, to, &machine);
        after.redo_files = Some(before.redo_file_count());
        (server.instance.as_deref(), after)
    });
    let after: Vec<_> = after.collect();
    let both = || before.iter().zip(after.iter().map(|(_, after)| after));

    for (before, after) in both() {
        migration.keep_numbers(before, after, path);
        migration.keep_read_only(before, after, path);
        migration.keep_utf8mb4(before, after, path);
        migration.keep_all_logs(before, after, path);
        migration.keep_query_cache_off(before, after, path);
        migration.raise_io_capacity_max(before, after, path);
    }
    let mut findings = advice_for_all(&after);
    migration.name_as_written(&mut findings);
    findings.retain(|advice| {
        let at = advice.remark.at.as_ref();
        // One with `loose-`, which is only noted, may have been passed over.
        !(advice.refuses_name() && at.is_some_and(|at| taken.contains(at)))
    });
    findings.sort_by_key(|advice| std::cmp::Reverse(advice.remark.level));
    for advice in &findings {
        let is_known = before.iter().any(|before| is_known(before, advice));
        migration.apply(advice, path, from, is_known);
    }
    for (before, after) in both() {
        migration.keep_redo_size(before, after, path);
        migration.leave_locks_open(before, after);
        migration.leave_semi_sync_open(before, after, path);
        migration.leave_out_foreign_plugins(before, after, path);
        migration.leave_lost_open(before, after);
        migration.leave_modes_open(before, after);
        migration.leave_small_stack_open(before, after);
        migration.leave_lazy_commits_open(before, after);
        migration.leave_native_passwords_open(before, after);
        migration.leave_old_hashes_open(before, after);
    }
    let notes = both().filter_map(|(before, after)| fractional_seconds::note(before, after));
    let notes: BTreeSet<String> = notes.collect();
    migration.notes.extend(notes);
    for (_, after) in &after {
        migration.write_in_full(&abbreviations, from, after, path);
    }
    for advice in &findings {
        migration.leave_open(advice, to);
    }
    for moved in &moved {
        migration.judge_rewritten(moved, to, path);
    }
    for (before, after) in both() {
        migration.leave_plugins_open(before, after, path);
    }
    migration.mark_open(path, text);
    for (number, group) in headers(text) {
        if is_foreign(&group) {
            migration.edits.push(Edit::Line {
                line: number,
                rewrite: Rewrite::Replace(format!("[{SERVER_GROUP}]")),
                reason: format!("was [{group}]"),
            });
        }
    }
    // Pins keep what the old version did by default, and never change what the rewritten lines set.
    let rewritten = moved.iter().map(|moved| migration.rewritten(moved));
    let rewritten: Vec<OptionFile> = rewritten.collect();
    let mut pins: Vec<Pin> = Vec::new();
    let mut changed = BTreeSet::new();
    for (before, new) in before.iter().zip(&rewritten) {
        let new = Subject::new(new, to, &machine);
        let own = pins_of(before, &new, &advice(&new, rules_of_files()));
        changed.extend(changed_defaults(before, &new, &own));
        let is_new = |pin: &Pin| !pins.iter().any(|one| one.option == pin.option);
        let own: Vec<Pin> = own.into_iter().filter(is_new).collect();
        pins.extend(own);
    }
    let is_read =
        |group: &str| is_foreign(group) || to.groups().contains(&group.to_ascii_lowercase());
    let place = place_of_pins(file, path, text, &is_read);
    migration.pin(&pins, place);
    migration.changed_defaults = changed.into_iter().collect();
    // Those with an explanation are the important ones.
    let explained = |(name, ..): &(&str, &str, &str)| explanation(name).is_none();
    migration.changed_defaults.sort_by_key(explained);
    migration.moves.sort_by_key(position);
    migration
}

/// Whether a catalogue has the option that a finding is about: what none has is none of a version's, but of a plugin or
/// of a server by another maker.
fn is_known(before: &Subject<'_>, advice: &Advice) -> bool {
    let option = advice.remark.option.as_str();
    let name = OptionName::new(option.split('=').next().unwrap_or_default());
    before.has(name.as_written()) || is_known_anywhere(&name)
}

/// Whether a finding is settled by a pin, and not by another line: a pin can add an option, and change none.
fn is_left_to_pins(advice: &Advice) -> bool {
    matches!(advice.remark.fix, Some(Fix::Add(_))) && advice.remark.rewrite.is_none()
}

/// Whether the zone of `default_time_zone=Asia/Tokyo` is a name, and no offset.
fn is_named_zone(option: &str) -> bool {
    let zone = option.split_once('=').map(|(_, zone)| TimeZone::of(zone));
    matches!(zone, Some(TimeZone::Named(_)))
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
    /// Whether a line has been rewritten or left out.
    fn has_settled(&self, at: &Origin) -> bool {
        self.moves.iter().any(|one| match one {
            Move::Rewritten { at: done, .. } | Move::Dropped { at: done, .. } => done == at,
            Move::Open { .. } | Move::Pinned { .. } => false,
        })
    }

    /// Whether a line is left to the user already.
    fn has_open(&self, line: &Origin) -> bool {
        let mut moves = self.moves.iter();
        moves.any(|one| matches!(one, Move::Open { at: Some(at), .. } if at == line))
    }

    /// Turns what the new version says of a line into an edit.
    fn apply(&mut self, advice: &Advice, path: &Path, from: &Target, is_known: bool) {
        let remark = &advice.remark;
        let Some(at) = &remark.at else { return };
        if self.has_settled(at) || is_left_to_pins(advice) {
            return;
        }
        let rewrite = match (&remark.rewrite, remark.level) {
            (Some(rewrite), _) => rewrite.clone(),
            (None, Level::Refused) if advice.rule.is_one_of(&NOTHING_LEFT) && is_known => {
                Rewrite::Remove
            }
            (None, _) => return,
        };
        let why = match (&remark.fix, remark.successor) {
            (Some(Fix::LeaveOut(None)), _) => remark.what.clone(),
            (Some(Fix::LeaveOut(Some(reason))), _) => format!("{}: {reason}", remark.what),
            // The new option is in the file, or comes into it with another line.
            (_, Some(new)) => format!("{}; {new} replaces it", remark.what),
            (None, None) => remark.what.clone(),
            (Some(fix), None) => format!("{}; {fix}", remark.what),
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
    fn leave_open(&mut self, advice: &Advice, to: &Target) {
        let remark = &advice.remark;
        // A catalogue that is only near does not refuse what it does not know.
        let is_unjudged = (!to.is_covered() || to.later_in_series().is_some())
            && advice.rule.is_one_of(&[UNKNOWN_OPTION, WRONG_VALUE])
            && remark.is_judged
            && !remark.option.to_ascii_lowercase().starts_with("loose");
        let is_open = remark.rewrite.is_none()
            && !is_left_to_pins(advice)
            && (remark.level == Level::Refused
                || advice.changes_value()
                || is_unjudged
                || (remark.level == Level::Risk && advice.rule.is_one_of(&RISKS_TO_DECIDE)));
        let Some(at) = remark.at.as_ref().filter(|_| is_open) else {
            return;
        };
        let value = |line: &str| {
            line.split_once('=')
                .map(|(_, value)| value.trim().to_owned())
        };
        let is_settled = self.moves.iter().any(|one| match one {
            Move::Dropped { at: done, .. } => done == at,
            // A new name settles only that the old one is unknown; a new value settles all.
            Move::Rewritten { at: done, was, now } => {
                done == at && (advice.rule.is(UNKNOWN_OPTION) || value(was) != value(now))
            }
            Move::Open { .. } | Move::Pinned { .. } => false,
        });
        if is_settled {
            return;
        }
        let what = match &remark.fix {
            _ if advice.rule.is(TIME_ZONE) && is_named_zone(&remark.option) => {
                format!(
                    "{}; a moved data directory keeps the contents of its tables",
                    remark.what
                )
            }
            None if is_unjudged => format!("{}: kept", remark.what),
            None if advice.rule.is(UNKNOWN_OPTION) => {
                format!("{}, and not in any catalogue: kept", remark.what)
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

    /// Puts another line in the place of an option's, unless it has one already; `how` the option was in the old version goes into the comment.
    fn replace(&mut self, entry: &Entry, now: String, how: &str, path: &Path) {
        let at = entry.origin.clone();
        if self.has_settled(&at) {
            return;
        }
        let was = self.as_written(entry);
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

    /// Writes above each line that is left to the user what there is to decide, unless it says so already.
    fn mark_open(&mut self, path: &Path, text: &[u8]) {
        let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        let mut marks: Vec<(u32, String)> = Vec::new();
        for one in &self.moves {
            if let Move::Open {
                at: Some(at), what, ..
            } = one
                && at.path() == path
                && let Some(above) = at.number().and_then(|number| number.checked_sub(1))
            {
                marks.push((above, format!("# to decide: {what}")));
            }
        }
        for (above, mark) in marks {
            let known = (above as usize).checked_sub(1).and_then(|at| lines.get(at));
            if known.is_none_or(|line| line.trim_ascii() != mark.as_bytes()) {
                self.edits.push(Edit::After {
                    line: above,
                    lines: vec![mark],
                });
            }
        }
    }

    /// A file with the lines as they are rewritten, and without those that are left out.
    fn rewritten(&self, file: &OptionFile) -> OptionFile {
        file.map_entries(|entry| {
            let mut moves = self.moves.iter();
            moves
                .find_map(|one| match one {
                    Move::Rewritten { at, now, .. } if *at == entry.origin => {
                        Some(entry.with_lines(now))
                    }
                    Move::Dropped { at, .. } if *at == entry.origin => Some(Vec::new()),
                    _ => None,
                })
                .unwrap_or_else(|| vec![entry.clone()])
        })
    }

    fn pin(&mut self, pins: &[Pin], place: Place) {
        if pins.is_empty() {
            return;
        }
        let mut lines = vec![String::new(), "# added by dbdyno config migrate".to_owned()];
        if place.is_without_group {
            lines.push(format!("[{SERVER_GROUP}]"));
        }
        for pin in pins {
            lines.push(format!("{}    # {}", pin.line, pin.why));
            self.moves.push(Move::Pinned {
                line: pin.line.clone(),
                why: pin.why.clone(),
            });
        }
        let line = place.line;
        self.edits.push(Edit::After { line, lines });
    }
}

/// The groups that the old server reads and the new one does not.
fn foreign_groups(from: &Target, to: &Target) -> Vec<String> {
    let read = to.groups();
    let all = from.groups().into_iter();
    all.filter(|group| !read.contains(group)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_that_replaces_a_line_is_the_reason_to_leave_it_out() {
        let text = "[mysqld]\ninnodb_log_files_in_group=2\n";
        let path = Path::new("my.cnf");
        let file = OptionFile::parse(text, path).unwrap();
        let [from, to] = ["mysql-5.6", "mysql-9.7"].map(|one| Target::parse(one).unwrap());
        let moves = migrate(&file, path, text.as_bytes(), &from, &to, &[]).moves;
        let end = "innodb_redo_log_capacity replaces it";
        let is_said = |one: &Move| matches!(one, Move::Dropped { why, .. } if why.ends_with(end));
        assert!(moves.iter().any(is_said), "{moves:#?}");
    }
}
