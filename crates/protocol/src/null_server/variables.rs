//! The system variables and status variables of the null server.

use crate::outgoing_greeting::Dialect;

/// Variables that drivers (Connector/J, Connector/NET, MariaDB's and the command-line clients) and dbdyno itself query,
/// with the values of a newly installed server.
const FIXED: &[(&str, &str)] = &[
    ("auto_increment_increment", "1"),
    ("auto_increment_offset", "1"),
    ("autocommit", "ON"),
    ("character_set_client", "utf8mb4"),
    ("character_set_connection", "utf8mb4"),
    ("character_set_database", "utf8mb4"),
    ("character_set_results", "utf8mb4"),
    ("character_set_server", "utf8mb4"),
    ("collation_connection", "utf8mb4_general_ci"),
    ("collation_database", "utf8mb4_general_ci"),
    ("collation_server", "utf8mb4_general_ci"),
    ("default_storage_engine", "InnoDB"),
    ("foreign_key_checks", "ON"),
    ("have_query_cache", "NO"),
    ("have_ssl", "DISABLED"),
    ("init_connect", ""),
    ("innodb_buffer_pool_size", "0"),
    ("interactive_timeout", "28800"),
    ("license", "MIT OR Apache-2.0"),
    ("local_infile", "ON"),
    ("lower_case_file_system", "OFF"),
    ("lower_case_table_names", "0"),
    ("max_allowed_packet", "67108864"),
    ("max_execution_time", "0"),
    ("net_buffer_length", "16384"),
    ("net_read_timeout", "30"),
    ("net_write_timeout", "60"),
    ("performance_schema", "OFF"),
    ("protocol_version", "10"),
    ("query_cache_size", "0"),
    ("query_cache_type", "OFF"),
    ("read_only", "OFF"),
    ("session_track_gtids", "OFF"),
    ("session_track_schema", "ON"),
    ("session_track_state_change", "OFF"),
    (
        "session_track_system_variables",
        "time_zone,autocommit,character_set_client,character_set_results,character_set_connection",
    ),
    ("session_track_transaction_info", "OFF"),
    ("sql_auto_is_null", "OFF"),
    ("sql_mode", ""),
    ("sql_safe_updates", "OFF"),
    ("sql_select_limit", "18446744073709551615"),
    ("super_read_only", "OFF"),
    ("system_time_zone", "UTC"),
    ("time_zone", "SYSTEM"),
    ("transaction_isolation", "REPEATABLE-READ"),
    ("transaction_read_only", "OFF"),
    ("tx_isolation", "REPEATABLE-READ"),
    ("tx_read_only", "OFF"),
    ("unique_checks", "ON"),
    ("version_comment", "dbdyno null-server"),
    ("version_compile_machine", ""),
    ("version_compile_os", "Linux"),
    ("wait_timeout", "28800"),
    ("warning_count", "0"),
];

/// Size of a page, as of InnoDB.
const PAGE_BYTES: u64 = 16 << 10;

/// The properties that differ between null servers.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub(super) dialect: Dialect,
    /// Path of its unix socket, if it has one.
    pub(super) socket: String,
    /// TCP port, 0 without one.
    pub(super) port: u16,
    pub(super) max_connections: u32,
    pub(super) max_prepared_stmt_count: usize,
    /// Variables set by the user or by SET GLOBAL, which replace or extend these.
    pub(super) set: Vec<(String, String)>,
}

impl Identity {
    /// The version as in the server's variable.
    pub(super) fn version(&self) -> &'static str {
        match self.dialect {
            Dialect::MariaDb => "10.11.0-MariaDB-null",
            Dialect::MySql => "8.4.2-null",
        }
    }

    /// The version as in the greeting: MariaDB up to 10.11 reports itself as MySQL 5.5.
    pub(super) fn greeted_version(&self) -> String {
        match self.dialect {
            Dialect::MariaDb => format!("5.5.5-{}", self.version()),
            Dialect::MySql => self.version().to_owned(),
        }
    }

    /// Changes the value of a variable; one that it does not have is not added.
    pub(super) fn change(&mut self, name: &str, value: String) {
        let name = name.to_ascii_lowercase();
        if self.variables().iter().any(|(known, _)| *known == name) {
            self.set.retain(|(set, _)| *set != name);
            self.set.push((name, value));
        }
    }

    /// All variables, sorted by name.
    pub(super) fn variables(&self) -> Vec<(&str, String)> {
        let own = [
            ("max_connections", self.max_connections.to_string()),
            (
                "max_prepared_stmt_count",
                self.max_prepared_stmt_count.to_string(),
            ),
            ("port", self.port.to_string()),
            ("socket", self.socket.clone()),
            ("version", self.version().to_owned()),
        ];
        let fixed = FIXED
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()));
        let set = |name: &str| self.set.iter().any(|(set, _)| set == name);
        let known = fixed.chain(own).filter(|(name, _)| !set(name));
        let set = self.set.iter();
        let set = set.map(|(name, value)| (name.as_str(), value.clone()));
        let mut all: Vec<_> = known.chain(set).collect();
        all.sort_unstable_by_key(|(name, _)| *name);
        all
    }
}

