//! The line that takes the place of one with an old name, with the value in the new option's unit.

use crate::assignment::{Assignment, is_on, value_shown};
use crate::authentication::{has_open_policy, has_plugin};
use crate::catalogue::Catalogue;
use crate::deprecation::deprecation;
use crate::finding::option_as_written;
use crate::judge::parse_number;
use crate::log_expiry::{days_of_seconds, seconds_of_days};
use crate::name::{OptionName, is_switched_on};
use crate::print::option_line;
use crate::rule::Rewrite;
use crate::size::size;
use crate::subject::Subject;
use crate::tls::switch_rewritten;
use crate::unknown::{OptionReplacement, succession};

/// The rewrite of a line whose option the version does not have or deprecates, if it is certain: the same setting under
/// the name that the version knows, or none where nothing is left to set.
pub(crate) fn renamed(subject: &Subject<'_>, line: &Assignment<'_>) -> Option<Rewrite> {
    let name = &line.entry.name;
    let small = name.as_written().to_ascii_lowercase();
    if !subject.catalogue.takes_case_of(name) && subject.has(&small) {
        let line = option_line(&small, line.entry.value.as_deref());
        return Some(Rewrite::Replace(line));
    }
    if let Some(rewrite) = switch_rewritten(subject, line) {
        return rewrite;
    }
    let (old, succession) = succession_of(subject, line)?;
    match succession {
        OptionReplacement::Gone(_) => Some(Rewrite::Remove),
        OptionReplacement::By(successor) => rewritten(subject, line, old, successor),
    }
}

/// What took the place of a line's option, with the option's name.
fn succession_of<'l>(
    subject: &Subject<'_>,
    line: &'l Assignment<'_>,
) -> Option<(&'l str, OptionReplacement)> {
    let knows = |name: &str| subject.has(name);
    let family = subject.catalogue.family();
    let names = [Some(line.entry.name.folded()), line.entry.name.switched()];
    let mut names = names.into_iter().flatten();
    names.find_map(|name| Some((name, succession(family, name, &knows)?)))
}

/// Why a line is left out although another option took the place of its own: the file sets that one already, or names
/// a plugin that the version does not have. `None` if only the value is at an end.
pub(crate) fn reason_to_leave_out(
    subject: &Subject<'_>,
    line: &Assignment<'_>,
    successor: &str,
) -> Option<String> {
    if let Some(other) = subject.set(successor) {
        let option = option_as_written(other.entry);
        return Some(format!("{option} is also set, in {}", other.entry.origin));
    }
    let plugin = line.entry.value.as_deref()?;
    let is_missing =
        line.entry.name.base() == "default_authentication_plugin" && !has_plugin(subject, plugin);
    is_missing.then(|| {
        format!("this version has no plugin {plugin}, so accounts that use it cannot log in")
    })
}

/// The same for a line whose option the version does not have.
pub(crate) fn reason_to_leave_out_unknown(
    subject: &Subject<'_>,
    line: &Assignment<'_>,
) -> Option<String> {
    match succession_of(subject, line)? {
        (_, OptionReplacement::By(successor)) => reason_to_leave_out(subject, line, successor),
        (_, OptionReplacement::Gone(_)) => None,
    }
}

/// Options of MariaDB with two names, the second one first: of a line with each name, the last one decides.
const SECOND_NAMES: [(&str, &str); 5] = [
    ("log_slow_min_examined_row_limit", "min_examined_row_limit"),
    ("log_slow_query", "slow_query_log"),
    ("log_slow_query_file", "slow_query_log_file"),
    ("log_slow_query_time", "long_query_time"),
    ("slave_parallel_threads", "slave_parallel_workers"),
];

/// The second name of an option in MariaDB.
pub(crate) fn second_name(option: &str) -> Option<&'static str> {
    let mut names = SECOND_NAMES.iter();
    names
        .find(|(_, first)| *first == option)
        .map(|(second, _)| *second)
}

