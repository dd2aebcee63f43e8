//! Control connections: the statements that surround a load, on an event loop of their own.

use std::{collections::BTreeMap, future::Future, pin::pin, time::Duration};

use load::Interrupt;
use protocol::{Connection, Endpoint};

use crate::blame::{Blame, Blamed};

/// How often a long statement looks for an interruption.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Opens a connection, does something over it and closes it; an error names the server.
pub(crate) fn control<T>(
    endpoint: &Endpoint,
    what: impl AsyncFnOnce(&mut Connection) -> Result<T, protocol::Error>,
) -> Result<T, Blamed> {
    let result = reactor::block_on(async {
        let mut connection = Connection::open(endpoint).await?;
        let result = what(&mut connection).await?;
        connection.close().await?;
        Ok(result)
    });
    result
        .map_err(|error| Blamed::new(Blame::Machine, error))?
        .map_err(|error| Blamed::of_server(&endpoint.address, error))
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
pub(crate) async fn number(
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
pub(crate) fn quoted(text: &str) -> String {
    let mut escaped = Vec::new();
    protocol::escape_into(text.as_bytes(), &mut escaped);
    format!("'{}'", String::from_utf8_lossy(&escaped))
}
