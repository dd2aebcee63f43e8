//! The lines that keep an old version's behaviour where a default changed: only those that change results, or what is
//! durable, or that contradict a line of the file.

use crate::assignment::{Assignment, is_same_setting};
use crate::catalogue::Family;
use crate::log_expiry::{AUTO_PURGE, DAYS, SECONDS, days_of_seconds, expiry_option};
use crate::rule::{Advice, Level, Rule};
use crate::rules::binary_log_identity::needs_server_id;
use crate::rules::{BINARY_LOG_IDENTITY, COLLATION};
use crate::size::size;
use crate::subject::Subject;
use crate::target::Target;

/// A line to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pin {
    pub(crate) option: &'static str,
    pub(crate) line: String,
    pub(crate) why: String,
}

/// Options whose default decides what statements do; the value for versions that do not have the option.
const BEHAVIOUR: [(&str, &str); 11] = [
    ("character_set_server", "latin1"),
    ("enforce_gtid_consistency", "OFF"),
    ("event_scheduler", "OFF"),
    ("explicit_defaults_for_timestamp", "OFF"),
    ("gtid_mode", "OFF"),
    // ON refuses to change a row that another transaction has changed since the first read (error 1020).
    ("innodb_snapshot_isolation", "OFF"),
    ("innodb_strict_mode", "OFF"),
    ("lower_case_table_names", "0"),
    // ON refuses a foreign key on columns without a unique key, as statements and dumps for older versions create it.
    ("restrict_fk_on_non_standard_key", "OFF"),
    ("sql_mode", ""),
    ("transaction_isolation", "REPEATABLE-READ"),
];

/// Limits on statements and results, which are kept if the default shrinks.
const LIMITS: [&str; 2] = ["group_concat_max_len", "max_allowed_packet"];

/// Words of sql_mode that MySQL 8.0 does not have, or MySQL at all.
const MODES_NOT_IN_MYSQL_8: [&str; 3] = [
    "NO_AUTO_CREATE_USER",
    "IGNORE_BAD_TABLE_OPTIONS",
    "EMPTY_STRING_IS_NULL",
];

/// The pins for a file that moves from one version to another; `findings` are those of the new version.
pub(crate) fn pins(before: &Subject<'_>, after: &Subject<'_>, findings: &[Advice]) -> Vec<Pin> {
    let mut pins = Vec::new();
    for (option, absent) in BEHAVIOUR {
        pins.extend(behaviour(before, after, option, absent));
    }
    pins.extend(native_passwords(before, after));
    pins.extend(collation(before, after, findings));
    pins.extend(collations_of_sets(before, after));
    pins.extend(binary_log(before, after));
    pins.extend(auto_increment(before, after));
    pins.extend(
        LIMITS
            .iter()
            .filter_map(|option| limit(before, after, option)),
    );
    pins.extend(io_capacity(before, after));
    pins.extend(server_id(before, after, findings));
    pins.extend(wait_point(before, after));
    pins
}

fn is_refused(findings: &[Advice], rule: &Rule) -> bool {
    let mut findings = findings.iter();
    findings.any(|advice| advice.rule.is(rule) && advice.remark.level == Level::Refused)
}

/// The line `option = old default`, with the reason.
fn old_default(
    after: &Subject<'_>,
    before: &Target,
    option: &'static str,
    old: &str,
    new: &str,
) -> Pin {
    let value = if old.is_empty() { "\"\"" } else { old };
    let new = if new.is_empty() { "none" } else { new };
    Pin {
        option,
        line: format!("{option} = {value}"),
        why: format!("as in {before}; the default of {} is {new}", after.target),
    }
}

fn is_set(before: &Subject<'_>, after: &Subject<'_>, option: &str) -> bool {
    before.set(option).is_some() || after.set(option).is_some()
}

fn behaviour(
    before: &Subject<'_>,
    after: &Subject<'_>,
    option: &'static str,
    absent: &'static str,
) -> Option<Pin> {
    if is_set(before, after, option) || !after.has(option) {
        return None;
    }
    let default = |subject: &Subject<'_>| subject.catalogue.default_value(option).unwrap_or(absent);
    let (mut old, new) = (default(before).to_owned(), default(after));
    if option == "sql_mode" && after.target.family() == Family::MySql {
        let is_8 = after.target.is_at_least(Family::MySql, &[8]);
        let words = old.split(',').filter(|word| {
            !MODES_NOT_IN_MYSQL_8.contains(word) || (*word == "NO_AUTO_CREATE_USER" && !is_8)
        });
        old = words.collect::<Vec<_>>().join(",");
    }
    if is_same_setting(option, &old, new) {
        return None;
    }
    Some(old_default(after, before.target, option, &old, new))
}