/// The line of an option under another name. `old` is its name in the catalogues: `skip_log_bin` sets `log_bin`, and
/// `skip_slave_start` is an option of that name.
pub(crate) fn rewritten(
    subject: &Subject<'_>,
    line: &Assignment<'_>,
    old: &str,
    new: &str,
) -> Option<Rewrite> {
    let is_log = ["log", "log_slow_queries"].contains(&old);
    let is_in_effect = |other: &Assignment<'_>| subject.line_instead_of(other).is_none();
    if old == "default_authentication_plugin" && has_open_policy(subject) {
        return None;
    }
    if old == "super_read_only" && switch(line) == Some(true) && is_switched_off(subject, new) {
        // It turns on what the other line turns off: the file contradicts itself.
        return None;
    }
    let is_second = SECOND_NAMES.iter().any(|(second, _)| *second == old);
    if subject.set(new).is_some_and(is_in_effect) && !is_log && !is_second {
        // The new option is in the file already.
        return Some(Rewrite::Remove);
    }
    if is_better_left_out(subject, line, new) {
        return Some(Rewrite::Remove);
    }
    let off = off_value(line, old);
    let value = off.or(line.entry.value.as_deref());
    let replaced = |name: &str, value: Option<String>| {
        Some(Rewrite::Replace(option_line(name, value.as_deref())))
    };
    let number = || parse_number(value?);
    match (old, new) {
        ("expire_logs_days", "binlog_expire_logs_seconds") => {
            replaced(new, Some(seconds_of_days(value?)?.to_string()))
        }
        ("binlog_expire_logs_seconds", "expire_logs_days") => {
            replaced(new, Some(days_of_seconds(number()?).to_string()))
        }
        ("log_warnings", "log_error_verbosity") => {
            replaced(new, Some((number()?.clamp(0, 2) + 1).to_string()))
        }
        ("log_error_verbosity", "log_warnings") => {
            replaced(new, Some((number()?.clamp(1, 3) - 1).to_string()))
        }
        ("innodb_log_files_in_group", "innodb_redo_log_capacity") => Some(Rewrite::Remove),
        ("innodb_log_file_size", "innodb_redo_log_capacity") => {
            let files = subject.redo_files.or_else(|| redo_files_set(subject));
            // Two files are the default in MySQL.
            let bytes = number()?.checked_mul(files.unwrap_or(2))?;
            replaced(new, Some(size(bytes)))
        }
        ("innodb_redo_log_capacity", "innodb_log_file_size") => {
            // Two files by default in MySQL, one in MariaDB from 10.5 on.
            let files = subject.redo_file_count();
            replaced(new, Some(size(number()? / files.max(1))))
        }
        ("innodb_checksums", _) => {
            let off = matches!(switch(line), Some(false));
            replaced(new, Some(if off { "none" } else { "crc32" }.to_owned()))
        }
        ("temptable_use_mmap", _) if !switch(line)? => replaced(new, Some("0".to_owned())),
        ("temptable_use_mmap", _) => Some(Rewrite::Remove),
        // A policy with a plugin that the version does not have keeps it from starting.
        ("default_authentication_plugin", _) if !has_plugin(subject, value?) => {
            Some(Rewrite::Remove)
        }
        ("default_authentication_plugin", _) => replaced(new, Some(format!("{},,", value?))),
        ("innodb_file_io_threads", _) | ("set_variable", _) => None,
        // A switch without a value; its successor is a size.
        ("skip_host_cache", _) => {
            replaced(&with_prefix(&line.entry.name, new), Some("0".to_owned()))
        }
        ("log" | "log_slow_queries", _) => Some(switched_log(subject, line, off, new)),
        _ => replaced(
            &with_prefix(&line.entry.name, new),
            value.map(str::to_owned),
        ),
    }
}

/// Whether a line of the file turns an option off.
fn is_switched_off(subject: &Subject<'_>, option: &str) -> bool {
    subject.set(option).is_some() && subject.is_on(option) == Some(false)
}

/// Whether a line is better left out than written under the new name of its option: the version deprecates that name,
/// too, and the line sets its default.
fn is_better_left_out(subject: &Subject<'_>, line: &Assignment<'_>, new: &str) -> bool {
    let known = deprecation(subject.target, new).filter(|known| known.successor.is_none());
    let of_catalogue = |catalogue: Catalogue| catalogue.row(new);
    let option = of_catalogue(subject.catalogue)
        .or_else(|| subject.target.later_in_series().and_then(of_catalogue));
    let option = option.filter(|_| known.is_some());
    let value = option
        .and_then(|option| value_shown(option, &line.entry.name, line.entry.value.as_deref()));
    value.is_some_and(|value| subject.is_default(new, &value))
}

/// The number of redo log files by the file's own line, whether or not the version knows the option.
fn redo_files_set(subject: &Subject<'_>) -> Option<i128> {
    let mut lines = subject.read().rev();
    let line = lines.find(|line| line.entry.name.base() == "innodb_log_files_in_group")?;
    parse_number(line.entry.value.as_deref()?)
}

