//! Options about something else than speed: what statements answer, how much the server accepts, who may do what, and
//! what replicas get. No measurement of speed can show that such a line is not needed.

/// What an option decides instead of speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Who can write or connect, so that a private server is not started with it.
    WriteAccess,
    Access,
    Data,
    Replication,
    Capacity,
    Results,
    TimeLimit,
}

impl Effect {
    /// The effect in words: `protects data`.
    fn in_words(self) -> &'static str {
        match self {
            Self::WriteAccess => {
                "controls who can write or connect: a private server is not started with it"
            }
            Self::Access => "controls access",
            Self::Data => "protects data",
            Self::Replication => "controls replication and recovery",
            Self::Capacity => "controls capacity",
            Self::Results => "changes the results of statements",
            Self::TimeLimit => "sets a time limit",
        }
    }
}

/// Why a line is about something else than speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Behaviour {
    effect: Effect,
    /// Whether a private server can run with the line: every measured file has it then.
    pub(crate) is_measurable: bool,
}

impl Behaviour {
    /// Why the line is not tested: `protects data; not tested for removal`.
    pub(crate) fn why(self) -> String {
        format!("{}; not tested for removal", self.effect.in_words())
    }
}

/// Options of one effect.
struct Class {
    behaviour: Behaviour,
    /// Whole names.
    names: &'static [&'static str],
    /// Beginnings of names.
    prefixes: &'static [&'static str],
}

const fn class(
    effect: Effect,
    is_measurable: bool,
    names: &'static [&'static str],
    prefixes: &'static [&'static str],
) -> Class {
    let behaviour = Behaviour {
        effect,
        is_measurable,
    };
    Class {
        behaviour,
        names,
        prefixes,
    }
}

/// The effects; the first that has an option decides.
static CLASSES: [Class; 7] = [
    class(
        Effect::WriteAccess,
        false,
        &[
            "init_file",
            "init_replica",
            "init_slave",
            "offline_mode",
            "read_only",
            "super_read_only",
        ],
        &["group_replication_", "wsrep_"],
    ),
    class(
        Effect::Access,
        false,
        &[
            "authentication_policy",
            "automatic_sp_privileges",
            "default_authentication_plugin",
            "local_infile",
            "old_passwords",
            "require_secure_transport",
            "secure_auth",
            "secure_file_priv",
            "skip_grant_tables",
            "skip_show_database",
            "strict_password_validation",
            "unix_socket",
        ],
        &[
            "audit_log",
            "caching_sha2_",
            "connection_control_",
            "keyring_",
            "plugin_",
            "server_audit",
            "sha256_",
            "validate_password",
        ],
    ),
    class(
        Effect::Access,
        true,
        &[
            "activate_all_roles_on_login",
            "check_proxy_users",
            "default_password_lifetime",
            "disconnect_on_expired_password",
            "host_cache_size",
            "mandatory_roles",
            "max_password_errors",
            "partial_revokes",
            "password_history",
            "password_require_current",
            "password_reuse_interval",
            "proxy_protocol_networks",
            "skip_name_resolve",
            "ssl",
        ],
        &[],
    ),
    class(
        Effect::Replication,
        true,
        &[
            "binlog_annotate_row_events",
            "binlog_checksum",
            "binlog_do_db",
            "binlog_expire_logs_auto_purge",
            "binlog_expire_logs_seconds",
            "binlog_format",
            "binlog_ignore_db",
            "binlog_legacy_event_pos",
            "binlog_row_image",
            "binlog_row_metadata",
            "binlog_rows_query_log_events",
            "enforce_gtid_consistency",
            "expire_logs_days",
            "log_replica_updates",
            "log_slave_updates",
            "max_binlog_size",
            "max_binlog_total_size",
            "max_relay_log_size",
            "purge_relay_logs",
            "read_binlog_speed_limit",
            "server_id",
            "server_id_bits",
            "skip_replica_start",
            "skip_slave_start",
            "slave_exec_mode",
            "sync_master_info",
            "sync_relay_log",
            "sync_relay_log_info",
            "sync_source_info",
            "transaction_write_set_extraction",
        ],
        &[
            "gtid_",
            "log_bin",
            "master_",
            "relay_log",
            "replica_",
            "replicate_",
            "report_",
            "rpl_",
            "slave_",
            "source_",
        ],
    ),
    class(
        Effect::Capacity,
        true,
        &[
            "back_log",
            "extra_max_connections",
            "innodb_online_alter_log_max_size",
            "max_allowed_packet",
            "max_binlog_cache_size",
            "max_connect_errors",
            "max_connections",
            "max_prepared_stmt_count",
            "max_sp_recursion_depth",
            "max_user_connections",
            "mysqlx_max_connections",
            "open_files_limit",
            "thread_stack",
        ],
        &[],
    ),
    class(
        Effect::Results,
        true,
        &[
            "autocommit",
            "auto_increment_increment",
            "auto_increment_offset",
            "block_encryption_mode",
            "check_constraint_checks",
            "completion_type",
            "cte_max_recursion_depth",
            "default_regex_flags",
            "default_time_zone",
            "default_week_format",
            "disabled_storage_engines",
            "div_precision_increment",
            "enforce_storage_engine",
            "event_scheduler",
            "explicit_defaults_for_timestamp",
            "foreign_key_checks",
            "ft_max_word_len",
            "ft_min_word_len",
            "ft_stopword_file",
            "group_concat_max_len",
            "init_connect",
            "innodb_ft_enable_stopword",
            "innodb_ft_max_token_size",
            "innodb_ft_min_token_size",
            "innodb_rollback_on_timeout",
            "innodb_snapshot_isolation",
            "innodb_strict_mode",
            "lc_messages",
            "lc_time_names",
            "lower_case_file_system",
            "lower_case_table_names",
            "max_error_count",
            "max_execution_time",
            "max_recursive_iterations",
            "max_sort_length",
            "max_statement_time",
            "ngram_token_size",
            "old_mode",
            "sql_auto_is_null",
            "sql_generate_invisible_primary_key",
            "sql_mode",
            "sql_require_primary_key",
            "sql_safe_updates",
            "sql_select_limit",
            "standard_compliant_cte",
            "time_zone",
            "timezone",
            "transaction_isolation",
            "transaction_read_only",
            "tx_isolation",
            "tx_read_only",
            "unique_checks",
            "updatable_views_with_limit",
        ],
        &[
            "character_set_",
            "collation_",
            "secure_timestamp",
            "system_versioning_",
        ],
    ),
    class(
        Effect::Data,
        // A private server has no keys.
        false,
        &[
            "aria_encrypt_tables",
            "binlog_encryption",
            "default_table_encryption",
            "encrypt_binlog",
            "encrypt_tmp_disk_tables",
            "encrypt_tmp_files",
            "innodb_default_encryption_key_id",
            "innodb_redo_log_encrypt",
            "innodb_sys_tablespace_encrypt",
            "innodb_temp_tablespace_encrypt",
            "innodb_undo_log_encrypt",
            "table_encryption_privilege_check",
        ],
        &[
            "innodb_encrypt",
            "innodb_encryption_",
            "file_key_management",
        ],
    ),
];

