//! Control connections: the statements that surround a load, on an event loop of their own.

use std::{collections::BTreeMap, future::Future, pin::pin, time::Duration};

use load::Interrupt;
use protocol::{Connection, Endpoint};

use crate::{
    blame::{Blame, Blamed},
    signals,
};

/// How often a long statement looks for an interruption.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// From the first Ctrl-C on, statements that clear up have so much time together.
const CLEARING_UP: Duration = Duration::from_millis(1800);

/// What a statement around a load is for, by which it may take its time; docs/limits.md has the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Asks the server about itself.
    Question,
    /// Makes, changes or drops things, whose rows do not count.
    Change,
    /// Loads, checks or reads whole tables, or is the user's.
    Work,
}

impl Purpose {
    /// Limit for each statement, unless the user has another (`--statement-timeout`).
    pub const fn limit(self) -> Duration {
        match self {
            Self::Question => Duration::from_secs(60),
            Self::Change => Duration::from_secs(600),
            Self::Work => load::STATEMENT_LIMIT,
        }
    }

    /// Opens a connection for statements of this purpose, does something over it and closes it; an error names the server.
    pub fn control<T>(
        self,
        endpoint: &Endpoint,
        what: impl AsyncFnOnce(&mut Connection) -> Result<T, protocol::Error>,
    ) -> Result<T, Blamed> {
        wait(async {
            let mut connection = Connection::open_within(endpoint, self.limit()).await?;
            let result = what(&mut connection).await?;
            connection.close().await?;
            Ok(result)
        })?
        .map_err(|error| Blamed::of_server(&endpoint.address, error))
    }
}

/// Opens a connection, asks something over it and closes it; an error names the server.
pub fn control<T>(
    endpoint: &Endpoint,
    what: impl AsyncFnOnce(&mut Connection) -> Result<T, protocol::Error>,
) -> Result<T, Blamed> {
    Purpose::Question.control(endpoint, what)
}

/// Runs a future to its end: whatever waits for a server outside of a load waits here. The first Ctrl-C ends it; what
/// begins later clears up, and has a little time.
pub fn wait<F: Future>(future: F) -> Result<F::Output, Blamed> {
    let of_machine = |error: &dyn std::fmt::Display| Blamed::new(Blame::Machine, error);
    signals::interrupt().map_err(|error| of_machine(&error))?;
    let clears_up = signals::raised_for().is_some();
    let output = reactor::block_on(async {
        let mut future = pin!(future);
        loop {
            if let Ok(output) = reactor::timeout(LOOK_EVERY, future.as_mut()).await {
                return Some(output);
            }
            match signals::raised_for() {
                Some(since) if !clears_up || since > CLEARING_UP => return None,
                _ => {}
            }
        }
    });
    output.map_err(|error| of_machine(&error))?.ok_or_else(|| {
        Blamed::new(
            Blame::Interrupted,
            "interrupted while waiting for the server",
        )
    })
}

/// What `work` returns, on a thread of its own; an error where the user interrupts first, who then does not wait for it.
/// For what cannot be ended otherwise, such as connecting to an observer.
pub fn wait_for_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Blamed> {
    let of_machine = |error: &dyn std::fmt::Display| Blamed::new(Blame::Machine, error);
    let interrupt = signals::interrupt().map_err(|error| of_machine(&error))?;
    let clears_up = interrupt.is_raised();
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::Builder::new()
        .name("waited-for".to_owned())
        .spawn(move || drop(done.send(work())))
        .map_err(|error| of_machine(&error))?;
    loop {
        match is_done.recv_timeout(LOOK_EVERY) {
            Ok(result) => return Ok(result),
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                return Err(of_machine(&"a thread ended without a result"));
            }
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
        }
        match signals::raised_for() {
            Some(since) if !clears_up || since > CLEARING_UP => {
                return Err(Blamed::new(Blame::Interrupted, "interrupted"));
            }
            _ => {}
        }
    }
}

/// The result of `future`; `None` when somebody interrupts first, which drops it where it is.
pub(crate) async fn unless_interrupted<F: Future>(
    interrupt: &Interrupt,
    future: F,
) -> Option<F::Output> {
    let mut future = pin!(future);
    while !interrupt.is_raised() {
        if let Ok(output) = reactor::timeout(LOOK_EVERY, future.as_mut()).await {
            return Some(output);
        }
    }
    None
}

/// SHOW GLOBAL VARIABLES.
pub(crate) async fn variables(
    connection: &mut Connection,
) -> Result<BTreeMap<String, String>, protocol::Error> {
    let text =
        |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
    let sets = connection.rows("SHOW GLOBAL VARIABLES").await?;
    let rows = sets.into_iter().flat_map(|set| set.rows);
    Ok(rows
        .filter_map(|row| {
            let mut row = row.into_iter();
            Some((text(row.next()?), text(row.next()?)))
        })
        .collect())
}

/// The first value of a result as a number; `None` for NULL, no row or no number.
pub async fn number(
    connection: &mut Connection,
    sql: &str,
) -> Result<Option<u64>, protocol::Error> {
    let sets = connection.rows(sql).await?;
    let value = sets
        .into_iter()
        .next()
        .and_then(|set| set.rows.into_iter().next()?.into_iter().next()?);
    Ok(value.and_then(|value| String::from_utf8(value).ok()?.parse().ok()))
}

/// A text as a string literal of SQL.
pub fn quoted(text: &str) -> String {
    let mut escaped = Vec::new();
    protocol::escape_into(text.as_bytes(), &mut escaped);
    format!("'{}'", String::from_utf8_lossy(&escaped))
}