/// The lines in the place of an old log's, which was its switch and its file in one: `log-slow-queries = /var/log/slow.log`.
/// `off` is the value of a name that switches it off, and `switch` the new option. Settings that the file has already are
/// not repeated.
fn switched_log(
    subject: &Subject<'_>,
    line: &Assignment<'_>,
    off: Option<&str>,
    switch: &str,
) -> Rewrite {
    let value = line.entry.value.as_deref();
    // People write a switch, although the old option took it for the name of a file.
    let word = is_switched_on(&OptionName::new(switch), value);
    let is_on = off.map_or(word.unwrap_or(true), |off| off == "1");
    let file = format!("{switch}_file");
    let mut lines = Vec::new();
    if subject.set(switch).is_none() {
        lines.push(format!("{switch} = {}", u8::from(is_on)));
    }
    if let Some(path) = value.filter(|path| off.is_none() && word.is_none() && !path.is_empty())
        && subject.set(&file).is_none()
    {
        lines.push(option_line(&file, Some(path)));
    }
    if lines.is_empty() {
        return Rewrite::Remove;
    }
    Rewrite::Replace(lines.join("\n"))
}

/// The value that a line gives to the option `old` by `skip-` or `disable-` before its name; `None` without these.
///
/// Source: MySQL Reference Manual, "Program Option Modifiers"; after such a name the servers' parser takes `=0` alone
/// for a double negation.
fn off_value(line: &Assignment<'_>, old: &str) -> Option<&'static str> {
    let name = &line.entry.name;
    let value = match line.entry.value.as_deref() {
        Some("0") => "1",
        _ => "0",
    };
    (name.switches_off() && name.folded() != old).then_some(value)
}

/// Whether a switch is on by its line.
fn switch(line: &Assignment<'_>) -> Option<bool> {
    let shown = line.entry.value.as_deref().unwrap_or("ON");
    let known = is_on(shown)
        || ["0", "OFF", "FALSE"]
            .iter()
            .any(|off| shown.eq_ignore_ascii_case(off));
    known.then(|| is_on(shown) != line.entry.name.switches_off())
}

/// The new name with the `loose-` of the old one.
pub(crate) fn with_prefix(old: &OptionName, new: &str) -> String {
    if old.is_loose() {
        format!("loose_{new}")
    } else {
        new.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, OptionFile, Target};
    use std::path::Path;

    #[test]
    fn values_are_carried_over_in_the_new_unit() {
        for (target, lines, expected) in [
            (
                "mysql-8.0.33",
                "log_slave_updates = ON",
                Some("log_replica_updates = ON"),
            ),
            (
                "mysql-9.7",
                "expire_logs_days=14",
                Some("binlog_expire_logs_seconds = 1209600"),
            ),
            (
                "mysql-5.6",
                "binlog_expire_logs_seconds=86401",
                Some("expire_logs_days = 2"),
            ),
            (
                "mysql-8.0.33",
                "log_warnings=2",
                Some("log_error_verbosity = 3"),
            ),
            (
                "mysql-9.7",
                "innodb_log_file_size=128M",
                Some("innodb_redo_log_capacity = 256M"),
            ),
            (
                "mysql-9.7",
                "innodb_log_file_size=1G\ninnodb_log_files_in_group=4",
                Some("innodb_redo_log_capacity = 4G"),
            ),
            (
                "mariadb-10.11",
                "innodb_redo_log_capacity=1G",
                Some("innodb_log_file_size = 1G"),
            ),
            (
                "mysql-5.6",
                "innodb_redo_log_capacity=1G",
                Some("innodb_log_file_size = 512M"),
            ),
            ("mariadb-10.11", "super_read_only", Some("read_only")),
            ("mariadb-10.11", "super_read_only=1\nread_only=1", Some("")),
            ("mariadb-10.11", "super_read_only=1\nread_only=0", None),
            ("mariadb-10.11", "init_replica=x", Some("init_slave = x")),
            ("mysql-8.0.33", "query_cache_size=64M", Some("")),
            (
                "mysql-8.0.33",
                "loose-tx_isolation=READ-COMMITTED",
                Some("loose_transaction_isolation = READ-COMMITTED"),
            ),
            ("mysql-9.7", "innodb_locks_unsafe_for_binlog=1", Some("")),
            (
                "mysql-8.0.33",
                "log_slow_query_time=2",
                Some("long_query_time = 2"),
            ),
            ("mysql-8.0.12", "log_slow_query", Some("slow_query_log")),
            (
                "mysql-8.0.33",
                "log_slow_query=1\nslow_query_log=0",
                Some("slow_query_log = 1"),
            ),
            (
                "mysql-8.0.33",
                "slave_parallel_threads=8",
                Some("replica_parallel_workers = 8"),
            ),
            (
                "mysql-8.0.12",
                "slave_parallel_threads=8",
                Some("slave_parallel_workers = 8"),
            ),
            (
                "mariadb-10.11",
                "kill_idle_transaction=60",
                Some("idle_transaction_timeout = 60"),
            ),
            (
                "percona-8.0",
                "idle_transaction_timeout=60",
                Some("kill_idle_transaction = 60"),
            ),
            ("mysql-8.0.33", "idle_transaction_timeout=60", None),
            (
                "mysql-8.0.33",
                "slave_parallel_type=LOGICAL_CLOCK",
                Some(""),
            ),
            (
                "mysql-8.0.33",
                "slave_parallel_type=DATABASE",
                Some("replica_parallel_type = DATABASE"),
            ),
            (
                "mysql-8.0.33",
                "skip-log-slave-updates",
                Some("log_replica_updates = 0"),
            ),
            (
                "mysql-8.0.33",
                "skip_log_slave_updates = 0",
                Some("log_replica_updates = 1"),
            ),
            (
                "mysql-8.0.33",
                "disable-master-verify-checksum",
                Some("source_verify_checksum = 0"),
            ),
            (
                "mysql-8.0.33",
                "enable-log-slave-updates",
                Some("log_replica_updates"),
            ),
            (
                "mysql-8.0.33",
                "skip-slave-start",
                Some("skip_replica_start"),
            ),
            (
                "mariadb-10.11",
                "loose-skip-log-replica-updates",
                Some("loose_log_slave_updates = 0"),
            ),
            ("mysql-9.7", "skip-host-cache", Some("host_cache_size = 0")),
            ("mysql-5.5", "host_cache_size = 100", None),
            (
                "mysql-9.7",
                "skip-innodb-checksums",
                Some("innodb_checksum_algorithm = none"),
            ),
            (
                "mysql-8.0.33",
                "skip-log-warnings",
                Some("log_error_verbosity = 1"),
            ),
            ("mysql-9.7", "skip-log", Some("general_log = 0")),
            ("mysql-9.7", "log", Some("general_log = 1")),
            (
                "mysql-9.7",
                "log = /var/log/all.log",
                Some("general_log = 1\ngeneral_log_file = /var/log/all.log"),
            ),
            (
                "mysql-8.0.33",
                "log-slow-queries = /var/log/slow.log",
                Some("slow_query_log = 1\nslow_query_log_file = /var/log/slow.log"),
            ),
            (
                "mariadb-10.11",
                "log_slow_queries = ON",
                Some("slow_query_log = 1"),
            ),
            (
                "mysql-8.0.33",
                "log_slow_queries = /var/log/slow.log\nslow_query_log = 1",
                Some("slow_query_log_file = /var/log/slow.log"),
            ),
            (
                "mysql-8.0.33",
                "log_slow_queries\nslow_query_log = 0",
                Some(""),
            ),
            // TLS that is off stays off.
            ("mysql-8.0.36", "ssl=0", Some("tls_version = \"\"")),
            ("mysql-8.4", "skip-ssl", Some("tls_version = \"\"")),
            ("mysql-9.7", "ssl=OFF\ntls_version=TLSv1.2", None),
            ("mysql-8.4", "ssl", Some("")),
            ("mysql-9.7", "no_such_option=1", None),
            // MySQL takes names in small letters only.
            (
                "mysql-8.0.33",
                "Max_Connections=300",
                Some("max_connections = 300"),
            ),
            ("mysql-8.0.33", "Skip-Log-Bin", Some("skip-log-bin")),
            ("mysql-8.0.33", "Query_Cache_Size=64M", Some("")),
            (
                "mysql-9.7",
                "default_authentication_plugin = caching_sha2_password",
                Some("authentication_policy = caching_sha2_password,,"),
            ),
            (
                "mysql-9.7",
                "default_authentication_plugin = mysql_native_password",
                Some(""),
            ),
        ] {
            let file =
                OptionFile::parse(&format!("[mysqld]\n{lines}\n"), Path::new("my.cnf")).unwrap();
            let (target, machine) = (Target::parse(target).unwrap(), Machine::default());
            let subject = Subject::new(&file, &target, &machine);
            let rewrite = renamed(&subject, &subject.assignments[0]);
            let rewrite = rewrite.as_ref().map(|rewrite| match rewrite {
                Rewrite::Remove => "",
                Rewrite::Replace(line) => line.as_str(),
            });
            assert_eq!(rewrite, expected, "{target}: {lines}");
        }
    }
}
