//! What servers of different versions have alike, so that not their defaults are compared.

/// What servers of different versions have alike, unless the experiment sets it: with the defaults of each, a binary log
/// that is flushed at every commit (MySQL's since 8.0, never MariaDB's) or a `performance_schema` would be what is measured.
/// Events of a dump would change its rows on some of them only: the scheduler is on by default in MySQL since 8.0.
pub const OF_COMPARED_VERSIONS: &[(&str, &str)] = &[
    ("skip-log-bin", "1"),
    ("sync_binlog", "1"),
    ("innodb_flush_log_at_trx_commit", "1"),
    ("innodb_doublewrite", "1"),
    ("performance_schema", "0"),
    ("event_scheduler", "0"),
];

/// [`OF_COMPARED_VERSIONS`], in words.
pub fn compared_versions_in_words() -> String {
    let options = OF_COMPARED_VERSIONS.iter();
    let options: Vec<String> = options
        .map(|(option, value)| format!("{option}={value}"))
        .collect();
    format!(
        "{} in all versions, unless set otherwise",
        options.join(", ")
    )
}