/// Time limits by their ending, besides [`OF_SPEED`] and those of the thread pool.
const TIME_LIMIT: Behaviour = Behaviour {
    effect: Effect::TimeLimit,
    is_measurable: true,
};

/// The time between flushes of the log.
const OF_SPEED: &str = "innodb_flush_log_at_timeout";

/// Why an option, by its canonical name, is about something else than speed; `None` if it can be measured.
pub(crate) fn behaviour(name: &str) -> Option<Behaviour> {
    let found = class_of(name).map(|class| class.behaviour);
    let is_limit =
        name.ends_with("_timeout") && !name.starts_with("thread_pool") && name != OF_SPEED;
    found.or(is_limit.then_some(TIME_LIMIT))
}

/// The first class that has an option.
fn class_of(name: &str) -> Option<&'static Class> {
    CLASSES.iter().find(|class| {
        let begins = |prefix: &&str| name.starts_with(prefix);
        class.names.contains(&name) || class.prefixes.iter().any(begins)
    })
}

/// Options that themselves protect data, besides the whole names in the class of data. Others with the same beginning
/// only set the speed of encryption.
const ENCRYPTING: [&str; 3] = [
    "innodb_encrypt_log",
    "innodb_encrypt_tables",
    "innodb_encrypt_temporary_tables",
];

/// What is lost with a line about access, data or results: `protects data`. `None` for all other options, and for those
/// that only begin like one that protects.
pub(crate) fn loss(name: &str) -> Option<&'static str> {
    let class = class_of(name)?;
    let effect = class.behaviour.effect;
    let is_whole = class.names.contains(&name);
    match effect {
        Effect::Results => Some(effect.in_words()),
        Effect::Access | Effect::Data => {
            (is_whole || ENCRYPTING.contains(&name)).then(|| effect.in_words())
        }
        Effect::WriteAccess => is_whole.then_some("controls who can write or connect"),
        Effect::Replication | Effect::Capacity | Effect::TimeLimit => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_about_speed_are_measured() {
        for name in [
            "innodb_buffer_pool_size",
            "innodb_flush_log_at_trx_commit",
            "innodb_flush_log_at_timeout",
            "sync_binlog",
            "binlog_cache_size",
            "thread_pool_idle_timeout",
            "general_log",
            "table_open_cache",
        ] {
            assert_eq!(behaviour(name), None, "{name}");
        }
        assert!(behaviour("innodb_lock_wait_timeout").is_some());
        assert!(behaviour("read_only").is_some_and(|it| !it.is_measurable));
    }

    #[test]
    fn a_lost_line_about_access_data_or_results_has_a_reason() {
        for (name, lost) in [
            ("innodb_encrypt_tables", Some("protects data")),
            (
                "max_statement_time",
                Some("changes the results of statements"),
            ),
            (
                "innodb_snapshot_isolation",
                Some("changes the results of statements"),
            ),
            (
                "standard_compliant_cte",
                Some("changes the results of statements"),
            ),
            (
                "default_regex_flags",
                Some("changes the results of statements"),
            ),
            ("require_secure_transport", Some("controls access")),
            ("activate_all_roles_on_login", Some("controls access")),
            ("mandatory_roles", Some("controls access")),
            ("partial_revokes", Some("controls access")),
            ("password_history", Some("controls access")),
            ("password_reuse_interval", Some("controls access")),
            ("max_password_errors", Some("controls access")),
            ("ssl", Some("controls access")),
            ("unix_socket", Some("controls access")),
            ("offline_mode", Some("controls who can write or connect")),
            ("wsrep_node_name", None),
            ("innodb_encryption_rotation_iops", None),
            ("plugin_maturity", None),
            ("max_connections", None),
            ("innodb_buffer_pool_size", None),
        ] {
            assert_eq!(loss(name), lost, "{name}");
        }
    }

    #[test]
    fn no_option_has_two_reasons() {
        for class in &CLASSES {
            for name in class.names {
                let found = behaviour(name).unwrap();
                assert_eq!(found, class.behaviour, "{name}");
            }
        }
    }
}
