//! A server's redo log while it is disabled.

use blame::{Blame, Blamed};
use protocol::Endpoint;

use crate::{
    control::{Purpose, control},
    guard::Guard,
    listener::Context,
    redo_log::{guard, is_enabled, still_off, switch},
};

/// The disabled redo log of a server; it is enabled again when this value is dropped. A guard process does so if this
/// process is killed.
pub struct RedoLogOff<'e> {
    endpoint: &'e Endpoint,
    context: &'e Context,
    guard: Guard,
    is_on_again: bool,
}

/// Does something while the redo log is written, or while it is switched off.
pub fn with_redo_log<T>(
    is_written: bool,
    endpoint: &Endpoint,
    context: &Context,
    work: impl FnOnce() -> Result<T, Blamed>,
) -> Result<T, Blamed> {
    if is_written {
        return work();
    }
    let off = RedoLogOff::switch_off(endpoint, context)?;
    let done = work()?;
    off.switch_on()?;
    Ok(done)
}

impl<'e> RedoLogOff<'e> {
    /// Disables the redo log; an error if the server cannot do that.
    pub(crate) fn switch_off(endpoint: &'e Endpoint, context: &'e Context) -> Result<Self, Blamed> {
        let enabled = control(endpoint, is_enabled)?;
        if enabled.is_none() {
            let message = "this server cannot switch off its redo log";
            return Err(Blamed::new(Blame::Input, message)
                .hint("MySQL 8.0.21 and later can; MariaDB cannot".to_owned()));
        }
        // Before the statement, which may take effect although its answer is lost.
        let off = Self {
            endpoint,
            context,
            guard: guard::set_up(endpoint)?,
            is_on_again: false,
        };
        Purpose::Change.control(endpoint, async |connection| switch(connection, false).await)?;
        Ok(off)
    }

    pub fn switch_on(mut self) -> Result<(), Blamed> {
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
            Err(error) => self.context.warn(&error.to_string()),
        }
    }
}
