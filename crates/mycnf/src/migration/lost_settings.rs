//! The settings that the new version does not have, and whose loss is the user's to decide.

use std::path::Path;

use super::{Migration, Move};
use crate::behaviour::loss;
use crate::catalogue::{Family, Kind};
use crate::entry::{Entry, Origin};
use crate::finding::option_as_written;
use crate::judge::is_part_of;
use crate::plugins::{LoadedPlugin, loads_plugins};
use crate::size::size;
use crate::sql_modes::lost_effect;
use crate::subject::Subject;
use crate::unknown::{OptionReplacement, succession};

/// The switches of semi-synchronous replication in MariaDB, each with the name of its side in the plugins of MySQL:
/// before 8.0.26, and from it on.
const SEMI_SYNC: [(&str, &str, &str); 2] = [
    ("rpl_semi_sync_master_enabled", "master", "source"),
    ("rpl_semi_sync_slave_enabled", "slave", "replica"),
];

/// What replaces a setting that the new version does not have, at least in part.
struct Replacement {
    lost: &'static str,
    /// The option that a version must have for the hint to be true; `None` for a hint about any version.
    needs: Option<&'static str>,
    hint: &'static str,
}

const fn replacement(
    lost: &'static str,
    needs: Option<&'static str>,
    hint: &'static str,
) -> Replacement {
    Replacement { lost, needs, hint }
}

/// Options that all versions of MariaDB have and none of MySQL, and that MySQL 8.0 and later have alone: what they need
/// that is no option.
const MARIADB: Option<&str> = Some("aria_pagecache_buffer_size");
const MYSQL_8: Option<&str> = Some("generated_random_password_length");

const OLD_PASSWORDS: &str = "in MariaDB 10.7 and later, the plugin password_reuse_check refuses passwords that were used before";

/// Source: the manuals of both families about each option.
static REPLACEMENTS: [Replacement; 24] = [
    replacement(
        "activate_all_roles_on_login",
        MARIADB,
        "SET DEFAULT ROLE chooses the role that an account has at login",
    ),
    replacement(
        "binlog_encryption",
        Some("encrypt_binlog"),
        "encrypt_binlog = ON encrypts binary logs (needs a key management plugin)",
    ),
    replacement(
        "cte_max_recursion_depth",
        Some("max_recursive_iterations"),
        "max_recursive_iterations limits the iterations of a recursive query",
    ),
    replacement(
        "default_table_encryption",
        Some("innodb_encrypt_tables"),
        "innodb_encrypt_tables = ON encrypts tables (needs a key management plugin)",
    ),
    replacement(
        "encrypt_binlog",
        Some("binlog_encryption"),
        "in MySQL 8.0, binlog_encryption = ON encrypts binary logs (needs a keyring)",
    ),
    replacement(
        "innodb_dedicated_server",
        None,
        "set innodb_buffer_pool_size and the size of the redo log, which otherwise have their small defaults",
    ),
    replacement(
        "innodb_encrypt_log",
        Some("innodb_redo_log_encrypt"),
        "in MySQL 8.0, innodb_redo_log_encrypt = ON encrypts the redo log (needs a keyring)",
    ),
    replacement(
        "innodb_encrypt_tables",
        Some("default_table_encryption"),
        "in MySQL 8.0, default_table_encryption = ON encrypts new tables (needs a keyring)",
    ),
    replacement(
        "innodb_force_primary_key",
        Some("sql_require_primary_key"),
        "sql_require_primary_key = ON refuses tables without a primary key",
    ),
    replacement(
        "innodb_redo_log_encrypt",
        Some("innodb_encrypt_log"),
        "innodb_encrypt_log = ON encrypts the redo log (needs a key management plugin)",
    ),
    replacement(
        "max_binlog_files",
        Some("binlog_space_limit"),
        "binlog_space_limit limits the size of all binary logs, in bytes",
    ),
    replacement(
        "max_execution_time",
        Some("max_statement_time"),
        "max_statement_time limits all statements, in seconds",
    ),
    replacement(
        "max_password_errors",
        MYSQL_8,
        "FAILED_LOGIN_ATTEMPTS of CREATE USER limits the failed logins of an account from MySQL 8.0.19 on",
    ),
    replacement(
        "max_recursive_iterations",
        Some("cte_max_recursion_depth"),
        "cte_max_recursion_depth limits the iterations of a recursive query",
    ),
    replacement(
        "max_statement_time",
        Some("max_execution_time"),
        "max_execution_time of MySQL 5.7 and later limits only SELECT statements, in milliseconds",
    ),
    replacement("password_history", MARIADB, OLD_PASSWORDS),
    replacement("password_reuse_interval", MARIADB, OLD_PASSWORDS),
    replacement(
        "slave_run_triggers_for_rbr",
        None,
        "without it, a replica does not run triggers for changes in the row format",
    ),
    replacement(
        "sql_require_primary_key",
        Some("innodb_force_primary_key"),
        "innodb_force_primary_key = ON refuses InnoDB tables without a primary key",
    ),
    replacement(
        "ssl",
        Some("tls_version"),
        "an empty tls_version turns TLS off",
    ),
    replacement(
        "unix_socket",
        MYSQL_8,
        "in MySQL, accounts that log in as the user of the operating system need the plugin auth_socket",
    ),
    replacement(
        "wsrep_on",
        None,
        "the server is a node of a Galera cluster, which this product cannot join",
    ),
    replacement(
        "wsrep_replicate_myisam",
        Some("wsrep_mode"),
        "wsrep_mode = REPLICATE_MYISAM replaces it",
    ),
    replacement(
        "wsrep_strict_ddl",
        Some("wsrep_mode"),
        "wsrep_mode = STRICT_REPLICATION replaces it",
    ),
];

