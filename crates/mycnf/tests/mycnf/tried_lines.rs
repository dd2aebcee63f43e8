//! Lines that were tried on servers of documented versions, which no registry has, against their catalogues.
//!
//! Source: the option files of the source documents, and further lines that users have, given one by one to the validators of
//! MySQL 8.4.13 and MariaDB 10.6.23.

use mycnf::{OptionName, Target};

const TAKEN_BY_MYSQL_8_4: &str = "\
    authentication_policy binlog_checksum binlog_expire_logs_seconds binlog_format character_set_server \
    collation_server datadir enforce_gtid_consistency explicit_defaults_for_timestamp gtid_mode \
    innodb_buffer_pool_dump_at_shutdown innodb_buffer_pool_instances innodb_buffer_pool_load_at_startup \
    innodb_change_buffering innodb_checksum_algorithm innodb_dedicated_server innodb_file_per_table \
    innodb_flush_method innodb_flush_neighbors innodb_flush_sync innodb_io_capacity_max innodb_log_file_size \
    innodb_log_files_in_group innodb_numa_interleave innodb_online_alter_log_max_size innodb_page_cleaners \
    innodb_print_all_deadlocks innodb_redo_log_capacity innodb_thread_concurrency innodb_undo_tablespaces \
    log_bin log_queries_not_using_indexes log_slave_updates log_slow_replica_statements \
    log_slow_slave_statements log_throttle_queries_not_using_indexes master_verify_checksum max_connections \
    mysql_native_password optimizer_switch replica_parallel_workers report_host secure_file_priv \
    slave_load_tmpdir slave_net_timeout slave_parallel_workers sql_mode ssl_ca ssl_cert ssl_key table_open_cache \
    table_open_cache_instances thread_handling tmpdir";
const UNKNOWN_TO_MYSQL_8_4: &str = "\
    aria_pagecache_buffer_size default_authentication_plugin expire_logs_days innodb_adaptive_flushing_method \
    innodb_additional_mem_pool_size innodb_checksums innodb_file_format innodb_file_format_max \
    innodb_flush_neighbor_pages innodb_large_prefix innodb_locks_unsafe_for_binlog innodb_support_xa key_buffer \
    log_warnings master_info_repository no_such_variable old_passwords query_cache_size query_cache_type \
    relay_log_info_repository secure_auth sync_frm table_cache thread_cache thread_concurrency thread_pool_size \
    tx_isolation";
const TAKEN_BY_MARIADB_10_6: &str = "\
    aria_pagecache_buffer_size binlog_checksum binlog_expire_logs_seconds binlog_format character_set_server \
    collation_server datadir default_authentication_plugin expire_logs_days explicit_defaults_for_timestamp \
    innodb_buffer_pool_dump_at_shutdown innodb_buffer_pool_instances innodb_buffer_pool_load_at_startup \
    innodb_change_buffering innodb_checksum_algorithm innodb_file_format innodb_file_per_table \
    innodb_flush_method innodb_flush_neighbors innodb_flush_sync innodb_io_capacity_max innodb_large_prefix \
    innodb_locks_unsafe_for_binlog innodb_log_file_size innodb_log_files_in_group innodb_numa_interleave \
    innodb_online_alter_log_max_size innodb_page_cleaners innodb_print_all_deadlocks innodb_thread_concurrency \
    innodb_undo_tablespaces key_buffer log_bin log_queries_not_using_indexes log_slave_updates \
    log_slow_slave_statements log_throttle_queries_not_using_indexes log_warnings master_info_repository \
    master_verify_checksum max_connections old_passwords optimizer_switch query_cache_size query_cache_type \
    relay_log_info_repository report_host secure_auth secure_file_priv slave_load_tmpdir slave_net_timeout \
    slave_parallel_workers sql_mode ssl_ca ssl_cert ssl_key sync_frm table_cache table_open_cache \
    table_open_cache_instances thread_cache thread_concurrency thread_handling thread_pool_size tmpdir";
const UNKNOWN_TO_MARIADB_10_6: &str = "\
    authentication_policy enforce_gtid_consistency gtid_mode innodb_adaptive_flushing_method \
    innodb_additional_mem_pool_size innodb_checksums innodb_dedicated_server innodb_file_format_max \
    innodb_flush_neighbor_pages innodb_redo_log_capacity innodb_support_xa log_slow_replica_statements \
    mysql_native_password no_such_variable replica_parallel_workers tx_isolation";

#[test]
fn documented_catalogues_agree_with_lines_that_were_tried() {
    for (target, names, is_taken) in [
        ("mysql-8.4", TAKEN_BY_MYSQL_8_4, true),
        ("mysql-8.4", UNKNOWN_TO_MYSQL_8_4, false),
        ("mariadb-10.6", TAKEN_BY_MARIADB_10_6, true),
        ("mariadb-10.6", UNKNOWN_TO_MARIADB_10_6, false),
    ] {
        let catalogue = Target::parse(target).unwrap().catalogue();
        for name in names.split_whitespace() {
            let has = catalogue.has(&OptionName::new(name));
            assert_eq!(has, is_taken, "{target} {name}");
        }
    }
}