/// Accounts that log in with mysql_native_password still can. MySQL 8.4 has the plugin, but not by default; 9.0 removed
/// it.
fn native_passwords(before: &Subject<'_>, after: &Subject<'_>) -> Option<Pin> {
    let option = "mysql_native_password";
    let (old, new) = (before.target, after.target);
    let is_disabled = after.catalogue.default_value(option) == Some("OFF");
    let had_plugin = old.family() == Family::MySql && !old.is_at_least(Family::MySql, &[8, 4]);
    (is_disabled && had_plugin && after.set(option).is_none()).then(|| Pin {
        option,
        line: format!("{option} = ON"),
        why: format!(
            "accounts with this plugin can log in as in {old}; {new} disables it by default"
        ),
    })
}

/// The default collation of a character set whose default differs between versions; `None` for all others.
fn default_collation(target: &Target, set: &str) -> Option<&'static str> {
    if !set.eq_ignore_ascii_case("utf8mb4") {
        return None;
    }
    let is_uca1400 = target.is_at_least(Family::MariaDb, &[11, 6]);
    Some(if target.is_at_least(Family::MySql, &[8]) {
        "utf8mb4_0900_ai_ci"
    } else if is_uca1400 {
        "utf8mb4_uca1400_ai_ci"
    } else {
        "utf8mb4_general_ci"
    })
}

/// Tables made later keep the order of strings that those of before have.
fn collation(before: &Subject<'_>, after: &Subject<'_>, findings: &[Advice]) -> Option<Pin> {
    let option = "collation_server";
    if let Some(line) = after.set(option) {
        // The old version had the character set by default.
        if !is_refused(findings, COLLATION) {
            return None;
        }
        // A character set of the file is its author's to change.
        if after.set("character_set_server").is_some() {
            return None;
        }
        let value = line.value()?;
        let set = value.split('_').next()?.to_owned();
        return Some(Pin {
            option: "character_set_server",
            line: format!("character_set_server = {set}"),
            why: format!(
                "the character set of {value}, the default of {}",
                before.target
            ),
        });
    }
    let set = after
        .set("character_set_server")
        .and_then(Assignment::value);
    let set = set.or_else(|| before.value("character_set_server"))?;
    let (old, new) = (
        default_collation(before.target, &set)?,
        default_collation(after.target, &set)?,
    );
    let is_known = old == "utf8mb4_general_ci";
    (old != new && is_known).then(|| old_default(after, before.target, option, old, new))
}

/// A character set without a collation still has its old one, in statements and for connections.
fn collations_of_sets(before: &Subject<'_>, after: &Subject<'_>) -> Option<Pin> {
    let option = "character_set_collations";
    let default = |subject: &Subject<'_>| subject.catalogue.default_value(option).unwrap_or("");
    let is_changed = default(before).is_empty() && !default(after).is_empty();
    // MySQL 8.0 has collations that no version of MariaDB has by default.
    let collation = default_collation(before.target, "utf8mb4")?;
    let is_kept = is_changed && collation == "utf8mb4_general_ci";
    (is_kept && !is_set(before, after, option)).then(|| Pin {
        option,
        line: format!("{option} = \"\""),
        why: format!(
            "as in {}; in {}, the default collation of utf8mb4 is not {collation}, whatever collation_server is",
            before.target, after.target
        ),
    })
}

/// A binary log that was off stays off, and one that was on stays on, with its format, and flushed if it was.
fn binary_log(before: &Subject<'_>, after: &Subject<'_>) -> Vec<Pin> {
    if !before.has_binary_log() {
        let why = format!(
            "as in {}; {} has a binary log by default",
            before.target, after.target
        );
        return Vec::from_iter(after.has_binary_log().then(|| Pin {
            option: "log_bin",
            line: "skip_log_bin".to_owned(),
            why,
        }));
    }
    // The files keep the name that MySQL gives them by default.
    let lost = loses_binary_log(before, after).then(|| Pin {
        option: "log_bin",
        line: "log_bin = binlog".to_owned(),
        why: format!(
            "as in {}; {} has no binary log by default",
            before.target, after.target
        ),
    });
    let flushed = |subject: &Subject<'_>| subject.number("sync_binlog") == Some(1);
    let is_unflushed = flushed(before) && !flushed(after) && !is_set(before, after, "sync_binlog");
    let unflushed = is_unflushed.then(|| Pin {
        option: "sync_binlog",
        line: "sync_binlog = 1".to_owned(),
        why: format!(
            "as in {}; {} does not flush the binary log by default",
            before.target, after.target
        ),
    });
    let format = before
        .value("binlog_format")
        .zip(after.value("binlog_format"));
    let format = format
        // From rows to less is a loss; from less to rows is what every version recommends.
        .filter(|(old, new)| old == "ROW" && new != "ROW")
        .filter(|_| !is_set(before, after, "binlog_format"))
        .map(|(old, new)| old_default(after, before.target, "binlog_format", &old, &new));
    let pins = [
        lost,
        replicated(before, after),
        unflushed,
        format,
        expiry(before, after),
    ];
    pins.into_iter().flatten().collect()
}