/// Settings whose loss another step reports, or that the new version has without an option.
const REPORTED: [&str; 3] = ["old_mode", "old_passwords", "secure_auth"];

impl Migration {
    /// Leaves a lost setting to the user if it protects data, limits access or changes results, sizes a dedicated server,
    /// or joins a cluster.
    pub(super) fn leave_lost_open(&mut self, before: &Subject<'_>, after: &Subject<'_>) {
        let knows = |name: &str| after.has(name);
        for line in before.read() {
            let (name, at) = (line.name(), &line.entry.origin);
            let last = before.set(name);
            let is_deciding = last.is_some_and(|last| last.entry.origin == *at);
            if !is_deciding || REPORTED.contains(&name) || !self.has_dropped(at) {
                continue;
            }
            let successor = succession(after.target.family(), name, &knows);
            if matches!(successor, Some(OptionReplacement::By(_))) {
                continue;
            }
            // A version without the switch has TLS; one without the plugin has no logins by the user of the system.
            let is_off = before.is_one_of(name, &["OFF", "0", "FALSE"]);
            let is_kept = (name == "ssl" && before.is_on(name) == Some(true))
                || (name == "unix_socket" && is_off);
            // MariaDB has it on by default, and MySQL has no such default.
            let is_default = before.sets_default(line) && name != "unix_socket";
            let has_sizes = name == "innodb_dedicated_server"
                && before.set("innodb_buffer_pool_size").is_some();
            let mut replacements = REPLACEMENTS.iter();
            let hint = replacements.find(|one| one.lost == name && one.needs.is_none_or(knows));
            let hint = hint.map(|one| one.hint);
            let lost = loss(name);
            if is_default || is_kept || has_sizes || (hint.is_none() && lost.is_none()) {
                continue;
            }
            let lost = lost.map_or(String::new(), |lost| format!(", although it {lost}"));
            let hint = hint.map_or(String::new(), |hint| format!("; {hint}"));
            let what = format!("left out{lost}: {} has no such option{hint}", after.target);
            self.leave(line.entry, what);
        }
    }

    /// Leaves the SQL modes to the user that the new version does not have and whose effect no other mode has.
    pub(super) fn leave_modes_open(&mut self, before: &Subject<'_>, after: &Subject<'_>) {
        let name = "sql_mode";
        let Some(line) = before.set(name) else {
            return;
        };
        // By the whole name: the new version may accept no abbreviation of it.
        let known = after.catalogue.row(name);
        let Some(Kind::Words(words)) = known.map(|option| &option.kind) else {
            return;
        };
        let list = line.entry.value.as_deref().unwrap_or_default();
        let has_pl_sql = before.target.is_at_least(Family::MariaDb, &[10, 3]);
        let lost = list.split(',').map(str::trim).filter_map(|mode| {
            let effect = lost_effect(mode, has_pl_sql)?;
            // MySQL up to 5.7 has a mode of this name, which only changes the syntax.
            let is_other = mode.eq_ignore_ascii_case("ORACLE") && !after.is_mariadb();
            (is_other || !is_part_of(words, mode)).then(|| format!("{mode}, with which {effect}"))
        });
        let lost: Vec<String> = lost.collect();
        if !lost.is_empty() {
            let what = format!("{} has no mode {}", after.target, lost.join("; no mode "));
            self.leave(line.entry, what);
        }
    }

