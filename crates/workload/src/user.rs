//! A virtual client: what `load` drives, whatever the benchmark.

use std::{future::Future, time::Duration};

/// One virtual client over one connection of its own.
///
/// A user knows no thread, rate or clock: a pause is a value that it yields, and when its operations start
/// is the driver's business.
pub trait User {
    /// Names of the operation types; [`Next::Operation`] is an index into them.
    fn operations(&self) -> &[String];

    /// Names of the statements inside its operations; empty where every operation is one statement.
    fn statements(&self) -> &[String] {
        &[]
    }

    /// Opens the connection, or opens it again after it was lost.
    fn connect(&mut self) -> impl Future<Output = Result<(), Failure>>;

    /// Decides what comes next and encodes it; does no I/O.
    fn next(&mut self) -> Next;

    /// Runs the operation that [`User::next`] announced and tells `watch` of each of its statements, if they have
    /// names; called again for a retry of the same operation.
    fn execute(&mut self, watch: &mut impl Watch) -> impl Future<Output = Result<(), Failure>>;

    /// Sends what the user still holds of operations that it has counted as done, when no other follows; nothing for most.
    fn finish(&mut self, _watch: &mut impl Watch) -> impl Future<Output = Result<(), Failure>> {
        std::future::ready(Ok(()))
    }

    /// Closes the connection.
    fn disconnect(&mut self) -> impl Future<Output = ()>;
}

/// A moment by the driver's clock, nanoseconds since its zero: a user takes it from [`Watch::moment`], keeps it and
/// hands it back in [`Next::OperationSince`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Nanoseconds since the zero of the driver's clock.
    pub ns: u64,
}

/// Who looks on while an operation runs.
pub trait Watch {
    /// Now.
    fn moment(&self) -> Moment;

    /// A statement of the operation came back just now: its index into [`User::statements`], and what it did.
    fn statement(&mut self, statement: usize, class: Class);

    /// The operation, which is a single statement, returned so many rows just now.
    fn returned(&mut self, rows: u64);
}

/// What a statement did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// It returned rows, or could have.
    Read {
        /// How many.
        rows: u64,
    },
    /// It changed rows.
    Write,
    /// Neither: BEGIN, COMMIT, an UPDATE that matched nothing.
    Other,
}

/// What a user does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// An operation of this type.
    Operation(usize),
    /// An operation of this type that has been due since then: from there its response time counts.
    OperationSince(usize, Moment),
    /// Nothing, for so long.
    Pause(Duration),
    /// Nothing more.
    End,
}

/// An operation that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Error number of the server; 0 for a failure that the client found.
    pub number: u16,
    /// SQLSTATE; empty where there is none.
    pub sqlstate: String,
    /// Message, as the server gave it.
    pub message: String,
    /// The connection is gone.
    pub lost: bool,
    /// The server asks to try again (deadlock, lock wait timeout, record changed since it was read).
    pub retryable: bool,
    /// The connection went while the server was asked to commit: nobody knows whether the operation was done, and to
    /// run it again might do it twice.
    pub outcome_unknown: bool,
}

impl Failure {
    /// What the client found, and no server reported.
    #[cold]
    pub(crate) fn of_client(message: String) -> Self {
        Self {
            number: 0,
            sqlstate: String::new(),
            message,
            lost: false,
            retryable: false,
            outcome_unknown: false,
        }
    }

    /// A user was asked to do something before it was connected.
    #[cold]
    pub(crate) fn not_connected() -> Self {
        Self {
            lost: true,
            ..Self::of_client("not connected".to_owned())
        }
    }
}

impl From<protocol::Error> for Failure {
    fn from(error: protocol::Error) -> Self {
        let lost = error.is_connection_lost();
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
            // Record changed since it was read (MariaDB), lock wait timeout and deadlock: to be tried again.
            retryable: !lost && matches!(server.number, 1020 | 1205 | 1213),
            outcome_unknown: false,
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
