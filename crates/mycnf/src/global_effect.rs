//! Variables that SET GLOBAL does not change at once, for all connections, or only for the statements that follow.
//!
//! `crates/mycnf/catalogue/per_session.tsv` holds those that a connection takes over when it is opened, and the
//! servers in which it does:
//!
//! ```text
//! name                 family
//! sort_buffer_size     both
//! slow_query_log       mariadb
//! ```
//!
//! Source: MariaDB's information_schema.system_variables (`VARIABLE_SCOPE`); MySQL Reference Manual, "Server System
//! Variable Reference" (the scope `Both`, and InnoDB's with the scope `Session`, which have a global value, too).

use std::{collections::BTreeMap, sync::LazyLock};

use crate::catalogue::{Catalogue, Family};

static PER_SESSION: LazyLock<BTreeMap<&'static str, &'static str>> = LazyLock::new(|| {
    let lines = include_str!("../catalogue/per_session.tsv").lines().skip(1);
    lines.filter_map(|line| line.split_once('\t')).collect()
});

/// Groups of variables with the reason why a comparison of their values on one server says nothing, or does harm.
///
/// Source: MySQL 8.4 Reference Manual, "Configuring InnoDB Buffer Pool Size" (resized in the background), "Redo Log"
/// (innodb_redo_log_capacity), "Adaptive Hash Index" (disabling empties it), "How MySQL Handles Client Connections",
/// "Binary Logging Options and Variables" (the caches of a connection, and purging) and "Configuring Buffer Pool
/// Flushing"; MariaDB documentation, "InnoDB Redo Log" and "Query Cache".
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "the server then resizes memory or a log, or empties a cache, and the slices would measure that",
        &[
            "aria_pagecache_buffer_size",
            "innodb_adaptive_hash_index",
            "innodb_buffer_pool_chunk_size",
            "innodb_buffer_pool_size",
            "innodb_log_buffer_size",
            "innodb_log_file_size",
            "innodb_redo_log_capacity",
            "innodb_undo_tablespaces",
            "key_buffer_size",
            "key_cache_block_size",
            "key_cache_segments",
            "query_cache_size",
            "stored_program_cache",
            "table_definition_cache",
            "table_open_cache",
        ],
    ),
    (
        "it applies to new connections, and the connections of the loads stay open",
        &[
            "binlog_cache_size",
            "binlog_stmt_cache_size",
            "connect_timeout",
            "host_cache_size",
            "init_connect",
            "max_binlog_cache_size",
            "max_binlog_stmt_cache_size",
            "max_connect_errors",
            "max_connections",
            "thread_cache_size",
        ],
    ),
    (
        "its effect outlasts a slice, so the slices of the other values have it, too",
        &[
            "innodb_adaptive_flushing",
            "innodb_adaptive_flushing_lwm",
            "innodb_change_buffer_max_size",
            "innodb_change_buffering",
            "innodb_doublewrite",
            "innodb_flush_neighbors",
            "innodb_flush_sync",
            "innodb_flushing_avg_loops",
            "innodb_idle_flush_pct",
            "innodb_io_capacity",
            "innodb_io_capacity_max",
            "innodb_lru_flush_size",
            "innodb_lru_scan_depth",
            "innodb_max_dirty_pages_pct",
            "innodb_max_dirty_pages_pct_lwm",
            "innodb_max_purge_lag",
            "innodb_max_purge_lag_delay",
            "innodb_max_purge_lag_wait",
            "innodb_max_undo_log_size",
            "innodb_old_blocks_pct",
            "innodb_old_blocks_time",
            "innodb_page_cleaners",
            "innodb_purge_batch_size",
            "innodb_purge_rseg_truncate_frequency",
            "innodb_purge_threads",
            "innodb_undo_log_truncate",
        ],
    ),
    (
        "with it, the server deletes binary logs or changes its position in the replication, which cannot be put back",
        &[
            "binlog_expire_logs_auto_purge",
            "binlog_expire_logs_seconds",
            "binlog_space_limit",
            "expire_logs_days",
            "gtid_binlog_state",
            "gtid_purged",
            "gtid_slave_pos",
            "max_binlog_total_size",
            "sql_replica_skip_counter",
        ],
    ),
    (
        "it would shut out other clients of the server",
        &["offline_mode", "read_only", "super_read_only"],
    ),
];

