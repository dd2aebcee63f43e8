//! The variables of SHOW GLOBAL STATUS and INNODB_METRICS: which of them are counters, and their growth.

use std::collections::BTreeMap;

/// Variables whose names have these prefixes are values, not counters.
///
/// From SHOW GLOBAL STATUS of MySQL 5.5 to 9.7 and MariaDB 10.2 to 11.8.
const VALUES_BY_PREFIX: &[&str] = &[
    "Acl_",
    "Aria_pagecache_blocks_",
    "Delayed_insert_threads",
    "Deprecated_use_i_s_processlist_last_timestamp",
    "Error_log_buffered_",
    "Error_log_latest_write",
    "Global_connection_memory",
    "Innodb_available_undo_logs",
    "Innodb_buffer_pool_bytes_",
    "Innodb_buffer_pool_load_incomplete",
    "Innodb_buffer_pool_resize_status",
    "Innodb_checkpoint_",
    "Innodb_data_pending_",
    "Innodb_encryption_key_rotation_list_length",
    "Innodb_encryption_rotation_estimated_iops",
    "Innodb_history_list_length",
    "Innodb_ibuf_free_list",
    "Innodb_ibuf_s",
    "Innodb_mem_",
    "Innodb_num_open_files",
    "Innodb_onlineddl_",
    "Innodb_os_log_pending_",
    "Innodb_page_size",
    "Innodb_redo_log_capacity_resized",
    "Innodb_redo_log_logical_size",
    "Innodb_redo_log_physical_size",
    "Innodb_undo_tablespaces_",
    "Key_blocks_",
    "Last_query_",
    "Max_memory_used",
    "Max_tmp_space_used",
    "Max_used_connections",
    "Memory_used",
    "Not_flushed_delayed_rows",
    "Ongoing_anonymous_transaction_count",
    "Open_",
    "Performance_schema_session_connect_attrs_longest_seen",
    "Prepared_stmt_count",
    "Qcache_free_",
    "Qcache_queries_in_cache",
    "Qcache_total_blocks",
    "Replica_open_temp_tables",
    "Slave_heartbeat_period",
    "Slave_open_temp_tables",
    "Slaves_",
    "Ssl_ctx_verify_",
    "Ssl_default_timeout",
    "Ssl_session_cache_size",
    "Ssl_session_cache_timeout",
    "Ssl_used_session_cache_entries",
    "Ssl_verify_",
    "Stack_usage",
    "Table_open_cache_active_instances",
    "Tc_log_max_pages_used",
    "Tc_log_page_size",
    "Threadpool_",
    "Threads_c",
    "Threads_running",
    "Tmp_space_used",
    "Uptime",
    "wsrep_",
];

/// Counters despite their prefix.
const COUNTERS: &[&str] = &["Threads_created"];

/// Variables whose names have these suffixes are values.
const VALUES_BY_SUFFIX: &[&str] = &[
    "_avg_wait_time",
    "_lock_current_waits",
    "_lock_time_avg",
    "_lock_time_max",
    "_pages_data",
    "_pages_dirty",
    "_pages_free",
    "_pages_misc",
    "_pages_old",
    "_pages_total",
    "_pending",
    "_queue_size",
    "_tasks_running",
    "_clients",
    "_wait_sessions",
];

/// The prefix for names from INNODB_METRICS.
const METRICS: &str = "innodb_metrics.";

/// Variables that are ON or OFF and that decide whether a run is valid.
const SWITCHES: &[&str] = &["Innodb_redo_log_enabled"];

/// The type of INNODB_METRICS rows that are values; `status_counter`, `counter` and `set_member` are counters.
const METRIC_VALUE: &str = "value";

/// One reading of all variables that are numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Variables {
    counters: BTreeMap<String, f64>,
    values: BTreeMap<String, f64>,
    /// The next difference is the first one.
    is_first: bool,
}

/// The change between two readings.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Change {
    pub(crate) counters: BTreeMap<String, f64>,
    pub(crate) values: BTreeMap<String, f64>,
}

impl Variables {
    /// Adds a variable of SHOW GLOBAL STATUS; text is left out, except switches: ON is 1, OFF is 0.
    pub(crate) fn add_status(&mut self, name: String, value: &str) {
        if SWITCHES.contains(&name.as_str()) {
            self.values.insert(name, f64::from(u8::from(value == "ON")));
            return;
        }
        let Some(value) = number(value) else { return };
        if is_value(&name) {
            self.values.insert(name, value)
        } else {
            self.counters.insert(name, value)
        };
    }

    /// Adds a row of INNODB_METRICS.
    pub(crate) fn add_metric(&mut self, name: &str, kind: &str, value: &str) {
        let Some(value) = number(value) else { return };
        let name = format!("{METRICS}{name}");
        if kind == METRIC_VALUE {
            self.values.insert(name, value)
        } else {
            self.counters.insert(name, value)
        };
    }

