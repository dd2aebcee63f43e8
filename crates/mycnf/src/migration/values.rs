//! The values that mean something else in the new version, although it has the option, or that contradict a line.

use std::path::Path;

use super::Migration;
use crate::catalogue::Family;
use crate::judge::parse_number;
use crate::log_expiry::{AUTO_PURGE, expiry_option};
use crate::size::size;
use crate::subject::Subject;

/// An option, its values that the other family takes for something else, and what they mean.
type Number = (&'static str, fn(i128) -> bool, &'static str);

impl Migration {
    /// Numbers that the two families take for different ones. Value 3 of the first option is MariaDB's alone and flushes
    /// every commit, like 1; MySQL cuts it to 2, which flushes once in a second. With a server id of 0, MySQL refuses
    /// replicas.
    pub(super) fn keep_numbers(&mut self, before: &Subject<'_>, after: &Subject<'_>, path: &Path) {
        if !before.is_mariadb() || after.is_mariadb() {
            return;
        }
        let numbers: [Number; 2] = [
            (
                "innodb_flush_log_at_trx_commit",
                |value| value >= 3,
                "which also flushes each commit",
            ),
            ("server_id", |value| value == 0, "which uses 1 instead"),
        ];
        for (name, is_other, meaning) in numbers {
            let Some(entry) = after.set(name).map(|line| line.entry) else {
                continue;
            };
            let value = entry.value.as_deref().and_then(parse_number);
            if value.is_some_and(is_other) {
                let how = format!("in {}, {meaning}", before.target);
                self.replace(entry, format!("{name} = 1"), &how, path);
            }
        }
    }

    /// `super_read_only` of MySQL implies `read_only`, even beside a line that turns that off. A version without it
    /// gets the option that it has, which blocks fewer accounts.
    ///
    /// Source: MySQL Reference Manual, "super_read_only"; MariaDB documentation, "read_only" and "READ_ONLY ADMIN".
    pub(super) fn keep_read_only(
        &mut self,
        before: &Subject<'_>,
        after: &Subject<'_>,
        path: &Path,
    ) {
        let (old, name) = ("super_read_only", "read_only");
        let is_lost = before.is_on(old) == Some(true) && !after.has(old);
        let Some(line) = before.set(old).filter(|_| is_lost) else {
            return;
        };
        let how = format!("in {}, where {old} turns {name} on", before.target);
        let now = format!("{name} = ON");
        match after.set(name).map(|own| own.entry) {
            None => self.replace(line.entry, now, &how, path),
            Some(own) if after.is_on(name) == Some(false) => self.replace(own, now, &how, path),
            Some(_) => {}
        }
        let own = after.target;
        let privilege = if own.is_at_least(Family::MariaDb, &[10, 11]) {
            "READ ONLY ADMIN"
        } else if own.is_at_least(Family::MariaDb, &[10, 5]) {
            "READ ONLY ADMIN or SUPER"
        } else {
            "SUPER"
        };
        let what = format!(
            "{own} has only {name}, beside which accounts with {privilege} can write; check which accounts have this privilege"
        );
        self.leave(line.entry, what);
    }

    /// By its `old_mode`, `utf8` is utf8mb4 in MariaDB; elsewhere it is utf8mb3, which has no characters of four bytes.
    pub(super) fn keep_utf8mb4(&mut self, before: &Subject<'_>, after: &Subject<'_>, path: &Path) {
        if !before.has_utf8_as_utf8mb4() || after.has_utf8_as_utf8mb4() {
            return;
        }
        for name in ["character_set_server", "collation_server"] {
            let Some(line) = before.set(name) else {
                continue;
            };
            let value = line.value().unwrap_or_default();
            let full = before.full_name(&value);
            if !full.eq_ignore_ascii_case(&value) {
                let how = format!("in {}, where utf8 is utf8mb4", before.target);
                self.replace(line.entry, format!("{name} = {full}"), &how, path);
            }
        }
    }

    /// Where the new version has one redo log file, it gets the size of all of the old ones.
    pub(super) fn keep_redo_size(
        &mut self,
        before: &Subject<'_>,
        after: &Subject<'_>,
        path: &Path,
    ) {
        let name = "innodb_log_file_size";
        let files = before.redo_file_count();
        let is_one = after.redo_file_count() == 1;
        let (Some(line), Some(each)) = (after.set(name), after.number(name)) else {
            return;
        };
        if files < 2 || !is_one {
            return;
        }
        let now = format!("{name} = {}", size(each.saturating_mul(files)));
        let how = format!("in each of {files} files");
        self.replace(line.entry, now, &how, path);
    }

    /// Without the switch that kept all binary logs, the age in the file would remove them; 0 keeps them.
    pub(super) fn keep_all_logs(&mut self, before: &Subject<'_>, after: &Subject<'_>, path: &Path) {
        if before.is_on(AUTO_PURGE) != Some(false) || after.has(AUTO_PURGE) {
            return;
        }
        let Some(line) = before.expiry_line() else {
            return;
        };
        let name = expiry_option(after);
        let how = format!("beside {AUTO_PURGE} = OFF");
        self.replace(line.entry, format!("{name} = 0"), &how, path);
    }

    /// A file that sets both rates of background writing gets a maximum of at least the normal rate. Otherwise, servers
    /// change one of the two, or reject both.
    pub(super) fn raise_io_capacity_max(
        &mut self,
        before: &Subject<'_>,
        after: &Subject<'_>,
        path: &Path,
    ) {
        let (normal, max) = ("innodb_io_capacity", "innodb_io_capacity_max");
        let (Some(line), Some(limit)) = (after.set(max), after.number(max)) else {
            return;
        };
        let rate = after.set(normal).and_then(|_| after.number(normal));
        let Some(rate) = rate.filter(|rate| *rate > limit) else {
            return;
        };
        let how = format!("in {}, below {normal}", before.target);
        self.replace(line.entry, format!("{max} = {rate}"), &how, path);
    }

    /// A query cache that was off stays off: in MariaDB, a size above 0 enables it, and `query_cache_type` = OFF does not
    /// disable it.
    pub(super) fn keep_query_cache_off(
        &mut self,
        before: &Subject<'_>,
        after: &Subject<'_>,
        path: &Path,
    ) {
        let (switch, name) = ("query_cache_type", "query_cache_size");
        let was_off = before.is_one_of(switch, &["OFF"]);
        let is_enabled = after.decided_by_another(switch).is_some();
        let Some(line) = after.set(name).filter(|_| was_off && is_enabled) else {
            return;
        };
        let how = format!(
            "in {}, where {switch} was OFF; in {}, a size enables the cache",
            before.target, after.target
        );
        self.replace(line.entry, format!("{name} = 0"), &how, path);
    }
}
