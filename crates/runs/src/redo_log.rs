//! InnoDB's redo log, which MySQL 8.0.21 and later can disable for the whole server.

pub mod guard;
pub mod switched_off;

use blame::Blamed;
use protocol::Connection;

/// The error with a hint for a redo log that stays disabled.
pub(crate) fn still_off(error: Blamed) -> Blamed {
    let message = format!("the server's redo log could not be switched on again: {error}");
    Blamed::new(error.blame, message).hint(
        "execute: alter instance enable innodb redo_log; until then, a crash loses all data"
            .to_owned(),
    )
}

/// Whether the redo log is enabled; `None` if the server cannot disable it.
pub async fn is_enabled(connection: &mut Connection) -> Result<Option<bool>, protocol::Error> {
    let sets = connection
        .rows("show global status like 'Innodb_redo_log_enabled'")
        .await?;
    let mut rows = sets.into_iter().flat_map(|set| set.rows);
    let value = rows.next().and_then(|row| row.into_iter().nth(1)?);
    Ok(value.map(|value| value == b"ON"))
}

/// Enables or disables the redo log: without it a crash loses the data of every table of the server.
pub async fn switch(connection: &mut Connection, on: bool) -> Result<(), protocol::Error> {
    let word = if on { "enable" } else { "disable" };
    let sql = format!("alter instance {word} innodb redo_log");
    connection.query(sql.as_bytes()).await.map(drop)
}

/// Enables the redo log if it is disabled; true if it was.
pub async fn bring_back(connection: &mut Connection) -> Result<bool, protocol::Error> {
    let is_off = is_enabled(connection).await? == Some(false);
    if is_off {
        switch(connection, true).await?;
    }
    Ok(is_off)
}
