//! A virtual client, the interface between the load and every benchmark.

use std::{future::Future, time::Duration};

/// One virtual client with its own connection.
///
/// A user has no thread, rate or clock: it returns pauses as values, and the driver decides when its operations
/// start.
pub trait User {
    /// Names of the operation types; [`Next::Operation`] is an index into them.
    fn operations(&self) -> &[String];

    /// Names of the statements inside its operations; empty if every operation is one statement.
    fn statements(&self) -> &[String] {
        &[]
    }

    /// Opens the connection, or reopens it after it was lost.
    fn connect(&mut self) -> impl Future<Output = Result<(), Failure>>;

    /// Selects the next action and encodes it; does no I/O.
    fn next(&mut self) -> Next;

    /// Executes the operation that [`User::next`] announced and reports each of its statements to `watch`, if they have
    /// names; called again for a retry of the same operation.
    fn execute(
        &mut self,
        watch: &mut impl OperationObserver,
    ) -> impl Future<Output = Result<(), Failure>>;

    /// Sends buffered work of operations already counted as done, when no operation follows; a no-op for most users.
    fn finish(
        &mut self,
        _watch: &mut impl OperationObserver,
    ) -> impl Future<Output = Result<(), Failure>> {
        std::future::ready(Ok(()))
    }

    fn disconnect(&mut self) -> impl Future<Output = ()>;
}

/// A moment of the driver's clock, nanoseconds since its zero: a user obtains it from [`OperationObserver::moment`], keeps it and
/// returns it in [`Next::OperationSince`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Nanoseconds since the zero of the driver's clock.
    pub ns: u64,
}

/// Observer of an operation while it is executed.
pub trait OperationObserver {
    /// The current moment.
    fn moment(&self) -> Moment;

    /// Reports that a statement of the operation just returned: its index into [`User::statements`], and its class.
    fn statement(&mut self, statement: usize, class: Class);

    /// Reports that the operation, which is a single statement, just returned this number of rows.
    fn returned(&mut self, rows: u64);

    /// Waits in the middle of an operation, whose response time includes it; no statement's time does. A pause of no
    /// length, too, lets the other users run.
    fn pause(&mut self, time: Duration) -> impl Future<Output = ()>;
}

/// Class of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// It returned rows, or could have returned some.
    Read { rows: u64 },
    /// It changed rows.
    Write,
    /// Neither: BEGIN, COMMIT, or an UPDATE that matched no row.
    Other,
}

/// The next action of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// An operation of this type.
    Operation(usize),
    /// An operation of this type that has been due since this moment, from which its response time counts.
    OperationSince(usize, Moment),
    /// A pause of this length.
    Pause(Duration),
    /// The end: no further action.
    End,
}

/// An operation that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Error number of the server; 0 for an error detected by the client.
    pub number: u16,
    /// SQLSTATE; empty where there is none.
    pub sqlstate: String,
    /// Error message of the server.
    pub message: String,
    /// The connection is lost.
    pub lost: bool,
    /// The server requests a retry (deadlock, lock wait timeout, record changed since it was read).
    pub retryable: bool,
    /// The connection was lost during a commit: it is unknown whether the operation was executed, and a retry could
    /// execute it twice.
    pub outcome_unknown: bool,
    /// The user's input is at fault: a script divides by zero, or has a syntax error that the server found.
    pub is_of_input: bool,
}

impl Failure {
    /// What the client found, and no server reported.
    #[cold]
    pub fn of_client(message: String) -> Self {
        Self {
            number: 0,
            sqlstate: String::new(),
            message,
            lost: false,
            retryable: false,
            outcome_unknown: false,
            is_of_input: false,
        }
    }

    /// A user was asked to do something before it was connected.
    #[cold]
    pub fn not_connected() -> Self {
        Self {
            lost: true,
            ..Self::of_client("not connected".to_owned())
        }
    }
}

impl From<protocol::Error> for Failure {
    fn from(error: protocol::Error) -> Self {
        let (lost, retryable) = (error.is_connection_lost(), error.is_retryable());
        let Some(server) = error.server_error() else {
            return Self {
                lost,
                ..Self::of_client(error.to_string())
            };
        };
        Self {
            number: server.number,
            sqlstate: server.sqlstate.clone(),
            message: server.message.clone(),
            lost,
            retryable,
            outcome_unknown: false,
            is_of_input: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_the_server_keep_its_number() {
        for (number, retryable) in [(1213, true), (1205, true), (1020, true), (1062, false)] {
            let failure = Failure::from(protocol::Error::Server(protocol::ServerError {
                number,
                sqlstate: "40001".to_owned(),
                message: "no".to_owned(),
            }));
            assert_eq!((failure.number, failure.retryable), (number, retryable));
            assert_eq!((failure.message.as_str(), failure.lost), ("no", false));
        }
        let failure = Failure::from(protocol::Error::Malformed { what: "x" });
        assert_eq!((failure.number, failure.retryable), (0, false));
        assert!(failure.lost);
    }
}
