//! Control connections: the statements before and after a load, on a separate event loop.

use std::{collections::BTreeMap, future::Future, time::Duration};

use blame::{Blame, Blamed};
use dataset::own_session::settle;
use protocol::{Connection, Endpoint};
use reactor::channel::{RecvTimeoutError, bounded};

use crate::signals;

/// Total time limit for cleanup statements, from the first Ctrl-C.
const CLEARING_UP: Duration = Duration::from_millis(1800);
/// Time that each of them has even after that.
const CLEARING_UP_AT_LEAST: Duration = Duration::from_millis(50);

/// Purpose of a statement before or after a load, which determines its time limit; docs/limits.md has the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Reads the state of the server.
    Question,
    /// Creates, changes or drops objects; the time does not depend on their rows.
    Change,
    /// Loads, checks or reads whole tables.
    Work,
    /// Is the user's own, under the server's settings.
    OfUser,
}

impl Purpose {
    /// Time limit for each statement, unless the user sets another (`--statement-timeout`).
    pub const fn limit(self) -> Duration {
        match self {
            Self::Question => Duration::from_secs(60),
            Self::Change => Duration::from_secs(600),
            Self::Work | Self::OfUser => dataset::STATEMENT_LIMIT,
        }
    }

    /// Whether its statements mean the same on every server.
    fn is_settled(self) -> bool {
        matches!(self, Self::Change | Self::Work)
    }

    /// Opens a connection for statements of this purpose, executes `what` on it and closes it. An error names the
    /// server.
    pub fn control<T>(
        self,
        endpoint: &Endpoint,
        what: impl AsyncFnOnce(&mut Connection) -> Result<T, protocol::Error>,
    ) -> Result<T, Blamed> {
        wait(async {
            let mut connection = Connection::open_within(endpoint, self.limit()).await?;
            if self.is_settled() {
                settle(&mut connection).await?;
            }
            let result = what(&mut connection).await?;
            connection.close().await?;
            Ok(result)
        })?
        .map_err(|error: protocol::Error| error.blamed(&endpoint.address))
    }
}

/// Opens a connection, executes the queries of `what` on it and closes it; an error names the server.
pub fn control<T>(
    endpoint: &Endpoint,
    what: impl AsyncFnOnce(&mut Connection) -> Result<T, protocol::Error>,
) -> Result<T, Blamed> {
    Purpose::Question.control(endpoint, what)
}

/// Runs a future to its end: all waits for a server outside of a load use this function. The first Ctrl-C ends the
/// wait; a wait that begins later is a cleanup and has a short time limit. A loop of waits that is no cleanup calls
/// [`refuse_if_interrupted`].
pub fn wait<F: Future>(future: F) -> Result<F::Output, Blamed> {
    let of_machine = |error: &dyn std::fmt::Display| Blamed::new(Blame::Machine, error);
    let interrupt = signals::interrupt().map_err(|error| of_machine(&error))?;
    let output = reactor::block_on(async {
        match left_to_clear_up() {
            None => interrupt.unless_raised(future).await,
            Some(left) => reactor::timeout(left, future).await.ok(),
        }
    });
    output.map_err(|error| of_machine(&error))?.ok_or_else(|| {
        Blamed::new(
            Blame::Interrupted,
            "interrupted while waiting for the server",
        )
    })
}

/// Time limit of a wait that begins now, if that is a cleanup because the user has interrupted.
fn left_to_clear_up() -> Option<Duration> {
    let since = signals::raised_for()?;
    Some(CLEARING_UP.saturating_sub(since).max(CLEARING_UP_AT_LEAST))
}

/// An error once the user has interrupted.
pub fn refuse_if_interrupted() -> Result<(), Blamed> {
    match signals::raised_for() {
        Some(_) => Err(Blamed::new(Blame::Interrupted, "interrupted")),
        None => Ok(()),
    }
}

/// The result of `work`, which runs in a separate thread; an error, without further waiting, if the user interrupts
/// first. For work that cannot be cancelled otherwise, such as connecting to an observer.
pub fn wait_for_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Blamed> {
    let of_machine = |error: &dyn std::fmt::Display| Blamed::new(Blame::Machine, error);
    let interrupt = signals::interrupt().map_err(|error| of_machine(&error))?;
    let (done, is_done) = bounded(1);
    std::thread::Builder::new()
        .name("waited-for".to_owned())
        .spawn(move || drop(done.send(work())))
        .map_err(|error| of_machine(&error))?;
    let received = match left_to_clear_up() {
        None => interrupt.receive(&is_done, Duration::MAX),
        Some(left) => is_done.recv_timeout(left),
    };
    received.map_err(|error| match error {
        RecvTimeoutError::Disconnected => of_machine(&"a thread ended without a result"),
        RecvTimeoutError::Timeout => Blamed::new(Blame::Interrupted, "interrupted"),
    })
}

/// The result of SHOW GLOBAL VARIABLES.
pub(crate) async fn variables(
    connection: &mut Connection,
) -> Result<BTreeMap<String, String>, protocol::Error> {
    name_value_pairs(connection, "SHOW GLOBAL VARIABLES").await
}

/// The first two columns of a result: names and their values.
pub(crate) async fn name_value_pairs(
    connection: &mut Connection,
    sql: &str,
) -> Result<BTreeMap<String, String>, protocol::Error> {
    let text =
        |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
    let sets = connection.rows(sql).await?;
    let rows = sets.into_iter().flat_map(|set| set.rows);
    Ok(rows
        .filter_map(|row| {
            let mut row = row.into_iter();
            Some((text(row.next()?), text(row.next()?)))
        })
        .collect())
}

/// The first value of a result as a number; `None` for NULL, an empty result or a value that is not a number.
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

/// A name as SQL has it: in backticks.
pub fn backticked(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A text as an SQL string literal.
pub fn quoted(text: &str) -> String {
    let mut escaped = Vec::new();
    protocol::escape_into(text.as_bytes(), &mut escaped);
    format!("'{}'", String::from_utf8_lossy(&escaped))
}