/// Counters since the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number of logins.
    pub connections: u64,
    /// Number of open connections.
    pub connected: u64,
    /// Largest number of connections open at the same time.
    pub most_connected: u64,
    /// Number of connections refused because there were too many.
    pub refused: u64,
    /// Number of executed statements, by COM_QUERY and prepared.
    pub statements: u64,
    /// Number of executed prepared statements.
    pub executes: u64,
    /// Number of prepared statements created.
    pub prepares: u64,
    /// Number of statements answered with a configured error.
    pub errors: u64,
    /// Number of statements answered by closing the connection, as configured.
    pub drops: u64,
    /// Number of page reads by the service-time law; `None` if it has none.
    pub page_reads: Option<u64>,
}

impl Counters {
    /// The status variables, sorted by name, as SHOW STATUS names them.
    pub(super) fn status(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("Com_stmt_execute", self.executes),
            ("Com_stmt_prepare", self.prepares),
            ("Connection_errors_max_connections", self.refused),
            ("Connections", self.connections),
            ("Max_used_connections", self.most_connected),
            ("Queries", self.statements),
            ("Questions", self.statements),
            ("Threads_connected", self.connected),
        ];
        // A server without a disk has no counters of one: zeros would be a measurement.
        if let Some(pages) = self.page_reads {
            all.extend([
                ("Innodb_buffer_pool_reads", pages),
                ("Innodb_data_read", pages.saturating_mul(PAGE_BYTES)),
                ("Innodb_data_reads", pages),
            ]);
            all.sort_unstable_by_key(|(name, _)| *name);
        }
        let all = all
            .into_iter()
            .map(|(name, value)| (name, value.to_string()));
        all.collect()
    }
}

/// Whether a text matches a LIKE pattern: `%` any characters, `_` one character, backslash escapes the next one.
pub(super) fn is_like(text: &[u8], pattern: &[u8]) -> bool {
    // Backtracking position after a failed match: `%` consumes one more character.
    let mut again: Option<(&[u8], &[u8])> = None;
    let (mut text, mut pattern) = (text, pattern);
    loop {
        let one = match pattern {
            [b'%', rest @ ..] => {
                again = Some((text, rest));
                pattern = rest;
                continue;
            }
            [b'\\', literal, rest @ ..] => text
                .split_first()
                .filter(|(byte, _)| byte.eq_ignore_ascii_case(literal))
                .map(|(_, left)| (left, rest)),
            [b'_', rest @ ..] => text.split_first().map(|(_, left)| (left, rest)),
            [literal, rest @ ..] => text
                .split_first()
                .filter(|(byte, _)| byte.eq_ignore_ascii_case(literal))
                .map(|(_, left)| (left, rest)),
            [] if text.is_empty() => return true,
            [] => None,
        };
        match (one, again) {
            (Some(next), _) => (text, pattern) = next,
            (None, Some(([_, left @ ..], rest))) => {
                again = Some((left, rest));
                (text, pattern) = (left, rest);
            }
            (None, _) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        let cases = [
            ("version", "version", true),
            ("version", "VER%", true),
            ("version_comment", "%comment", true),
            ("version", "v_rsion", true),
            ("version", "%r%o%", true),
            ("version", "version_", false),
            ("aXb", "a\\_b", false),
            ("a_b", "a\\_b", true),
            ("", "%", true),
            ("", "", true),
            ("x", "", false),
            ("aaab", "%ab", true),
        ];
        for (text, pattern, expected) in cases {
            assert_eq!(
                is_like(text.as_bytes(), pattern.as_bytes()),
                expected,
                "{text} like {pattern}"
            );
        }
    }

    #[test]
    fn a_variable_keeps_the_value_that_is_set() {
        let mut identity = Identity {
            dialect: Dialect::MySql,
            socket: String::new(),
            port: 0,
            max_connections: 1,
            max_prepared_stmt_count: 1,
            set: vec![("sync_binlog".to_owned(), "1".to_owned())],
        };
        identity.change("SYNC_BINLOG", "0".to_owned());
        identity.change("sql_mode", "ANSI".to_owned());
        identity.change("long_query_time", "1".to_owned());
        let variables = identity.variables();
        let value = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.as_str())
        };
        assert_eq!(value("sync_binlog"), Some("0"));
        assert_eq!(value("sql_mode"), Some("ANSI"));
        assert_eq!(value("long_query_time"), None);
    }

    #[test]
    fn the_fixed_variables_are_sorted_and_named_once() {
        assert!(FIXED.is_sorted_by(|(a, _), (b, _)| a < b));
    }
}
