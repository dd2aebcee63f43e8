//! Option files by number, for tests: each has some lines of a list, right and wrong ones for one version or another.

use std::fmt::Write as _;

/// Names with values. What is right differs by version for some of them.
const LINES: [(&str, &[&str]); 26] = [
    (
        "max_connections",
        &["77", "100", "1K", "2X", "many", "99999999999999999999"],
    ),
    ("max-connections", &["88"]),
    ("Max_Connections", &["99"]),
    ("max_conections", &["5"]),
    ("sort_buffer_size", &["256K", "1M", "1", "70%"]),
    ("join_buffer_size", &["512K", "99999999999999999999", ""]),
    ("key_buffer", &["16M"]),
    ("key_buffer_size", &["16M"]),
    (
        "sql_mode",
        &[
            "",
            "ANSI",
            "STRICT_ALL_TABLES,NO_ZERO_DATE",
            "FOO",
            "ANSI, TRADITIONAL",
            "ANSI,",
            "STRICT",
        ],
    ),
    ("sql-mode", &["NO_AUTO_CREATE_USER", "traditional"]),
    ("binlog_format", &["row", "MIXED", "rows", "2", "7"]),
    ("log_output", &["FILE", "TABLE,FILE", "SYSLOG"]),
    (
        "transaction_isolation",
        &["READ-COMMITTED", "READ COMMITTED", "1"],
    ),
    ("character_set_server", &["latin1", "utf8mb3", "utf8mb5"]),
    ("long_query_time", &["1", "0.5", "soon"]),
    ("slow_query_log", &["1", "OFF", "yes"]),
    ("loose-slow_query_log", &["1"]),
    ("query_cache_size", &["0", "8M"]),
    ("innodb_log_files_in_group", &["2"]),
    ("innodb_flush_log_at_trx_commit", &["1", "2"]),
    (
        "default_time_zone",
        &["+09:00", "SYSTEM", "Asia/Tokyo", "+15:00"],
    ),
    ("event_scheduler", &["ON", "true", "DISABLED"]),
    ("no_such_option", &["1"]),
    ("loose-no_such_option", &["1"]),
    ("log_slave_updates", &["0"]),
    ("delay_key_write", &["ALL", "SOME"]),
];

/// Names without a value.
const SWITCHES: [&str; 4] = [
    "skip-name-resolve",
    "skip_external_locking",
    "skip-no-such-thing",
    "memlok",
];

/// The text of a file; the same number gives the same text.
pub(crate) fn generated_file(number: u64) -> String {
    // A linear congruential generator, whose high bits are used.
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    let mut below = |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits fit") % limit
    };
    let mut text = "[mysqld]\n".to_owned();
    let mut used: Vec<&str> = Vec::new();
    for _ in 0..2 + below(6) {
        let (name, values) = LINES[below(LINES.len())];
        let value = values[below(values.len())];
        if !used.contains(&name) {
            writeln!(text, "{name} = {value}").expect("writing to a String cannot fail");
            used.push(name);
        }
    }
    if below(3) == 0 {
        text.push_str(SWITCHES[below(SWITCHES.len())]);
        text.push('\n');
    }
    text
}
