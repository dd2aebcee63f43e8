//! InnoDB's redo log, which MySQL from 8.0.21 on can switch off for the whole server.

use protocol::{Connection, Endpoint};

use super::{Purpose, control, redo_log_guard::Guard};
use crate::blame::{Blame, Blamed};

/// The redo log of a server, switched off; it is on again when this goes, however that comes. A guard, a process of its
/// own, sees to that where this one is killed.
pub(crate) struct RedoLogOff<'e> {
    endpoint: &'e Endpoint,
    guard: Guard,
    is_on_again: bool,
}

impl<'e> RedoLogOff<'e> {
    /// Switches it off. An error where the server cannot do that.
    pub(crate) fn switch_off(endpoint: &'e Endpoint) -> Result<Self, Blamed> {
        let enabled = control(endpoint, is_enabled)?;
        if enabled.is_none() {
            let message = "this server cannot switch off its redo log";
            return Err(Blamed::new(Blame::Input, message)
                .hint("MySQL from 8.0.21 on can; MariaDB cannot".to_owned()));
        }
        // Before the statement: it may take effect and its answer be lost.
        let off = Self {
            endpoint,
            guard: Guard::set_up(endpoint)?,
            is_on_again: false,
        };
        Purpose::Change.control(endpoint, async |connection| switch(connection, false).await)?;
        Ok(off)
    }

    /// Switches it on again.
    pub(crate) fn switch_on(mut self) -> Result<(), Blamed> {
        self.is_on_again = true;
        Purpose::Change
            .control(self.endpoint, async |connection| {
                switch(connection, true).await
            })
            .map_err(still_off)?;
        self.guard.dismiss();
        Ok(())
    }
}

impl Drop for RedoLogOff<'_> {
    fn drop(&mut self) {
        if self.is_on_again {
            return;
        }
        let switched = Purpose::Change.control(self.endpoint, async |connection| {
            switch(connection, true).await
        });
        match switched.map_err(still_off) {
            Ok(()) => self.guard.dismiss(),
            Err(error) => eprintln!("warning: {error}"),
        }
    }
}

pub(super) fn still_off(error: Blamed) -> Blamed {
    let message = format!("the server's redo log could not be switched on again: {error}");
    Blamed::new(error.blame, message)
        .hint("alter instance enable innodb redo_log; until then a crash loses all data".to_owned())
}

/// Whether the redo log is written; `None` where the server cannot switch it.
pub(crate) async fn is_enabled(
    connection: &mut Connection,
) -> Result<Option<bool>, protocol::Error> {
    let sets = connection
        .rows("show global status like 'Innodb_redo_log_enabled'")
        .await?;
    let mut rows = sets.into_iter().flat_map(|set| set.rows);
    let value = rows.next().and_then(|row| row.into_iter().nth(1)?);
    Ok(value.map(|value| value == b"ON"))
}

/// Switches it on, or off: without it a crash loses the data of every table of the server.
pub(crate) async fn switch(connection: &mut Connection, on: bool) -> Result<(), protocol::Error> {
    let word = if on { "enable" } else { "disable" };
    let sql = format!("alter instance {word} innodb redo_log");
    connection.query(sql.as_bytes()).await.map(drop)
}

/// Switches it on where it is off; true when it was.
pub(crate) async fn bring_back(connection: &mut Connection) -> Result<bool, protocol::Error> {
    let is_off = is_enabled(connection).await? == Some(false);
    if is_off {
        switch(connection, true).await?;
    }
    Ok(is_off)
}
