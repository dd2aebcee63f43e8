//! The numbers that scripts know by name.

use lua::mlua::{Result, Table};

/// What a hook returns to have the queue sent.
pub(super) const SEND_QUERY: i64 = 1;
/// What a hook returns to have `proxy.response` sent.
pub(super) const SEND_RESULT: i64 = 2;
/// What a hook returns to have a result dropped.
pub(super) const IGNORE_RESULT: i64 = 4;
/// `proxy.response.type` of an OK.
pub(super) const PACKET_OK: i64 = 0;
/// `proxy.response.type` of an error.
pub(super) const PACKET_ERR: i64 = 255;
/// `proxy.response.type` of packets that the script wrote itself.
pub(super) const PACKET_RAW: i64 = 250;

/// The version of the original whose interface this is, 0.8.5.
const VERSION: i64 = 0x00_08_05;

const NUMBERS: &[(&str, i64)] = &[
    ("PROXY_VERSION", VERSION),
    ("PROXY_SEND_QUERY", SEND_QUERY),
    ("PROXY_SEND_RESULT", SEND_RESULT),
    ("PROXY_IGNORE_RESULT", IGNORE_RESULT),
    ("MYSQLD_PACKET_OK", PACKET_OK),
    ("MYSQLD_PACKET_ERR", PACKET_ERR),
    ("MYSQLD_PACKET_RAW", PACKET_RAW),
    ("BACKEND_STATE_UNKNOWN", 0),
    ("BACKEND_STATE_UP", 1),
    ("BACKEND_STATE_DOWN", 2),
    ("BACKEND_TYPE_UNKNOWN", 0),
    ("BACKEND_TYPE_RW", 1),
    ("BACKEND_TYPE_RO", 2),
];

/// The commands, each at the place of its number, without `COM_`.
pub(super) const COMMANDS: [&str; 30] = [
    "SLEEP",
    "QUIT",
    "INIT_DB",
    "QUERY",
    "FIELD_LIST",
    "CREATE_DB",
    "DROP_DB",
    "REFRESH",
    "SHUTDOWN",
    "STATISTICS",
    "PROCESS_INFO",
    "CONNECT",
    "PROCESS_KILL",
    "DEBUG",
    "PING",
    "TIME",
    "DELAYED_INSERT",
    "CHANGE_USER",
    "BINLOG_DUMP",
    "TABLE_DUMP",
    "CONNECT_OUT",
    "REGISTER_SLAVE",
    "STMT_PREPARE",
    "STMT_EXECUTE",
    "STMT_SEND_LONG_DATA",
    "STMT_CLOSE",
    "STMT_RESET",
    "SET_OPTION",
    "STMT_FETCH",
    "DAEMON",
];

/// The types of columns, without `MYSQL_TYPE_`.
const TYPES: &[(&str, i64)] = &[
    ("DECIMAL", 0),
    ("TINY", 1),
    ("SHORT", 2),
    ("LONG", 3),
    ("FLOAT", 4),
    ("DOUBLE", 5),
    ("NULL", 6),
    ("TIMESTAMP", 7),
    ("LONGLONG", 8),
    ("INT24", 9),
    ("DATE", 10),
    ("TIME", 11),
    ("DATETIME", 12),
    ("YEAR", 13),
    ("NEWDATE", 14),
    ("BIT", 16),
    ("NEWDECIMAL", 246),
    ("ENUM", 247),
    ("SET", 248),
    ("TINY_BLOB", 249),
    ("MEDIUM_BLOB", 250),
    ("LONG_BLOB", 251),
    ("BLOB", 252),
    ("VAR_STRING", 253),
    ("STRING", 254),
    ("GEOMETRY", 255),
];

/// Adds the numbers to a table.
pub(super) fn add_to(table: &Table) -> Result<()> {
    for (name, value) in NUMBERS {
        table.raw_set(*name, *value)?;
    }
    for (number, name) in COMMANDS.iter().enumerate() {
        table.raw_set(format!("COM_{name}"), number)?;
    }
    for (name, value) in TYPES {
        table.raw_set(format!("MYSQL_TYPE_{name}"), *value)?;
    }
    Ok(())
}
