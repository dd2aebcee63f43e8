//! The session of statements whose text is dbdyno's own: it means what was written, however the server is configured.
//!
//! Rows are loaded and checked on servers with any option file, and the session inherits each of its settings. Under
//! NO_BACKSLASH_ESCAPES `\N` is no NULL, without autocommit a row is gone, with an AUTO_INCREMENT of Galera's the third row is
//! not number 3.

use std::time::Duration;

use protocol::{Connection, Endpoint, Error};

/// What the bytes of rows, and the figures of checks, depend on; any account may set it. In this order they stand in one
/// statement, so that `sql_mode` comes last: the others are read under the server's own.
const SETTINGS: [(&str, &str); 26] = [
    // Without it rows are lost, and NULL becomes the last id.
    ("autocommit", "1"),
    ("sql_auto_is_null", "0"),
    // 1 and 2 begin another transaction, and close the connection, behind each COMMIT.
    ("completion_type", "0"),
    ("foreign_key_checks", "1"),
    ("unique_checks", "1"),
    // Rows that a SELECT leaves out or refuses to read, changes without a key.
    ("sql_select_limit", "18446744073709551615"),
    ("sql_big_selects", "1"),
    ("sql_safe_updates", "0"),
    ("sql_buffer_result", "0"),
    // TIMESTAMP, of which local times have no or two values where the clock is changed.
    ("time_zone", "'+00:00'"),
    ("div_precision_increment", "4"),
    ("max_sort_length", "1024"),
    ("group_concat_max_len", "1048576"),
    // Messages are read for the number of a row; a warning tells that a value was changed.
    ("lc_messages", "'en_US'"),
    ("lc_time_names", "'en_US'"),
    ("sql_notes", "1"),
    ("sql_warnings", "0"),
    ("sql_quote_show_create", "1"),
    // A connection waits while others load.
    ("wait_timeout", "28800"),
    ("interactive_timeout", "28800"),
    ("net_read_timeout", "600"),
    ("net_write_timeout", "600"),
    ("character_set_client", "utf8mb4"),
    ("character_set_results", "utf8mb4"),
    ("character_set_connection", "utf8mb4"),
    // A server that adjusts values still does, which the load tells. Zeros within dates are allowed, as in what dumps
    // and files contain. No text is empty here: EMPTY_STRING_IS_NULL would make the whole a NULL.
    (
        "sql_mode",
        "concat('NO_AUTO_VALUE_ON_ZERO,', \
         if(@@sql_mode like '%STRICT_TRANS_TABLES%', 'STRICT_TRANS_TABLES,', 'NO_AUTO_VALUE_ON_ZERO,'), \
         if(@@sql_mode like '%STRICT_ALL_TABLES%', 'STRICT_ALL_TABLES,', 'NO_AUTO_VALUE_ON_ZERO,'), \
         if(@@sql_mode like '%NO_ENGINE_SUBSTITUTION%', 'NO_ENGINE_SUBSTITUTION', 'NO_AUTO_VALUE_ON_ZERO'))",
    ),
];

/// Limits of a statement's time: MySQL's from 5.7.8 on, and MariaDB's, which reads no comments of MySQL's 5.7.
const TIME_LIMITS: &str =
    "/*!50708 max_execution_time = 0, */ /*M!100101 max_statement_time = 0, */";

/// READ WRITE is known from MySQL 5.6.5 and MariaDB 10.0 on, as is a server that is read-only by default.
const TRANSACTIONS: &str =
    "set session transaction isolation level repeatable read /*!50605 , read write */";

/// What an account without further rights may not set in MySQL 8: set only where the value in force will not do, and where
/// it may be. The steps of AUTO_INCREMENT; and without room for a warning none is seen.
const RESTRICTED: [Restricted; 3] = [
    Restricted {
        name: "auto_increment_increment",
        will_do: |value| value == b"1",
        wanted: 1,
    },
    Restricted {
        name: "auto_increment_offset",
        will_do: |value| value == b"1",
        wanted: 1,
    },
    Restricted {
        name: "max_error_count",
        will_do: |value| value != b"0",
        wanted: 64,
    },
];

struct Restricted {
    name: &'static str,
    /// Whether a value in force is as good as the wanted one.
    will_do: fn(&[u8]) -> bool,
    wanted: u32,
}

/// Error of a variable that this server does not have.
const UNKNOWN_VARIABLE: u16 = 1193;
/// Error of an account without the right to do that.
const ACCESS_DENIED: u16 = 1227;

/// Opens a connection with a limit for each of its statements, whose session is settled.
pub async fn open_settled(endpoint: &Endpoint, limit: Duration) -> Result<Connection, Error> {
    let mut connection = Connection::open_within(endpoint, limit).await?;
    settle(&mut connection).await?;
    Ok(connection)
}

/// Makes a session's statements mean the same on every server.
pub async fn settle(connection: &mut Connection) -> Result<(), Error> {
    let all = SETTINGS.map(|(name, value)| format!("{name} = {value}"));
    let sql = format!("set session {TIME_LIMITS} {}", all.join(", "));
    match connection.query(sql.as_bytes()).await {
        // One that is no MySQL and no MariaDB.
        Err(error) if is_unknown(&error) => {
            for one in all {
                set_if_known(connection, &format!("set session {one}")).await?;
            }
        }
        set => drop(set?),
    }
    set_if_known(connection, TRANSACTIONS).await?;
    settle_restricted(connection).await
}

/// Sets what needs rights, and takes over what no session can set.
async fn settle_restricted(connection: &mut Connection) -> Result<(), Error> {
    let names = RESTRICTED.map(|it| format!("@@session.{}", it.name));
    let sql = format!("select {}, @@session.max_allowed_packet", names.join(", "));
    let sets = match connection.rows(&sql).await {
        Err(error) if is_unknown(&error) => return Ok(()),
        sets => sets?,
    };
    let row = sets.into_iter().flat_map(|set| set.rows).next();
    let mut values = row.into_iter().flatten();
    for (variable, value) in RESTRICTED.iter().zip(&mut values) {
        if value.is_none_or(|value| (variable.will_do)(&value)) {
            continue;
        }
        let set = format!("set session {} = {}", variable.name, variable.wanted);
        match connection.query(set.as_bytes()).await {
            Err(error) if error.server_number() == Some(ACCESS_DENIED) => {}
            set => drop(set?),
        }
    }
    // No session may set it.
    let packet = values.next().flatten();
    let packet = packet.and_then(|it| std::str::from_utf8(&it).ok()?.parse().ok());
    if let Some(bytes) = packet {
        connection.limit_data_packets(bytes);
    }
    Ok(())
}

async fn set_if_known(connection: &mut Connection, sql: &str) -> Result<(), Error> {
    match connection.query(sql.as_bytes()).await {
        Err(error) if is_unknown(&error) => Ok(()),
        set => set.map(drop),
    }
}

fn is_unknown(error: &Error) -> bool {
    error.server_number() == Some(UNKNOWN_VARIABLE)
}