impl Catalogue {
    /// Why the values of a variable cannot be compared by setting them in turn with SET GLOBAL, as a clause about the
    /// variable; `None` if they can, or if the variable is not known.
    pub fn obstacle_to_set_global(&self, name: &str) -> Option<&'static str> {
        if self.needs_restart(name) == Some(true) {
            return Some("it can only be set when the server starts");
        }
        let own = match self.family() {
            Family::MySql => "mysql",
            Family::MariaDb => "mariadb",
        };
        let family = PER_SESSION.get(name);
        if family.is_some_and(|family| *family == "both" || *family == own) {
            return Some(
                "a connection takes over its value when it is opened, and the connections of the loads stay open",
            );
        }
        let mut groups = GROUPS.into_iter();
        let group = groups.find(|(_, names)| names.contains(&name));
        group.map(|(why, _)| why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;

    #[test]
    fn what_a_slice_cannot_measure_is_known() {
        for (target, name, why) in [
            ("mysql-8.0", "innodb_flush_log_at_trx_commit", ""),
            ("mariadb-10.11", "innodb_flush_log_at_trx_commit", ""),
            ("mysql-8.0", "sync_binlog", ""),
            ("mysql-8.0", "innodb_thread_concurrency", ""),
            ("mysql-8.0", "sort_buffer_size", "when it is opened"),
            ("mysql-8.0", "transaction_isolation", "when it is opened"),
            ("mariadb-10.11", "sql_mode", "when it is opened"),
            ("mariadb-10.11", "slow_query_log", "when it is opened"),
            ("mysql-8.0", "slow_query_log", ""),
            ("mysql-8.0", "binlog_row_value_options", "when it is opened"),
            ("mysql-8.0", "innodb_buffer_pool_size", "resizes memory"),
            (
                "mysql-5.6",
                "innodb_buffer_pool_size",
                "when the server starts",
            ),
            ("mysql-8.0", "innodb_flush_method", "when the server starts"),
            ("mysql-8.0", "max_connections", "new connections"),
            ("mariadb-10.11", "binlog_cache_size", "new connections"),
            (
                "mysql-8.0",
                "innodb_parallel_read_threads",
                "when it is opened",
            ),
            ("mariadb-10.11", "innodb_io_capacity", "outlasts a slice"),
            (
                "mysql-8.0",
                "binlog_expire_logs_seconds",
                "cannot be put back",
            ),
            ("mysql-8.0", "super_read_only", "other clients"),
            ("mysql-8.0", "of_some_plugin", ""),
        ] {
            let catalogue = Target::parse(target).unwrap().catalogue();
            let found = catalogue.obstacle_to_set_global(name).unwrap_or_default();
            assert!(found.contains(why), "{target} {name}: {found}");
            assert_eq!(found.is_empty(), why.is_empty(), "{target} {name}: {found}");
        }
    }

    #[test]
    fn the_table_is_sorted_and_names_known_families() {
        assert!(PER_SESSION.len() > 200);
        let families = ["both", "mysql", "mariadb"];
        assert!(PER_SESSION.values().all(|family| families.contains(family)));
        let text = include_str!("../catalogue/per_session.tsv");
        let names = text.lines().skip(1).map(|line| line.split('\t').next());
        assert!(names.is_sorted());
        for (_, names) in GROUPS {
            assert!(names.is_sorted());
            assert!(names.iter().all(|name| !PER_SESSION.contains_key(name)));
        }
    }
}
