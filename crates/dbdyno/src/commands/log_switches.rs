//! Logs that are off by default in some versions, and the options that have no effect while they are.

/// A log that is off by default in some versions.
pub(crate) struct Log {
    /// The variable that shows whether it is on, then other options that switch it.
    pub(crate) switches: &'static [&'static str],
    /// The option that turns it on, with its value.
    pub(crate) switched_on: (&'static str, &'static str),
    pub(crate) is_binary: bool,
    /// Whether an option of this name has an effect only while the log is on.
    is_of: fn(&str) -> bool,
}

/// Source: MySQL Reference Manual, "Binary Logging Options and Variables" and "The Slow Query Log".
static LOGS: [Log; 2] = [
    Log {
        switches: &["log_bin", "skip_log_bin", "disable_log_bin"],
        switched_on: ("log_bin", "binlog"),
        is_binary: true,
        is_of: |name| name == "sync_binlog" || name.starts_with("binlog_"),
    },
    Log {
        switches: &["slow_query_log", "log_slow_query"],
        switched_on: ("slow_query_log", "ON"),
        is_binary: false,
        is_of: |name| {
            let others = [
                "long_query_time",
                "log_queries_not_using_indexes",
                "min_examined_row_limit",
            ];
            others.contains(&name) || name.starts_with("log_slow_")
        },
    },
];

/// The log without which an option, written as a variable, has no effect.
pub(crate) fn log_of(variable: &str) -> Option<&'static Log> {
    LOGS.iter().find(|log| (log.is_of)(variable))
}

/// The name of an option as variables are written: `sync_binlog` for `loose-sync-binlog`.
pub(crate) fn variable_name(option: &str) -> String {
    let name = option.replace('-', "_").to_ascii_lowercase();
    name.trim_start_matches("loose_").to_owned()
}
