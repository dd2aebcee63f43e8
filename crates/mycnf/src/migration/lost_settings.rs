//! The settings that the new version does not have, and whose loss is the user's to decide.

use super::{Migration, Move};
use crate::catalogue::Family;
use crate::entry::Entry;
use crate::finding::option_as_written;
use crate::subject::Subject;

/// The switches of semi-synchronous replication in MariaDB, each with the name of its side in the plugins of MySQL:
/// before 8.0.26, and from it on.
const SEMI_SYNC: [(&str, &str, &str); 2] = [
    ("rpl_semi_sync_master_enabled", "master", "source"),
    ("rpl_semi_sync_slave_enabled", "slave", "replica"),
];

impl Migration {
    /// A lower isolation locks as few rows as `innodb_locks_unsafe_for_binlog`, but it is not the same: a transaction
    /// then sees the commits of others, and a statement-based binary log refuses its writes. Without either, InnoDB only
    /// locks more rows.
    pub(super) fn leave_locks_open(&mut self, before: &Subject<'_>, after: &Subject<'_>) {
        let (name, isolation) = ("innodb_locks_unsafe_for_binlog", "transaction_isolation");
        let is_low = before.is_one_of(isolation, &["READ-COMMITTED", "READ-UNCOMMITTED"]);
        let is_lost = before.is_on(name) == Some(true) && after.is_on(name).is_none() && !is_low;
        let Some(line) = before.set(name).filter(|_| is_lost) else {
            return;
        };
        let own = before.set(isolation).map_or(String::new(), |own| {
            let own = option_as_written(own.entry);
            format!("; the file itself sets {own}")
        });
        let is_by_statements =
            before.has_binary_log() && after.is_one_of("binlog_format", &["STATEMENT"]);
        let failing = if is_by_statements {
            "; with binlog_format = STATEMENT, all writes to InnoDB tables would then fail (error 1665)"
        } else {
            ""
        };
        let what = format!(
            "without it, InnoDB locks more rows; {isolation} = READ-COMMITTED locks as few, but changes what transactions read{own}{failing}"
        );
        self.leave(line.entry, what);
    }

    /// Semi-synchronous replication is part of MariaDB, and a plugin in MySQL, with options that need it.
    pub(super) fn leave_semi_sync_open(&mut self, before: &Subject<'_>, after: &Subject<'_>) {
        if !before.is_mariadb() || after.is_mariadb() {
            return;
        }
        for (name, old_side, new_side) in SEMI_SYNC {
            let is_on = before.is_on(name) == Some(true);
            let Some(line) = before.set(name).filter(|_| is_on) else {
                continue;
            };
            // The line stays with a plugin that the file loads.
            let mut plugins = after.plugins.iter();
            if plugins.any(|plugin| plugin.has(&line.entry.name)) {
                continue;
            }
            let is_new = after.target.is_at_least(Family::MySql, &[8, 0, 26]);
            let side = if is_new { new_side } else { old_side };
            // They are left out beside it.
            let own = before.read().filter(|it| {
                let base = it.entry.name.base();
                base.starts_with(&format!("rpl_semi_sync_{old_side}_")) && base != name
            });
            let more: Vec<String> = own.map(|it| option_as_written(it.entry)).collect();
            let more = if more.is_empty() {
                String::new()
            } else {
                format!(
                    "; and carry over, with rpl_semi_sync_{side}_ in their names: {}",
                    more.join(", ")
                )
            };
            let what = format!(
                "semi-synchronous replication is a plugin in MySQL: to keep it, add plugin_load_add = semisync_{side}.so and rpl_semi_sync_{side}_enabled = ON{more}"
            );
            self.leave(line.entry, what);
        }
    }

    /// Leaves a line to the user.
    fn leave(&mut self, entry: &Entry, what: String) {
        if !self.has_open(&entry.origin) {
            self.moves.push(Move::Open {
                at: Some(entry.origin.clone()),
                option: option_as_written(entry),
                what,
            });
        }
    }
}