/// A replica still writes what it replicates to its own binary log, for the replicas below it and for backups.
fn replicated(before: &Subject<'_>, after: &Subject<'_>) -> Option<Pin> {
    let (option, new_name) = ("log_slave_updates", "log_replica_updates");
    let is_set = is_set(before, after, option) || before.set(new_name).is_some();
    let is_lost = before.is_on(option) == Some(true) && after.is_on(option) == Some(false);
    (is_lost && !is_set).then(|| old_default(after, before.target, option, "ON", "OFF"))
}

/// Binary logs are kept as long as before: without them, there is no point-in-time recovery.
fn expiry(before: &Subject<'_>, after: &Subject<'_>) -> Option<Pin> {
    let is_set = |name: &&str| after.set(name).is_some();
    if [DAYS, SECONDS, AUTO_PURGE].iter().any(is_set) {
        return None;
    }
    let (old_s, new_s) = before.log_expiry_s().zip(after.log_expiry_s())?;
    let option = expiry_option(after);
    let in_unit = |seconds: i128| match option {
        DAYS => days_of_seconds(seconds).to_string(),
        _ => seconds.to_string(),
    };
    let (old, new) = (in_unit(old_s), in_unit(new_s));
    (old != new).then(|| old_default(after, before.target, option, &old, &new))
}

/// Whether the new version has no binary log by default, and the old one had.
fn loses_binary_log(before: &Subject<'_>, after: &Subject<'_>) -> bool {
    before.has_binary_log() && !after.has_binary_log() && !is_set(before, after, "log_bin")
}

/// The id without which MySQL 5.7 does not start with a binary log, be it set in the file or by a pin.
fn server_id(before: &Subject<'_>, after: &Subject<'_>, findings: &[Advice]) -> Option<Pin> {
    let is_needed = is_refused(findings, BINARY_LOG_IDENTITY)
        || (loses_binary_log(before, after)
            && needs_server_id(after)
            && after.set("server_id").is_none());
    is_needed.then(|| Pin {
        option: "server_id",
        line: "server_id = 1".to_owned(),
        why: format!(
            "with a binary log, {} does not start without server_id; use a unique number",
            after.target
        ),
    })
}

/// No transaction is visible to others before a replica has it. MySQL has this option since 5.7; its default, AFTER_SYNC,
/// is in no catalogue, because the option is a plugin's.
fn wait_point(before: &Subject<'_>, after: &Subject<'_>) -> Option<Pin> {
    let (option, old) = ("rpl_semi_sync_master_wait_point", "AFTER_SYNC");
    let is_moved = before.target.is_at_least(Family::MySql, &[5, 7]) && after.is_mariadb();
    let is_on = after.is_on("rpl_semi_sync_master_enabled") == Some(true);
    let new = after.value(option).filter(|_| is_moved && is_on)?;
    (after.set(option).is_none() && new != old)
        .then(|| old_default(after, before.target, option, old, &new))
}

/// Interleaved auto-increment values need rows in the binary log.
fn auto_increment(before: &Subject<'_>, after: &Subject<'_>) -> Option<Pin> {
    let option = "innodb_autoinc_lock_mode";
    let (old, new) = before.value(option).zip(after.value(option))?;
    let is_by_rows = after.is_one_of("binlog_format", &["ROW"]) || !after.has_binary_log();
    (!is_set(before, after, option) && old != "2" && new == "2" && !is_by_rows)
        .then(|| old_default(after, before.target, option, &old, &new))
}

/// What was accepted as a packet still is, and no result of GROUP_CONCAT is cut.
fn limit(before: &Subject<'_>, after: &Subject<'_>, option: &'static str) -> Option<Pin> {
    let (old, new) = before.number(option).zip(after.number(option))?;
    (!is_set(before, after, option) && old > new).then(|| {
        let (old, new) = (size(old), size(new));
        old_default(after, before.target, option, &old, &new)
    })
}

/// The normal rate of background writing stays below the maximum that the file sets. MySQL 8.4 raised its default.
fn io_capacity(before: &Subject<'_>, after: &Subject<'_>) -> Option<Pin> {
    let (option, maximum) = ("innodb_io_capacity", "innodb_io_capacity_max");
    let (old, new) = before.number(option).zip(after.number(option))?;
    let max = after.set(maximum).and_then(|_| after.number(maximum))?;
    (!is_set(before, after, option) && old <= max && new > max).then(|| {
        let (old, new) = (old.to_string(), new.to_string());
        old_default(after, before.target, option, &old, &new)
    })
}