    /// A stack that was enough for the old version can be too small for a new one, which has a larger one by default.
    pub(super) fn leave_small_stack_open(&mut self, before: &Subject<'_>, after: &Subject<'_>) {
        let name = "thread_stack";
        let default = |subject: &Subject<'_>| {
            let default = subject.catalogue.default_value(name)?;
            default.parse::<i128>().ok()
        };
        let defaults = default(before).zip(default(after));
        let (Some(line), Some(own), Some((old, new))) =
            (before.set(name), before.number(name), defaults)
        else {
            return;
        };
        if old < new && own < new {
            let what = format!(
                "the default of {} is larger ({}): with a smaller stack, statements can fail with error 1436; remove the line",
                after.target,
                size(new)
            );
            self.leave(line.entry, what);
        }
    }

    /// A node of a Galera cluster that does not flush its redo log at each commit gets lost commits back from the other
    /// nodes; a server without Galera has only its own log.
    pub(super) fn leave_lazy_commits_open(&mut self, before: &Subject<'_>, after: &Subject<'_>) {
        let name = "innodb_flush_log_at_trx_commit";
        let joins_others = before.is_galera_node() && !before.forms_new_cluster();
        // Percona XtraDB Cluster has Galera, and no catalogue.
        if !joins_others || after.has("wsrep_on") || after.is_galera_node() {
            return;
        }
        let cause = match after.number(name) {
            Some(0) => "a server crash or a power cut",
            Some(2) => "a power cut",
            _ => return,
        };
        if let Some(line) = before.set(name) {
            let what = format!(
                "the other nodes of the Galera cluster kept the commits that a node lost; alone, the server loses up to a \
                 second of commits in {cause}; to lose none, set it to 1"
            );
            self.leave(line.entry, what);
        }
    }

    /// Whether a line has been left out.
    fn has_dropped(&self, line: &Origin) -> bool {
        let mut moves = self.moves.iter();
        moves.any(|one| matches!(one, Move::Dropped { at, .. } if at == line))
    }

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
    pub(super) fn leave_semi_sync_open(
        &mut self,
        before: &Subject<'_>,
        after: &Subject<'_>,
        path: &Path,
    ) {
        if !before.is_mariadb() || after.is_mariadb() {
            return;
        }
        // The rules do not judge options of a plugin that MySQL ships; here it is certain that the server has none.
        for line in before.read() {
            let name = &line.entry.name;
            let is_loaded = after.plugins.iter().any(|plugin| plugin.has(name));
            let is_its = name.base().starts_with("rpl_semi_sync_") && !name.is_loose();
            if is_its && !is_loaded && !self.has_settled(&line.entry.origin) {
                let product = after.target.product().title();
                let why = format!("an option of MariaDB; in {product}, it belongs to a plugin");
                self.leave_out(line.entry, why, path);
            }
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
                    "; also keep these options, with the prefix rpl_semi_sync_{side}_: {}",
                    more.join(", ")
                )
            };
            let what = format!(
                "semi-synchronous replication is a plugin in MySQL: to keep it, add plugin_load_add = semisync_{side}.so and rpl_semi_sync_{side}_enabled = ON{more}"
            );
            self.leave(line.entry, what);
        }
    }

    /// Leaves the plugins to the user that the new version does not ship, and all of them where the family changes: a
    /// library is made for one family.
    pub(super) fn leave_plugins_open(
        &mut self,
        before: &Subject<'_>,
        after: &Subject<'_>,
        path: &Path,
    ) {
        let target = after.target;
        let is_other_family = before.target.family() != target.family();
        let has_semi_sync = target.is_at_least(Family::MariaDb, &[10, 3, 3]);
        for line in after.read().filter(|line| loads_plugins(&line.entry.name)) {
            // The version may have no such option, so that the line is left out already.
            if self.has_settled(&line.entry.origin) {
                continue;
            }
            let plugins = LoadedPlugin::of([line.entry]);
            if has_semi_sync && plugins.iter().all(LoadedPlugin::is_semi_sync) {
                let why = "semi-synchronous replication is part of MariaDB".to_owned();
                self.leave_out(line.entry, why, path);
                continue;
            }
            let missing = plugins.iter().filter(|plugin| plugin.is_missing_in(target));
            let missing: Vec<&str> = missing.map(|plugin| plugin.library.as_str()).collect();
            let what = match missing.as_slice() {
                [] if is_other_family => format!("check whether {target} also has this plugin"),
                [] => continue,
                missing => format!("{target} does not ship {}", missing.join(" and ")),
            };
            self.leave(line.entry, what);
        }
    }

    /// Leaves a line to the user.
    pub(super) fn leave(&mut self, entry: &Entry, what: String) {
        if !self.has_open(&entry.origin) {
            let option = self.as_written(entry);
            self.moves.push(Move::Open {
                at: Some(entry.origin.clone()),
                option,
                what,
            });
        }
    }
}
