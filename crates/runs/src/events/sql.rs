//! Events that execute statements, on a connection of their own.

use std::{
    future::Future,
    pin::{Pin, pin},
    time::Duration,
};

use protocol::{Connection, Endpoint, Error};

use super::{cut_off::CutOff, event_result::EventResult};

/// Time limit for the server to take a KILL, and to end the statement then.
const KILL_WITHIN: Duration = Duration::from_secs(5);

/// Executes statements in their order; an error ends them, and what has to end is ended on the server too.
pub(super) fn execute(
    endpoint: &Endpoint,
    statements: &[String],
    cut_off: &CutOff<'_>,
) -> EventResult {
    match reactor::block_on(execute_all(endpoint, statements, cut_off)) {
        Ok(performed) => performed,
        Err(error) => EventResult::failed(error.to_string()),
    }
}

async fn execute_all(
    endpoint: &Endpoint,
    statements: &[String],
    cut_off: &CutOff<'_>,
) -> EventResult {
    let opened = pin!(Connection::open(endpoint));
    let mut connection = match cut_off.unless_cut(opened).await {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => return EventResult::failed(error.to_string()),
        Err(why) => return EventResult::done().but_cut_off(why),
    };
    let id = connection.connection_id();
    let (mut rows_affected, mut warnings) = (0, 0);
    for (number, sql) in (1..).zip(statements) {
        let so_far = EventResult {
            rows_affected: Some(rows_affected),
            warnings: Some(warnings),
            ..EventResult::done()
        };
        let place = match statements.len() {
            1 => String::new(),
            count => format!("statement {number} of {count}: "),
        };
        if cut_off.end.is_raised() {
            return so_far.but_cut_off(format!("{place}{}", cut_off.why()));
        }
        let mut query = pin!(connection.query(sql.as_bytes()));
        match cut_off.unless_cut(query.as_mut()).await {
            Ok(Ok(outcome)) => {
                rows_affected += outcome.affected_rows;
                warnings += u64::from(outcome.warnings);
            }
            Ok(Err(error)) => return so_far.but_failed(format!("{place}{}", in_words(&error))),
            Err(why) => {
                let is_ended = kill(endpoint, id, query.as_mut()).await;
                let left = if is_ended {
                    "ended by KILL"
                } else {
                    "the server did not end it after KILL"
                };
                return so_far.but_cut_off(format!("{place}{why}; {left}"));
            }
        }
    }
    // The work is done, whatever becomes of the connection.
    let _ = connection.close().await;
    EventResult {
        rows_affected: Some(rows_affected),
        warnings: Some(warnings),
        ..EventResult::done()
    }
}

fn in_words(error: &Error) -> String {
    match error.server_error() {
        Some(refusal) => format!("error {}: {}", refusal.number, refusal.message),
        None => error.to_string(),
    }
}

/// Ends a statement of another connection on the server, then that connection; true once the statement has its answer.
async fn kill<F: Future>(endpoint: &Endpoint, id: u32, mut query: Pin<&mut F>) -> bool {
    for command in ["KILL QUERY", "KILL"] {
        let sql = format!("{command} {id}");
        let send = async {
            let mut connection = Connection::open(endpoint).await?;
            connection.query(sql.as_bytes()).await?;
            connection.close().await
        };
        let sent = reactor::timeout(KILL_WITHIN, send).await;
        if matches!(sent, Ok(Ok(()))) && reactor::timeout(KILL_WITHIN, query.as_mut()).await.is_ok()
        {
            return true;
        }
    }
    false
}