    pub(crate) fn since(&self, earlier: &Self) -> Change {
        let counters = self.counters.iter().filter_map(|(name, now)| {
            let grown = now - earlier.counters.get(name)?;
            // Distinguishes a constant counter from one that this server does not have.
            let is_named = earlier.is_first && grown == 0.0 && !name.starts_with(METRICS);
            (grown > 0.0 || is_named).then(|| (name.clone(), to_nano(grown)))
        });
        let values = self
            .values
            .iter()
            .filter(|(name, now)| {
                // A switch that is off also matters.
                let is_new =
                    SWITCHES.contains(&name.as_str()) && !earlier.values.contains_key(*name);
                is_new || earlier.values.get(*name).copied().unwrap_or(0.0) != **now
            })
            .map(|(name, now)| (name.clone(), *now));
        Change {
            counters: counters.collect(),
            values: values.collect(),
        }
    }

    /// The same counters without values, so that the first change contains all of them, and the status variables that
    /// did not grow.
    pub(crate) fn into_first(mut self) -> Self {
        self.values.clear();
        self.is_first = true;
        self
    }

    /// A variable that is not a counter.
    pub(crate) fn value(&self, name: &str) -> Option<f64> {
        self.values.get(name).copied()
    }
}

/// Rounded to 10^-9, which removes the rounding errors of the subtraction.
pub(super) fn to_nano(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

fn is_value(name: &str) -> bool {
    let begins = VALUES_BY_PREFIX
        .iter()
        .any(|prefix| name.starts_with(prefix));
    let ends = VALUES_BY_SUFFIX.iter().any(|suffix| name.ends_with(suffix));
    (begins || ends) && !COUNTERS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(rows: &[(&str, &str)]) -> Variables {
        let mut variables = Variables::default();
        for (name, value) in rows {
            variables.add_status((*name).to_owned(), value);
        }
        variables
    }

    #[test]
    fn counters_grow_and_values_change() {
        let before = variables(&[
            ("Com_select", "10"),
            ("Com_insert", "3"),
            ("Threads_running", "1"),
            ("Threads_connected", "5"),
            ("Innodb_buffer_pool_dump_status", "not started"),
        ]);
        let after = variables(&[
            ("Com_select", "30"),
            ("Com_insert", "3"),
            ("Threads_running", "4"),
            ("Threads_connected", "5"),
            ("Innodb_buffer_pool_dump_status", "started"),
        ]);
        let change = after.since(&before);
        assert_eq!(
            change.counters,
            BTreeMap::from([("Com_select".to_owned(), 20.0)])
        );
        assert_eq!(
            change.values,
            BTreeMap::from([("Threads_running".to_owned(), 4.0)])
        );
        let first = after.since(&before.into_first());
        assert_eq!(first.values.len(), 2);
        let counters = [("Com_insert", 0.0), ("Com_select", 20.0)];
        let counters = counters.map(|(name, grown)| (name.to_owned(), grown));
        assert_eq!(first.counters, BTreeMap::from(counters));
    }

    #[test]
    fn a_switch_is_told_at_first_and_when_it_changes() {
        let at = |value| variables(&[("Innodb_redo_log_enabled", value)]);
        let told = |before: &Variables, after: Variables| {
            let values = after.since(before).values;
            values.get("Innodb_redo_log_enabled").copied()
        };
        assert_eq!(told(&at("OFF").into_first(), at("OFF")), Some(0.0));
        assert_eq!(told(&at("ON").into_first(), at("ON")), Some(1.0));
        assert_eq!(told(&at("ON"), at("OFF")), Some(0.0));
        assert_eq!(told(&at("ON"), at("ON")), None);
    }

    #[test]
    fn a_counter_that_was_set_back_is_left_out() {
        let before = variables(&[("Questions", "100")]);
        let after = variables(&[("Questions", "7")]);
        assert_eq!(after.since(&before), Change::default());
    }

    #[test]
    fn what_counts_and_what_does_not() {
        let cases = [
            ("Threads_created", false),
            ("Threads_cached", true),
            ("Opened_tables", false),
            ("Open_tables", true),
            ("Innodb_buffer_pool_pages_dirty", true),
            ("Innodb_buffer_pool_pages_flushed", false),
            ("Innodb_buffer_pool_reads", false),
            ("Innodb_row_lock_current_waits", true),
            ("Innodb_row_lock_time", false),
            ("Innodb_ibuf_size", true),
            ("Innodb_ibuf_merges", false),
            ("Qcache_hits", false),
            ("Qcache_free_memory", true),
            ("Handler_read_key", false),
            ("Uptime", true),
        ];
        for (name, expected) in cases {
            assert_eq!(is_value(name), expected, "{name}");
        }
    }

    #[test]
    fn metrics_say_of_themselves_whether_they_count() {
        let mut variables = Variables::default();
        variables.add_metric("trx_rseg_history_len", "value", "12");
        variables.add_metric("buffer_pool_reads", "status_counter", "7");
        variables.add_metric("broken", "counter", "NULL");
        let change = variables.since(&Variables::default());
        assert_eq!(
            change.values,
            BTreeMap::from([("innodb_metrics.trx_rseg_history_len".to_owned(), 12.0)])
        );
        assert_eq!(variables.counters.len(), 1);
    }
}
