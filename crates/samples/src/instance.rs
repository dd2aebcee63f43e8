//! The server variables that identify an instance (paths, times, identifiers) and do not describe its behaviour.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Parts of the names of variables that differ between any two starts of the same server.
pub const OF_THE_INSTANCE: &[&str] = &[
    "admin_address",
    "aria_log_dir_path",
    "basedir",
    "basename",
    "bind_address",
    "build_id",
    "character_sets_dir",
    "datadir",
    "error_count",
    "general_log_file",
    "gtid_binlog_pos",
    "gtid_binlog_state",
    "gtid_current_pos",
    "gtid_executed",
    "gtid_next",
    "gtid_owned",
    "gtid_purged",
    "gtid_seq_no",
    "gtid_slave_pos",
    "hostname",
    "identity",
    "insert_id",
    "last_gtid",
    "lc_messages_dir",
    "log_bin_index",
    "log_error",
    "log_slow_query_file",
    "pid_file",
    "plugin_dir",
    "port",
    "pseudo",
    "rand_seed",
    "relay_log_index",
    "relay_log_info_file",
    "replica_load_tmpdir",
    "report_host",
    "secure_file_priv",
    "server_id",
    "server_uid",
    "server_uuid",
    "slave_load_tmpdir",
    "slow_query_log_file",
    "socket",
    "ssl_ca",
    "ssl_cert",
    "ssl_crl",
    "ssl_key",
    "timestamp",
    "tmpdir",
    "warning_count",
    "wsrep_data_home_dir",
    "wsrep_node",
];

/// Variables with such a part in their name that nevertheless describe the server.
pub const OF_THE_SERVER: &[&str] = &[
    "explicit_defaults_for_timestamp",
    "gtid_executed_compression_period",
    "import",
    "log_error_",
    "log_timestamps",
    "max_error_count",
    "performance_schema_",
    "secure_timestamp",
    "support",
    "transport",
];

/// True for a variable that differs between any two starts of the same server and does not describe its behaviour.
pub fn is_of_the_instance(variable: &str) -> bool {
    // Several rules ask for some hundred variables of every run: a search for each part by itself took half of the time of
    // a report.
    static INSTANCE: LazyLock<AhoCorasick> = LazyLock::new(|| any_of(OF_THE_INSTANCE));
    static SERVER: LazyLock<AhoCorasick> = LazyLock::new(|| any_of(OF_THE_SERVER));
    INSTANCE.is_match(variable) && !SERVER.is_match(variable)
}

fn any_of(parts: &[&str]) -> AhoCorasick {
    AhoCorasick::new(parts).expect("some dozen short words are no large automaton")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_start_changes_names_the_instance() {
        for name in [
            "bind_address",
            "datadir",
            "gtid_binlog_pos",
            "hostname",
            "log_bin_basename",
            "log_error",
            "mysqlx_socket",
            "mysqlx_ssl_key",
            "pid_file",
            "port",
            "report_port",
            "secure_file_priv",
            "server_uuid",
            "timestamp",
            "tmpdir",
        ] {
            assert!(is_of_the_instance(name), "{name}");
        }
    }

    #[test]
    fn how_a_server_works_is_its_own() {
        for name in [
            "enforce_gtid_consistency",
            "explicit_defaults_for_timestamp",
            "gtid_mode",
            "gtid_strict_mode",
            "have_profiling_support",
            "innodb_buffer_pool_size",
            "innodb_import_table",
            "innodb_log_group_home_dir",
            "log_error_verbosity",
            "max_error_count",
            "performance_schema_max_socket_classes",
            "ssl_cipher",
            "sync_binlog",
            "tls_version",
        ] {
            assert!(!is_of_the_instance(name), "{name}");
        }
    }
}
