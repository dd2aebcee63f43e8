//! Queries the server and records what it does not provide.

use protocol::{Connection, Error};

use super::answer::Answer;

/// A connection for queries.
pub(crate) struct Questioner {
    connection: Connection,
    pub(crate) statements: u64,
    /// Descriptions of the values that could not be observed.
    pub(crate) not_observed: Vec<String>,
}

impl Questioner {
    pub(crate) fn new(connection: Connection) -> Self {
        Self {
            connection,
            statements: 0,
            not_observed: Vec::new(),
        }
    }

    pub(crate) fn connection_id(&self) -> u32 {
        self.connection.connection_id()
    }

    /// The server's version, as it reports it.
    pub(crate) fn server_version(&self) -> &str {
        self.connection.server_version()
    }

    /// Runs a query; `None` if the server refuses it, which is recorded. An error is a lost connection.
    pub(crate) async fn ask(&mut self, what: &str, sql: &str) -> Result<Option<Answer>, Error> {
        match self.try_ask(sql).await? {
            Ok(answer) => Ok(Some(answer)),
            Err(refusal) => {
                self.miss(what, &refusal);
                Ok(None)
            }
        }
    }

    /// Runs a query; the inner error is the server's refusal.
    pub(crate) async fn try_ask(&mut self, sql: &str) -> Result<Result<Answer, String>, Error> {
        self.statements += 1;
        match Answer::to(&mut self.connection, sql).await {
            Ok(answer) => Ok(Ok(answer)),
            // A server that shuts down refuses nothing for good.
            Err(lost) if lost.is_connection_lost() => Err(lost),
            Err(Error::Server(refusal)) => Ok(Err(refusal.to_string())),
            Err(lost) => Err(lost),
        }
    }

    /// Records that something is not observed.
    pub(crate) fn miss(&mut self, what: &str, why: &str) {
        self.not_observed
            .push(format!("{what} not observed: {why}"));
    }

    /// Asks over another connection from now on: the former one is lost.
    pub(crate) fn ask_over(&mut self, connection: Connection) {
        self.connection = connection;
    }

    pub(crate) async fn close(self) -> Result<(), Error> {
        self.connection.close().await
    }
}
